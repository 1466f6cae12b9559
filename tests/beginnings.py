"""Where each process of several begins to collect: at a place of its own, and goes round from there.

Whoever imports a file first compiles it, and in a new checkout that takes longer than all the rest of collecting. In
one order all processes would come to every file at once, and each would compile all of them. The tests are put in one
order when they are collected, since pytest-xdist asks for the same in every process.
"""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest


def begin_elsewhere(config: pytest.Config) -> None:
    """Have a worker collect the same from a place of its own on."""
    given = config.workerinput  # type: ignore[attr-defined]
    number, count = int(given["workerid"].removeprefix("gw")), given["workercount"]
    if all(Path(place).exists() for place in config.args):
        config.args = rotated([part for place in config.args for part in parts(Path(place))], number / count)


def parts(place: Path) -> list[str]:
    """Return the folders and files that a run of this place comes to, none of them within another."""
    below = sorted(place.iterdir()) if place.is_dir() else []
    folders = [one for one in below if one.is_dir() and next(one.rglob("test_*.py"), None)]
    if not folders:
        return [str(place)]
    files = [str(one) for one in below if one.match("test_*.py")]
    return [*files, *(part for folder in folders for part in parts(folder))]


def rotated(places: Sequence[str], share: float) -> list[str]:
    """Return the places in a ring, from the one on before which that share of their text lies."""
    before = [0, *accumulate(_size(Path(place)) for place in places)]
    first = next((at for at, size in enumerate(before[:-1]) if size >= share * before[-1]), 0)
    return [*places[first:], *places[:first]]


def put_in_order(items: list[pytest.Item]) -> None:
    """Sort tests by file as pytest comes to them by itself; within a file they stay as they are."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0].split("/"))


def _size(place: Path) -> int:
    return sum(one.stat().st_size for one in ([place] if place.is_file() else place.rglob("*.py")))
