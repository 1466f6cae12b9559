"""Which row of a table has the least or the most of what a question asks for, or a claim speaks of (ADR 0216).

"Which plan is the cheapest?" asks about no cell by its words: the column of prices is compared. Nothing is said where a
cell of the column gives no amount, where a question sets another condition, or where two columns may be meant.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.text_types import Value
from services.dpe.domain.asked_places import Asked, AskedPlace, stems

_LEAST: Final = "cheapest|least expensive|lowest|smallest|shortest|fewest|least|earliest|soonest"
_MOST: Final = "dearest|most expensive|priciest|costliest|highest|largest|biggest|greatest|longest|most|latest"
_EXTREME: Final = re.compile(
    rf"\b(?P<price>cheapest|least expensive|dearest|most expensive|priciest|costliest)\b"
    rf"|\b(?:(?:{_LEAST})|(?:{_MOST}))\b",
    re.IGNORECASE,
)
_IS_LEAST: Final = re.compile(rf"(?:{_LEAST})", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\b(?:other|another|others|else|apart|besides|beside|after|second|third|next|except|but|not|than|both)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""A question with one of these asks for something else than the first of all."""
_TOTAL: Final = re.compile(
    r"\b(?:total|subtotal|sum|all|average|mean|overall|together|combined|median)\b", re.IGNORECASE
)
_SIGN: Final = re.compile(r"\s?[-+\u2212\u2013]")
_BEHIND: Final = 3
"""Words behind a superlative in which what is compared is called: "the highest monthly price"."""
_GENERIC: Final = frozenset(stems("has have with of comes offers gives option one price costs charge amount"))


@dataclass(frozen=True, slots=True)
class Compared:
    """The cells of one column, or of one row of a table with a column for each thing, that give an amount each.

    Attributes:
        names: what each is called: its row, or its column.
        places: the cells.
        least: the least is asked for, else the most.
        words: stems of the superlative.
    """

    names: tuple[str, ...]
    places: tuple[AskedPlace, ...]
    least: bool
    words: frozenset[str] = frozenset()

    @property
    def best(self) -> tuple[str, AskedPlace]:
        """The name and the cell of what is asked for."""
        ranked = sorted(zip(self.names, self.places, strict=True), key=lambda one: _amount(one[1]))
        return ranked[0 if self.least else -1]

    def holds(self, place: AskedPlace) -> bool:
        """Say whether a cell gives the amount of what is asked for."""
        return _amount(place) == _amount(self.best[1])


def compared(asked: Asked, *, is_claim: bool = False) -> Compared | None:
    """Return the cells that a question or a claim with a superlative compares, or ``None``.

    Args:
        asked: the question, or a claim as if it asked.
        is_claim: the text may name one of them; a question that does asks for the best of some.
    """
    said = _EXTREME.search(asked.text)
    if said is None or _OTHERS.search(asked.text):
        return None
    groups: dict[Hashable, list[tuple[str, str, AskedPlace]]] = defaultdict(list)
    for place in asked.places:
        if (cell := place.cell) is not None and not _TOTAL.search(f"{cell.label} {cell.head}"):
            groups[place.within, cell.column].append((cell.label, cell.head, place))
            groups[place.within, cell.label].append((cell.head, cell.label, place))
    meant = [
        (_named(group, asked), group) for group in groups.values() if _is_meant(group, asked, said, is_claim=is_claim)
    ]
    most = max((share for share, _ in meant), default=0)
    best = [group for share, group in meant if share == most]
    if len(best) != 1:
        return None
    names, places = tuple(name for name, _, _ in best[0]), tuple(place for _, _, place in best[0])
    return Compared(names, places, _IS_LEAST.fullmatch(said.group()) is not None, frozenset(stems(said.group())))


def names_extreme(text: str) -> bool:
    """Say whether a text calls something the least or the most."""
    return _EXTREME.search(text) is not None


def _named(group: Sequence[tuple[str, str, AskedPlace]], asked: Asked) -> int:
    """Return how many words of what its column is called a question has."""
    return len(frozenset(stems(group[0][1])) & asked.stems)


def _is_meant(
    group: Sequence[tuple[str, str, AskedPlace]], asked: Asked, said: re.Match[str], *, is_claim: bool
) -> bool:
    """Say whether each cell of a group gives one amount of one measure, and the question asks about nothing else."""
    values = [_one_value(place) for _, _, place in group]
    if len(group) < _FEWEST or None in values or len({(one.kind, one.unit) for one in values if one is not None}) != 1:
        return False
    called, first = group[0][1], group[0][2]
    is_price = bool(said["price"])
    if is_price and not all(one is not None and one.kind is EntityKind.MONEY for one in values):
        return False
    own = frozenset(stems(called))
    behind = frozenset(stems(" ".join(asked.text[said.end() :].split()[:_BEHIND])))
    if not (is_price or own & behind) or any(_SIGN.match(place.text) for _, _, place in group):
        return False
    heads = first.cell.heads[0] if first.cell is not None else ""
    known = own | first.around | frozenset(stems(f"{heads} {said.group()}")) | _GENERIC
    return asked.stems <= (known.union(*(stems(name) for name, _, _ in group)) if is_claim else known)


_FEWEST: Final = 2


def _one_value(place: AskedPlace) -> Value | None:
    return place.values[0] if len(place.values) == 1 and place.values[0].magnitude is not None else None


def _amount(place: AskedPlace) -> Decimal:
    return place.values[0].magnitude or Decimal(0)
