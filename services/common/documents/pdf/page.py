"""One page: its words, its tables with lines, its boxes and what is hidden on it, in the frame in which it is read."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import pypdfium2.raw as pdfium

from services.common.documents.document import Box, HiddenText, Place
from services.common.documents.limits import require_at_most
from services.common.documents.pdf.aligned import read_aligned
from services.common.documents.pdf.bare.finding import read_table
from services.common.documents.pdf.cells import Ground, fill_grid, is_coarse
from services.common.documents.pdf.drawings import Drawings, read_drawings
from services.common.documents.pdf.filled import rules_of_fills
from services.common.documents.pdf.forms import has_fields, load_page
from services.common.documents.pdf.frame import Frame, between, joined_box, turned_box
from services.common.documents.pdf.lines import Piece, Whole, pieces_of, place_shifted, rows_of, words_text
from services.common.documents.pdf.open_tables import find_open_tables
from services.common.documents.pdf.ruled import Grid, Rule, find_grids, split_rules
from services.common.documents.pdf.seen import is_scan, split_hidden
from services.common.documents.pdf.stretched import join_stretched
from services.common.documents.pdf.tags import Tag, is_tagged, read_tags
from services.common.documents.pdf.texts import without_shifts
from services.common.documents.pdf.words import Characters, Run, Word

_STRIP_PT: Final = 9.0
_MAX_STRIPS: Final = 400
_LONG_SHARE: Final = 0.6
_MAX_FILLS: Final = 2_000
_BOX_LINES: Final = 2
_BOX_SHARE: Final = 0.75


@dataclass(slots=True)
class PageContent:
    """What is read of one page.

    Attributes:
        number: from 1.
        pieces: of the lines that run as most of the page does; strips of tables with lines and of boxes among them.
        rules: level ones that belong to no table with lines.
        turned: lines that run in another direction.
        across: text drawn aslant: stamps.
        artifacts: what the file itself says is no content.
        scan: a picture without text of its own.
        recognised: the text is that of an earlier text recognition.
        words: all that are seen and are content.
        tags: the structure that the file states.
        size: in which most of a recognised page is set; 0 on others.
    """

    number: int
    frame: Frame
    pieces: list[Piece] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    turned: list[str] = field(default_factory=list)
    across: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    hidden: list[HiddenText] = field(default_factory=list)
    scan: bool = False
    recognised: bool = False
    words: list[Word] = field(default_factory=list)
    tags: Tag | None = None
    size: float = 0.0

    @property
    def height(self) -> float:
        """Of the page in its frame."""
        box = self.frame.page
        return box[3] - box[1]

    def long_rules(self) -> list[float]:
        """Return where level rules over at least 60 % of the text's width stand."""
        if not self.pieces:
            return []
        width = max(piece.right for piece in self.pieces) - min(piece.left for piece in self.pieces)
        return [rule.at for rule in self.rules if rule.end - rule.start >= _LONG_SHARE * width]


class PageReader:
    """Reads the pages of one document.

    Args:
        document: the opened file.
        max_chars: at most so many characters on all pages together.
    """

    def __init__(self, document: Any, max_chars: int) -> None:
        self._document = document
        self._characters = Characters()
        self._tagged = is_tagged(document)
        self._fields = has_fields(document)
        self._max_chars = max_chars
        self._total = 0

    def read(self, number: int) -> PageContent | None:
        """Return a page; ``None`` when it is damaged.

        Raises:
            LimitExceededError: MESSAGE_TOO_LARGE: too many characters.
        """
        page = load_page(self._document, number - 1, fields=self._fields)
        if not page:
            return None
        text_page = pdfium.FPDFText_LoadPage(page)
        try:
            if not text_page:
                return None
            count = pdfium.FPDFText_CountChars(text_page)
            self._total += max(count, 0)
            require_at_most("characters", self._total, self._max_chars)
            words = self._characters.words(text_page, count)
            content = _content(page, number, words)
            content.tags = read_tags(page) if self._tagged else None
            return content
        finally:
            if text_page:
                pdfium.FPDFText_ClosePage(text_page)
            pdfium.FPDF_ClosePage(page)


def frame_of(page: Any, words: list[Word]) -> Frame:
    """Return the frame in which most of a page's text is upright."""
    bounds = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, bounds)
    rotation = max(pdfium.FPDFPage_GetRotation(page), 0) % 4
    box = (bounds.left, bounds.bottom, bounds.right, bounds.top)
    turns: Counter[int] = Counter()
    for word in words:
        if word.run.turn >= 0:
            turns[word.run.turn] += len(word.text)
    turn = turns.most_common(1)[0][0] if turns else rotation
    return Frame(box, rotation, turn)


def _content(page: Any, number: int, words: list[Word]) -> PageContent:
    words = _once(words)
    place_shifted(words)
    frame = frame_of(page, words)
    _move(words, frame)
    drawings = read_drawings(page)
    dashes = [turned_box(frame.turn, box) for box in drawings.dashes]
    words = _with_underscores(words, [box for box in dashes if box[2] - box[0] > box[3] - box[1]])
    seen, hidden, recognised = split_hidden(page, words, drawings, frame)
    content = PageContent(number, frame, recognised=recognised)
    content.hidden = _hidden_texts(hidden, frame, number)
    content.scan = not seen and is_scan(drawings, frame)
    artifacts = [word for word in seen if word.run.artifact]
    content.artifacts = [without_shifts(words_text(row)) for row in rows_of(artifacts)]
    seen = [word for word in seen if not word.run.artifact]
    content.across = [
        "".join(f" {word.text}" if word.spaced else word.text for word in seen if word.run.turn < 0).strip()
    ]
    seen = [word for word in seen if word.run.turn >= 0]
    _place(content, seen, drawings)
    return content


def _once(words: list[Word]) -> list[Word]:
    """Return words without those that are drawn again at the same place, to look bold or by forms that nest."""
    known: set[tuple[str, int, int, int]] = set()
    counts = Counter(word.text for word in words)
    result: list[Word] = []
    for word in words:
        if counts[word.text] == 1:
            result.append(word)
            continue
        step = max(0.12 * word.run.size, 0.1)
        across, down = round(word.left / step), round(word.base / step)
        near = ((word.text, word.run.turn, across + x, down + y) for x in (0, -1, 1) for y in (0, -1, 1))
        if not any(key in known for key in near):
            known.add((word.text, word.run.turn, across, down))
            result.append(word)
        elif result and result[-1].text == word.text:
            result[-1].spaced |= word.spaced
    return result


def _move(words: list[Word], frame: Frame) -> None:
    """Bring words, each in a frame of its own, into that of the page."""
    for word in words:
        turn = max(word.run.turn, 0)
        if turn != frame.turn:
            word.left, word.top, word.right, word.bottom = between(word.box, turn, frame.turn)
            word.base = word.bottom


def _with_underscores(words: list[Word], dashes: list[Box]) -> list[Word]:
    """Return words, two of them as one where a short rule on their line joins them: an underscore that is drawn."""
    if not dashes:
        return words
    drawn: dict[int, list[Box]] = {}
    for box in dashes:
        drawn.setdefault(round(box[0]), []).append(box)
    result: list[Word] = []
    for word in words:
        before = result[-1] if result else None
        if before is not None and abs(before.base - word.base) < 1.0 and 0 < word.left - before.right < before.run.size:
            at = round(before.right)
            near = [box for place in range(at - 1, at + 4) for box in drawn.get(place, ())]
            if any(box[2] <= word.left + 1.0 and -1.0 < box[1] - before.base < 0.3 * before.run.size for box in near):
                before.text += f"_{word.text}"
                before.right, before.bottom = word.right, max(word.bottom, before.bottom)
                continue
        result.append(word)
    return result


def _hidden_texts(hidden: list[tuple[Word, str]], frame: Frame, number: int) -> list[HiddenText]:
    groups: dict[str, list[Word]] = {}
    for word, why in hidden:
        groups.setdefault(why, []).append(word)
    texts: list[HiddenText] = []
    for why, words in groups.items():
        upright = [word for word in words if word.run.turn == frame.turn]
        lines = [without_shifts(words_text(row)) for row in rows_of(upright)]
        lines += [word.text for word in words if word.run.turn != frame.turn]
        box = joined_box([word.box for word in words])
        texts.append(HiddenText(" ".join(lines), why, Place(number, frame.shown(box))))
    return texts


def _place(content: PageContent, words: list[Word], drawings: Drawings) -> None:
    """Put words into tables with lines and into boxes, and the others into pieces of lines."""
    frame = content.frame
    rules = [turned_box(frame.turn, box) for box in drawings.rules]
    fills = [(turned_box(frame.turn, box), colour) for box, colour in drawings.fills]
    middles = [((word.left + word.right) / 2, (word.top + word.bottom) / 2) for word in words]
    level, upright = split_rules(rules + rules_of_fills(fills, rules, middles))
    ground = Ground(fills[-_MAX_FILLS:])
    wholes: list[Whole] = []
    rest = words
    tables: list[Grid] = []
    for grid in find_grids(level, upright):
        inside = [word for word in rest if _holds(grid.box, word)]
        if not inside or any(_around(other.box, grid.box) for other in tables) or is_coarse(grid, inside):
            continue
        table = fill_grid(grid, inside, frame, content.number, ground)
        if table is not None:
            tables.append(grid)
            wholes.append(Whole(grid.box, table))
            gone = {id(word) for word in inside}
            rest = [word for word in rest if id(word) not in gone]
    content.rules = [rule for rule in level if not any(_on(rule, grid) for grid in tables)]
    upright_words = [word for word in rest if word.run.turn == frame.turn]
    content.turned = _turned_lines([word for word in rest if word.run.turn != frame.turn])
    boxes = [turned_box(frame.turn, box) for box in drawings.frames] + [box for box, _ in fills]
    upright_words = _boxed(upright_words, boxes, wholes, frame)
    content.pieces = _without_open_tables(content, join_stretched(pieces_of(upright_words)), wholes)
    for whole in wholes:
        content.pieces += _strips(whole)
    content.words = words


def _without_open_tables(content: PageContent, pieces: list[Piece], wholes: list[Whole]) -> list[Piece]:
    """Take the lines of tables that level rules hold together out of the others: each is read as one."""
    gone: set[int] = set()
    for found in find_open_tables(pieces, content.rules):
        here = {id(piece) for row in found.rows for piece in row}
        if gone.isdisjoint(here):
            gone |= here
            bare = read_table(found.rows, content.rules)
            if bare is not None and bare.head:
                table = bare.as_table(content.frame, content.number)
            else:
                table = read_aligned(found.rows, found.cuts, content.rules, content.frame, content.number)
            wholes.append(Whole(found.box, table))
    return [piece for piece in pieces if id(piece) not in gone]


def _holds(box: Box, word: Word) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _around(outer: Box, inner: Box) -> bool:
    return (
        outer[0] - 1 <= inner[0] and outer[1] - 1 <= inner[1] and outer[2] + 1 >= inner[2] and outer[3] + 1 >= inner[3]
    )


def _on(rule: Rule, grid: Grid) -> bool:
    box = grid.box
    return box[1] - 2 <= rule.at <= box[3] + 2 and rule.start >= box[0] - 3 and rule.end <= box[2] + 3


def _turned_lines(words: list[Word]) -> list[str]:
    """Return lines of words that run in another direction, in the order in which they are drawn."""
    lines: list[list[str]] = []
    before: Run | None = None
    for word in words:
        if before is not None and before.turn == word.run.turn and abs(before.size - word.run.size) < 0.5:  # noqa: PLR2004
            lines[-1].append(word.text)
        else:
            lines.append([word.text])
        before = word.run
    return [" ".join(line) for line in lines]


def _boxed(words: list[Word], boxes: list[Box], wholes: list[Whole], frame: Frame) -> list[Word]:
    """Take the words of boxes that stand beside other text out of it: a box is read as one."""
    page = frame.page
    width, height = page[2] - page[0], page[3] - page[1]
    candidates = sorted(
        {
            box
            for box in boxes
            if 40 < box[2] - box[0] < _BOX_SHARE * width and 24 < box[3] - box[1] < 0.9 * height  # noqa: PLR2004
        },
        key=lambda box: (box[2] - box[0]) * (box[3] - box[1]),
        reverse=True,
    )
    taken: list[Box] = []
    for box in candidates[:40]:
        if any(_around(other, box) for other in taken):
            continue
        inside = [word for word in words if _holds(box, word)]
        if not inside or len(inside) == len(words):
            continue
        beside = any(box[1] < word.base < box[3] and (word.right < box[0] or word.left > box[2]) for word in words)
        crossed = any(
            box[1] < word.base < box[3] and word.left < box[0] - 1 < word.right - 1
            for word in words
            if not _holds(box, word)
        )
        if len(rows_of(inside)) < _BOX_LINES or not beside or crossed:
            continue
        taken.append(box)
        wholes.append(Whole(box, None, pieces_of(inside)))
        gone = {id(word) for word in inside}
        words = [word for word in words if id(word) not in gone]
    return words


def _strips(whole: Whole) -> list[Piece]:
    """Return a whole as strips of the height of lines, so that it divides the page like lines do."""
    left, top, right, bottom = whole.box
    count = min(max(int((bottom - top) / _STRIP_PT), 1), _MAX_STRIPS)
    height = (bottom - top) / count
    return [
        Piece(
            [],
            left,
            top + number * height,
            right,
            top + (number + 1) * height,
            top + (number + 1) * height,
            height,
            whole=whole,
        )
        for number in range(count)
    ]
