"""What stands before and behind a fact in its section (SPEC-003 §5.2 step 1.3, ADR 0110).

A fact is a sentence or two, an answer often a paragraph or a list. Community expansion brings what is alike; this
brings what is adjacent, whatever its words.
"""

from collections.abc import Collection, Iterable
from itertools import zip_longest

from services.envelope.domain.outlines import Standing


def nearest_first(standing: Standing) -> tuple[str, ...]:
    """Return the neighbours of a fact; what stands before comes ahead of what stands behind at the same distance."""
    pairs = zip_longest(standing.previous, standing.next)
    return tuple(fact_id for pair in pairs for fact_id in pair if fact_id is not None)


def added(neighbours: Iterable[Iterable[str]], known: Collection[str], most: int) -> tuple[str, ...]:
    """Return the neighbours that are not known yet, those of the best fact first, each once, at most ``most``."""
    fresh = dict.fromkeys(fact_id for each in neighbours for fact_id in each if fact_id not in known)
    return tuple(fresh)[:most]
