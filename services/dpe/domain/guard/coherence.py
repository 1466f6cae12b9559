"""The dual-entropy formula and all that is reckoned with it (Director-AI page, D2 to D4; ADR 0122).

``coherence = 1 - (W_LOGIC * H_logical + W_FACT * H_factual)``. Where one divergence is missing the other one has the
whole weight; without both there is no coherence, and nothing is approved. Threshold and limits are applied to a score
and are no part of it: a remembered score serves any threshold.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum, unique
from typing import Any

from services.common.reading.text_types import Span
from services.common.taxonomy import StageStatus


@dataclass(frozen=True, slots=True)
class CoherencePolicy:
    """Weights, constants and limits of a deployment; hashed into every answer."""

    logical_weight: float = 0.6
    factual_weight: float = 0.4
    threshold: float = 0.6
    soft_limit: float = 0.6
    hard_limit: float = 0.5
    judge_below_confidence: float = 0.6
    judge_model_weight: float = 0.7
    judge_weight: float = 0.3
    judge_agree_divergence: float = 0.2
    judge_disagree_divergence: float = 0.8

    def document(self, provenance: dict[str, Any]) -> dict[str, Any]:
        """Return what is hashed: the policy with that of the provenance stages, whose verdicts a score rests on."""
        return {"coherence": asdict(self), "provenance": provenance}

    def divergence(self, logical: float | None, factual: float | None) -> float | None:
        """Return the weighted divergence of what there is; ``None`` where there is nothing of any weight."""
        parts = ((self.logical_weight, logical), (self.factual_weight, factual))
        there = [(weight, value) for weight, value in parts if value is not None]
        whole = sum(weight for weight, _ in there)
        return sum(weight * value for weight, value in there) / whole if whole else None

    def blended(self, divergence: float, opinion: "JudgeOpinion") -> float | None:
        """Return the divergence with the judge's; ``None`` when the judge said neither yes nor no."""
        said = {
            JudgeOpinion.AGREES: self.judge_agree_divergence,
            JudgeOpinion.DISAGREES: self.judge_disagree_divergence,
        }
        if opinion not in said:
            return None
        return self.judge_model_weight * divergence + self.judge_weight * said[opinion]


@unique
class JudgeOpinion(StrEnum):
    """What the LLM judge thought."""

    NOT_ASKED = "NOT_ASKED"
    AGREES = "AGREES"
    DISAGREES = "DISAGREES"
    UNCLEAR = "UNCLEAR"


@unique
class NoFacts(StrEnum):
    """Why there is nothing to hold an answer against; stable tokens."""

    NO_FACTS_FOUND = "NO_FACTS_FOUND"
    KNOWLEDGE_UNAVAILABLE = "KNOWLEDGE_UNAVAILABLE"
    KNOWLEDGE_NOT_CONFIGURED = "KNOWLEDGE_NOT_CONFIGURED"


@unique
class Origin(StrEnum):
    """What a claim was held against."""

    FACT = "FACT"
    PROMPT = "PROMPT"
    ANSWER = "ANSWER"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A stretch that a claim was held against.

    Attributes:
        text_id: of the fact; empty for prompt and answer.
        span: in the fact, the prompt or the answer.
        answer_span: of the claim.
        similarity: calibrated; 0.0 where it was not measured.
        contradiction: probability by the entailment model; ``None`` where it was not asked.
        divergence: of the claim, by which exhibits are ordered.
    """

    text_id: str
    span: Span
    answer_span: Span
    origin: Origin = Origin.FACT
    similarity: float = 0.0
    contradiction: float | None = None
    divergence: float = 0.0


@dataclass(frozen=True, slots=True)
class Divergences:
    """What both paths found.

    Attributes:
        logical, factual: H_logical and H_factual; ``None`` = not computed.
        confidence: of the entailment model, the least over the claims that no rule decides; ``None`` = it was asked
            about none.
        unsure: a claim that no rule decides is one that the entailment model is not sure of, or was not asked about.
        reason: why something is missing, a stable token; empty when nothing is.
    """

    logical: float | None
    factual: float | None
    confidence: float | None = None
    unsure: bool = False
    exhibits: tuple[Exhibit, ...] = ()
    status: StageStatus = StageStatus.COMPLETED
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoherenceScore:
    """A score, whatever threshold it is held against.

    Attributes:
        coherence: ``None`` when neither divergence could be computed.
        blended: divergence with the judge's; ``None`` when the judge was not asked, or was unclear.
        models: role and fingerprint of those that took part.
    """

    found: Divergences
    coherence: float | None
    judge: JudgeOpinion = JudgeOpinion.NOT_ASKED
    blended: float | None = None
    models: tuple[tuple[str, str], ...] = ()

    def approved(self, threshold: float) -> bool:
        """Say whether the coherence reaches the threshold; without one nothing is approved."""
        return self.coherence is not None and self.coherence >= threshold

    def warns(self, policy: CoherencePolicy) -> bool:
        """Say whether the coherence lies between the hard and the soft limit."""
        return self.coherence is not None and policy.hard_limit <= self.coherence < policy.soft_limit


def scored(
    policy: CoherencePolicy,
    found: Divergences,
    opinion: JudgeOpinion = JudgeOpinion.NOT_ASKED,
    models: tuple[tuple[str, str], ...] = (),
) -> CoherenceScore:
    """Return the score of what both paths found, blended with what the judge said."""
    divergence = policy.divergence(found.logical, found.factual)
    blended = None if divergence is None else policy.blended(divergence, opinion)
    final = divergence if blended is None else blended
    coherence = None if final is None else min(1.0, max(0.0, 1.0 - final))
    return CoherenceScore(found, coherence, opinion, blended, models)
