"""Stage 1, claim segmentation (SPEC-005 §3): the answer as atomic claims with type, specificity, entities and offsets.

Earlier windows are read by the same code, for stage 6 compares like with like. Entities outside every claim (headings,
code) are kept, because stage 3a searches the whole answer.
"""

from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis, PriorText, Requests
from services.dpe.domain.facts import FactView, read_fact
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome
from services.dpe.domain.segmentation import names_among, segment
from services.dpe.domain.statements import read_statements

KEY: Final = StageKey(1)


def plan(analysis: Analysis) -> Requests:
    """Ask for the entities of all sentences, query and prompt, earlier windows and facts without: one batch."""
    given = analysis.input
    texts = [analysis.text_of(sentence) for sentence in analysis.outputs.sentences]
    texts += [fact.content for fact in given.facts if fact.entities is None]
    texts += [text for prior in analysis.outputs.prior_texts for text in prior.sentence_texts]
    return Requests(recognise=tuple(dict.fromkeys([*texts, given.query, *filter(None, [given.prompt])])))


def apply(analysis: Analysis) -> Analysis:
    """Segment the answer and the earlier windows, and read the facts, which several answers may have in common."""
    recognised = analysis.models.recognised
    found = segment(analysis.input.answer, analysis.outputs.sentences, recognised)
    known = recognised is not None
    outcome = StageOutcome(KEY, *_status(analysis, known=known), findings=len(found.claims))
    return analysis.ended(
        outcome,
        claims=found.claims,
        statements=tuple(read_statements(found.claims, analysis.input.answer)),
        loose_values=found.loose_values,
        loose_names=found.loose_names,
        names_known=known,
        fact_views=analysis.outputs.fact_views or _fact_views(analysis),
        prior_texts=_prior_texts(analysis),
    )


def _status(analysis: Analysis, *, known: bool) -> tuple[StageStatus, Reason]:
    if not known:
        return StageStatus.DEGRADED, Reason.ENTITY_RECOGNIZER_FAILED
    if analysis.other_language:
        return StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    return StageStatus.COMPLETED, Reason.NONE


def _prior_texts(analysis: Analysis) -> tuple[PriorText, ...]:
    """Return the earlier windows with their claims; the ids tell windows apart: p1c1, p1c2, p2c1."""
    recognised = analysis.models.recognised
    return tuple(
        PriorText(
            prior.window,
            prior.sentences,
            segment(prior.window.text, prior.sentences, recognised, prefix=f"p{number}c").claims,
        )
        for number, prior in enumerate(analysis.outputs.prior_texts, start=1)
    )


def _fact_views(analysis: Analysis) -> tuple[FactView, ...]:
    recognised = analysis.models.recognised or {}
    views: list[FactView] = []
    for index, fact in enumerate(analysis.input.facts):
        entities = fact.entities if fact.entities is not None else recognised.get(fact.content, ())
        views.append(read_fact(index, fact, names_among(entities)))
    return tuple(views)
