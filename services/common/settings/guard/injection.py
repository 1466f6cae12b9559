"""Settings of the search for prompt injection (Director-AI page, stages 1 and 2)."""

from pydantic import BaseModel, ConfigDict, Field


class InjectionSettings(BaseModel):
    """The search for injection (``GROUNDTRAIL_GUARD__INJECTION__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: float = Field(default=0.7, ge=0.0, le=1.0)
    """Combined score from which an input is an injection where the request says nothing. Default 0.7."""
