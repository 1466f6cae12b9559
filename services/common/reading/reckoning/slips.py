"""All slips of a text, in text order."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from services.common.reading.reckoning.days import wrong_days
from services.common.reading.reckoning.equals import unequal
from services.common.reading.reckoning.lines import MOST_VALUES, Line, Slip, lines_of, neighbours
from services.common.reading.reckoning.over_time import over_time
from services.common.reading.reckoning.parts import wrong_parts
from services.common.reading.reckoning.shares import wrong_shares
from services.common.reading.reckoning.written import wrong_equations

__all__ = ["MOST_CHARS", "slips", "slips_of"]

MOST_CHARS: Final = 100_000
"""No more of a text is reckoned with."""
_MOST: Final = 200


def slips(text: str) -> list[Slip]:
    """Return where the numbers, units and dates of a text do not add up, at most 200, by place; linear in the text."""
    return slips_of(lines_of(text[:MOST_CHARS]))


def slips_of(lines: Sequence[Line]) -> list[Slip]:
    """Return the slips of sentences that were read before; those with too many values are left alone."""
    lines = [each for each in lines if len(each.values) <= MOST_VALUES]
    befores = {second.start: first for first, second in neighbours(lines)}
    found = list(islice(wrong_days(lines), _MOST))
    for line in lines:
        if line.values:
            found += wrong_parts(line)
            found += wrong_shares(line)
            found += unequal(line, befores.get(line.start))
            found += over_time(line)
            found += wrong_equations(line)
    places = {(each.wrong.start, each.wrong.end): each for each in found}
    return [places[place] for place in sorted(places)][:_MOST]
