"""What a table gives for another band of an amount (SPEC-005 §5.3, NUMBER_CHANGED, ADR 0231).

"Age: 1 to 3 years; Single dose: 5 ml" and "Age: 4 to 6 years; Single dose: 7.5 ml": what a five-year-old gets stands in
the second row, though no cell names five. The row of a claim is the one whose cell holds an amount of the claim, or of
its question, where every other row of the table limits the same and does not hold it. A claim that gives what another
row has in a column, and nothing of its own row's, takes it from the wrong one. Sums of money by weight or age alone are
read by ``bands``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import comparable
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.dpe.domain.asked_places import Limit, limits_in
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.rows import Cell, Placed, changed_value, named_rows, placed_rows, values_of

_MIN_ROWS: Final = 2
_RECKONED: Final = re.compile(
    r"\b(?:total|altogether|together|twice|double|half|than|more|less|additional|extra|both|between|difference|if|unless"
    r"|not|never|no|or|respectively)\b|n['\u2019]t\b|[+=\u00d7]",
    re.IGNORECASE,
)
"""With one of these a value is not plainly that of one row."""


def changed_banded_row(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the value of another row than the one that holds the claim's amount, or ``None``."""
    given = claim.once(values_of)
    if not given or _RECKONED.search(claim.text):
        return None
    tables: dict[tuple[str, ...], list[Placed]] = defaultdict(list)
    for row, source in placed_rows(sources):
        tables[row.heads].append((row, source))
    for rows in tables.values():
        if len(rows) < _MIN_ROWS or named_rows(claim, rows):
            continue
        found = _row_of(given, rows) or _row_of(scan_values(claim.asked), rows)
        if found is None:
            continue
        (own, source), cases = found
        told = tuple(value for value in given if not any(value is case or comparable(value, case) for case in cases))
        changed = changed_value(claim, own, source, rows, sources, given=told)
        if changed is not None:
            return replace(changed, is_same=True)
    return None


def _row_of(values: Sequence[Value], rows: Sequence[Placed]) -> tuple[Placed, list[Value]] | None:
    """Return the one row that holds the amounts, and those that tell it; ``None`` where that cannot be told."""
    found: list[tuple[Placed, Value]] = []
    for limits in _columns(rows):
        for value in values:
            held = [limit.holds(value) for limit in limits] if _is_case(value) else []
            if held and None not in held and held.count(True) == 1:
                found.append((rows[held.index(True)], value))
    if len({row.name for (row, _), _ in found}) != 1:
        return None
    return found[0][0], [value for _, value in found]


def _is_case(value: Value) -> bool:
    """Say whether an amount may choose a row: sums and shares are what a row gives, and so is how often."""
    return bool(value.unit) and value.kind is EntityKind.QUANTITY and not value.per


def _columns(rows: Sequence[Placed]) -> Iterator[list[Limit]]:
    """Yield of each column of which every row limits something the limits, in the order of the rows."""
    for column in range(len(rows[0][0].cells)):
        limits = [limit for row, _ in rows if (limit := _limit(row.cells[column])) is not None]
        if len(limits) == len(rows):
            yield limits


def _limit(cell: Cell) -> Limit | None:
    values = [value for value in scan_values(cell.read) if value.start >= cell.said_at]
    found = list(limits_in(cell.read, 0, values))
    return found[0] if len(found) == 1 else None
