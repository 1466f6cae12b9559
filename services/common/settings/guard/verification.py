"""Settings of verified claims (Director-AI page, the VerifiedScorer)."""

from pydantic import BaseModel, ConfigDict, Field


class VerificationSettings(BaseModel):
    """Verified claims (``GROUNDTRAIL_GUARD__VERIFICATION__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_sources: int = Field(default=2_000, ge=1, le=20_000)
    """Most sources of one call. Default 2,000."""
