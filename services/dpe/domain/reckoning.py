"""What all reckoning over the values of facts shares: a result, what a place is worth, how a result is written."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.numerals import plain, rounds_to
from services.common.reading.places import Place
from services.common.reading.text_types import Value

_NUMERALS: Final = "".join(map(str, range(10))) + ".,' -"


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value that follows from others, or does not.

    Attributes:
        place: of the first value that it follows from.
        equal: it is the claim's value.
        text: how it follows, as "120 + 95 = 215".
        operands: all places that it follows from, the first one included where there are several.
    """

    place: Place
    equal: bool
    text: str
    operands: tuple[Place, ...] = ()


def worth(one: Place) -> Decimal:
    """Return the magnitude of a place's value; nothing is worth 0."""
    return one.value.magnitude or Decimal(0)


def is_worth(value: Value, wanted: Decimal | None, exact: Decimal) -> bool:
    """Say whether a claimed magnitude is the exact one, or rounds to it where it is said to be about so much."""
    return wanted is not None and (wanted == exact or (value.approximate and rounds_to(wanted, exact)))


def shown(value: Value, magnitude: Decimal) -> str:
    """Return a result as the claim writes its value: with the same unit."""
    if value.number and value.magnitude:
        number = plain((magnitude * value.number / value.magnitude).normalize())
        unit = value.unit if value.kind is EntityKind.MONEY else value.text.lstrip(_NUMERALS)
        return number if value.kind is EntityKind.NUMBER else f"{number} {unit}"
    return plain(magnitude)
