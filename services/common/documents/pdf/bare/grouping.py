"""Which lines of a table make one row: by rules, by white, or by what goes on with the cells above it."""

import itertools
from typing import Final

from services.common.documents.pdf.bare.cells import Line
from services.common.documents.pdf.heads import is_value

_OVERLAP_EM: Final = 0.8
_LEVEL_EM: Final = 0.3
_SHIFTED_EM: Final = 0.5
"""A power in a cell may push its line so far down against those beside it."""
_JUMP: Final = 1.05
_CLEAR: Final = 1.12
_MOST: Final = 2.4
_WRONG: Final = 0.2
_TIGHT: Final = 1.45
_SAME: Final = 1.06


def group_lines(lines: list[Line], values: set[int], rules: list[float]) -> list[list[Line]]:
    """Return the rows of a table's body, each with its lines.

    Args:
        lines: of the body.
        values: numbers of the columns that hold values.
        rules: where level rules cross the table.
    """
    if not lines:
        return []
    bands = _bands(lines)
    gaps = [two[0].base - one[-1].base for one, two in itertools.pairwise(bands)]
    divided = [any(one[-1].base < at < two[0].base for at in rules) for one, two in itertools.pairwise(bands)]
    if sum(divided) >= max(2, 0.3 * len(divided)) and len(bands) < len(lines) + 1 and _hold(bands, divided, values):
        return _joined(bands, [not one for one in divided])
    limit = _limit(bands, gaps, divided, values)
    joins = [not cut and gap <= limit for gap, cut in zip(gaps, divided, strict=True)]
    if not any(joins):
        joins = _continued(bands, gaps, divided, values)
    return _joined(bands, joins)


def _bands(lines: list[Line]) -> list[list[Line]]:
    """Return lines with those that stand beside them, half a line lower: cells that are set level with their middle."""
    bands: list[list[Line]] = [[lines[0]]]
    for before, line in itertools.pairwise(lines):
        if line.base - before.base < _OVERLAP_EM * min(line.size, before.size):
            bands[-1].append(line)
        else:
            bands.append([line])
    return bands


def clashes(lines: list[Line]) -> bool:
    """Say whether lines overlap whose cells are level neither at their top nor in their middle: no row has such."""
    for band in _bands(lines):
        if len(band) < 2:  # noqa: PLR2004
            continue
        heights: dict[int, list[float]] = {}
        for line in band:
            for column in line.cells:
                heights.setdefault(column, []).append(line.base)
        power = any(word.shift for line in band for piece in line.pieces for word in piece.words)
        near = (_SHIFTED_EM if power else _LEVEL_EM) * band[0].size
        tops = [min(found) for found in heights.values()]
        middles = [(min(found) + max(found)) / 2 for found in heights.values()]
        if max(tops) - min(tops) > near and max(middles) - min(middles) > near:
            return True
    return False


def _joined(bands: list[list[Line]], joins: list[bool]) -> list[list[Line]]:
    rows = [list(bands[0])]
    for band, join in zip(bands[1:], joins, strict=True):
        if join:
            rows[-1] += band
        else:
            rows.append(list(band))
    return rows


def _filled(band: list[Line]) -> set[int]:
    return {column for line in band for column in line.cells}


def _hold(bands: list[list[Line]], divided: list[bool], values: set[int]) -> bool:
    """Say whether the rows between rules have one value each in the columns of values."""
    for row in _joined(bands, [not one for one in divided]):
        for column in values:
            if sum(is_number(line.text(column)) for line in row) > 1:
                return False
    return True


def is_number(text: str) -> bool:
    """Say whether a cell holds a value without any letter."""
    return is_value(text) and not any(map(str.isalpha, text))


def _limit(bands: list[list[Line]], gaps: list[float], divided: list[bool], values: set[int]) -> float:
    """Return up to which distance lines are of one row: the first clear step in the distances that holds; else 0."""
    near = sorted(gap for gap, cut in zip(gaps, divided, strict=True) if not cut)
    if not near:
        return 0.0
    for one, two in itertools.pairwise(near):
        if two > _MOST * near[0]:
            break
        if two > _JUMP * one and _is_row_step(bands, gaps, (one + two) / 2, values, clear=two > _CLEAR * one):
            return (one + two) / 2
    return 0.0


def _is_row_step(bands: list[list[Line]], gaps: list[float], limit: float, values: set[int], *, clear: bool) -> bool:
    """Say whether lines closer than this go on with the cells above, rather than stand in rows of their own.

    A line without a name below one with a name may hold what the row has no cell for yet: amounts on its last line.
    """
    joined = wrong = 0
    row: set[int] = set(_filled(bands[0]))
    everything = set().union(*map(_filled, bands))
    for number, gap in enumerate(gaps, start=1):
        here = _filled(bands[number])
        if gap > limit:
            row = set(here)
            continue
        joined += 1
        again = any(
            column in values and any(is_number(line.text(column)) for line in bands[number]) for column in here & row
        )
        whole = len(here) == len(everything) or (len(here) == len(row) > 1 and not here - row)
        if again:
            return False
        added = bool(here - row) and not (clear and 0 in row - here)
        wrong += (whole and not (clear and _are_small(bands[number]))) or added
        row |= here
    return joined > 0 and wrong <= (_WRONG * joined if clear else 0)


def _are_small(band: list[Line]) -> bool:
    """Say whether all cells of a line begin with a small letter: each goes on with the one above."""
    return all(line.text(column)[:1].islower() for line in band for column in line.cells)


def _continued(bands: list[list[Line]], gaps: list[float], divided: list[bool], values: set[int]) -> list[bool]:
    """Say of each line but the first whether it goes on with the row above by what it holds."""
    closest = min(gaps, default=0.0)
    whole = _whole_rows(bands, values)
    joins: list[bool] = []
    row = set(_filled(bands[0]))
    for number, gap in enumerate(gaps, start=1):
        band = bands[number]
        here = _filled(band)
        size = band[0].size
        near = not divided[number - 1] and gap <= _SAME * closest
        close = near and (gap <= _TIGHT * size or (whole and len(here) == 1 and 0 not in here))
        join = close and _goes_on(bands[number - 1], row, band, here, values)
        joins.append(join)
        row = row | here if join else set(here)
    return joins


def _whole_rows(bands: list[list[Line]], values: set[int]) -> bool:
    """Say whether each line that names a row holds all its values: one without name and value begins none."""
    named = [here for here in map(_filled, bands) if 0 in here]
    return len(values) > 1 and len(named) > 1 and all(values <= here for here in named)


def _goes_on(before: list[Line], row: set[int], band: list[Line], here: set[int], values: set[int]) -> bool:
    if before[0].bold != band[0].bold or any(line.spans for line in (*before, *band)):
        return False
    first = band[0].text(0)
    small = first[:1].islower() or first[:1] in set("(&+/")
    if row == {0} and 0 in here and len(here) > 1:
        return small  # a name over two lines whose values stand on the second
    if here - row:
        return False
    if any(column in values and is_value(line.text(column)) for line in band for column in here if column):
        return False
    if 0 not in here:
        return len(here) < max(len(row), 2)
    return small and len(here) < len(row)
