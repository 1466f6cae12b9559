"""Distortions that a comparison of values does not see (SPEC-005 §5.3): a swapped name, a turned negation.

The rules of stage 3b line words up, and paraphrase escapes them. Here two encoders have to agree that a grounded claim
is false of its nearest fact: the entailment model calls it a contradiction, and the grounding model does not support
it. What it then is, the texts must show: an unsupported span over a name that the fact lacks, or one of the two
negated. Where neither shows, there is no distortion to report, only a verdict (ADR 0041).
"""

from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Claim, Span
from services.common.reading.words import words
from services.dpe.domain.alignment import NAMES, ClaimWords, matches
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import FactClause, FactView
from services.dpe.domain.findings import Attribution, Distortion, DistortionType, Rule
from services.dpe.domain.names import name_key
from services.dpe.domain.verdicts import Heard, doubtful_spans


def unseen(analysis: Analysis, item: Attribution, heard: Heard | None) -> list[Distortion]:
    """Return at most one distortion of a grounded claim that no rule has found."""
    if heard is None or heard.case.nearest is None or heard.grounding is None:
        return []
    if heard.grounding.supported or not heard.contradicts:
        return []
    view = analysis.outputs.text.fact_views[heard.case.nearest.fact_index]
    nearest = matches(ClaimWords.of(item.claim), view.clauses)
    if not nearest:
        return []
    clause = nearest[0].clause
    name = _doubtful_name(item.claim, heard, view)
    if name is not None:
        return [_distortion(DistortionType.ENTITY_SUBSTITUTED, item.claim, view, name, clause)]
    if is_negated(item.claim.text) != is_negated(clause.text):
        whole = Span(item.claim.start, item.claim.end)
        return [_distortion(DistortionType.NEGATION_FLIP, item.claim, view, whole, clause)]
    return []


def _doubtful_name(claim: Claim, heard: Heard, view: FactView) -> Span | None:
    """Return the first name of the claim under an unsupported span of which the fact holds no word."""
    doubtful = doubtful_spans(heard.case, heard.grounding)
    known = {word.text for word in words(view.fact.content)}
    for entity in claim.entities:
        touched = any(each.span.start < entity.end and entity.start < each.span.end for each in doubtful)
        if entity.kind in NAMES and touched and not known & set(name_key(entity.text).split()):
            return Span(entity.start, entity.end)
    return None


def _distortion(kind: DistortionType, claim: Claim, view: FactView, where: Span, clause: FactClause) -> Distortion:
    return Distortion(kind, claim.claim_id, view.fact.fact_id, where, clause.span, rule=Rule.ENCODERS)
