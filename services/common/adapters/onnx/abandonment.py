"""Ending a batch that nobody waits for any more while a model computes it (ADR 0087).

The batcher knows who waits, the session knows how to end a run; between them stands the thread that computes.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: "ContextVar[Abandonment | None]" = ContextVar("groundtrail_abandonment", default=None)


class AbandonedError(Exception):
    """Nobody waits for the batch; it was not computed to its end."""


class Abandonment:
    """Of one batch; asked for on the event loop, heeded in the thread that computes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self.asked = False

    def ask(self) -> None:
        """End the batch, or have it never begin."""
        with self._lock:
            self.asked = True
            if self._end is not None:
                self._end()

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Let what is computed inside be ended.

        Raises:
            AbandonedError: it was asked for before anything began.
        """
        if self.asked:
            raise AbandonedError
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def guard(self, end: Callable[[], None] | None) -> None:
        """Say how to end what runs now; ``None`` when it has ended by itself."""
        with self._lock:
            self._end = end
            if end is not None and self.asked:
                end()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Have ``end`` called, from any thread, when nobody waits any more for what is computed inside."""
    abandonment = _current.get()
    if abandonment is None:
        yield
        return
    abandonment.guard(end)
    try:
        yield
    finally:
        abandonment.guard(None)
