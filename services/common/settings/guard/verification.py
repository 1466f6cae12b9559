"""Settings of verified claims (Director-AI page, VerifiedScorer): limits and thresholds (ADR 0127, 0229)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class VerificationSettings(BaseModel):
    """Verified claims (``GROUNDTRAIL_GUARD__VERIFICATION__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_sources: int = Field(default=2_000, ge=1, le=20_000)
    """Most sources of one call. Default 2,000."""
    max_source_chars: int = Field(default=1_000_000, ge=1_000, le=20_000_000)
    """Most characters of all sources of one call together. Default 1,000,000."""
    max_batch_texts: int = Field(default=200, ge=1, le=2_000)
    """Most texts of one batch. Default 200."""
    max_batch_chars: int = Field(default=20_000_000, ge=1_000, le=1_000_000_000)
    """Most characters of the sources times texts of one batch: each text is held against all of them. Default
    20,000,000."""
    overlap_supports: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of a claim's names from which on the entity signal supports it (the page). Default 0.5."""
    overlap_contradicts: float = Field(default=0.2, ge=0.0, le=1.0)
    """Share below which it contradicts it (the page); at most ``overlap_supports``. Default 0.2."""
    traceable: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of a claim's content words from which on the traceability signal supports it (the page). Default 0.5."""
    untraceable: float = Field(default=0.2, ge=0.0, le=1.0)
    """Share below which it finds no trace (the page); at most ``traceable``. Default 0.2."""
    min_confidence: float = Field(default=0.4, ge=0.0, le=1.0)
    """Confidence below which a claim is UNVERIFIABLE (the page). Default 0.4."""
    rule_confidence: float = Field(default=0.9, gt=0.5, le=1.0)
    """Confidence in a contradiction that an exact rule finds, more than one half. Default 0.9."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.overlap_contradicts > self.overlap_supports:
            raise ValueError("overlap_contradicts must not be above overlap_supports")
        if self.untraceable > self.traceable:
            raise ValueError("untraceable must not be above traceable")
        return self
