"""How a stage ended (ADR 0018)."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.stage_row import StageKey, StageRow

UNSOUND: Final = frozenset({StageStatus.SKIPPED, StageStatus.DEGRADED, StageStatus.FAILED})
"""With one of these in stages 1-5 the risk is degraded."""

_SEVERITY: Final = (
    StageStatus.NOT_APPLICABLE,
    StageStatus.COMPLETED,
    StageStatus.SKIPPED,
    StageStatus.DEGRADED,
    StageStatus.FAILED,
)


@unique
class Reason(StrEnum):
    """Why a stage is not COMPLETED; stable tokens."""

    NONE = ""
    ENTITY_RECOGNIZER_FAILED = "ENTITY_RECOGNIZER_FAILED"
    LANGUAGE_NOT_SUPPORTED = "LANGUAGE_NOT_SUPPORTED"
    EMBEDDING_MODEL_FAILED = "EMBEDDING_MODEL_FAILED"
    ENTAILMENT_MODEL_FAILED = "ENTAILMENT_MODEL_FAILED"
    ENTAILMENT_MODEL_NOT_CONFIGURED = "ENTAILMENT_MODEL_NOT_CONFIGURED"
    GROUNDING_MODEL_FAILED = "GROUNDING_MODEL_FAILED"
    GROUNDING_MODEL_NOT_CONFIGURED = "GROUNDING_MODEL_NOT_CONFIGURED"
    ATTRIBUTION_NOT_AVAILABLE = "ATTRIBUTION_NOT_AVAILABLE"
    UPSTREAM_NOT_COMPLETED = "UPSTREAM_NOT_COMPLETED"
    NO_FACTUAL_CLAIMS = "NO_FACTUAL_CLAIMS"
    NO_GROUNDED_CLAIMS = "NO_GROUNDED_CLAIMS"
    FEWER_THAN_TWO_CLAIMS = "FEWER_THAN_TWO_CLAIMS"
    NO_IMPORTANT_FACTS = "NO_IMPORTANT_FACTS"
    EMPTY_RESPONSE = "EMPTY_RESPONSE"
    EMPTY_ENVELOPE = "EMPTY_ENVELOPE"
    FIRST_WINDOW = "FIRST_WINDOW"
    NO_PRIOR_TEXT = "NO_PRIOR_TEXT"
    PRIOR_WINDOWS_MISSING = "PRIOR_WINDOWS_MISSING"
    PRIOR_IS_SUMMARY = "PRIOR_IS_SUMMARY"
    AI_SYSTEM_NOT_REGISTERED = "AI_SYSTEM_NOT_REGISTERED"
    PII_DETECTOR_FAILED = "PII_DETECTOR_FAILED"
    PII_DETECTOR_NOT_CONFIGURED = "PII_DETECTOR_NOT_CONFIGURED"
    PII_NOT_SEARCHED = "PII_NOT_SEARCHED"
    DEADLINE_TOO_SHORT = "DEADLINE_TOO_SHORT"
    NO_QUESTION = "NO_QUESTION"
    UNFINISHED_ANSWER = "UNFINISHED_ANSWER"


DETAILS: Final = {
    Reason.NONE: "",
    Reason.ENTITY_RECOGNIZER_FAILED: "The entity recogniser failed: names were not looked for, values were.",
    Reason.LANGUAGE_NOT_SUPPORTED: "Some of the text is in another language than English: it was not judged, only "
    "digits, addresses and forms of personal data were looked up.",
    Reason.EMBEDDING_MODEL_FAILED: "The embedding model failed.",
    Reason.ENTAILMENT_MODEL_FAILED: "The entailment model failed.",
    Reason.ENTAILMENT_MODEL_NOT_CONFIGURED: "No entailment model is configured: only rules over aligned words, values "
    "and names were applied, if any.",
    Reason.GROUNDING_MODEL_FAILED: "The grounding model failed: verdicts rest on quotations, values, contradictions.",
    Reason.GROUNDING_MODEL_NOT_CONFIGURED: "No grounding model is configured: verdicts rest on quotations, values and "
    "contradictions.",
    Reason.ATTRIBUTION_NOT_AVAILABLE: "Stage 2 gave no attribution to build on.",
    Reason.UPSTREAM_NOT_COMPLETED: "A stage before this one did not complete; the result rests on what ran.",
    Reason.NO_FACTUAL_CLAIMS: "The answer holds no factual claim.",
    Reason.NO_GROUNDED_CLAIMS: "No claim is CONTEXT_GROUNDED: there is no source to compare with.",
    Reason.FEWER_THAN_TWO_CLAIMS: "There are fewer than two factual claims.",
    Reason.NO_IMPORTANT_FACTS: "No fact of the envelope has an importance of 0.70 or more.",
    Reason.EMPTY_RESPONSE: "The answer holds no sentence.",
    Reason.EMPTY_ENVELOPE: "The envelope holds no fact.",
    Reason.FIRST_WINDOW: "There is no earlier window.",
    Reason.NO_PRIOR_TEXT: "The request gives no text of earlier windows.",
    Reason.PRIOR_WINDOWS_MISSING: "The text of some earlier window is not in the request.",
    Reason.PRIOR_IS_SUMMARY: "An earlier window is given as a summary, which does not show how it was worded.",
    Reason.AI_SYSTEM_NOT_REGISTERED: "The call names no registered AI system; nothing is guessed.",
    Reason.PII_DETECTOR_FAILED: "The search for personal data failed or ran out of its time: nothing is known of it.",
    Reason.PII_DETECTOR_NOT_CONFIGURED: "No detector of personal data is configured.",
    Reason.PII_NOT_SEARCHED: "The system's class depends on whether there is personal data, and stage 11 did not say.",
    Reason.DEADLINE_TOO_SHORT: "The caller's deadline left no time for it; the report says what was computed without.",
    Reason.NO_QUESTION: "No question was given: whether the answer answers it cannot be said.",
    Reason.UNFINISHED_ANSWER: "The answer is still being written: whether it answers its question is not asked yet.",
}
"""One sentence for people about each reason."""


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """How one stage ended; ``findings`` counts what it found."""

    stage: StageRow
    status: StageStatus
    reason: Reason = Reason.NONE
    findings: int = 0

    @property
    def key(self) -> StageKey:
        """The key of its stage."""
        return self.stage.key

    @property
    def detail(self) -> str:
        """One sentence for people."""
        return DETAILS[self.reason]


def worst(outcomes: "tuple[StageOutcome, ...] | list[StageOutcome]") -> StageOutcome:
    """Return the outcome with the gravest status; the first of equals."""
    return max(outcomes, key=lambda outcome: _SEVERITY.index(outcome.status))
