"""Bounds on processor time that hold on a slow machine: ``with processor_time_below(5.0): …``.

A second of processor holds less where two processes share a core's units, where the clock is low, and under the tracer
of coverage. So a fixed piece of work is timed before and after, and the bound is stretched as much as that took longer
than on the machine for which the bounds are written. What grows with the square of its input misses a bound by more.

What disturbs a clock is over a moment later; what is too slow is too slow each time. So a test that compares times is
marked ``@pytest.mark.timed``, and fails only when it failed three times, some seconds apart (``AGAIN``).
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

NOMINAL_S: Final = 0.03
"""Processor seconds that ``reference_s`` takes on the quiet machine for which bounds are written, at most."""
AGAIN: Final = pytest.mark.flaky(reruns=2, reruns_delay=2, reruns_delay_backoff_factor=2)
"""How often a timed test is tried again, and after how many seconds (pytest-rerunfailures)."""
_ROUNDS: Final = 6_000
_WORDS: Final = re.compile(r"[a-z]+(?= \d)")


def _step(number: int) -> int:
    return number % 7


def reference_s() -> float:
    """Return what a fixed piece of work takes: calls, patterns, numbers and tables, as a reader of text does them."""
    started = time.process_time()
    seen: dict[str, int] = {}
    for number in range(_ROUNDS):
        text = f"the fee for item {number} is {_step(number)} euros"
        for match in _WORDS.finditer(text):
            seen[match.group()] = seen.get(match.group(), 0) + _step(number)
    assert seen  # used, so that nothing can leave the work out
    return time.process_time() - started


def slowness() -> float:
    """Return how many times as long as on the nominal machine a piece of work takes here and now, 1 at least."""
    return max(1.0, reference_s() / NOMINAL_S)


@contextmanager
def processor_time_below(limit_s: float) -> Iterator[None]:
    """Fail when the body takes more processor seconds of this process than ``limit_s`` on the nominal machine.

    Raises:
        AssertionError: with the time, the bound and how much it was stretched.
    """
    before = slowness()
    started = time.process_time()
    yield
    spent = time.process_time() - started
    factor = max(before, slowness())
    assert spent < limit_s * factor, f"{spent:.2f} s of processor, allowed {limit_s:g} s * {factor:.2f}"
