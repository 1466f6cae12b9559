"""A fixed tenth of what is long; all of it with GROUNDTRAIL_TEST_WHOLE=1 (``make test-faults``).

Which cases belong to the tenth is decided by the SHA-256 of the case's name: the same in every run and on every
machine, spread over all kinds of cases, and the same for a case that stays when others come and go. The end of every
run says how many of how many cases were run.

- ``@pytest.mark.whole`` for one long story that has no cases: ``make test-faults`` alone runs it,
- ``@pytest.mark.tenth`` where every case is a test of its own; whoever names one case on the command line gets it;
  ``share=40`` takes one of forty where a tenth takes half a minute,
- ``tenth(label, cases, name=…)`` where a test loops over cases; ``@pytest.mark.tenth(inside=True)`` has it run whole in
  ``make test-faults``,
- ``examples(n)`` for the number of examples that Hypothesis generates.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import pytest

VARIABLE: Final = "GROUNDTRAIL_TEST_WHOLE"
WHOLE: Final = os.environ.get(VARIABLE, "0") not in {"", "0"}
SHARE: Final = 10
LEAST_EXAMPLES: Final = 6
counts: Final[dict[str, tuple[int, int]]] = {}
"""By label: how many cases were taken, of how many."""

STORIES: Final = "long stories"
Case = TypeVar("Case")


def tenth(label: str, cases: Iterable[Case], *, name: Callable[[Case], str] = str, share: int = SHARE) -> list[Case]:
    """Return the fixed tenth of the cases, at least one, or all of them when the whole is asked for.

    Args:
        label: names the cases in the last lines of a run.
        cases: all of them.
        name: by which the hash decides.
        share: one of how many is taken; more than ten where even a tenth takes half a minute.
    """
    every = list(cases)
    taken = every if WHOLE else _chosen(label, every, name, share)
    counts[label] = (len(taken), len(every))
    return taken


def tenth_of_tests(items: Sequence[pytest.Item], *, named: bool = False) -> list[pytest.Item]:
    """Return the tests to leave out: long stories, and of every function that is marked all but a tenth of its cases.

    Args:
        items: what was collected.
        named: whether the command line names tests: then a long story is run, too.
    """
    stories = [] if named else [item for item in items if item.get_closest_marker("whole")]
    if stories:
        counts[STORIES] = (len(stories) if WHOLE else 0, len(stories))
    left_out = [] if WHOLE else stories
    cases: dict[str, list[pytest.Item]] = {}
    shares: dict[str, int] = {}
    for item in items:
        mark = item.get_closest_marker("tenth")
        if mark and not mark.kwargs.get("inside"):
            label = item.nodeid.partition("[")[0]
            cases.setdefault(label, []).append(item)
            shares[label] = mark.kwargs.get("share", SHARE)
    for label, every in cases.items():
        if len(every) == 1:
            continue  # it loops over its cases itself
        taken = set(tenth(label, every, name=lambda item: item.nodeid, share=shares[label]))
        left_out += [item for item in every if item not in taken]
    return left_out


def examples(number: int, least: int = LEAST_EXAMPLES, *, share: int = SHARE) -> int:
    """Return how many examples to generate where ``number`` are generated when the whole is asked for.

    Args:
        number: of the whole.
        least: what is generated at any rate; less than six where one example takes a tenth of a second.
        share: one of how many is generated; more than ten where a tenth takes seconds.
    """
    return number if WHOLE else max(min(number, least), number // share)


def _chosen(label: str, every: Sequence[Case], name: Callable[[Case], str], share: int = SHARE) -> list[Case]:
    by_place = sorted(every, key=lambda case: _place(label, name(case)))
    return [case for case in every if _place(label, name(case)) % share == 0] or by_place[:1]


def _place(label: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{label}\0{name}".encode()).digest()[:8])
