"""Settings of coherence scores (Director-AI page, D1 to D4); the defaults are the page's constants."""

from math import isclose
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_WEIGHT_TOLERANCE: Final = 1e-9


class CoherenceSettings(BaseModel):
    """Coherence scores (``GROUNDTRAIL_GUARD__COHERENCE__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    logical_weight: float = Field(default=0.6, ge=0.0, le=1.0)
    """Weight of the divergence of answer and prompt, W_LOGIC. Default 0.6."""
    factual_weight: float = Field(default=0.4, ge=0.0, le=1.0)
    """Weight of the divergence of answer and facts, W_FACT; the two sum to 1.0. Default 0.4."""
    threshold: float = Field(default=0.6, ge=0.0, le=1.0)
    """Coherence from which an answer is approved where the request says nothing. Default 0.6."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        total = self.logical_weight + self.factual_weight
        if not isclose(total, 1.0, abs_tol=_WEIGHT_TOLERANCE):
            raise ValueError(f"logical_weight and factual_weight must sum to 1.0, not to {total}")
        return self
