"""How far the running call has come, so that one whose time is up can say truly what was stored (ADR 0087).

Whoever writes says so: ``writing`` around a write, ``stored`` once what the call was for is stored for good. A write
that was refused has left nothing behind. Outside of a call (tools, background work) all of this does nothing.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum, unique
from typing import Final

from services.common.errors import (
    ConflictError,
    DeadlineError,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

_REFUSALS: Final = (
    ConflictError,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
"""Errors of a write that say that it was not made. Of one that is unavailable nobody knows."""


@unique
class Done(StrEnum):
    """What a call that broke off leaves behind."""

    NOTHING = "nothing"
    UNKNOWN = "unknown"
    STORED = "stored"


class Progress:
    """Of one call; belongs to the event loop."""

    __slots__ = ("_began", "_is_stored", "_writing", "_wrote", "counted", "stage", "total")

    def __init__(self) -> None:
        self.stage = ""
        self.counted = 0
        self.total = 0
        self._began = 0.0
        self._writing = 0
        self._wrote = False
        self._is_stored = False

    @property
    def done(self) -> Done:
        """What is known of what was written."""
        if self._is_stored:
            return Done.STORED
        return Done.UNKNOWN if self._writing or self._wrote else Done.NOTHING

    @property
    def seconds_left(self) -> float | None:
        """How long until all is counted, if it goes on as before; ``None`` while nobody knows."""
        if not self.counted or not self.total:
            return None
        return max(0.0, (self.total - self.counted) * (time.monotonic() - self._began) / self.counted)

    def count_to(self, total: int) -> None:
        """Note how much there is to do from now on."""
        self.counted, self.total, self._began = 0, total, time.monotonic()

    def count(self, done: int) -> None:
        """Note that so much more is done."""
        self.counted += done

    def begin(self) -> None:
        """Note that a write begins."""
        self._writing += 1

    def end(self, error: BaseException | None = None) -> None:
        """Note that a write came to its end, or to ``error``."""
        self._writing -= 1
        self._wrote = self._wrote or not _left_nothing(error)

    def store(self) -> None:
        """Note that what the call is for is stored."""
        self._is_stored = True


_current: ContextVar[Progress | None] = ContextVar("groundtrail_progress", default=None)


def open_progress() -> Progress:
    """Start the progress of the running task, and of what it starts."""
    progress = Progress()
    _current.set(progress)
    return progress


def current_progress() -> Progress | None:
    """Return the running call's; ``None`` outside of one."""
    return _current.get()


def at(stage: str) -> None:
    """Say what the call does from now on, in a word or two: a caller whose time is up is told."""
    if (progress := _current.get()) is not None:
        progress.stage = stage


def count_to(total: int) -> None:
    """Say how many items the call has to work through from now on."""
    if (progress := _current.get()) is not None:
        progress.count_to(total)


def counted(done: int) -> None:
    """Say that so many more of them are done."""
    if (progress := _current.get()) is not None:
        progress.count(done)


def stored() -> None:
    """Say that what the call is for is stored for good."""
    if (progress := _current.get()) is not None:
        progress.store()


@contextmanager
def writing() -> Iterator[None]:
    """Surround a write: from here on it may have been made, unless it is refused."""
    progress = _current.get()
    if progress is None:
        yield
        return
    progress.begin()
    try:
        yield
    except BaseException as error:
        progress.end(error)
        raise
    progress.end()


def _left_nothing(error: BaseException | None) -> bool:
    if isinstance(error, DeadlineError):
        return error.metadata.get("done") == Done.NOTHING
    return isinstance(error, _REFUSALS)
