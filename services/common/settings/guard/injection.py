"""Settings of the search for prompt injection (Director-AI page, stages 1 and 2); the defaults are the page's."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class InjectionSettings(BaseModel):
    """The search for injection (``GROUNDTRAIL_GUARD__INJECTION__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: float = Field(default=0.7, ge=0.0, le=1.0)
    """Combined score from which an input is an injection where the request says nothing. Default 0.7."""
    drifted_threshold: float = Field(default=0.6, ge=0.0, le=1.0)
    """Calibrated divergence from which a claim has drifted from the intent. Default 0.6."""
    injected_threshold: float = Field(default=0.75, ge=0.0, le=1.0)
    """Calibrated divergence from which a claim was injected. Default 0.75."""
    traceability_floor: float = Field(default=0.15, ge=0.0, le=1.0)
    """A claim of which a smaller share of the content words stands in intent or input was injected; 0 = no floor.
    Default 0.15."""
    max_input_chars: int = Field(default=100_000, ge=1_000, le=1_000_000)
    """Longest input, in characters. Default 100,000."""
    max_intent_chars: int = Field(default=100_000, ge=1_000, le=1_000_000)
    """Longest intent, in characters; of one longer than an encoder reads, the sentences nearest to each claim count.
    Default 100,000."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.drifted_threshold > self.injected_threshold:
            raise ValueError("drifted_threshold must not be above injected_threshold")
        return self
