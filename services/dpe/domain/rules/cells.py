"""What a cell of a table allows, charges or counts by (SPEC-005 §5.3, NEGATION_FLIP, ADR 0169).

A plan stands in the facts as "Benefit: Key replacement; Essential: Not covered; Plus: £600". A claim that names the row
and a column, and says that there is such a thing where the cell says that there is none, is contradicted; so is one
that denies what the cell has, that calls free what costs something, or the other way round. A row whose label names a
period ("Overdraft interest, per year") is turned by a claim that gives its value for another.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.polarity import is_negated
from services.common.reading.values import scan_values
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, asked_roots, roots
from services.dpe.domain.rules.rows import Cell, Placed, Row, named_rows, one_value, rows_of, values_of

_NONE: Final = re.compile(
    r"(?:no|none|never|excluded|not\s(?:covered|included|available|offered|allowed|provided|permitted|possible|applicable)"
    r"|no\s[\w\s]{1,40}?(?:offered|covered|available|included|provided|possible|allowed))",
    re.IGNORECASE,
)
_SOME: Final = re.compile(
    r"(?:yes|covered|included|available|offered|allowed|provided|permitted|unlimited)", re.IGNORECASE
)
_FREE: Final = re.compile(r"(?:free(?:\sof\scharge)?|no\s(?:charge|fee)|without\scharge)", re.IGNORECASE)
_OFFERS: Final = re.compile(
    r"\b(?:covers?|covered|includes?|included|available|offers?|offered|provides?|provided|allowed|permitted"
    r"|comes?\swith|gets?|has|have|entitled)\b",
    re.IGNORECASE,
)
"""How a claim says that there is something in a column."""
_CHARGES: Final = re.compile(r"\b(?:free|no\scharge|charged|costs?)\b", re.IGNORECASE)
_IS_FREE: Final = re.compile(r"\b(?:free|no\scharge)\b(?!\sof\b(?!\scharge))", re.IGNORECASE)
_SAYING: Final = re.compile(
    rf"{_OFFERS.pattern}|{_CHARGES.pattern}|\b(?:account|plan|policy|package|tariff|cover)\b", re.IGNORECASE
)
"""Words of a claim that a row and its heads need not hold."""
_EXCEPTIONS: Final = re.compile(r"\b(?:unless|except|only|if|when|after|before|until)\b", re.IGNORECASE)
"""A claim with a condition says less than what the cell has."""
_LIMITS: Final = re.compile(
    rf"{_EXCEPTIONS.pattern}|\b(?:at\s(?:least|most)|up\sto|more|less|fewer|under|over|above|below|from|between|about|around|some"
    r"|nearly|almost|maximum|minimum|and|or|all|any|every|always|never|both|neither)\b",
    re.IGNORECASE,
)
"""What makes of a value a bound, an estimate, or one of several."""
_PERIODS: Final = {
    "hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly",
}  # fmt: skip
_PER: Final = re.compile(
    r"\b(?:per|an?|each|every)\s(?P<word>hour|day|week|month|quarter|year|annum)\b"
    r"|\b(?P<ly>hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?)\b",
    re.IGNORECASE,
)


def changed_cell(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says yes to what a cell denies, no to what it has, or free of what costs, or ``None``."""
    read = _read(claim, sources)
    if read is None:
        return None
    for cell, known in read.cells:
        if known is not None and known != read.told:
            span, source = claim.span(*read.at), read.source
            return Departure(DistortionType.NEGATION_FLIP, Rule.ROW, span, source, source.span(*cell.place))
    return None


def is_in_cell(claim: Reading, sources: list[Reading]) -> bool:
    """Say whether a claim says what the cells of a row and of its columns say, and nothing besides."""
    if claim.once(values_of):
        return _gives_value_of_cell(claim, sources)
    read = _read(claim, sources)
    if read is None or not read.cells or any(known != read.told for _, known in read.cells):
        return False
    heads = (roots(cell.head) for cell, _ in read.cells)
    said = read.row.label.union(*heads, *(roots(each) for each in _SAYING.findall(claim.text)))
    return claim.content <= said


def _gives_value_of_cell(claim: Reading, sources: list[Reading]) -> bool:
    """Say whether a claim gives the value of a cell whose row and column it names, and says nothing besides."""
    given = claim.once(values_of)
    found = None if _LIMITS.search(claim.text) or is_negated(claim.text) else _own_row(claim, sources)
    if found is None:
        return False
    row, _ = found
    cells = _named_cells(claim, row)
    known = [one_value(cell) for cell in cells]
    if (
        not cells
        or len(cells) != len(given)
        or not all(value is not None and agrees(told, value) for told, value in zip(given, known, strict=True))
    ):
        return False
    heads = (roots(cell.head) for cell in cells)
    values = (roots(value.text) for value in given)
    return claim.content <= row.label.union(*heads, *values, *(roots(each) for each in _SAYING.findall(claim.text)))


def changed_period(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the period for which a claim gives what a row gives for another, or ``None``."""
    per = _PER.search(claim.text)
    given = claim.once(values_of) if per is not None else ()
    if per is None or not given:
        return None
    told = _period(per)
    for source in sources:
        for row in source.once(rows_of):
            label = row.cells[0]
            named = _PER.search(label.said)
            if named is None or _period(named) == told or _PER.search(claim.text, per.end()):
                continue
            rest = roots(f"{label.said[: named.start()]} {label.said[named.end() :]}")
            own = [value for cell in row.cells[1:] for value in scan_values(cell.read) if value.start >= cell.said_at]
            if rest and rest <= claim.content and any(agrees(value, other) for value in given for other in own):
                span = claim.span(per.start(), per.end())
                return Departure(DistortionType.NUMBER_CHANGED, Rule.ROW, span, source, source.span(*label.place))
    return _period_of_column(claim, told, per, sources)


def _period_of_column(claim: Reading, told: str, per: re.Match[str], sources: list[Reading]) -> Departure | None:
    """Return the period of the head of a column whose value a claim gives for another: "Interest per year: 17.4%".

    The claim, or what it answers, names a word of the head, and no other column has the value.
    """
    given, spoken = claim.once(values_of), claim.content | claim.once(asked_roots)
    for source in sources:
        for row in source.once(rows_of):
            cells = [
                (cell, known)
                for cell in row.cells[1:]
                if (known := one_value(cell)) is not None and any(agrees(replace(one, per=""), known) for one in given)
            ]
            named = _PER.search(cells[0][0].head) if len(cells) == 1 else None
            if named is None or _period(named) == told or not (row.label & spoken):
                continue
            rest = roots(_PER.sub(" ", cells[0][0].head))
            if rest & spoken:
                span = claim.span(per.start(), per.end())
                return Departure(DistortionType.NUMBER_CHANGED, Rule.ROW, span, source, source.span(*cells[0][0].place))
    return None


@dataclass(frozen=True, slots=True)
class _Read:
    """A claim about having or charging beside the row that it names.

    Attributes:
        told: whether it says that there is something, or that nothing is charged.
        at: the words that say so.
        cells: those of the columns that it names, with what each says of the same; ``None`` = it cannot be told.
    """

    told: bool
    at: tuple[int, int]
    row: Row
    source: Reading
    cells: list[tuple[Cell, bool | None]]


def _read(claim: Reading, sources: list[Reading]) -> _Read | None:
    """Return what a claim says of cells; ``None`` where it has a value or a condition, or says nothing of them."""
    charges = _CHARGES.search(claim.text)
    at = charges or _OFFERS.search(claim.text)
    if at is None or _EXCEPTIONS.search(claim.text):
        return None
    found = _own_row(claim, sources)
    if found is None or claim.once(values_of):
        return None
    row, source = found
    says = bool(_IS_FREE.search(claim.text)) if charges else True
    known = _is_free if charges else _is_there
    cells = [(cell, known(cell)) for cell in _named_cells(claim, row)]
    return _Read(says != is_negated(claim.text), at.span(), row, source, cells)


def _own_row(claim: Reading, sources: list[Reading]) -> Placed | None:
    """Return the one row that a claim names, or ``None``."""
    named = named_rows(claim, [(row, source) for source in sources for row in source.once(rows_of)])
    return named[0] if len({row.name for row, _ in named}) == 1 else None


def _named_cells(claim: Reading, row: Row) -> list[Cell]:
    """Return the cells in whose column a claim speaks: the head's words stand in it, and are none of the label's."""
    return [
        cell for cell in row.cells[1:] if (head := roots(cell.head)) and head <= claim.content and not head <= row.label
    ]


def _is_there(cell: Cell) -> bool | None:
    """Return whether a cell says that there is something; ``None`` where it cannot be told."""
    if _NONE.fullmatch(cell.said.strip()):
        return False
    return True if _SOME.fullmatch(cell.said.strip()) or scan_values(cell.read) else None


def _is_free(cell: Cell) -> bool | None:
    """Return whether a cell says that nothing is charged; ``None`` where it cannot be told."""
    if _FREE.fullmatch(cell.said.strip()):
        return True
    money = [value for value in scan_values(cell.read) if value.start >= cell.said_at]
    return False if money and not re.search(r"\bfree\b", cell.said, re.IGNORECASE) else None


def _period(match: re.Match[str]) -> str:
    word = (match["word"] or match["ly"]).lower()
    word = "yearly" if word in {"annum", "annual", "annually"} else word
    return _PERIODS.get(word, word)
