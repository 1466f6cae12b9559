"""A fixed tenth of what is long; all of it with GROUNDTRAIL_TEST_WHOLE=1 (``make test-faults``).

Which cases belong to the tenth is decided by the SHA-256 of the case's name: the same in every run and on every
machine, spread over all kinds of cases, and the same for a case that stays when others come and go. The end of every
run says how many of how many cases were run.

- ``@tenth_of(…)`` in place of ``pytest.mark.parametrize`` where every case is a test of its own,
- ``tenth(label, cases, name=…)`` where a test loops over cases,
- ``examples(n)`` for the number of examples that Hypothesis generates.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

VARIABLE: Final = "GROUNDTRAIL_TEST_WHOLE"
WHOLE: Final = os.environ.get(VARIABLE, "0") not in {"", "0"}
SHARE: Final = 10
LEAST_EXAMPLES: Final = 10
counts: Final[dict[str, tuple[int, int]]] = {}
"""By label: how many cases were taken, of how many."""

Case = TypeVar("Case")


def tenth(label: str, cases: Iterable[Case], *, name: Callable[[Case], str] = str) -> list[Case]:
    """Return the fixed tenth of the cases, at least one, or all of them when the whole is asked for."""
    every = list(cases)
    taken = every if WHOLE else [case for case in every if _place(label, name(case)) % SHARE == 0]
    taken = taken or sorted(every, key=lambda case: _place(label, name(case)))[:1]
    counts[label] = (len(taken), len(every))
    return taken


def examples(number: int) -> int:
    """Return how many examples to generate where ``number`` are generated when the whole is asked for."""
    return number if WHOLE else max(min(number, LEAST_EXAMPLES), number // SHARE)


def _place(label: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{label}\0{name}".encode()).digest()[:8])
