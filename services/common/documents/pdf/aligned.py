"""Tables without upright lines: cells are what stands between strips of white; lines that go on with a cell join it."""

import itertools
import re
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Place, Table
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.heads import count_header_columns, count_header_rows, is_value
from services.common.documents.pdf.judging import column_of
from services.common.documents.pdf.lines import Piece, words_text
from services.common.documents.pdf.ruled import Rule
from services.common.documents.pdf.texts import join_lines
from services.common.documents.pdf.words import Word

_TIGHT: Final = 1.38
"""Lines closer than so many times their size may go on with the cells above."""
_CLEARLY: Final = 1.18
_MIN_VALUES: Final = 3
_VALUES_SHARE: Final = 0.6
_CLOSE_EM: Final = 0.2
_LABEL_SHARE: Final = 0.8
_APART_EM: Final = 8.0
_CALLED: Final = re.compile(r"\+\d{1,3}|\(?0\d{1,5}\)?")
"""How a telephone number begins, which is one value of several words."""
_DASHES: Final = frozenset({"-", "\u2013", "\u2014", "\u2212"})


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
    cuts = finer_cuts(rows, cuts)
    lines = _split_at(rows, cuts)
    _spread_sections(lines)
    joined = _with_one_head(_joined_rows(lines, rules))
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
    _spread_heads(joined, texts, head, spanned)
    places = tuple(Place(page, frame.shown(joined_box([piece.box for piece in row.pieces]))) for row in joined)
    return Table(
        tuple(tuple(row) for row in texts),
        head,
        count_header_columns(texts, bold, head),
        "",
        frozenset(spanned),
        places,
    )


def pairs_of(rows: list[list[Piece]], cuts: tuple[float, ...]) -> list[str]:
    """Return the lines of columns, labels that end with a colon with their values, when such columns are there.

    Labels beside their values name what stands beside them, not what stands below: they make no table with the columns
    that happen to stand beside them as well.
    """
    cells: list[list[str]] = [[""] * (len(cuts) + 1) for _ in rows]
    for index, row in enumerate(rows):
        for piece in row:
            column = column_of(piece, cuts)
            cells[index][column] = f"{cells[index][column]} {piece.text}".strip()
    columns = list(zip(*cells, strict=True))
    labels = {number for number, column in enumerate(columns[:-1]) if _is_labels(column)}
    labels |= _bold_labels(rows, cuts)
    if not labels:
        return []
    lines: list[str] = []
    number = 0
    while number < len(columns):
        if number in labels:
            lines += _labelled(columns[number], columns[number + 1])
            number += 2
        else:
            lines += [text for text in columns[number] if text]
            number += 1
    return lines


def _is_labels(column: tuple[str, ...]) -> bool:
    texts = [text for text in column if text]
    return len(texts) > 1 and sum(text.endswith(":") for text in texts) >= _LABEL_SHARE * len(texts)


def _bold_labels(rows: list[list[Piece]], cuts: tuple[float, ...]) -> set[int]:
    """Return the columns, far beside another text, whose texts are bold while that before and the values are not."""
    columns: list[list[Piece]] = [[] for _ in range(len(cuts) + 1)]
    for row in rows:
        for piece in row:
            columns[column_of(piece, cuts)].append(piece)
    found: set[int] = set()
    for number in range(1, len(columns) - 1):
        before, column, values = columns[number - 1], columns[number], columns[number + 1]
        if len(column) < 2 or len(values) != len(column) or not before:  # noqa: PLR2004
            continue
        far = min(piece.left for piece in column) - max(piece.right for piece in before) > _APART_EM * column[0].size
        plain = not any(piece.bold for piece in values) and sum(piece.bold for piece in before) < len(before) / 2
        text = sum(is_value(piece.text) for piece in before) < len(before) / 2
        if far and plain and text and all(piece.bold for piece in column):
            found.add(number)
    return found


def _labelled(labels: tuple[str, ...], values: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for label, value in zip(labels, values, strict=True):
        if label:
            lines.append(f"{label} {value}".strip())
        elif value and lines:
            lines[-1] += f" {value}"
        elif value:
            lines.append(value)
    return lines


def finer_cuts(rows: list[list[Piece]], cuts: tuple[float, ...]) -> tuple[float, ...]:
    """Return the cuts, and those between numbers close together in one column at the same places of each line."""
    found = list(cuts)
    columns: list[list[list[Word]]] = [[] for _ in range(len(cuts) + 1)]
    for row in rows:
        cells: dict[int, list[Word]] = {}
        for piece in row:
            cells.setdefault(column_of(piece, cuts), []).extend(piece.words)
        for number, cell in cells.items():
            columns[number].append(cell)
    for column in columns:
        values = [cell for cell in column if len(cell) > 1 and all(is_value(word.text) for word in cell)]
        if len(values) < _MIN_VALUES or len(values) < _VALUES_SHARE * len(column):
            continue
        count = len(values[0])
        if any(len(cell) != count for cell in values) or all(_CALLED.fullmatch(cell[0].text) for cell in values):
            continue
        for index in range(count - 1):
            ranges = sum(cell[index].text in _DASHES or cell[index + 1].text in _DASHES for cell in values)
            if 2 * ranges > len(values):
                continue  # "8 - 97" is one value
            left = max(cell[index].right for cell in values)
            right = min(cell[index + 1].left for cell in values)
            if right - left > _CLOSE_EM * values[0][0].run.size:
                found.append((left + right) / 2)
    return tuple(sorted(found))


def _split_at(rows: list[list[Piece]], cuts: tuple[float, ...]) -> list[_Row]:
    """Return each line's words by column; what crosses a strip stands in all columns that it covers."""
    lines: list[_Row] = []
    for row in rows:
        line = _Row([[] for _ in range(len(cuts) + 1)], [[] for _ in range(len(cuts) + 1)], list(row))
        firsts = [sum(cut < piece.left for cut in cuts) for piece in row]
        for number, piece in enumerate(row):
            if all(is_value(word.text) for word in piece.words):
                for word in piece.words:
                    line.words[sum(cut < (word.left + word.right) / 2 for cut in cuts)].append(word)
                continue
            first, last = firsts[number], sum(cut < piece.right for cut in cuts)
            last = max(first, min([last, *(other - 1 for other in firsts[number + 1 :])]))
            if first != last:
                line.spans.append((first, last))
            line.words[first] += piece.words
        for column, words in enumerate(line.words):
            if words:
                line.cells[column].append(words_text(words))
        lines.append(line)
    return lines


def _spread_sections(lines: list[_Row]) -> None:
    """Let headings alone in their line cover it: bold at the left, below a bold head, between lines that are not."""
    marked = [all(piece.bold for piece in line.pieces) for line in lines]
    head = marked.index(False) if False in marked else len(lines)
    first = next((number for number in range(1, head) if len(lines[number].pieces) == 1), head)
    if not first or max(len(line.pieces) for line in lines[:first]) < len(lines[0].words):
        return
    for number in range(first, len(lines) - 1):
        line = lines[number]
        if marked[number] and len(line.pieces) == 1 and line.words[0] and not marked[number + 1]:
            line.spans = [(0, len(line.words) - 1)]


def _joined_rows(lines: list[_Row], rules: list[Rule]) -> list[_Row]:
    left = min(piece.left for line in lines for piece in line.pieces)
    right = max(piece.right for line in lines for piece in line.pieces)
    ruled = sorted(rule.at for rule in rules if min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left))
    gaps = [after.pieces[0].base - before.pieces[0].base for before, after in itertools.pairwise(lines)]
    closest = min(gaps, default=0.0)
    divided = [
        any(before.pieces[0].base - 1.0 < at < after.pieces[0].base - 0.5 * after.pieces[0].size for at in ruled)
        for before, after in itertools.pairwise(lines)
    ]
    always = sum(divided) >= 3 and sum(divided) >= 0.3 * len(divided)  # noqa: PLR2004
    varied = max(gaps, default=0.0) > _CLEARLY * closest
    rows: list[_Row] = []
    for index, line in enumerate(lines):
        if (
            index
            and not divided[index - 1]
            and _continues(rows[-1], line, gaps[index - 1], closest, varied=varied, ruled=always)
        ):
            for column, cell in enumerate(line.cells):
                rows[-1].cells[column] += cell
                rows[-1].words[column] += line.words[column]
            rows[-1].pieces += line.pieces
        else:
            rows.append(line)
    return rows


def _with_one_head(rows: list[_Row]) -> list[_Row]:
    """Join the first lines to one head: more white follows than lies between them, and only they hold no value."""
    bases = [row.pieces[0].base for row in rows]
    size = rows[0].pieces[0].size
    for count in (2, 3):
        if len(rows) < count + 2 or bases[count] - bases[count - 1] < 1.4 * (bases[1] - bases[0]):
            continue
        head, body = rows[:count], rows[count:]
        texts = [text for row in head for text in row.texts() if text]
        filled = {column for row in head for column, words in enumerate(row.words) if words}
        close = bases[count - 1] - bases[0] <= (count - 1) * _TIGHT * size
        values = sum(is_value(text) for row in body for text in row.texts())
        if close and not any(map(is_value, texts)) and values >= len(body) and len(filled) > len(head[0].words) - 1:
            for row in head[1:]:
                for column, cell in enumerate(row.cells):
                    head[0].cells[column] += cell
                    head[0].words[column] += row.words[column]
                head[0].pieces += row.pieces
                head[0].spans += row.spans
            return [head[0], *body]
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
        return False
    if filled[0] > 0:
        return True
    text = line.cells[0][0]
    return text[:1].islower() or text[:1] in "(&+/" or (varied and len(filled) == 1 and len(full) > 1)


def _spread_heads(rows: list[_Row], texts: list[list[str]], head: int, spanned: set[tuple[int, int]]) -> None:
    """Repeat a head that stands above the middle of several columns at each of them: the one nearest to it counts."""
    for index in range(head - 1):
        pieces = rows[index].pieces
        below = rows[head - 1].pieces
        if len(pieces) < 2 or len(below) < 2 * len(pieces) - 1:  # noqa: PLR2004
            continue
        middles = {
            column: sum(word.left + word.right for word in words) / 2 / len(words)
            for column, words in enumerate(rows[head - 1].words)
            if words
        }
        named: dict[int, list[int]] = {}
        for column, middle in middles.items():
            near = min(range(len(pieces)), key=lambda at: abs((pieces[at].left + pieces[at].right) / 2 - middle))
            named.setdefault(near, []).append(column)
        if set(named) != set(range(len(pieces))):
            continue
        own = {column for columns in named.values() for column in columns}
        for column in own:
            texts[index][column] = ""
        for near, columns in named.items():
            reach = max(middles[columns[-1]] - middles[columns[0]], pieces[near].right - pieces[near].left)
            middle = (pieces[near].left + pieces[near].right) / 2
            covered = [
                column for column in columns if abs(middles[column] - middle) <= 0.75 * reach + pieces[near].size
            ]
            for column in covered or columns:
                texts[index][column] = words_text(pieces[near].words)
                if column != (covered or columns)[0]:
                    spanned.add((index, column))


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
        apart = all(one[1] < two[0] for one, two in itertools.pairwise(spans))
        if not apart:
            break
        count += 1
    return min(count, 2)
