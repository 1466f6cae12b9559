"""Where a new window hangs: its parents, its pattern, and which abandoned windows give way to it (SPEC-004 §5-§7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.common.errors import ErrorReason, UnauthenticatedError
from services.common.ports.sessions import WindowPattern, WindowRecord
from services.common.taxonomy import WindowStatus


@dataclass(frozen=True, slots=True)
class NewWindow:
    """The impure values of one step.

    Attributes:
        pending_lifetime: after which a pending window counts as abandoned.
    """

    window_id: str
    now: datetime
    pending_lifetime: timedelta

    def is_abandoned(self, window: WindowRecord) -> bool:
        """Say whether the window was opened so long ago that nobody will commit it any more."""
        return window.status is WindowStatus.PENDING and self.now >= window.timestamp + self.pending_lifetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where the window hangs.

    Attributes:
        parents: committed windows, sorted by id.
        abandoned: pending windows that fail with this step.
        left_out: ids of the failed or ended windows that a partial fan-in goes without, sorted.
    """

    parents: tuple[WindowRecord, ...]
    pattern: WindowPattern
    abandoned: tuple[WindowRecord, ...] = ()
    left_out: tuple[str, ...] = ()


def spent(window: WindowRecord) -> UnauthenticatedError:
    """Return the TOKEN_SPENT error; ``window`` is the one that the leaf was continued with (ADR 0009)."""
    text = "the session token's window was already continued; use the latest token or start a new session"
    return UnauthenticatedError(ErrorReason.TOKEN_SPENT, text, retry_after_s=0, window_id=window.window_id)


def give_way(children: Iterable[WindowRecord], fresh: NewWindow) -> tuple[WindowRecord, ...]:
    """Return the abandoned ones among a leaf's living children; any other child means that the leaf was continued.

    Raises:
        UnauthenticatedError: TOKEN_SPENT.
    """
    living = tuple(children)
    for window in living:
        if not fresh.is_abandoned(window):
            raise spent(window)
    return living
