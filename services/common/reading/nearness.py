"""How near words stand to a value: in its own stretch, in its sentence or row, in a heading, elsewhere (ADR 0094)."""

from collections.abc import Mapping
from typing import Final

from services.common.reading.places import Place

_IN_STRETCH: Final = 1.0
_BEFORE: Final = 0.95
"""In an earlier stretch of the sentence: "300 ml of water in summer and 150 ml in winter" is of water twice."""
_IN_SENTENCE: Final = 0.6
_IN_ROW: Final = 0.4
"""In another cell of the row, which is neither its label nor the head of the column."""
_IN_HEADING: Final = 0.6
_IN_FACT: Final = 0.1


def said_of(weights: Mapping[str, float], place: Place) -> float:
    """Return how much of some weighed words is said of a place."""
    found = 0.0
    for term, weight in weights.items():
        if term in place.stretch:
            found += weight * _IN_STRETCH
        elif term in place.before:
            found += weight * _BEFORE
        elif term in place.sentence:
            found += weight * (_IN_ROW if place.in_table else _IN_SENTENCE)
        elif term in place.heading:
            found += weight * _IN_HEADING
        elif term in place.whole:
            found += weight * _IN_FACT
    return found
