"""Settings of what a credential may ask for in a minute (ADR 0164)."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class KeyLimits(BaseModel):
    """What one credential may ask for in a minute; 0 = without a limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_minute: int = Field(default=0, ge=0, le=10_000_000)
    """Checks over HTTP, chats in the modes check and observe, and calls of DispatchService, so many at once and spread
    over a minute; 0-10,000,000, default 0: no limit."""
    tokens_per_minute: int = Field(default=0, ge=0, le=10_000_000_000)
    """Tokens of language models, prompts and answers, in the same way: what a call took is known at its end, and the
    next one waits for it; 0-10,000,000,000, default 0: no limit."""


class LimitSettings(KeyLimits):
    """``GROUNDTRAIL_LIMITS__*``: of each credential by itself, in each process by itself."""

    of_keys: Mapping[str, KeyLimits] = {}
    """Instead of these, for single credentials, as a JSON object: the prefix of an API key (``crp_gw_<env>_`` and 8
    characters) or ``jwt:<subject>`` to {"requests_per_minute": 60, "tokens_per_minute": 100000}."""

    def of(self, scope: str) -> KeyLimits:
        """Return the limits of a credential."""
        return self.of_keys.get(scope, self)
