"""What of a dispatch speaks to the model out of turn: the caller's own query, what envelopes hand on (ADR 0125).

The search is that of DetectInjection's first stage. Nothing is changed or refused here: a query belongs to its caller,
and whoever wants to refuse one asks DetectInjection before.
"""

from typing import Final

from services.common.computing import compute
from services.common.injection.searching import Found, find_injections
from services.gateway.domain.command import Notice

SUSPECTED_FROM: Final = 0.7
"""The page's threshold of detection."""


class Screening:
    """Searches queries and summaries; keeps nothing.

    Args:
        reports: whether callers are told of their own queries.
    """

    def __init__(self, *, reports: bool) -> None:
        self._reports = reports

    async def notices(self, query: str) -> tuple[Notice, ...]:
        """Return what the caller should know of the query; never its content."""
        if not self._reports:
            return ()
        found = await compute(find_injections, query)
        if found.score < SUSPECTED_FROM:
            return ()
        return (Notice("INJECTION_SUSPECTED", f"the query speaks to a model out of turn: {', '.join(_told(found))}"),)


async def is_suspected(text: str) -> bool:
    """Return whether a text that a model wrote gives orders to the next one (SPEC-004 §17.5)."""
    found = await compute(find_injections, text)
    return found.score >= SUSPECTED_FROM


def _told(found: Found) -> list[str]:
    return sorted({match.tells for match in found.matches if match.weight >= SUSPECTED_FROM})
