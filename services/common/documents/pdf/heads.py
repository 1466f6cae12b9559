"""Which rows of a table name its columns and which columns name its rows, by weight, ground and kind of content."""

import itertools
import re
from typing import Final

_VALUE: Final = re.compile(r"^[\W_]*\d[\d\s.,:/\u2013\u2212+%()\u2019'-]*(?:[\W_]|[^\W\d_]{1,6}\b)*$")
_MISSING: Final = frozenset({"-", "\u2013", "\u2014", "\u2212", "n/a", "N/A", "..", "...", "\u2026"})
_GOES_ON: Final = (" to", " and", " or", " bis", " und", " \u00e0", " et")
"""What ends so names a range that the next line ends."""
_SHORT_CHARS: Final = 48
_MAX_HEAD_ROWS: Final = 4


def is_value(text: str) -> bool:
    """Say whether a cell holds a number, an amount or a date rather than words."""
    known = len(text) <= _SHORT_CHARS and bool(_VALUE.match(text)) and not text.endswith(_GOES_ON)
    return known or text in _MISSING


def count_header_rows(rows: list[list[str]], marked: list[bool], spans_down: dict[int, int]) -> int:
    """Return how many rows at the top name the columns.

    Args:
        rows: texts of the cells.
        marked: of each row, whether it stands out by weight or ground.
        spans_down: last row that a cell beginning in a row covers, where that is more than one.
    """
    if len(rows) < 2:  # noqa: PLR2004
        return 0
    if _is_section(rows[0]):
        if any(map(_is_section, rows[1:])):
            return 0
        below = {row - 1: last - 1 for row, last in spans_down.items() if row}
        return 1 + count_header_rows(rows[1:], marked[1:], below)
    head = _count_marked(rows, marked)
    if head == len(rows) - 1 and marked[-1]:
        head = 0
    if head == 0 and _reads_as_head(rows):
        head = 1
    if head:
        for row in range(head):
            head = max(head, min(spans_down.get(row, 0) + 1, len(rows) - 1))
        if head == 1 and _has_repeats(rows[0]) and len(rows) > 2 and not any(map(is_value, rows[1])):  # noqa: PLR2004
            head = 2
    return head


def _count_marked(rows: list[list[str]], marked: list[bool]) -> int:
    """Return how many rows at the top stand out, up to the first of several that head those below them."""
    head = 0
    while head < min(len(rows) - 1, _MAX_HEAD_ROWS) and marked[head]:
        if head and _is_section(rows[head]) and any(map(_is_section, rows[head + 1 :])):
            break
        head += 1
    return head


def _is_section(row: list[str]) -> bool:
    """Say whether one cell covers a whole row: a title, or a heading of the rows below it."""
    return len(row) > 1 and bool(row[0]) and len(set(row)) == 1


def _reads_as_head(rows: list[list[str]]) -> bool:
    first, body = rows[0], rows[1:]
    filled = [text for text in first if text]
    if len(filled) < 2 or len(filled) < len(first) - 1 or any(len(text) > _SHORT_CHARS for text in filled):  # noqa: PLR2004
        return False
    if any(text.endswith((".", ":", ";")) and not text.endswith("No.") for text in filled):
        return False
    numbers = [
        column
        for column in range(len(first))
        if sum(is_value(row[column]) for row in body) >= 0.6 * max(sum(bool(row[column]) for row in body), 1)
    ]
    if numbers:
        years = all(re.fullmatch(r"(?:19|20)\d\d", first[column]) for column in numbers)
        return years or not any(is_value(first[column]) for column in numbers)
    return len(first) > 2 and not any(map(is_value, filled))  # noqa: PLR2004


def _has_repeats(row: list[str]) -> bool:
    return any(one and one == other for one, other in itertools.pairwise(row))


def count_header_columns(rows: list[list[str]], bold: list[list[bool]], head: int) -> int:
    """Return 1 when the first column names the rows."""
    body = rows[head:]
    if not body or len(body[0]) < 2:  # noqa: PLR2004
        return 0
    if len(rows) == 1:
        return int(bool(rows[0][0]))
    first = [row[0] for row in body if row[0]]
    if not first:
        return 0
    if all(bold[head + index][0] for index in range(len(body)) if body[index][0]) and not all(
        bold[head + index][1] for index in range(len(body)) if body[index][1]
    ):
        return 1
    if len(first) == len(body) > 2 and len(set(first)) == len(first):  # noqa: PLR2004
        return int(max(map(len, first)) <= 2 * _SHORT_CHARS)
    words = sum(not is_value(text) for text in first)
    return int(words >= 0.6 * len(first) and len(first) >= 0.5 * len(body) and max(map(len, first)) <= 2 * _SHORT_CHARS)
