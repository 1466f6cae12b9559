"""From words to pieces of lines: words that stand on one line with no wide gap between them.

Superscripts and subscripts are known by their size and baseline, and put on the line of the word beside them.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Box, Table
from services.common.documents.pdf.frame import joined_box
from services.common.documents.pdf.words import Word

SUPERSCRIPT: Final = "\ue000"
SUBSCRIPT: Final = "\ue001"
END_OF_SHIFT: Final = "\ue002"
"""Stand around shifted characters until it is known which of them are marks of footnotes."""
REFERENCE: Final = "\ue003"
END_OF_REFERENCE: Final = "\ue004"
"""Stand around marks of footnotes until their places in the text are known."""
_SMALLER: Final = 0.86
_MARK_CHARS: Final = 3
_BAND_PT: Final = 16.0
_NEARLY: Final = 0.97
_TOUCH_EM: Final = 0.12
_CLEARLY: Final = (0.25, 0.7)
_RAISED: Final = (0.12, 0.85)
_LOWERED: Final = (0.06, 0.45)
_BESIDE_EM: Final = (-0.35, 0.3)
_MARK_GAP_EM: Final = 0.6
"""So far may the mark of a footnote stand before its text."""
_SHIFTED_CHARS: Final = 12
_SAME_SIZE_SHIFT: Final = 0.75
_SAME_LINE_EM: Final = 0.3
_WORD_GAP_EM: Final = 0.15
_PIECE_GAP_EM: Final = 0.62
_PIECE_GAP_RATIO: Final = 1.7
_SIGNS: Final = frozenset("+-\u2212\u2013\u00b1")
_USUAL_WORDS: Final = 4


@dataclass(slots=True, eq=False)
class Piece:
    """Part of a line; or a strip of something that is one whole: a table, a box.

    Attributes:
        words: from left to right.
        base: of the line.
        size: of most of its characters, in points.
        whole: what it is a strip of.
        known: its text, once it was asked for.
    """

    words: list[Word]
    left: float
    top: float
    right: float
    bottom: float
    base: float
    size: float
    bold: bool = False
    slanted: bool = False
    fixed: bool = False
    whole: "Whole | None" = None
    known: str | None = None

    @property
    def box(self) -> Box:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom

    @property
    def text(self) -> str:
        """Its words, with marks around what is shifted."""
        if self.known is None:
            self.known = words_text(self.words)
        return self.known


@dataclass(slots=True, eq=False)
class Whole:
    """Something that takes its place in the reading order as one.

    Attributes:
        table: a table with lines.
        pieces: what stands in a box.
    """

    box: Box
    table: Table | None = None
    pieces: list[Piece] = field(default_factory=list)
    lefts: tuple[float, ...] = ()


def words_text(words: Iterable[Word]) -> str:
    """Return words of one line as text."""
    parts: list[str] = []
    before: Word | None = None
    for word in words:
        together = before is not None and word.shift and word.shift == before.shift
        if before is not None and (word.shift != 1 or together) and _is_space(before, word):
            signed = together and before.text in _SIGNS
            if not signed and (word.shift == before.shift == 1 or not (before.shift and word.shift)):
                parts.append(" ")
        if word.shift:
            if parts and together and parts[-1].endswith(END_OF_SHIFT):
                parts[-1] = f"{parts[-1][:-1]}{word.text}{END_OF_SHIFT}"
            else:
                parts.append(f"{SUPERSCRIPT if word.shift > 0 else SUBSCRIPT}{word.text}{END_OF_SHIFT}")
        else:
            parts.append(word.text)
        before = word
    return "".join(parts)


def _is_space(before: Word, word: Word) -> bool:
    return word.spaced or word.left - before.right > _WORD_GAP_EM * max(min(before.run.size, word.run.size), 1.0)


def place_shifted(words: list[Word]) -> None:
    """Find superscripts and subscripts among words in the order in which they are drawn."""
    for index, word in enumerate(words):
        if word.shift:
            continue  # the font itself draws it raised
        before = words[index - 1] if index else None
        after = words[index + 1] if index + 1 < len(words) else None
        if before is not None and not before.shift and _raise(word, before):
            continue
        if before is not None and not before.shift and after is not None and _is_between(before, word, after):
            word.base = before.base
            continue
        if before is not None and before.shift:
            anchor = _unshifted(words, index - 1)
            if (
                anchor is not None
                and abs(anchor.run.size * _SMALLER) >= word.run.size
                and _beside(before, word)
                and abs(word.base - before_base(before, anchor)) < 0.05 * anchor.run.size
            ):
                word.shift, word.base = before.shift, anchor.base
                continue
        if before is not None and not before.shift and _shift(word, before, before, word):
            continue
        if after is not None:
            _shift(word, after, word, after, most=_MARK_GAP_EM)
    _place_apart(words)


def _place_apart(words: list[Word]) -> None:
    """Find marks that are drawn apart from the words that they stand behind: all marks of a table after its numbers."""
    small = [word for word in words if not word.shift and len(word.text) <= _MARK_CHARS]
    if not small:
        return
    ends: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        if not word.shift:
            ends.setdefault((round(word.right), int(word.base // _BAND_PT)), []).append(word)
    for word in small:
        across, down = round(word.left), int(word.base // _BAND_PT)
        places = ((right, base) for right in range(across - 2, across + 3) for base in (down, down + 1, down + 2))
        near = [one for place in places for one in ends.get(place, ()) if one is not word]
        for anchor in near:
            up = (anchor.base - word.base) / max(anchor.run.size, 0.1)
            if anchor.run.turn == word.run.turn and up > _RAISED[0] and _shift(word, anchor, anchor, word):
                break


def _raise(word: Word, before: Word) -> bool:
    """Mark a number as raised that is set nearly as large as the word right before it."""
    size = max(before.run.size, 0.1)
    up = (before.base - word.base) / size
    near = abs(word.left - before.right) < _TOUCH_EM * size and word.text.lstrip("+-\u2212\u2013").isdigit()
    if not near or not _SMALLER * size < word.run.size <= _NEARLY * size or not _CLEARLY[0] < up < _CLEARLY[1]:
        return False
    word.shift, word.base = 1, before.base
    return True


def _is_between(before: Word, word: Word, after: Word) -> bool:
    """Say whether a word of a font with another baseline stands between two of one line, as large as they are."""
    size = before.run.size
    return (
        before.base == after.base != word.base
        and abs(word.base - before.base) < _SAME_SIZE_SHIFT * size
        and word.run.size > _SMALLER * size
        and -0.2 * size < word.left - before.right < 0.6 * size
        and -0.2 * size < after.left - word.right < 0.6 * size
    )


def before_base(shifted: Word, anchor: Word) -> float:
    """Return about where a shifted word stood before it was put on its neighbour's line."""
    return (
        anchor.base
        if not shifted.shift
        else shifted.bottom - (anchor.bottom - anchor.base) * shifted.run.size / max(anchor.run.size, 0.1)
    )


def _unshifted(words: list[Word], index: int) -> Word | None:
    for at in range(index, max(index - 4, -1), -1):
        if not words[at].shift:
            return words[at]
    return None


def _beside(left: Word, right: Word, most: float = _BESIDE_EM[1]) -> bool:
    size = max(left.run.size, right.run.size)
    return _BESIDE_EM[0] * size < right.left - left.right < most * size


def _shift(word: Word, anchor: Word, left: Word, right: Word, most: float = _BESIDE_EM[1]) -> bool:
    """Mark a word as shifted against the one beside it, when it is."""
    size = anchor.run.size
    if word.run.size > _SMALLER * size or not _beside(left, right, most) or len(word.text) > _SHIFTED_CHARS:
        return False
    up = (anchor.base - word.base) / max(size, 0.1)
    if _RAISED[0] < up < _RAISED[1]:
        word.shift = 1
    elif _LOWERED[0] < -up < _LOWERED[1] and left is anchor:
        word.shift = -1
    else:
        return False
    word.base = anchor.base
    return True


def rows_of(words: list[Word]) -> list[list[Word]]:
    """Return words by the line they stand on, from the top, each from left to right."""
    rows: list[list[Word]] = []
    base = size = 0.0
    for word in sorted(words, key=lambda word: (word.base, word.left)):
        if rows and word.base - base <= _SAME_LINE_EM * max(min(size, word.run.size), 1.0):
            rows[-1].append(word)
        else:
            rows.append([word])
            base, size = word.base, word.run.size
    for row in rows:
        row.sort(key=lambda word: word.left)
    return rows


def pieces_of(words: list[Word]) -> list[Piece]:
    """Return the pieces of all lines, from the top, from left to right."""
    return [piece for row in rows_of(words) for piece in _cut(row)]


def _cut(row: list[Word]) -> list[Piece]:
    gaps = [(after.left - before.right) for before, after in itertools.pairwise(row)]
    widest = _PIECE_GAP_EM * max(word.run.size for word in row)
    spaces = sorted(gap for gap in gaps if 0 < gap < widest)
    usual = spaces[len(spaces) // 2] if len(spaces) >= _USUAL_WORDS else 0.0
    pieces: list[Piece] = []
    start = 0
    for index, gap in enumerate(gaps, start=1):
        size = min(row[index - 1].run.size, row[index].run.size)
        if gap > max(_PIECE_GAP_EM * size, min(_PIECE_GAP_RATIO * usual, 2.0 * size)):
            pieces.append(piece_of(row[start:index]))
            start = index
    pieces.append(piece_of(row[start:]))
    return pieces


def piece_of(words: list[Word]) -> Piece:
    """Return the piece that words of one line make."""
    box = joined_box([word.box for word in words])
    plain = [word for word in words if not word.shift] or words
    sizes: dict[float, int] = {}
    total = bold = slanted = fixed = 0
    for word in plain:
        length = len(word.text)
        total += length
        sizes[word.run.size] = sizes.get(word.run.size, 0) + length
        bold += length * word.run.font.bold
        slanted += length * word.run.font.slanted
        fixed += length * word.run.font.fixed
    size = max(sizes, key=lambda one: sizes[one])
    half = 0.6 * total
    return Piece(words, *box, plain[0].base, size, bold > half, slanted > half, fixed > 0.8 * total)
