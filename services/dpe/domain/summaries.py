"""Whether a summary is faithful to the text that it condenses (SPEC-004 §12.3, -005 §5.5; ADR 0042).

The original's sentences stand in for the facts of an envelope, and stages 1-3 run over the summary. Every claim but
META ones is then held against the original, because an opinion or an instruction that the original does not hold is an
invention like any other. A claim that the original bears out is FAITHFUL; it is VERIFIED only when the original's own
grounded stretches bear it out by themselves, so that an invention of the original does not come out of its summary as
a fact.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from itertools import islice
from typing import Final

from services.common.ports.grounding import GroundingRequest
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Claim, ClaimType, Span
from services.common.reading.words import content_stems, normal_text
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Verdict
from services.dpe.domain.models import ModelRole, Requests
from services.dpe.domain.passages import MAX_PASSAGES

FAITHFUL_FROM: Final = 0.80  # SPEC-004 §12.3
EVIDENCE_PER_CLAIM: Final = 3
_DIGITS: Final = 12


@unique
class ClaimState(StrEnum):
    """What became of a claim of a summary."""

    VERIFIED = "VERIFIED"
    FAITHFUL = "FAITHFUL"
    UNSUPPORTED = "UNSUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    NOT_CHECKED = "NOT_CHECKED"


@unique
class NoScore(StrEnum):
    """Why there is no score."""

    NONE = ""
    NO_CLAIMS = "NO_CLAIMS"
    NO_MODEL = "NO_MODEL"
    MODEL_FAILED = "MODEL_FAILED"


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim of the summary; ``evidence`` are stretches of the original, nearest first."""

    claim: Claim
    state: ClaimState
    support: float | None = None
    evidence: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryVerdict:
    """The outcome; scores in [0, 1], ``None`` = not computed, and ``reason`` says why."""

    checked: tuple[CheckedClaim, ...]
    stage3_score: float | None
    supported_ratio: float | None
    fidelity_score: float | None
    reason: NoScore

    @property
    def faithful(self) -> bool:
        """Whether the summary may be carried over; without a score it may not."""
        return self.fidelity_score is not None and self.fidelity_score >= FAITHFUL_FROM


@dataclass(frozen=True, slots=True)
class EvidencePassages:
    """Stretches of the original that may bear a claim out, with an index to find the ones that share its words."""

    text: str
    spans: tuple[Span, ...]
    by_stem: Mapping[str, tuple[int, ...]]
    said: frozenset[str]

    @staticmethod
    def of(text: str, spans: Sequence[Span]) -> "EvidencePassages":
        """Index the stretches, which stand in the order of the text."""
        by_stem: dict[str, list[int]] = {}
        for index, span in enumerate(spans):
            for stem in content_stems(text[span.start : span.end]):
                by_stem.setdefault(stem, []).append(index)
        said = frozenset(normal_text(text[span.start : span.end]) for span in spans)
        return EvidencePassages(text, tuple(spans), {stem: tuple(found) for stem, found in by_stem.items()}, said)

    def near(self, claim: Claim) -> tuple[Span, ...]:
        """Return the stretches that share most words with the claim, in the order of the text."""
        shared = Counter(index for stem in content_stems(claim.text) for index in self.by_stem.get(stem, ()))
        ranked = sorted(shared, key=lambda index: (-shared[index], index))[:MAX_PASSAGES]
        others = (index for index in range(len(self.spans)) if index not in shared)
        ranked += islice(others, MAX_PASSAGES - len(ranked))
        return tuple(self.spans[index] for index in sorted(ranked))

    def request(self, claim: Claim) -> GroundingRequest | None:
        """Return what the grounding model is asked about a claim; ``None`` when there is nothing to hold it against."""
        near = self.near(claim)
        return GroundingRequest(claim.text, tuple(self.text[span.start : span.end] for span in near)) if near else None


@dataclass(frozen=True, slots=True)
class Original:
    """The text that is condensed: its sentences, and those stretches of it that are grounded."""

    sentences: EvidencePassages
    grounded: EvidencePassages

    @staticmethod
    def of(text: str, grounded: Sequence[Span]) -> "Original":
        """Read a text; ``grounded`` are stretches of it in any order, which may overlap."""
        spans = [Span(sentence.start, sentence.end) for sentence in sentences(text)]
        ordered = sorted(set(grounded), key=lambda span: (span.start, span.end))
        return Original(EvidencePassages.of(text, spans), EvidencePassages.of(text, ordered))


def as_input(summary: str, original: Original) -> AnalysisInput:
    """Return the analysis of a summary against its original: sentence number n is the fact ``s<n>``."""
    text, spans = original.sentences.text, original.sentences.spans
    facts = tuple(EnvelopeFact(f"s{number}", text[span.start : span.end]) for number, span in enumerate(spans, start=1))
    return AnalysisInput("", "", 1, "", summary, facts)


def plan(analysis: Analysis, original: Original) -> Requests:
    """Ask whether the original bears out the claims that stage 3 gave no verdict on, and its grounded part each: once.

    Claims that something was found about are not asked about any more.
    """
    wrong = _wrong(analysis)
    wanted: list[GroundingRequest | None] = []
    for claim in _checkable(analysis):
        if claim.claim_id in wrong:
            continue
        if _verdict(analysis, claim) is Verdict.NONE:
            wanted.append(original.sentences.request(claim))
        wanted.append(original.grounded.request(claim))
    return Requests(judge=tuple(dict.fromkeys(request for request in wanted if request is not None)))


def conclude(analysis: Analysis, original: Original) -> SummaryVerdict:
    """Return the verdict on a summary after stages 1-3 and the batch of ``plan``."""
    wrong = _wrong(analysis)
    checked = tuple(
        _checked(analysis, original, claim, wrong=claim.claim_id in wrong) for claim in _checkable(analysis)
    )
    if not checked:
        return SummaryVerdict(checked, None, None, None, NoScore.NO_CLAIMS)
    stage3 = analysis.outputs.fidelity.score
    if stage3 is None or any(item.state is ClaimState.NOT_CHECKED for item in checked):
        reason = NoScore.MODEL_FAILED if analysis.models.has(ModelRole.GROUNDING) else NoScore.NO_MODEL
        return SummaryVerdict(checked, stage3, None, None, reason)
    supported = sum(1 for item in checked if item.state in {ClaimState.VERIFIED, ClaimState.FAITHFUL})
    ratio = supported / len(checked)
    return SummaryVerdict(checked, stage3, ratio, round(min(stage3, ratio), _DIGITS), NoScore.NONE)


def _checkable(analysis: Analysis) -> list[Claim]:
    return [claim for claim in analysis.outputs.text.claims if claim.claim_type is not ClaimType.META]


def _verdict(analysis: Analysis, claim: Claim) -> Verdict:
    return analysis.outputs.fidelity.verdicts.get(claim.claim_id, Verdict.NONE)


def _wrong(analysis: Analysis) -> set[str]:
    """Return the claims that stage 3 found something about."""
    outputs = analysis.outputs
    found = {item.claim_id for item in outputs.fabrication.found or ()}
    found |= {item.claim_id for item in outputs.distortion.found or ()}
    found |= {claim.claim_id for item in outputs.contradiction.found or () for claim in (item.first, item.second)}
    return found | {key for key, verdict in outputs.fidelity.verdicts.items() if verdict is Verdict.CONTRADICTED}


def _checked(analysis: Analysis, original: Original, claim: Claim, *, wrong: bool) -> CheckedClaim:
    verdict = _verdict(analysis, claim)
    supported, support, evidence = _of_stage_3(analysis, original, claim)
    if verdict is Verdict.NONE and not wrong:
        supported, support, evidence = _of_model(analysis, original.sentences, claim)
    if wrong:
        state = ClaimState.CONTRADICTED
    elif supported is None:
        state = ClaimState.NOT_CHECKED
    elif not supported:
        state = ClaimState.UNSUPPORTED
    else:
        state = ClaimState.VERIFIED if _of_model(analysis, original.grounded, claim)[0] else ClaimState.FAITHFUL
    return CheckedClaim(claim, state, support, evidence)


_Found = tuple[bool | None, float | None, tuple[Span, ...]]
"""Whether the original bears a claim out, with what probability, and by which stretches."""


def _of_stage_3(analysis: Analysis, original: Original, claim: Claim) -> _Found:
    judgement = analysis.outputs.fidelity.judgements.get(claim.claim_id)
    if judgement is None:
        return None, None, ()
    spans = tuple(original.sentences.spans[item.fact_index] for item in judgement.evidence[:EVIDENCE_PER_CLAIM])
    return judgement.verdict is Verdict.SUPPORTED, judgement.support, spans


def _of_model(analysis: Analysis, stretches: EvidencePassages, claim: Claim) -> _Found:
    """Return what the grounding model says of a claim beside some stretches; a quotation needs no model."""
    near = stretches.near(claim)
    if normal_text(claim.text) in stretches.said:
        quoted = (
            span for span in near if normal_text(stretches.text[span.start : span.end]) == normal_text(claim.text)
        )
        return True, None, tuple(quoted)[:EVIDENCE_PER_CLAIM]
    request = stretches.request(claim)
    if request is None:
        return False, None, ()
    judged = (analysis.models.judged or {}).get(request)
    if judged is None:
        return None, None, ()
    return judged.supported, judged.support, tuple(near[index] for index in judged.evidence[:EVIDENCE_PER_CLAIM])
