"""How much of the caller's time is left, and keeping a part of it back from a step that may fail."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace

from services.common.context import current_call, set_current_call


def left_s() -> float | None:
    """Return the seconds until the running call's deadline; ``None`` when it has none."""
    deadline = current_call().deadline
    return None if deadline is None else deadline - asyncio.get_running_loop().time()


@contextlib.contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Let what runs inside see a deadline of at most ``seconds`` from now; ``None`` changes nothing."""
    if seconds is None:
        yield
        return
    call = current_call()
    until = asyncio.get_running_loop().time() + seconds
    deadline = until if call.deadline is None else min(until, call.deadline)
    set_current_call(replace(call, deadline=deadline))
    try:
        yield
    finally:
        set_current_call(call)
