"""What stands before and behind a fact in its section (SPEC-003 §5.2 step 1.3, ADR 0110).

A fact is a sentence or two, an answer often a paragraph or a list. Community expansion brings what is alike; this
brings what is adjacent, whatever its words.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OrderedFact:
    """A fact of a source in reading order; facts of one section have equal ``section``."""

    fact_id: str
    section: str


def adjacent(outline: Sequence[OrderedFact], wanted: Collection[str], each_side: int) -> dict[str, tuple[str, ...]]:
    """Return for each wanted fact of a source the facts of its section around it, the nearest first.

    Linear in the outline. What stands before comes ahead of what stands behind at the same distance.

    Args:
        outline: all facts of the source in reading order.
        wanted: facts whose neighbours are asked for; those that the outline lacks are left out.
        each_side: most facts before, and most facts behind.
    """
    found: dict[str, tuple[str, ...]] = {}
    for place, fact in enumerate(outline):
        if fact.fact_id in wanted:
            places = (place + side * step for step in range(1, each_side + 1) for side in (-1, 1))
            found[fact.fact_id] = tuple(
                outline[other].fact_id
                for other in places
                if 0 <= other < len(outline) and _unbroken(outline, place, other)
            )
    return found


def _unbroken(outline: Sequence[OrderedFact], place: int, other: int) -> bool:
    """Say whether everything from one place to the other is of one section."""
    between = outline[min(place, other) : max(place, other) + 1]
    return all(fact.section == outline[place].section for fact in between)


def added(neighbours: Iterable[Iterable[str]], known: Collection[str], most: int) -> tuple[str, ...]:
    """Return the neighbours that are not known yet, those of the best fact first, each once, at most ``most``."""
    fresh = dict.fromkeys(fact_id for each in neighbours for fact_id in each if fact_id not in known)
    return tuple(fresh)[:most]
