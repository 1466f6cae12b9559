"""Settings of stream oversight (Director-AI page, D5); the defaults are the page's constants."""

from pydantic import BaseModel, ConfigDict, Field


class OversightSettings(BaseModel):
    """Oversight of token streams (``GROUNDTRAIL_GUARD__OVERSIGHT__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_streams: int = Field(default=500, ge=1, le=100_000)
    """Most streams that are open at a time; another is refused with QUEUE_FULL. Default 500."""
