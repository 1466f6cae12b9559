"""Stage 1, claim segmentation (SPEC-005 §3): the answer as atomic claims with type, specificity, entities and offsets.

Earlier windows are read by the same code, for stage 6 compares like with like. Entities outside every claim (headings,
code) are kept, because stage 3a searches the whole answer.
"""

from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import FactView, read_fact
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.results import TextReading
from services.dpe.domain.segmentation import names_among, segment
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.statements import read_statements


def ask_names(analysis: Analysis) -> Requests:
    """Ask for the entities of all sentences, of earlier windows and of the facts that come without."""
    texts = [analysis.text_of(sentence) for sentence in analysis.outputs.text.sentences]
    texts += [fact.content for fact in analysis.input.facts if fact.entities is None]
    texts += [text for prior in analysis.outputs.text.prior_texts for text in prior.sentence_texts]
    return Requests(recognise=tuple(texts))


def apply(analysis: Analysis) -> Analysis:
    """Segment the answer and the earlier windows, and read the facts, which several answers may have in common."""
    recognised = analysis.models.recognised
    found = segment(analysis.input.answer, analysis.outputs.text.sentences, recognised, asked=analysis.input.query)
    known = recognised is not None
    outcome = StageOutcome(STAGE, *_status(analysis, known=known), findings=len(found.claims))
    reading = TextReading(
        sentences=analysis.outputs.text.sentences,
        claims=found.claims,
        statements=tuple(read_statements(found.claims, analysis.input.answer)),
        loose_values=found.loose_values,
        loose_names=found.loose_names,
        names_known=known,
        fact_views=analysis.outputs.text.fact_views or _fact_views(analysis),
        prior_texts=_prior_texts(analysis),
    )
    return analysis.ended(outcome, reading)


def _status(analysis: Analysis, *, known: bool) -> tuple[StageStatus, Reason]:
    if not known:
        return StageStatus.DEGRADED, Reason.ENTITY_RECOGNIZER_FAILED
    if analysis.other_language:
        return StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    return StageStatus.COMPLETED, Reason.NONE


def _prior_texts(analysis: Analysis) -> tuple[PriorText, ...]:
    """Return the earlier windows with their claims; the ids tell windows apart: p1c1, p1c2, p2c1."""
    return tuple(
        _prior_text(analysis, prior, number) for number, prior in enumerate(analysis.outputs.text.prior_texts, 1)
    )


def _prior_text(analysis: Analysis, prior: PriorText, number: int) -> PriorText:
    text = prior.window.text
    claims = segment(text, prior.sentences, analysis.models.recognised, prefix=f"p{number}c").claims
    return PriorText(prior.window, prior.sentences, claims, tuple(read_statements(claims, text)))


def _fact_views(analysis: Analysis) -> tuple[FactView, ...]:
    recognised = analysis.models.recognised or {}
    views: list[FactView] = []
    for index, fact in enumerate(analysis.input.facts):
        entities = fact.entities if fact.entities is not None else recognised.get(fact.content, ())
        views.append(read_fact(index, fact, names_among(entities)))
    return tuple(views)


STAGE: Final = Stage(
    key=StageKey(1),
    name="Claim Segmentation",
    section="CRP-SPEC-005 §3",
    signals=frozenset({RiskSignal.FIDELITY, RiskSignal.SPECIFICITY}),
    always_runs=True,
    batches_after=2,  # vectors and verdicts
    apply=apply,
    shares={Batch.NAMES: ask_names},
    sends=Batch.NAMES,
)
