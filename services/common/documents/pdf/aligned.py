"""Tables without upright lines: cells are what stands between strips of white; lines that go on with a cell join it."""

from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Place, Table
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.heads import count_header_columns, count_header_rows
from services.common.documents.pdf.judging import column_of
from services.common.documents.pdf.lines import Piece, words_text
from services.common.documents.pdf.ruled import Rule
from services.common.documents.pdf.texts import join_lines
from services.common.documents.pdf.words import Word

_TIGHT: Final = 1.38
"""Lines closer than so many times their size may go on with the cells above."""
_CLEARLY: Final = 1.18
_LABEL_SHARE: Final = 0.8


@dataclass(slots=True)
class _Row:
    cells: list[list[str]]
    words: list[list[Word]]
    pieces: list[Piece] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def texts(self) -> list[str]:
        return [join_lines(cell) for cell in self.cells]


def read_aligned(rows: list[list[Piece]], cuts: tuple[float, ...], rules: list[Rule], frame: Frame, page: int) -> Table:
    """Return the table that lines make which strips of white divide."""
    lines = _split_at(rows, cuts)
    joined = _joined_rows(lines, cuts, rules)
    texts = [row.texts() for row in joined]
    spanned: set[tuple[int, int]] = set()
    for index, row in enumerate(joined):
        for first, last in row.spans:
            for column in range(first + 1, last + 1):
                texts[index][column] = texts[index][first]
                spanned.add((index, column))
    bold = [[bool(words) and all(word.run.font.bold for word in words) for words in row.words] for row in joined]
    marked = [
        all(one for one, words in zip(flags, row.words, strict=True) if words)
        for flags, row in zip(bold, joined, strict=True)
    ]
    ruled_off = _ruled_off(joined, rules)
    if ruled_off and not any(marked[:ruled_off]):
        marked[:ruled_off] = [True] * ruled_off
        marked[ruled_off:] = [False] * (len(marked) - ruled_off)
    head = count_header_rows(texts, marked, {})
    places = tuple(Place(page, frame.shown(joined_box([piece.box for piece in row.pieces]))) for row in joined)
    return Table(
        tuple(tuple(row) for row in texts), head, count_header_columns(texts, bold, head), "", frozenset(spanned), places
    )


def pairs_of(rows: list[list[Piece]], cuts: tuple[float, ...]) -> list[tuple[str, str]]:
    """Return labels and their values when every second column is labels that end with a colon; else nothing."""
    columns = len(cuts) + 1
    if columns % 2:
        return []
    cells: list[list[str]] = [[""] * columns for _ in rows]
    for index, row in enumerate(rows):
        for piece in row:
            column = column_of(piece, cuts)
            cells[index][column] = f"{cells[index][column]} {piece.text}".strip()
    labels = [text for row in cells for text in row[::2] if text]
    if sum(text.endswith(":") for text in labels) < _LABEL_SHARE * max(len(labels), 1):
        return []
    pairs: list[tuple[str, str]] = []
    for column in range(0, columns, 2):
        for row in cells:
            label, value = row[column], row[column + 1]
            if label:
                pairs.append((label, value))
            elif value and pairs:
                pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {value}".strip())
    return pairs


def _split_at(rows: list[list[Piece]], cuts: tuple[float, ...]) -> list[_Row]:
    """Return each line's words by column; what crosses a strip stands in all columns that it covers."""
    lines: list[_Row] = []
    for row in rows:
        line = _Row([[] for _ in range(len(cuts) + 1)], [[] for _ in range(len(cuts) + 1)], list(row))
        for piece in row:
            first = sum(cut < piece.left for cut in cuts)
            last = sum(cut < piece.right for cut in cuts)
            if first != last:
                line.spans.append((first, last))
            line.words[first] += piece.words
        for column, words in enumerate(line.words):
            if words:
                line.cells[column].append(words_text(words))
        lines.append(line)
    return lines


def _joined_rows(lines: list[_Row], cuts: tuple[float, ...], rules: list[Rule]) -> list[_Row]:
    left = min(piece.left for line in lines for piece in line.pieces)
    right = max(piece.right for line in lines for piece in line.pieces)
    ruled = sorted(
        rule.at for rule in rules if min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left)
    )
    gaps = [after.pieces[0].base - before.pieces[0].base for before, after in zip(lines, lines[1:], strict=False)]
    closest = min(gaps, default=0.0)
    divided = [
        any(before.pieces[0].base - 1.0 < at < after.pieces[0].base - 0.5 * after.pieces[0].size for at in ruled)
        for before, after in zip(lines, lines[1:], strict=False)
    ]
    always = sum(divided) >= 3 and sum(divided) >= 0.3 * len(divided)  # noqa: PLR2004
    varied = max(gaps, default=0.0) > _CLEARLY * closest
    rows: list[_Row] = []
    for index, line in enumerate(lines):
        if index and not divided[index - 1] and _continues(rows[-1], line, gaps[index - 1], closest, varied=varied, ruled=always):
            for column, cell in enumerate(line.cells):
                rows[-1].cells[column] += cell
                rows[-1].words[column] += line.words[column]
            rows[-1].pieces += line.pieces
        else:
            rows.append(line)
    return rows


def _continues(row: _Row, line: _Row, gap: float, closest: float, *, varied: bool, ruled: bool) -> bool:
    """Say whether a line goes on with the cells of the row above it."""
    size = line.pieces[0].size
    if gap > _TIGHT * size or gap > 1.12 * closest or line.spans or row.spans:
        return False
    filled = [column for column, words in enumerate(line.words) if words]
    if any(not row.words[column] for column in filled) or _is_bold(row) != _is_bold(line):
        return False
    if ruled:
        return True
    full = [column for column, words in enumerate(row.words) if words]
    if len(filled) >= len(full) and len(full) > 1:
        return varied and len(full) > 1 and line.cells[filled[0]][0][:1].islower()
    if filled[0] > 0:
        return True
    text = line.cells[0][0]
    return text[:1].islower() or text[:1] in "(&+/" or (varied and len(filled) == 1 and len(full) > 1)


def _is_bold(row: _Row) -> bool:
    return all(word.run.font.bold for words in row.words for word in words)


def _ruled_off(rows: list[_Row], rules: list[Rule]) -> int:
    """Return how many rows stand above the first rule below the first row, when few rules cross the table."""
    tops = [min(piece.base - 0.5 * piece.size for piece in row.pieces) for row in rows]
    left = min(piece.left for row in rows for piece in row.pieces)
    right = max(piece.right for row in rows for piece in row.pieces)
    across = [
        rule.at
        for rule in rules
        if min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left) and tops[0] < rule.at < tops[-1]
    ]
    if not across or len(across) > max(2, len(rows) // 3):
        return 0
    above = sum(top < min(across) for top in tops)
    return above if above <= 3 else 0  # noqa: PLR2004


def header_above(rows: list[list[Piece]], cuts: tuple[float, ...], left: float, right: float) -> int:
    """Return how many of the lines that stand above a table are heads over several of its columns."""
    count = 0
    for row in reversed(rows):
        inside = all(left - piece.size < piece.left and piece.right < right + piece.size for piece in row)
        spans = [(sum(cut < piece.left for cut in cuts), sum(cut < piece.right for cut in cuts)) for piece in row]
        if len(row) < 2 or not inside or all(first == last for first, last in spans):  # noqa: PLR2004
            break
        apart = all(one[1] < two[0] for one, two in zip(spans, spans[1:], strict=False))
        if not apart:
            break
        count += 1
    return min(count, 2)
