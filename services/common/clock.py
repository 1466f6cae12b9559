"""Time as a dependency, so that tests and vectors can fix it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Gives the present moment."""

    def now(self) -> datetime:
        """Return the present moment, timezone-aware UTC, microsecond resolution."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(tz=UTC)
