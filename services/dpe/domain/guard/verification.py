"""The verified claims of a text, from its analysis: verdict, signals, evidence and differences (Director-AI page, D1).

Offsets are in the text and in the sources as they were given. A sentence in another language than English, which no
model here was made for, is a claim too: it is SUPPORTED where it stands word for word in a source, and UNVERIFIABLE
otherwise, so that nothing passes because it could not be read.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.reading.text_types import Span
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import Evidence, Verdict
from services.dpe.domain.guard.source_passages import Passage, SourceText
from services.dpe.domain.guard.verification_signals import (
    SIGNAL_OF_RULE,
    Signal,
    SignalKind,
    Signalled,
    Vote,
    signalled,
)
from services.dpe.domain.guard.verification_votes import (
    ClaimVerdict,
    Decision,
    VerificationPolicy,
    by_count,
    decide,
)
from services.dpe.domain.models import ModelRole
from services.dpe.domain.outcome import Reason
from services.dpe.domain.quotations import Quotation
from services.dpe.domain.verdicts import decides


@dataclass(frozen=True, slots=True)
class ClaimedText:
    """A text whose claims are verified, by its caller's id, and what it answers; an empty question is not known."""

    content: str = field(repr=False)
    question: str = field(default="", repr=False)
    text_id: str = ""


@dataclass(frozen=True, slots=True)
class SourceEvidence:
    """A stretch of a source that a verdict rests on."""

    source_id: str
    span: Span
    similarity: float
    contradiction: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a claim departs from a source."""

    kind: SignalKind
    answer_span: Span
    source_id: str
    source_span: Span
    decides: bool


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim with its verdict; ``span`` is in the text."""

    text: str = field(repr=False)
    span: Span
    decision: Decision
    plain: ClaimVerdict
    signals: tuple[Signal, ...]
    evidence: SourceEvidence | None = None
    why: str = field(default="", repr=False)
    differences: tuple[Difference, ...] = ()
    doubtful: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedText:
    """The claims of a text, in order, and how the check ended."""

    claims: tuple[VerifiedClaim, ...]
    status: StageStatus
    reason: Reason

    @property
    def supported_ratio(self) -> float | None:
        """SUPPORTED among all claims; ``None`` without any."""
        supported = sum(1 for claim in self.claims if claim.decision.verdict is ClaimVerdict.SUPPORTED)
        return supported / len(self.claims) if self.claims else None

    @property
    def approved(self) -> bool:
        """Every claim is SUPPORTED, and there is one."""
        return self.supported_ratio == 1.0


@dataclass(frozen=True, slots=True)
class Verified:
    """Texts with their claims, in the order of the request, and what they were verified with."""

    texts: tuple[VerifiedText, ...]
    models: tuple[tuple[str, str], ...]
    policy_hash: str


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources, and the passages that stand for them as facts, in the same order."""

    texts: tuple[SourceText, ...]
    passages: tuple[Passage, ...]

    def id_of(self, passage: int) -> str:
        """Return the id of a passage's source."""
        return self.texts[self.passages[passage].source].source_id

    def place(self, passage: int, span: Span) -> Span:
        """Return where a stretch of a passage stands in its source."""
        return self.passages[passage].place(span.start, span.end)


def verified_text(analysis: Analysis, sources: Sources, policy: VerificationPolicy) -> VerifiedText:
    """Return the verified claims of an analysis after stage 3 whose facts are the passages of the sources."""
    differences = _differences(analysis, sources)
    claims = [
        _claim(item, sources, policy, differences.get(item.claim.claim_id, []))
        for item in signalled(analysis, policy.limits)
    ]
    claims += _in_other_languages(analysis, sources)
    claims.sort(key=lambda claim: claim.span.start)
    return VerifiedText(tuple(claims), *_status(analysis, claims))


def _claim(
    item: Signalled, sources: Sources, policy: VerificationPolicy, differences: Sequence[Difference]
) -> VerifiedClaim:
    claim, judgement = item.claim, item.judgement
    decision = decide(item, policy)
    supported = decision.verdict is ClaimVerdict.SUPPORTED
    invented = decision.verdict is ClaimVerdict.FABRICATED  # nothing was matched
    return VerifiedClaim(
        claim.text,
        Span(claim.start, claim.end),
        decision,
        by_count(item.signals, policy.min_confidence).verdict,
        item.signals,
        None if invented else _evidence(judgement.evidence, sources, judgement.contradiction),
        judgement.why if decision.verdict in _SAID_BY[judgement.verdict] else "",
        () if supported else tuple(differences),
        () if supported else tuple(one.span for one in judgement.doubtful),
    )


_SAID_BY: Final = {
    Verdict.SUPPORTED: {ClaimVerdict.SUPPORTED},
    Verdict.CONTRADICTED: {ClaimVerdict.CONTRADICTED},
    Verdict.UNSUPPORTED: {ClaimVerdict.FABRICATED, ClaimVerdict.UNVERIFIABLE},
    Verdict.UNDECIDED: {ClaimVerdict.UNVERIFIABLE},
    Verdict.SUPERSEDED: set[ClaimVerdict](),
    Verdict.NONE: set[ClaimVerdict](),
}
"""Which verdicts the sentence for people fits that stage 3 made for its own (ADR 0097)."""


def _evidence(found: Sequence[Evidence], sources: Sources, contradiction: float | None) -> SourceEvidence | None:
    if not found:
        return None
    first = found[0]
    span = sources.place(first.fact_index, first.fact_span)
    return SourceEvidence(sources.id_of(first.fact_index), span, first.similarity, contradiction)


def _differences(analysis: Analysis, sources: Sources) -> dict[str, list[Difference]]:
    """Return what stage 3b found, by claim id, with offsets in text and sources."""
    places = {fact.fact_id: index for index, fact in enumerate(analysis.input.facts)}
    found: dict[str, list[Difference]] = defaultdict(list)
    for item in analysis.outputs.distortion.found or ():
        passage = places[item.fact_id]
        known = sources.place(passage, item.fact_span)
        found[item.claim_id].append(
            Difference(SIGNAL_OF_RULE[item.rule], item.answer_span, sources.id_of(passage), known, decides(item))
        )
    return found


_UNREAD: Final = tuple(Signal(kind) for kind in SignalKind)
_QUOTED: Final = tuple(
    Signal(kind, 1.0, Vote.SUPPORTS) if kind is SignalKind.TRACEABILITY else Signal(kind) for kind in SignalKind
)


def _in_other_languages(analysis: Analysis, sources: Sources) -> list[VerifiedClaim]:
    found: list[VerifiedClaim] = []
    for sentence in analysis.other_language:
        quoted = analysis.outputs.attribution.quotations.get(sentence.index)
        span, text = Span(sentence.start, sentence.end), analysis.text_of(sentence)
        if quoted is None:
            unread = Decision(ClaimVerdict.UNVERIFIABLE, 0.0)
            found.append(VerifiedClaim(text, span, unread, ClaimVerdict.UNVERIFIABLE, _UNREAD))
        else:
            found.append(_quotation(text, span, quoted, sources))
    return found


def _quotation(text: str, span: Span, quoted: Quotation, sources: Sources) -> VerifiedClaim:
    evidence = SourceEvidence(sources.id_of(quoted.fact_index), sources.place(quoted.fact_index, quoted.span), 1.0)
    decision = Decision(ClaimVerdict.SUPPORTED, 1.0, 1.0)
    return VerifiedClaim(text, span, decision, ClaimVerdict.SUPPORTED, _QUOTED, evidence)


def _status(analysis: Analysis, claims: Sequence[VerifiedClaim]) -> tuple[StageStatus, Reason]:
    """Say whether every signal had its model, and everything could be read (ADR 0018)."""
    models = analysis.models
    if not claims:
        return StageStatus.NOT_APPLICABLE, Reason.NO_FACTUAL_CLAIMS
    missing = (
        (models.has(ModelRole.GROUNDING) and models.judged is None, Reason.GROUNDING_MODEL_FAILED),
        (models.entailment_tokens is not None and models.classified is None, Reason.ENTAILMENT_MODEL_FAILED),
        (models.recognised is None, Reason.ENTITY_RECOGNIZER_FAILED),
        (not models.has(ModelRole.GROUNDING), Reason.GROUNDING_MODEL_NOT_CONFIGURED),
        (models.entailment_tokens is None, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED),
        (any(claim.signals is _UNREAD for claim in claims), Reason.LANGUAGE_NOT_SUPPORTED),
    )
    for is_so, reason in missing:
        if is_so:
            return StageStatus.DEGRADED, reason
    return StageStatus.COMPLETED, Reason.NONE
