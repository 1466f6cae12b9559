"""Settings of the second reading: which encoders read again what the first ones leave open (ADR 0206)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class SecondReadingSettings(BaseModel):
    """``GROUNDTRAIL_INFERENCE__SECOND_READING__*``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grounding_model: str | None = Field(default=None, min_length=1)
    """Name of the grounding model that judges again what the first leaves open, e.g. a larger one that `groundtrail
    models add` made; ``None`` = nothing is judged again."""
    low: float = Field(default=0.05, ge=0.0, le=1.0)
    """From this support by the first model up to ``high`` a claim is judged again. 0-1, default 0.05."""
    high: float = Field(default=0.95, ge=0.0, le=1.0)
    """Below this support by the first model a claim is judged again. 0-1, default 0.95."""
    entailment_model: str | None = Field(default=None, min_length=1)
    """Name of the entailment model that reads again the pairs which the first does not call neutral; ``None`` = none
    is read again."""
    neutral_below: float = Field(default=0.9, gt=0.0, le=1.0)
    """A pair is read again when the first model's probability of neutral is below this. Above 0 up to 1, default
    0.9."""

    @model_validator(mode="after")
    def _low_before_high(self) -> Self:
        if self.low >= self.high:
            msg = f"low is {self.low}, high is {self.high}: low must be below high"
            raise ValueError(msg)
        return self
