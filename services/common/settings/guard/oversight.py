"""Settings of stream oversight (Director-AI page, D5); the defaults are the page's constants."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class OversightSettings(BaseModel):
    """Oversight of token streams (``GROUNDTRAIL_GUARD__OVERSIGHT__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_streams: int = Field(default=500, ge=1, le=100_000)
    """Most streams that are open at a time; another is refused with QUEUE_FULL. Default 500."""
    max_streams_per_tenant: int = Field(default=500, ge=1, le=100_000)
    """The same of one tenant; at most ``max_streams``. Default 500."""
    hard_limit: float = Field(default=0.5, ge=0.0, le=1.0)
    """Coherence below which a stream halts where its start says nothing, as do the next six. Default 0.5."""
    window_tokens: int = Field(default=10, ge=1, le=10_000)
    """Tokens of the sliding window. Default 10."""
    window_threshold: float = Field(default=0.55, ge=0.0, le=1.0)
    """Mean over the window below which it halts. Default 0.55."""
    trend_window_tokens: int = Field(default=5, ge=2, le=10_000)
    """Tokens that the trend is fitted over. Default 5."""
    trend_threshold: float = Field(default=0.15, ge=0.0, le=1.0)
    """Drop of the fitted line above which it halts. Default 0.15."""
    soft_limit: float = Field(default=0.6, ge=0.0, le=1.0)
    """Coherence below which a token is warned about. Default 0.6."""
    soft_halt_cap_tokens: int = Field(default=50, ge=0, le=1_000)
    """Most tokens after a soft halt was decided. Default 50."""
    score_timeout_s: float = Field(default=10.0, gt=0, le=600)
    """How long a token waits for the score of a sentence; then the stream halts with CALLBACK_TIMEOUT. Default 10."""
    linger_s: float = Field(default=5.0, gt=0, le=60)
    """How long a call goes on reading once its stream is halted, until its client has done, in seconds. Default 5."""
    scored_at_once: int = Field(default=16, ge=1, le=1_024)
    """Sentences that are scored at a time, over all streams; the others wait. Default 16."""
    read_ahead_tokens: int = Field(default=256, ge=1, le=10_000)
    """Tokens of a stream that are read while a score is awaited; then the sender waits. Default 256."""
    max_facts: int = Field(default=200, ge=1, le=2_000)
    """Most facts of one stream. Default 200."""
    max_facts_chars: int = Field(default=200_000, ge=1_000, le=10_000_000)
    """Most characters of prompt and facts together; they are kept while the stream lasts. Default 200,000."""
    resume_s: float = Field(default=60.0, ge=0, le=3_600)
    """How long a resumable stream is kept once its connection broke, in seconds. Default 60."""
    max_held_streams: int = Field(default=500, ge=0, le=100_000)
    """Most streams that are kept without a connection; the one that was lost first goes. Default 500."""
    replay_events: int = Field(default=2_048, ge=16, le=100_000)
    """Events of a resumable stream that can be sent again: those that came last. Default 2,048."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_streams_per_tenant > self.max_streams:
            raise ValueError("max_streams_per_tenant is larger than max_streams")
        return self
