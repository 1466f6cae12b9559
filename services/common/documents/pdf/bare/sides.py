"""Things that stand side by side on the same lines: each is read by itself, not across."""

import itertools
import re
from bisect import bisect_left
from typing import Final

from services.common.documents.pdf.bare.cells import Line, value_columns
from services.common.documents.pdf.bare.grouping import clashes
from services.common.documents.pdf.bare.segments import Row, Strip, is_item
from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.lines import Piece

_LARGER: Final = 1.1
_LOOKED_AT: Final = 8
_MIN_LINES: Final = 2
_WHITE: Final = 2.2
_BEFORE_EM: Final = 0.7
_WIDER: Final = 1.8
_MAX_PAIRS: Final = 14
_APART_EM: Final = 2.0
_CLEAR_EM: Final = 1.2
_COLUMNS: Final = 1_000
_BESIDE: Final = 1.6
_MIN_BODY: Final = 3
_ALONE: Final = 0.5
_CELL_EM: Final = 1.6
_SAME_EM: Final = 0.25
_PAIRED: Final = 0.8
_LEVEL_EM: Final = 0.3
_TWO_PAIRS: Final = 4
_LABELLED: Final = re.compile(r"[^\W\d_][^:]{0,40}:\s\S")
_CODE_AND_TOWN: Final = re.compile(
    r"(?:[A-Z]{1,2}-)?\d{4,6}\s+[^\W\d_].*|.*\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|.*,\s[^\W\d_]+(?:\s[^\W\d_]+)?\s\d{5}"
)
_LEAST_RUNNING: Final = 3
_RUNNING_WORDS: Final = 4.5
_GOING_ON: Final = 0.5
"""Lines, words of a line and share of lines that begin in small letters, from which on a column is prose."""


def find_titled_sides(rows: list[Row]) -> tuple[int, int, tuple[float, ...]] | None:
    """Return first and last line of parts that have titles of their own on one line, and where they are cut."""
    for number, row in enumerate(rows[:-_MIN_LINES]):
        if len(row) < 2 or is_item(row) or any(piece.whole is not None for piece in row):  # noqa: PLR2004
            continue
        below = [piece for line in rows[number + 1 : number + 1 + _LOOKED_AT] for piece in line]
        sizes = sorted(piece.size for piece in below)
        if min(piece.size for piece in row) < _LARGER * sizes[len(sizes) // 2]:
            continue
        cuts = tuple(piece.left - _BEFORE_EM * piece.size for piece in row[1:])
        last = _end(rows, number, cuts)
        below_it = rows[number + 1 : last + 1]
        if last - number >= _MIN_LINES and _both_filled(below_it, cuts) and not _of_values(below_it, cuts):
            return number, last, cuts
    return None


def find_labelled(rows: list[Row]) -> list[tuple[int, int, tuple[float, ...]]]:
    """Return first and last line of labels with their values that stand beside each other, and where they are cut.

    ``Born: 12.04.1967    Ordered by: Dr. Ravn`` is no row: each piece says all of itself. Nor is a line of bold names
    with the value of each behind it.
    """
    found: list[tuple[int, int, tuple[float, ...]]] = []
    at = 0
    while at < len(rows):
        last = at
        step = 2 if _are_bold_names(rows[at]) else 1
        alike = _are_bold_names if step > 1 else _are_labelled
        while last < len(rows) and alike(rows[last]) and _is_level(rows[last], rows[at]):
            last += 1
        if last - at >= _MIN_LINES:
            cuts = tuple(piece.left - _BEFORE_EM * piece.size for piece in rows[at][step::step])
            found.append((at, last - 1, cuts))
        at = max(last, at + 1)
    return found


def _is_level(row: Row, first: Row) -> bool:
    """Say whether the pieces of two lines begin at the same places."""
    return len(row) == len(first) > 1 and all(
        abs(one.left - other.left) < _LEVEL_EM * one.size for one, other in zip(row, first, strict=True)
    )


def _are_labelled(row: Row) -> bool:
    return all(piece.whole is None and _LABELLED.match(piece.text) for piece in row)


def _are_bold_names(row: Row) -> bool:
    """Say whether a line is names and values in turn, the names bold and the values not, twice or more."""
    turns = len(row) >= _TWO_PAIRS and len(row) % 2 == 0
    return turns and all(
        piece.whole is None and piece.bold is (number % 2 == 0) and (number % 2 or not is_value(piece.text))
        for number, piece in enumerate(row)
    )


def _end(rows: list[Row], first: int, cuts: tuple[float, ...]) -> int:
    """Return the last line that no cut touches, up to more white than lies between the lines of one part."""
    last = first
    gaps: list[float] = []
    for number in range(first + 1, len(rows)):
        row = rows[number]
        if any(piece.left < cut < piece.right for piece in row for cut in cuts):
            break
        gap = row[0].base - rows[number - 1][0].base
        size = max(piece.size for piece in row)
        if len(gaps) > 1 and gap > _WHITE * max(sorted(gaps)[len(gaps) // 2], 1.2 * size):
            break
        gaps.append(max(gap, size))
        last = number
    return last


def _both_filled(rows: list[Row], cuts: tuple[float, ...]) -> bool:
    sides = {sum(cut < piece.left for cut in cuts) for row in rows for piece in row}
    return len(sides) == len(cuts) + 1


def _of_values(rows: list[Row], cuts: tuple[float, ...]) -> bool:
    """Say whether one of the parts holds values alone: they are those of the names beside them."""
    return any(all(is_value(piece.text) for piece in side) for side in split_at(rows, cuts))


def split_at(rows: list[Row], cuts: tuple[float, ...]) -> list[list[Piece]]:
    """Return the pieces of each side, in the order of their lines."""
    sides: list[list[Piece]] = [[] for _ in range(len(cuts) + 1)]
    for piece in itertools.chain.from_iterable(rows):
        sides[sum(cut < (piece.left + piece.right) / 2 for cut in cuts)].append(piece)
    return sides


def find_sides(lines: list[Line], strips: list[Strip], heads: int) -> tuple[float, ...]:
    """Return where lines are cut that several things share: pairs beside pairs, addresses, a note beside a table."""
    count = len(strips) + 1
    columns = [[line.text(column) for line in lines if column in line.cells] for column in range(count)]
    first = lines[0]
    led = len(first.cells) == count and all(first.text(column).endswith(":") for column in range(count))
    towns = sum(any(_CODE_AND_TOWN.fullmatch(text) for text in column) for column in columns)
    if led or towns > 1:
        return tuple(strip.middle for strip in strips)
    apart = _out_of_step(lines, strips) or (() if heads else _running(columns, strips))
    if apart:
        return apart
    if clashes(lines[heads:]):
        return _between(lines[heads:], strips) or _widest(lines, strips)
    ended = _ended(lines, strips, heads)
    if ended:
        return ended
    twins = _twins(lines, strips, heads)
    if twins:
        return twins
    noted = _note(lines, strips)
    return noted or (() if heads else _pairs(lines, strips, columns))


def _running(columns: list[list[str]], strips: list[Strip]) -> tuple[float, ...]:
    """Return where columns of prose are cut: lines of many words, in every one, that go on within a sentence."""
    return tuple(strip.middle for strip in strips) if all(map(_runs_on, columns)) else ()


def _runs_on(column: list[str]) -> bool:
    if len(column) < _LEAST_RUNNING or sum(len(text.split()) for text in column) < _RUNNING_WORDS * len(column):
        return False
    going_on = sum(text[:1].islower() for text in column[1:])
    return going_on >= _GOING_ON * (len(column) - 1)


def _between(lines: list[Line], strips: list[Strip]) -> tuple[float, ...]:
    """Return the widest strip on whose sides no lines overlap without being level: what clashes stands across it."""
    free = [
        strip
        for number, strip in enumerate(strips)
        if strip.right - strip.left >= _CLEAR_EM * lines[0].size
        and not any(clashes(side) for side in _halves(lines, number) if side)
    ]
    return (max(free, key=lambda one: one.right - one.left).middle,) if free else ()


def _halves(lines: list[Line], number: int) -> tuple[list[Line], list[Line]]:
    """Return the lines up to a strip and those behind it."""
    halves: tuple[list[Line], list[Line]] = ([], [])
    for line in lines:
        for half, side in enumerate((range(number + 1), range(number + 1, _COLUMNS))):
            cells = {column: pieces for column, pieces in line.cells.items() if column in side}
            if cells:
                base = next(iter(cells.values()))[0].base
                halves[half].append(Line(base, line.size, cells, {}, line.bold))
    return halves


def _ended(lines: list[Line], strips: list[Strip], heads: int) -> tuple[float, ...]:
    """Return where a table ends beside a longer one: both have heads and names, and much white lies between them.

    A row without a name is none, so that names which end before the last rows tell of two tables.
    """
    head = lines[: heads or 1]
    body = lines[heads or 1 :]
    if len(strips) < 2 or len(body) < _MIN_BODY:  # noqa: PLR2004
        return ()
    widths = [strip.right - strip.left for strip in strips]
    at = max(range(len(widths)), key=lambda number: widths[number])
    others = max(width for number, width in enumerate(widths) if number != at)
    if widths[at] < _BESIDE * others or at == len(strips) - 1:
        return ()
    sides = [[any((column <= at) is left for column in line.cells) for line in body] for left in (True, False)]
    ends = [max((number for number, filled in enumerate(side) if filled), default=-1) for side in sides]
    short, long = sorted(ends)
    names = [at + 1] if ends[0] == short else [0]
    named = all(name in line.cells for name in (0, at + 1) for line in body[: short + 1]) and all(
        name in line.cells for name in names for line in body[short + 1 :]
    )
    values = value_columns(body, len(strips) + 1)
    names_of = [[line.text(column) for line in head if column in line.cells] for column in range(len(strips) + 1)]
    headed = all(texts and not any(map(is_value, texts)) for texts in names_of)
    if short == long or short < 1 or not named or not headed or {0, at + 1} & values:
        return ()
    return (strips[at].middle,)


def _twins(lines: list[Line], strips: list[Strip], heads: int) -> tuple[float, ...]:
    """Return where two tables with the same names of columns stand beside each other, each with names of its rows."""
    count = len(strips) + 1
    half = count // 2
    head, body = lines[heads - 1 if heads else 0], lines[heads or 1 :]
    if count % 2 or half < 2 or len(body) < _MIN_BODY or len(head.cells) < count or head.spans:  # noqa: PLR2004
        return ()
    names = [head.text(column) for column in range(count)]
    values = value_columns(body, count)
    if names[1:half] != names[half + 1 :] or {0, half} & values or len(values) < count - 2:
        return ()
    return (strips[half - 1].middle,)


def _widest(lines: list[Line], strips: list[Strip]) -> tuple[float, ...]:
    """Return the widest strip when it is wide enough to stand between two things."""
    strip = max(strips, key=lambda one: one.right - one.left)
    return (strip.middle,) if strip.right - strip.left >= _APART_EM * lines[0].size else ()


def _note(lines: list[Line], strips: list[Strip]) -> tuple[float, ...]:
    """Return where a note at the right is cut off, which stands out from a head by its weight."""
    last = len(strips)
    head = lines[0]
    if last < 2 or last not in head.cells or last in value_columns(lines, last + 1):  # noqa: PLR2004
        return ()
    others = [piece for column, pieces in head.cells.items() if column != last for piece in pieces]
    plain = not any(piece.bold for piece in head.cells[last]) and not all(line.bold for line in lines[1:3])
    below = [
        piece.bold for line in lines[1:] for column, pieces in line.cells.items() if column != last for piece in pieces
    ]
    marked = all(piece.bold for piece in others) and sum(below) < len(below) / 4
    return (strips[-1].middle,) if plain and len(others) >= last and marked else ()


def _pairs(lines: list[Line], strips: list[Strip], columns: list[list[str]]) -> tuple[float, ...]:
    """Return where names with their values stand beside something else: behind much more white than within them."""
    if not 2 <= len(strips) <= 5 or len(lines) > _MAX_PAIRS:  # noqa: PLR2004
        return ()
    widths = [strip.right - strip.left for strip in strips]
    at = max(range(len(widths)), key=lambda number: widths[number])
    if at + 1 > len(strips) - 1 or widths[at] < _WIDER * max(
        width for number, width in enumerate(widths) if number != at
    ):
        return ()
    values = value_columns(lines, len(columns))
    names = [at + 1] if at == 0 else [0, at + 1]
    if any(name in values for name in names) or len(strips) - at > 2 or at > 1:  # noqa: PLR2004
        return ()
    for name in names:
        named = [line for line in lines if name in line.cells]
        if len(named) < 2 or sum(name + 1 in line.cells for line in named) < _PAIRED * len(named):  # noqa: PLR2004
            return ()
    return (strips[at].middle,)


def _out_of_step(lines: list[Line], strips: list[Strip]) -> tuple[float, ...]:
    """Return the widest strip on whose sides most lines stand at heights of their own, level with none beside them."""
    best: tuple[float, ...] = ()
    widest = 0.0
    for number, strip in enumerate(strips):
        left = [line for line in lines if any(column <= number for column in line.cells)]
        right = [line for line in lines if any(column > number for column in line.cells)]
        few, many = sorted((left, right), key=len)
        width = strip.right - strip.left
        if len(few) < _MIN_LINES or width < max(widest, _APART_EM * lines[0].size):
            continue
        level = {id(line) for line in many}
        bases = sorted(line.base for line in many)
        alone = sum(id(line) not in level and not _is_between(line, bases) for line in few)
        if alone > _ALONE * len(few):
            best, widest = (strip.middle,), width
    return best


def _is_between(line: Line, bases: list[float]) -> bool:
    """Say whether a line stands in the middle of two beside it that are one cell's."""
    at = bisect_left(bases, line.base)
    if not 0 < at < len(bases):
        return False
    above, below = line.base - bases[at - 1], bases[at] - line.base
    return above + below < _CELL_EM * line.size and abs(above - below) < _SAME_EM * line.size
