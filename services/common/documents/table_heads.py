"""Which rows and columns of a grid name the others, where the format does not say.

A head names; it does not count: its cells are words, and what stands below them is of another kind, or looks otherwise.
Nothing is taken for a head that has figures in more than one cell, since a row of data would be lost as one.
"""

import re
from collections.abc import Sequence
from typing import Final

MAX_HEADER_ROWS: Final = 4
_PAIR: Final = 2
_HEAD_CHARS: Final = 120
_LOOKED_AT_ROWS: Final = 200
"""So many rows tell what a column holds."""
_FIGURE: Final = re.compile(
    r"[\s(<>~≈±+\-\u2212\u2013$€£¥]*(?:[A-Z]{2,3}\s)?\d[\d.,:/'\u2019\s\u00a0\u202f-]*(?:e[+-]?\d+)?"
    r"[\s)]*(?:%|‰|°|[$€£¥]|[^\W\d_]{1,4}[²³]?|[^\W\d_]{1,3}/[^\W\d_]{1,3})?[\s)*†‡]*",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?:(?:19|20|21)\d\d|Q[1-4](?:\s(?:19|20)\d\d)?)")
_UNIT: Final = re.compile(
    r"[\[(]?(?:%|‰|°[CF]?|[$€£¥]|[kTM]?(?:EUR|USD|GBP|CHF)|(?:EUR|USD|GBP|CHF|€|[$£]) ?m(?:io|n)?\.?|[µmckh]?m[²³23]?"
    r"|[mµkn]?g|t|[mhc]?l|dl|h|s|ms|min|[kMGT]?Wh?|kVA|[mk]?V|m?A|[kMG]?Hz|m?bar|[kMh]?Pa|K|ha|mm ?Hg|kcal|k?J"
    r"|[mµn]?mol|pcs?|m\^[23]|[µmk]?(?:g|mol)?/(?:m[²³]?|d?l|h|s|d)|(?:km|m|l|m[²³]|kWh)/(?:h|s|d|a|min)|[kMG]?bit/s|(?:EUR|€|USD|[$£])/.{1,5}"
    r"|n|no\.?|yyyy-mm-dd|per ?cent|minutes?|days?|weeks?|months?|hours?|years?|pieces?|persons?|FTE)[\])]?",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\[[^\[\]]{1,16}\]|\([^()\d][^()]{0,15}\)")
"""In a row of its own below names it can be nothing but a unit, whatever it measures."""
_UNIT_CHARS: Final = 12
_EMPTY: Final = frozenset({"", "-", "\u2013", "\u2014", "n/a", "na", "."})

Grid = Sequence[Sequence[str]]


def is_figure(cell: str) -> bool:
    """Say whether a cell counts, measures, dates or times something."""
    return bool(_FIGURE.fullmatch(cell))


def header_rows_of(rows: Grid, spanned: frozenset[tuple[int, int]] = frozenset(), strong: Sequence[bool] = ()) -> int:
    """Return how many rows at the top name the columns.

    Args:
        rows: the grid, merged cells repeated.
        spanned: positions that repeat a cell which begins elsewhere.
        strong: rows that look otherwise than the others, as bold ones; empty where nothing is known.
    """
    if len(rows) < 2:  # noqa: PLR2004 - a head and what it names
        return 0
    leading = next((index for index, row in enumerate(strong) if not row), len(strong))
    marked = leading if leading < len(rows) and leading <= MAX_HEADER_ROWS and not _counts(rows[0]) else 0
    if not marked and not _names(rows[0]):
        return 0
    end = _end_of_spans(rows, spanned)
    named = end < len(rows) and all(_names(rows[index], gaps=True) for index in range(1, end))
    count = max(marked, end if named else 1)
    if count < len(rows) - 1 and (_are_units(rows[count]) or _go_on(rows, count)):
        return count + 1
    if marked or count > 1 or _differs(rows, count) or _looks_like_names(rows, count):
        return count
    return 0


def are_pairs(rows: Grid, strong: Sequence[bool] = ()) -> bool:
    """Say whether each row of two cells, the first as well, is a name and what is said of it: no row names columns.

    Args:
        rows: the grid.
        strong: rows that look otherwise than the others; empty where nothing is known.
    """
    if not rows or len(rows[0]) != _PAIR or any(strong[:1]):
        return False
    said = rows[0][1]
    years = _YEAR.fullmatch(said) is not None
    small = said[:1].islower() and rows[0][0][:1].isupper()
    return small or (any(map(str.isdigit, said)) and not years) or not _differs(rows, 1)


def _end_of_spans(rows: Grid, spanned: frozenset[tuple[int, int]]) -> int:
    """Return how many rows the merged cells of the first one need: their own heads stand below them."""
    end = 1
    across = any((0, column) in spanned and rows[0][column] for column in range(1, len(rows[0])))
    if across:
        end = 2
    while end < min(len(rows), MAX_HEADER_ROWS) and any(
        (end, column) in spanned and rows[end][column] == rows[0][column] for column in range(len(rows[0]))
    ):
        end += 1
        if not across:
            break
    return end


def header_columns_of(rows: Grid, header_rows: int, spanned: frozenset[tuple[int, int]] = frozenset()) -> int:
    """Return how many columns at the left name the rows: the first one or two, when they tell the rows apart."""
    body = rows[header_rows:]
    if not body or len(body[0]) < 2:  # noqa: PLR2004 - a name and what is said of it
        return 0
    first = [row[0] for row in body]
    figures = sum(map(is_figure, first))
    if not all(first) or figures > len(first) / 2:
        return 0
    if len(set(first)) == len(first):
        return 1
    merged = any((index, 0) in spanned for index in range(header_rows, len(rows)))
    pairs = [(row[0], row[1]) for row in body]
    if merged and len(body[0]) > 2 and all(second for _, second in pairs) and len(set(pairs)) == len(pairs):  # noqa: PLR2004
        return 2
    return 1 if merged else 0


def _names(row: Sequence[str], *, gaps: bool = False) -> bool:
    """Say whether a row could name columns: words, of which at most the first is missing."""
    filled = [cell for cell in row if cell]
    if len(filled) < (1 if gaps else min(2, len(row))) or any(len(cell) > _HEAD_CHARS for cell in filled):
        return False
    if not gaps and not all(row[1:]) and len(filled) < len(row) * 0.6:
        return False
    return not _counts(row)


def _counts(row: Sequence[str]) -> bool:
    figures = [cell for cell in row if is_figure(cell)]
    years = [cell for cell in figures if _YEAR.fullmatch(cell)]
    if years and len(years) == len(figures):
        # Years may head columns; where the cell before them is a figure too, they are data.
        return bool(row) and is_figure(row[0]) and len(row) > len(years)
    return bool(figures)


def _are_units(row: Sequence[str]) -> bool:
    filled = [cell for cell in row if cell not in _EMPTY]
    return bool(filled) and all(map(_is_unit, filled))


def _go_on(rows: Grid, count: int) -> bool:
    """Say whether a row below the heads goes on with them: units below names, and names where none stood above.

    Its first cell is blank though the rows below have names there; what is no unit that is known measures figures.
    """
    row, above = rows[count], rows[count - 1]
    body = rows[count + 1 : count + 1 + _LOOKED_AT_ROWS]
    if row[0] or 2 * sum(bool(one[0]) for one in body) <= len(body) or not _has_unit(row):
        return False
    for column, cell in enumerate(row):
        if cell in _EMPTY or _is_unit(cell):
            continue
        counted = [one[column] for one in body if one[column] not in _EMPTY]
        measures = len(cell) <= _UNIT_CHARS and " " not in cell and bool(counted) and all(map(is_figure, counted))
        if is_figure(cell) or len(cell) > _HEAD_CHARS or not (measures or not above[column]):
            return False
    return True


def _has_unit(row: Sequence[str]) -> bool:
    return any(cell not in _EMPTY and _is_unit(cell) for cell in row)


def _is_unit(cell: str) -> bool:
    return bool(_UNIT.fullmatch(cell) or _BRACKETED.fullmatch(cell))


def _differs(rows: Grid, count: int) -> bool:
    """Say whether some column holds figures below a head that is none."""
    body = rows[count : count + _LOOKED_AT_ROWS]
    for column in range(len(rows[0])):
        cells = [row[column] for row in body if row[column] not in _EMPTY]
        if cells and sum(map(is_figure, cells)) > len(cells) / 2:
            return True
    return False


def _looks_like_names(rows: Grid, count: int) -> bool:
    """Say whether the first row of a table of words alone reads like names: short, all different, none a sentence."""
    head = rows[count - 1]
    filled = [cell for cell in head if cell]
    if len(set(filled)) < len(filled) or any(cell.endswith((".", "!", "?")) and " " in cell for cell in filled):
        return False
    body = [cell for row in rows[count : count + _LOOKED_AT_ROWS] for cell in row if cell]
    if not body or any(cell in set(body) for cell in filled):
        return False
    return sum(map(len, filled)) / len(filled) <= max(24.0, sum(map(len, body)) / len(body))
