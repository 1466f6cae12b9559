"""What a model wrote, and what it was called for (SPEC-004 §12.4, -005 §19.3)."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class CallPurpose(StrEnum):
    """What a model was called for."""

    ANSWER = "ANSWER"
    RE_DISPATCH = "RE_DISPATCH"
    SUMMARY = "SUMMARY"
    STITCH = "STITCH"
    PLAN = "PLAN"
    """A decision which tools to call."""

    @property
    def billed(self) -> bool:
        """Whether the call is billed: a summary is the protocol's overhead (SPEC-004 §12.4)."""
        return self is not CallPurpose.SUMMARY


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote; counts are ``None`` where the provider did not say."""

    text: str
    finish_reason: str
    model_fingerprint: str
    response_tokens: int
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call, as it counts toward the session's token usage; counts are ``None`` where the provider did not say."""

    purpose: CallPurpose
    window_id: str
    model_fingerprint: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @classmethod
    def of(cls, purpose: CallPurpose, window_id: str, written: Completion) -> "ModelCall":
        """Return the call that wrote a text."""
        return cls(purpose, window_id, written.model_fingerprint, written.prompt_tokens, written.completion_tokens)
