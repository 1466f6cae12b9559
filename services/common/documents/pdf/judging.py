"""Whether lines beside a strip of white are columns of text, a table, or neither."""

import itertools
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum, auto, unique
from typing import Final

from services.common.documents.pdf.lines import Piece, piece_of
from services.common.documents.pdf.words import Word

_MARK: Final = re.compile(
    r"(?:[-*\u2022\u25aa\u25cf\u25cb\u2023\u2013\u2014\u25e6\u00b7\uf0b7\uf0a7]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\]"
    r"|(?:\d{1,3}\.)+\d{0,3}|\ue000?[\d*\u2020\u2021a-z]\ue002?|\d{1,2})"
)
_FULL: Final = 0.72
_PROSE_CHARS: Final = 16
_PROSE_LINES: Final = 3
_PROSE_WORDS: Final = 3.0
_LONG_LINES: Final = 6
_MANY_LINES: Final = 12
"""A column of so many lines of text is no cell of a row beside it."""
_MOSTLY: Final = 0.6
_CLOSE_LINES: Final = 2.6
_SIMILAR: Final = 0.55
_FEW_ROWS: Final = 3
_SENTENCE_WORDS: Final = 3.5
_WIDE_EM: Final = 1.6
_SAME_HEIGHT: Final = 2.0
_NEXT_LINE: Final = 1.4
_ALIGNED_EM: Final = 0.6
_TITLE: Final = 1.08
_MUCH_WHITE: Final = 2.2
_HEAD_ROWS: Final = 3
_APART: Final = 0.6
_APART_TEXT: Final = 0.25
_BESIDE_APART: Final = 0.5
_LEVEL_EM: Final = 0.25
_LOOSE: Final = 1.4
"""Lines that stand further apart than 1.2 times this, in their size, belong to one cell in no table."""


@unique
class BandKind(Enum):
    """What a band is."""

    NOTHING = auto()
    COLUMNS = auto()
    TABLE = auto()


@dataclass(slots=True)
class Band:
    """Lines that strips of white divide.

    Attributes:
        first: number of its first line.
        last: number of its last line.
        cuts: where they divide.
        both: how many lines have text on both sides of the longest strip.
        apart: one of its columns is text that runs on where the others have ended.
    """

    rows: list[list[Piece]]
    first: int
    last: int
    cuts: tuple[float, ...]
    both: int
    apart: bool = False

    @property
    def columns(self) -> list[list[Piece]]:
        """The pieces between the cuts, from left to right."""
        columns: list[list[Piece]] = [[] for _ in range(len(self.cuts) + 1)]
        for row in self.rows:
            for piece in row:
                columns[column_of(piece, self.cuts)].append(piece)
        return columns


def column_of(piece: Piece, cuts: tuple[float, ...]) -> int:
    """Return the number of the column in which a piece's middle lies."""
    middle = (piece.left + piece.right) / 2
    return sum(cut < middle for cut in cuts)


def beside_text(band: Band) -> Band:
    """Return the band as its longest column of text and what stands beside a few lines of that column.

    A short table in the next column has strips of its own; they do not divide the text. A band whose columns are
    filled alike is given back as it is.
    """
    columns = band.columns
    longest = max(range(len(columns)), key=lambda at: len(columns[at]))
    text = columns[longest]
    rest = [piece for at, column in enumerate(columns) if at != longest for piece in column]
    if len(text) < _MANY_LINES or not rest or not _is_prose(text):
        return band
    top, bottom = min(piece.base for piece in rest), max(piece.base for piece in rest)
    outside = sum(not top - piece.size <= piece.base <= bottom + piece.size for piece in text)
    if outside < _MOSTLY * len(text) or not _is_out_of_step([text, rest]):
        return band
    near = {longest - 1, longest} & set(range(len(band.cuts)))
    return replace(band, cuts=tuple(band.cuts[at] for at in sorted(near)), apart=True)


def text_beside(band: Band) -> float | None:
    """Return where a column of text at the right or left is cut off that keeps no step with the rows beside it."""
    for cut in (band.cuts[-1], band.cuts[0]):
        pieces = [piece for row in band.rows for piece in row]
        sides = [[piece for piece in pieces if (piece.left < cut) is left] for left in (True, False)]
        text, rest = sides if cut == band.cuts[0] and cut != band.cuts[-1] else sides[::-1]
        text = _whole_lines(text)
        if min(len(text), len(rest)) < _PROSE_LINES or not _is_prose(text) or _is_prose(rest):
            continue
        levels = Counter(round(piece.base) for piece in rest)
        rows = sum(count > 1 for count in levels.values())
        if rows >= _PROSE_LINES and _apart_share(text, rest) >= _BESIDE_APART:
            return cut
    return None


def _whole_lines(pieces: list[Piece]) -> list[Piece]:
    """Return the lines of a column: words that are set to its width stand far apart."""
    lines: dict[float, list[Piece]] = {}
    for piece in pieces:
        lines.setdefault(round(piece.base, 1), []).append(piece)
    return [
        one[0] if len(one) == 1 or any(piece.whole is not None for piece in one) else piece_of(_words(one))
        for one in lines.values()
    ]


def _words(pieces: list[Piece]) -> list[Word]:
    return [word for piece in sorted(pieces, key=lambda one: one.left) for word in piece.words]


def _apart_share(text: list[Piece], rest: list[Piece]) -> float:
    """Return the share of lines of a text within the height of what stands beside it that are level with none there."""
    bases = sorted(piece.base for piece in rest)
    near = [piece for piece in text if bases[0] - piece.size < piece.base < bases[-1] + piece.size]
    if len(near) < _PROSE_LINES:
        return 0.0
    apart = 0
    for piece in near:
        at = bisect_left(bases, piece.base)
        apart += all(abs(base - piece.base) > _LEVEL_EM * piece.size for base in bases[max(at - 1, 0) : at + 1])
    return apart / len(near)


def judge(band: Band) -> BandKind:
    """Say what a band is."""
    columns = band.columns
    if all(_is_mark(piece) for piece in columns[0]):
        return BandKind.NOTHING
    prose = [_is_prose(column) for column in columns]
    whole = [all(piece.whole is not None for piece in column) for column in columns]
    if all(one or other for one, other in zip(prose, whole, strict=True)):
        return BandKind.TABLE if not any(whole) and _rows_agree(columns) else BandKind.COLUMNS
    if any(piece.whole is not None for column in columns for piece in column):
        return BandKind.COLUMNS if sum(prose) + sum(whole) >= 1 else BandKind.NOTHING
    if len(columns) == 2 and any(prose) and (_is_out_of_step(columns) or _is_last_of_text(columns, prose)):  # noqa: PLR2004
        return BandKind.COLUMNS
    if band.both < 2 or (band.both <= _FEW_ROWS and _runs_on(columns)):  # noqa: PLR2004
        return BandKind.NOTHING
    return BandKind.TABLE


def _is_last_of_text(columns: list[list[Piece]], prose: list[bool]) -> bool:
    """Say whether a full column of text stands beside the last few lines of it in the next one."""
    text, rest = (columns[0], columns[1]) if prose[0] else (columns[1], columns[0])
    if len(text) < _LONG_LINES or len(rest) > len(text) // 2 or not rest:
        return False
    words = sum(len(piece.words) for piece in rest) / len(rest)
    width = max(piece.right for piece in text) - min(piece.left for piece in text)
    other = max(piece.right for piece in rest) - min(piece.left for piece in rest)
    bases = sorted(piece.base for piece in rest)
    gaps = [after - before for before, after in itertools.pairwise(bases)]
    close = max(gaps, default=0.0) <= _CLOSE_LINES * rest[0].size
    return words >= _PROSE_WORDS and other >= _SIMILAR * width and close


def _runs_on(columns: list[list[Piece]]) -> bool:
    """Say whether few lines in columns are sentences with wide spaces rather than cells."""
    pieces = [piece for column in columns for piece in column]
    words = sum(len(piece.words) for piece in pieces) / max(len(pieces), 1)
    near = min(
        (right.left - left.right) / max(left.size, 1.0)
        for left in columns[0] or pieces[:1]
        for right in columns[1] or pieces[-1:]
    )
    return words >= _SENTENCE_WORDS and near < _WIDE_EM


def _is_mark(piece: Piece) -> bool:
    return piece.whole is None and len(piece.words) == 1 and _MARK.fullmatch(piece.text) is not None


def _is_prose(column: list[Piece]) -> bool:
    """Say whether lines run on: most of them fill their column, with several words each."""
    lines = [piece for piece in column if piece.whole is None]
    if len(lines) < _PROSE_LINES:
        return False
    left, right = min(piece.left for piece in lines), max(piece.right for piece in lines)
    width = max(right - left, 1.0)
    full = sum(piece.right - left >= _FULL * width for piece in lines)
    words = sum(len(piece.words) for piece in lines) / len(lines)
    chars = sum(len(piece.text) for piece in lines) / len(lines)
    return full >= 0.5 * len(lines) and words >= _PROSE_WORDS and chars >= _PROSE_CHARS


def _is_out_of_step(columns: list[list[Piece]]) -> bool:
    """Say whether the lines of two columns stand on different base lines more often than not."""
    smaller, larger = sorted(columns, key=len)
    bases = sorted(piece.base for piece in larger)
    apart = 0
    at = 0
    for piece in sorted(smaller, key=lambda piece: piece.base):
        while at + 1 < len(bases) and abs(bases[at + 1] - piece.base) <= abs(bases[at] - piece.base):
            at += 1
        apart += abs(bases[at] - piece.base) > 0.25 * piece.size
    return apart > (_APART_TEXT if _is_like_text(columns) else _APART) * len(smaller)


def _is_like_text(columns: list[list[Piece]]) -> bool:
    """Say whether both of two columns hold lines of several words and are about as wide: cells of a table keep step."""
    widths = [max(piece.right for piece in column) - min(piece.left for piece in column) for column in columns]
    words = [sum(len(piece.words) for piece in column) / len(column) for column in columns]
    return min(widths) >= _SIMILAR * max(widths) and min(words) >= _PROSE_WORDS


def _rows_agree(columns: list[list[Piece]]) -> bool:
    """Say whether blocks of lines begin at the same heights in all columns, after white: rows of long cells."""
    if any(_is_list(column) for column in columns):
        return False
    bases = [sorted({round(piece.base, 1) for piece in column}) for column in columns]
    usual = _leading(columns, bases)
    starts = [_starts(heights, usual) for heights in bases]
    first = starts[0]
    if len(first) < 3 or any(abs(len(other) - len(first)) > 0 for other in starts):  # noqa: PLR2004
        return False
    return all(abs(one - two) <= _SAME_HEIGHT for other in starts[1:] for one, two in zip(first, other, strict=True))


def _is_list(column: list[Piece]) -> bool:
    """Say whether blocks of lines begin with the marks of lists."""
    return sum(_MARK.fullmatch(piece.words[0].text) is not None for piece in column if piece.words) > len(column) // 4


def _starts(bases: list[float], usual: float) -> list[float]:
    """Return where blocks of lines begin: after more white than lies between the lines of one."""
    return [bases[index] for index in range(len(bases)) if index == 0 or bases[index] - bases[index - 1] > 1.2 * usual]


def _leading(columns: list[list[Piece]], bases: list[list[float]]) -> float:
    """Return how far lines of one cell stand apart: in a column whose cells have one line each there are none."""
    usual: list[float] = []
    for heights in bases:
        gaps = sorted(after - before for before, after in itertools.pairwise(heights))
        usual += gaps[len(gaps) // 3 : len(gaps) // 3 + 1]
    sizes = sorted(piece.size for column in columns for piece in column)
    return min([*usual, _LOOSE * sizes[len(sizes) // 2]])


def is_side_by_side(rows: list[list[Piece]], cuts: tuple[float, ...]) -> bool:
    """Say whether lines that one strip divides are two columns of text rather than the cells of a table."""
    columns = Band(rows, 0, len(rows) - 1, cuts, len(rows)).columns
    return len(columns) == 2 and all(map(_is_prose, columns)) and not _rows_agree(columns)  # noqa: PLR2004


def table_breaks(rows: list[list[Piece]]) -> tuple[list[int], list[int]]:
    """Return the numbers of lines at which another table, or what is none, begins, and those of headings alone."""
    gaps = [after[0].base - before[0].base for before, after in itertools.pairwise(rows)]
    usual = sorted(gaps)[len(gaps) // 2] if gaps else 0.0
    sizes = sorted(piece.size for row in rows for piece in row)
    size = sizes[len(sizes) // 2]
    cells = sorted(len(row) for row in rows)
    breaks: list[int] = []
    titles: list[int] = []
    for number, row in enumerate(rows):
        above = gaps[number - 1] if number else 0.0
        alone = len(row) == 1 and cells[len(cells) // 2] > 1
        title = alone and (row[0].size > _TITLE * size or (number > 0 and above > 1.45 * usual))
        if title:
            titles.append(number)
        if title or above > max(_MUCH_WHITE * usual, 2.0 * size):
            breaks.append(number)
        if title and number + 1 < len(rows):
            breaks.append(number + 1)
    return sorted({number for number in breaks if 0 < number < len(rows)}), titles


def are_sections(rows: list[list[Piece]], titles: list[int], columns: int) -> bool:
    """Say whether headings alone divide one table into groups: bold, at its left, below a bold head of all columns."""
    if not titles or not 0 < titles[0] <= _HEAD_ROWS or titles[-1] + 1 >= len(rows):
        return False
    head, left = rows[: titles[0]], min(piece.left for row in rows for piece in row)
    named = max(map(len, head)) >= max(columns, _HEAD_ROWS) and all(piece.bold for row in head for piece in row)
    apart = all(rows[at][0].bold and abs(rows[at][0].left - left) < rows[at][0].size for at in titles)
    plain = sum(row[0].bold for number, row in enumerate(rows[titles[0] :], titles[0]) if number not in set(titles))
    return named and apart and plain <= len(rows) // 4


def table_edges(rows: list[list[Piece]]) -> tuple[int, int]:
    """Return the first and last line of a table among lines that begin and end with single pieces."""
    several = [number for number, row in enumerate(rows) if len(row) > 1]
    if not several:
        return 0, len(rows) - 1
    first, last = several[0], several[-1]
    left = min(row[0].left for row in rows[first : last + 1])
    while last + 1 < len(rows) and _continues(rows[last], rows[last + 1][0], left):
        last += 1
    return first, last


def _continues(above: list[Piece], piece: Piece, left: float) -> bool:
    """Say whether a single piece goes on with a cell of the line above it: close below it, in its column.

    Names of rows begin at the left of the table: what is level with one begins a row, unless it goes on with a word.
    """
    if piece.base - above[0].base > _NEXT_LINE * piece.size:
        return False
    near = [abs(one.left - piece.left) < _ALIGNED_EM * piece.size for one in above]
    inner = above[0].left > left + piece.size
    return any(near[1:]) or (near[0] and (inner or len(above) == 1 or piece.text[:1].islower()))
