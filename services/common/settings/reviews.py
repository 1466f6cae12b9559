"""Settings of the queue of answers that wait for a person (ADR 0148)."""

from pydantic import BaseModel, ConfigDict, Field


class ReviewSettings(BaseModel):
    """``GROUNDTRAIL_REVIEWS__*``: how long held answers wait, and who may decide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    expiry_s: int = Field(default=86_400, ge=1, le=2_592_000)
    """Seconds that a held answer waits for a decision; undecided it stays withheld. 1-2592000, default one day."""

    author_may_decide: bool = False
    """Whether the credential that asked for an answer may decide about it; for a deployment of one person. Default
    false: REVIEWER_IS_AUTHOR."""

    max_waiting: int = Field(default=64, ge=0, le=10_000)
    """Callers that may wait for a decision at once, in this process; a further one is answered at once. 0-10000."""

    poll_interval_s: float = Field(default=0.5, gt=0.0, le=60.0)
    """Seconds between two looks of a waiting caller for what another process decided; up to 60. What this process
    decides is told at once."""

    notify: dict[str, str] = {}
    """Groups of ``reports.groups`` that are told of every answer that begins to wait, by tenant; a JSON object. ``*``
    is for every tenant that has none of its own. Default: nobody is told."""
