"""From lines to blocks: headings by size and weight, paragraphs by white and indents, list items by their marks."""

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Block, BlockKind, Box, Place
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.lines import Piece, words_text
from services.common.documents.pdf.texts import join_lines, without_shifts
from services.common.documents.pdf.words import Word

_BULLET: Final = re.compile(
    r"[-*\u2022\u25aa\u25cf\u25cb\u25a0\u25a1\u2023\u2013\u2014\u25e6\u00b7\uf0b7\uf0a7\u27a2\u2713\u2043](?=\s)\s+(?=\S)"
)
_NUMBER: Final = re.compile(
    r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})[.)]|\[\d{1,3}\]|(?:\d{1,2}\.){1,4}\d{0,2}(?=\s))\s+(?=\S)"
)
_SECTION: Final = re.compile(r"(?:[A-Z]?\d{1,3}(?:\.\d{1,3})*\.?|[A-Z]\.(?:\d+\.?)*|[IVX]{1,5}\.)\s+\S")
_CAPTION: Final = re.compile(
    r"(?i:fig(?:ure|\.)?|table|tab\.|listing|abb(?:ildung|\.)|tabelle|tableau|abbildung|cuadro|tabla|figura|tabella|diagram|chart|exhibit)"
    r"\s*[A-Za-z]?\d+(?:[.\u2013-]\d+)*(?:\s*[.:\u2013\u2014|-]\s|\s+(?![a-z\u00df-\u00ff]))"
)
"""``Table 3 shows ...`` is a sentence: behind a number without a sign no small letter follows."""
_NOTE: Final = re.compile(r"(?:\d{1,2}|[*\u2020\u2021\u00a7]{1,3}|[a-z])\s+\S|[*\u2020\u2021]\w")
ENDS: Final = (".", "!", "?", ":", ";", "\u2026", ".)", '."', ".\u201d")
_LARGER: Final = 1.1
_HEAD_CHARS: Final = 140
_HEAD_LEAD: Final = 1.5
_HEAD_LINES: Final = 3
_INDENT_EM: Final = 0.8
_MARK_GAP_EM: Final = 0.7
_SAME_LEFT_EM: Final = 0.5
_FULL_EM: Final = 7.0
_WIDE_EM: Final = 3.0
_REACH_EM: Final = 5.0
_FEW_LINES: Final = 3
_LABELLED: Final = re.compile(r"[A-Z\u00c0-\u00de][^:.;]{0,30}:\s\S")
_LABELS: Final = 3
_LABELS_SHARE: Final = 0.6
"""Lines so many of which are names with their values are such, and no sentences."""


@dataclass(slots=True, eq=False)
class Line:
    """One line of running text; ``text`` has marks around what is shifted."""

    words: list[Word]
    left: float
    right: float
    base: float
    size: float
    bold: bool
    slanted: bool
    fixed: bool
    box: Box
    text: str


@dataclass(slots=True, eq=False)
class Draft:
    """A block before headings have levels and footnotes are known.

    Attributes:
        size: of its characters.
        bold: they are.
        ends_column: nothing stands below it in its column.
        marks: of the footnotes of its page.
        base: of its first line.
        term: what a definition defines.
        reaches: its last line is full.
        stated: its level is the file's own.
        style: how the items of its list are marked: ``(a)``, ``1.``, a bullet.
    """

    kind: BlockKind
    lines: list[str]
    page: int
    box: Box
    size: float
    bold: bool = False
    level: int = 0
    number: str = ""
    block: Block | None = None
    ends_column: bool = False
    marks: list[str] = field(default_factory=list)
    base: float = 0.0
    term: str = ""
    style: str = ""
    reaches: bool = False
    stated: bool = False

    @property
    def text(self) -> str:
        """All lines as one text."""
        return join_lines(self.lines)


@dataclass(frozen=True, slots=True)
class Style:
    """What most of a document is set in."""

    size: float
    fixed: bool
    bold: bool


def body_style(pieces: list[Piece]) -> Style:
    """Return the size in which most characters are set, and whether they are of one width or bold."""
    sizes: Counter[float] = Counter()
    fixed: Counter[bool] = Counter()
    bold: Counter[bool] = Counter()
    for piece in pieces:
        length = sum(len(word.text) for word in piece.words)
        sizes[round(piece.size * 2) / 2] += length
        fixed[piece.fixed] += length
        bold[piece.bold] += length
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    return Style(size, fixed[True] > fixed[False], bold[True] > bold[False])


def lines_of(rows: list[list[Piece]]) -> list[Line]:
    """Return the pieces of each row as one line."""
    lines: list[Line] = []
    for row in rows:
        words = [word for piece in row for word in piece.words]
        main = max(row, key=lambda piece: sum(len(word.text) for word in piece.words))
        box = joined_box([piece.box for piece in row])
        alike = [piece for piece in row if len(piece.text) > 1] or row
        lines.append(
            Line(
                words,
                row[0].left,
                row[-1].right,
                main.base,
                main.size,
                all(piece.bold for piece in alike),
                all(piece.slanted for piece in alike),
                all(piece.fixed for piece in row),
                box,
                words_text(words),
            )
        )
    return lines


class BlockMaker:
    """Makes drafts of the lines of one region after the other.

    Args:
        body: what the document is set in.
        frame: of the page.
        page: its number.
    """

    def __init__(self, body: Style, frame: Frame, page: int) -> None:
        self._body = body
        self._frame = frame
        self._page = page
        self._loose = 0.0
        self._labelled = False

    def drafts(self, rows: list[list[Piece]]) -> list[Draft]:
        """Return the blocks of consecutive lines of one column."""
        lines = lines_of(rows)
        right = max((line.right for line in lines), default=0.0)
        left = min((line.left for line in lines), default=0.0)
        usual = self._leading(lines)
        self._loose = self._loose_right(lines, left, right)
        labels = sum(map(_is_labelled, lines))
        self._labelled = labels >= _LABELS and labels >= _LABELS_SHARE * len(lines)
        result: list[Draft] = []
        group: list[Line] = []
        kind = BlockKind.PARAGRAPH
        for line in lines:
            before = group[-1] if group else None
            this = self._kind(line)
            if (
                this is BlockKind.CODE
                and before is not None
                and kind is not this
                and self._runs_on(before, line, right)
            ):
                this = kind  # a line of a sentence that is all names
            if before is None or self._parts(before, line, group, (kind, this), (left, right, usual)):
                if group:
                    result.append(self._draft(group, kind, right))
                group, kind = [line], this
            else:
                group.append(line)
        if group:
            result.append(self._draft(group, kind, right))
        return result

    def _runs_on(self, before: Line, line: Line, right: float) -> bool:
        """Say whether a line of code is the next line of a sentence rather than a listing below it."""
        text = without_shifts(before.text)
        level = abs(line.left - before.left) < _SAME_LEFT_EM * line.size
        close = 0 < line.base - before.base < _HEAD_LEAD * line.size
        return level and close and before.right > right - _FULL_EM * line.size and not text.endswith(ENDS)

    def _loose_right(self, lines: list[Line], left: float, right: float) -> float:
        """Return how far lines may reach: of a few, none of which need be full, as far as the margins are alike."""
        if len(lines) > _FEW_LINES:
            return right
        page = self._frame.page
        return max(right, page[2] - (left - page[0]))

    def _leading(self, lines: list[Line]) -> float:
        gaps = Counter(
            round((after.base - before.base) / max(after.size, 1.0), 1)
            for before, after in itertools.pairwise(lines)
            if abs(after.size - before.size) < 0.5  # noqa: PLR2004
        )
        common = [gap for gap, count in gaps.items() if count >= 0.3 * max(gaps.values()) and gap > 0.5]  # noqa: PLR2004
        return min(common, default=1.2)

    def _kind(self, line: Line) -> BlockKind:
        text = without_shifts(line.text)
        if line.fixed and not self._body.fixed:
            return BlockKind.CODE
        if _CAPTION.match(text):
            return BlockKind.CAPTION
        if self._is_heading(line, text):
            return BlockKind.HEADING
        if _BULLET.match(text) or _NUMBER.match(text) or _is_numbered(line):
            return BlockKind.LIST_ITEM
        return BlockKind.PARAGRAPH

    def _is_heading(self, line: Line, text: str) -> bool:
        if not any(character.isalpha() for character in text) or len(text) > _HEAD_CHARS:
            return False
        larger = line.size >= _LARGER * self._body.size
        if larger and (line.size >= 1.25 * self._body.size or not text.endswith((".", ",", ";")) or line.bold):
            return not _BULLET.match(text)
        if line.bold and not self._body.bold and line.size >= 0.94 * self._body.size:
            return not text.endswith((".", ",", ";")) and not _BULLET.match(text)
        return False

    def _parts(
        self,
        before: Line,
        line: Line,
        group: list[Line],
        kinds: tuple[BlockKind, BlockKind],
        column: tuple[float, float, float],
    ) -> bool:
        """Say whether a line begins another block."""
        kind, this = kinds
        right = column[1]
        gap = (line.base - before.base) / max(line.size, 1.0)
        if BlockKind.CODE in kinds:
            return kind is not this or gap > 3.2 or gap < 0  # noqa: PLR2004
        if kind is BlockKind.HEADING or this is BlockKind.HEADING:
            alike = abs(before.size - line.size) < 0.06 * line.size and before.bold == line.bold
            return not (
                kind is this
                and alike
                and 0 < gap < _HEAD_LEAD
                and len(group) < _HEAD_LINES
                and not _SECTION.match(without_shifts(line.text))
                and not without_shifts(before.text).endswith(":")
                and self._fills(before, line, right)
            )
        note = line.words[0].shift > 0 or (line.size < 0.94 * self._body.size and _note_begins(before, line))
        if not note and this in {BlockKind.LIST_ITEM, BlockKind.CAPTION}:
            return not self._is_wrapped_number(before, line, group, right)
        if self._labelled and _is_labelled(line) and _is_labelled(group[0]):
            return True  # each line says all of itself
        return note or _is_wide(before) or _is_wide(line) or self._leaves(group, line, kind, gap, column)

    def _leaves(
        self, group: list[Line], line: Line, kind: BlockKind, gap: float, column: tuple[float, float, float]
    ) -> bool:
        """Say whether a line of text no longer belongs to the paragraph or item before it."""
        left, right, usual = column
        before = group[-1]
        if gap > max(1.22 * usual, usual + 0.2) or gap <= 0 or abs(before.size - line.size) > 0.12 * line.size:
            return True
        if self._breaks_off(before, line, right) and kind is not BlockKind.LIST_ITEM:
            return True
        if kind is BlockKind.LIST_ITEM:
            text_left = _text_left(group[0])
            if (
                len(group) == 1
                and not without_shifts(before.text).endswith(ENDS)
                and self._breaks_off(before, line, right)
            ):
                return True  # a term or a name with text below it
            return line.left < group[0].left - 0.3 * line.size or (
                line.left <= group[0].left + 0.3 * line.size < text_left - 0.3 * line.size
                and self._breaks_off(before, line, right)
            )
        indented = line.left - left > _INDENT_EM * line.size and before.left - left < 0.4 * line.size
        return indented and without_shifts(before.text).endswith(ENDS)

    def _fills(self, before: Line, line: Line, right: float) -> bool:
        """Say whether the first word of a heading's line would not have fitted on the one before it."""
        centred = abs((before.left + before.right) - (line.left + line.right)) < 2 * line.size
        return centred or not self._breaks_off(before, line, right) or without_shifts(line.text)[:1].islower()

    def _breaks_off(self, before: Line, line: Line, right: float) -> bool:
        """Say whether a line ends though the first word of the next would have fitted: the author ended it."""
        first = line.words[0]
        width = first.right - first.left + 0.6 * line.size
        text, after = without_shifts(before.text), without_shifts(line.text)
        if after[:1].islower() or text.endswith("-") or before.right + width >= self._loose:
            return False
        if before.right + width >= right:
            return text.endswith(ENDS)
        room = right - before.right
        return text.endswith(ENDS) or room > 0.25 * (right - before.left) + 2 * line.size

    def _is_wrapped_number(self, before: Line, line: Line, group: list[Line], right: float) -> bool:
        """Say whether a line that begins like a list item goes on with a sentence: ``... see section`` / ``3. of``."""
        text, after = without_shifts(before.text), without_shifts(line.text)
        if _CAPTION.match(after):
            return not text.endswith(ENDS) and not self._breaks_off(before, line, right)
        if _BULLET.match(after) and after[0] not in "-\u2013\u2014*":
            return False
        at_text = (
            abs(line.left - _text_left(group[0])) < 0.3 * line.size and line.left > group[0].left + 0.5 * line.size
        )
        runs_on = not text.endswith(ENDS) and not text.endswith((",", " and", " or", " und", " oder"))
        return (
            runs_on
            and (at_text or (abs(line.left - before.left) < 0.2 * line.size and not _starts_list(group[0])))
            and not self._breaks_off(before, line, right)
            and before.right > right - 8 * line.size
        )

    def _draft(self, group: list[Line], kind: BlockKind, right: float) -> Draft:
        box = joined_box([line.box for line in group])
        first = group[0]
        number = style = ""
        level = 0
        lines = _code_lines(group) if kind is BlockKind.CODE else [line.text for line in group]
        if kind is BlockKind.LIST_ITEM:
            mark = _BULLET.match(lines[0]) or _NUMBER.match(lines[0])
            if mark is None and _is_numbered(first):
                number, style, lines[0] = first.words[0].text, "1", words_text(first.words[1:])
            elif mark is not None:
                number = mark.group().strip() if mark.re is _NUMBER else ""
                style = style_of_mark(mark.group().strip())
                lines[0] = lines[0][mark.end() :]
        draft = Draft(kind, lines, self._page, box, first.size, first.bold, level, number, style=style)
        draft.base = first.base
        draft.reaches = group[-1].right > right - _REACH_EM * first.size
        return draft

    def place(self, box: Box) -> Place:
        """Return where a box stands."""
        return Place(self._page, self._frame.shown(box))


def _is_wide(line: Line) -> bool:
    """Say whether a line has a gap that no sentence has: two things stand on it side by side."""
    gaps = [after.left - before.right for before, after in zip(line.words, line.words[1:], strict=False)]
    return max(gaps[1:], default=0.0) > _WIDE_EM * line.size


def _is_numbered(line: Line) -> bool:
    """Say whether a line begins with a bare number, apart from its text."""
    words = line.words
    if len(words) < 2 or words[0].shift or not (words[0].text.isdigit() and len(words[0].text) < 3):  # noqa: PLR2004
        return False
    return words[1].left - words[0].right > _MARK_GAP_EM * line.size


def _starts_list(line: Line) -> bool:
    text = without_shifts(line.text)
    return bool(_BULLET.match(text) or _NUMBER.match(text) or _is_numbered(line))


def _note_begins(before: Line, line: Line) -> bool:
    """Say whether a line of small print begins with a mark, after the end of a sentence."""
    return bool(_NOTE.match(line.text)) and without_shifts(before.text).endswith(ENDS)


def _text_left(line: Line) -> float:
    """Return where the text of a list item begins."""
    return line.words[1].left if len(line.words) > 1 and _starts_list(line) else line.left


def _code_lines(group: list[Line]) -> list[str]:
    """Return lines of code with their indents, and empty lines where white is left."""
    widths = sorted((word.right - word.left) / len(word.text) for line in group for word in line.words if word.text)
    width = max(widths[len(widths) // 2], 0.5)
    left = min(line.left for line in group)
    gaps = sorted(after.base - before.base for before, after in itertools.pairwise(group))
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    lines: list[str] = []
    for index, line in enumerate(group):
        if index and usual > 0 and line.base - group[index - 1].base > 1.6 * usual:
            lines.append("")
        text = " " * round((line.left - left) / width)
        for number, word in enumerate(line.words):
            if number:
                gap = (word.left - line.words[number - 1].right) / width
                text += " " * max(round(gap), 1 if gap > 0.3 or word.spaced else 0)  # noqa: PLR2004
            text += word.text
        lines.append(text)
    return lines


def style_of_mark(mark: str) -> str:
    """Return how a mark counts: its digits as 1, its letters as a, A or i."""
    core = mark.strip("().[]")
    kind = (
        "1"
        if core.isdigit()
        else "i"
        if len(core) > 1 and set(core) <= set("ivxIVX")
        else "a"
        if core.islower()
        else "A"
    )
    return mark.replace(core, kind) if core.isalnum() else mark


def _is_labelled(line: Line) -> bool:
    """Say whether a line is a name with its value: ``Sites: 31 in six countries``."""
    return _LABELLED.match(without_shifts(line.text)) is not None


def is_caption(text: str) -> bool:
    """Say whether a text is the caption of a table or a figure by how it begins."""
    return _CAPTION.match(text) is not None


def is_table_caption(text: str) -> bool:
    """Say whether a text is the caption of a table by how it begins."""
    return is_caption(text) and text[:3].lower() in {"tab", "cua"}
