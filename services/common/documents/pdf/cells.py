"""From a grid of lines and the words in it to a table; what is one box with text is no table."""

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Final

from services.common.documents.document import Box, Place, Table
from services.common.documents.pdf.frame import Frame, joined_box
from services.common.documents.pdf.heads import count_header_columns, count_header_rows, is_value
from services.common.documents.pdf.lines import rows_of, words_text
from services.common.documents.pdf.ruled import Grid
from services.common.documents.pdf.texts import join_lines
from services.common.documents.pdf.words import Word

_FIELDS: Final = 0.6
_SMALL_PRINT: Final = 0.9
"""The name of a field is at most so large against what was filled in."""
_FILLED: Final = 0.2
_MIN_LINES: Final = 3
_COARSE_LINES: Final = 5
_COARSE_VALUES: Final = 0.8
_IN_STEP: Final = 0.8


@dataclass(slots=True)
class Ground:
    """Filled areas of a page in its frame, to tell rows that stand out by their ground."""

    fills: list[tuple[Box, tuple[int, int, int, int]]]

    def at(self, x: float, y: float) -> tuple[int, int, int, int] | None:
        """Return the colour that was laid last at a point."""
        for box, colour in reversed(self.fills):
            if box[0] <= x <= box[2] and box[1] <= y <= box[3]:
                return colour
        return None


def fill_grid(grid: Grid, words: list[Word], frame: Frame, page: int, ground: Ground) -> Table | None:
    """Return the table that a grid and the words in it make; ``None`` when it is none."""
    texts: dict[int, list[Word]] = {}
    for word in words:
        position = grid.position((word.left + word.right) / 2, (word.top + word.bottom) / 2)
        if position is not None:
            texts.setdefault(grid.group[position[0]][position[1]], []).append(word)
    groups = {group for row in grid.group for group in row}
    if len(groups) < 2 or len(texts) < 2 or len(texts) < _FILLED * len(groups):  # noqa: PLR2004
        return None
    if len(grid.xs) == 2:  # noqa: PLR2004
        return None
    form = _form(grid, texts, frame, page)
    if form is not None:
        return form
    rows = _rows(grid, texts)
    return _table(rows, grid, frame, page, ground) if len(rows) > 1 or len(rows[0].groups) > 1 else None


def _form(grid: Grid, texts: dict[int, list[Word]], frame: Frame, page: int) -> Table | None:
    """Return the fields of a form, each with its value, when most cells name in small print what stands below it."""
    order = [group for row in grid.group for group in row]
    cells = [rows_of(texts[group]) for group in dict.fromkeys(order) if group in texts]
    named = [_is_field(lines) for lines in cells]
    if sum(named) < max(2, _FIELDS * len(cells)):
        return None
    rows: list[tuple[str, str]] = []
    places: list[Place] = []
    for lines, one in zip(cells, named, strict=True):
        name = words_text(lines[0]).strip()
        value = join_lines([words_text(line) for line in lines[1:]])
        rows.append((name, value) if one else (join_lines([name, value]), ""))
        places.append(Place(page, frame.shown(joined_box([word.box for line in lines for word in line]))))
    return Table(tuple(rows), 0, 1, places=tuple(places))


def _is_field(lines: list[list[Word]]) -> bool:
    if len(lines) < 2:  # noqa: PLR2004
        return False
    name = max(word.run.size for word in lines[0])
    return all(name <= _SMALL_PRINT * word.run.size for line in lines[1:] for word in line)


def is_coarse(grid: Grid, words: list[Word]) -> bool:
    """Say whether the rules divide columns, but not the rows: cells beside each other hold many values in step."""
    lines: dict[int, dict[int, set[float]]] = {}
    values: Counter[tuple[int, int]] = Counter()
    for word in words:
        position = grid.position((word.left + word.right) / 2, (word.top + word.bottom) / 2)
        if position is not None:
            lines.setdefault(position[0], {}).setdefault(position[1], set()).add(round(word.base))
            values[position] += is_value(word.text)
    for row, columns in lines.items():
        many = [column for column, bases in columns.items() if len(bases) >= _COARSE_LINES]
        held = [column for column in many if values[row, column] >= _COARSE_VALUES * len(columns[column])]
        for column in held:
            if any(
                len(columns[column] & columns[other]) >= _IN_STEP * len(columns[column])
                for other in many
                if other != column
            ):
                return True
    return False


@dataclass(slots=True)
class _Row:
    groups: list[int]
    texts: list[str]
    bold: list[bool]
    top: float
    bottom: float


def _rows(grid: Grid, texts: dict[int, list[Word]]) -> list[_Row]:
    rows: list[_Row] = []
    covers = Counter(group for groups in grid.group for group in set(groups))
    for number, groups in enumerate(grid.group):
        top, bottom = grid.ys[number], grid.ys[number + 1]
        alone = all(covers[group] == 1 for group in groups) and len(set(groups)) == len(groups)
        split = (_split(grid, number, texts) or _split_at_names(grid, number, texts)) if alone else []
        if split:
            rows += split
            continue
        cells = [texts.get(group, []) for group in groups]
        rows.append(_Row(groups, [cell_text(cell) for cell in cells], [_bold(cell) for cell in cells], top, bottom))
    return [row for row in rows if any(row.texts)]


def _split(grid: Grid, number: int, texts: dict[int, list[Word]]) -> list[_Row]:
    """Divide a row of the grid whose cells hold lines at the same heights: rows without a rule between them."""
    groups = grid.group[number]
    lines = [rows_of(texts.get(group, [])) for group in groups]
    most = max(lines, key=len)
    if len(most) < _MIN_LINES or len(set(groups)) < 2:  # noqa: PLR2004
        return []
    bases = [line[0].base for line in most]
    found: list[dict[int, list[Word]]] = [{} for _ in bases]
    at_all = [sum(bool(line) for line in lines), 0]
    for group, cell in zip(groups, lines, strict=True):
        for line in cell:
            near = min(range(len(bases)), key=lambda index: abs(bases[index] - line[0].base))
            if abs(bases[near] - line[0].base) > _MIN_LINES:
                return []
            found[near][group] = line
    at_all[1] = sum(len(one) >= 2 for one in found)  # noqa: PLR2004
    if at_all[1] < 0.8 * len(bases) or len(set(groups)) < len(groups):
        return []
    return _divided(grid, number, [[one] for one in found])


def _split_at_names(grid: Grid, number: int, texts: dict[int, list[Word]]) -> list[_Row]:
    """Divide a row of the grid in whose first cell names stand apart, each beside the first line of what it names."""
    groups = grid.group[number]
    words = [word for group in groups for word in texts.get(group, [])]
    lines: list[dict[int, list[Word]]] = []
    for line in rows_of(words):
        held: dict[int, list[Word]] = {}
        for word in line:
            position = grid.position((word.left + word.right) / 2, (word.top + word.bottom) / 2)
            if position is not None:
                held.setdefault(grid.group[position[0]][position[1]], []).append(word)
        lines.append(held)
    named = [groups[0] in line for line in lines]
    starts = [index for index, here in enumerate(named) if here and (index == 0 or not named[index - 1])]
    if len(starts) < 2 or starts[0] or any(len(lines[index]) < 2 for index in starts):  # noqa: PLR2004
        return []
    return _divided(grid, number, [lines[start:end] for start, end in itertools.pairwise([*starts, len(lines)])])


def _divided(grid: Grid, number: int, parts: list[list[dict[int, list[Word]]]]) -> list[_Row]:
    """Return a row of the grid as several, each of some of its lines."""
    groups = grid.group[number]
    count = sum(map(len, parts))
    height = (grid.ys[number + 1] - grid.ys[number]) / count
    rows: list[_Row] = []
    done = 0
    for index, part in enumerate(parts):
        cells = [[word for line in part for word in line.get(group, [])] for group in groups]
        rows.append(
            _Row(
                [-1 - number * 100_000 - index * 1_000 - column for column in range(len(groups))],
                [cell_text(cell) for cell in cells],
                [_bold(cell) for cell in cells],
                grid.ys[number] + done * height,
                grid.ys[number] + (done + len(part)) * height,
            )
        )
        done += len(part)
    return rows


def cell_text(words: list[Word]) -> str:
    """Return the lines of a cell as one text."""
    upright = [word for word in words if word.run.turn == words[0].run.turn]
    if words and len(upright) == len(words) and _is_tall(words):
        return " ".join(word.text for word in words)
    return join_lines([words_text(row) for row in rows_of(words)])


def _is_tall(words: list[Word]) -> bool:
    """Say whether words are turned against the page: higher than wide, though they have several letters."""
    return all(word.bottom - word.top > 1.5 * (word.right - word.left) for word in words if len(word.text) > 2)  # noqa: PLR2004


def _bold(words: list[Word]) -> bool:
    return bool(words) and all(word.run.font.bold for word in words)


def _table(rows: list[_Row], grid: Grid, frame: Frame, page: int, ground: Ground) -> Table:
    texts = [row.texts for row in rows]
    spanned = set()
    spans_down: dict[int, int] = {}
    begins: dict[int, tuple[int, int]] = {}
    for index, row in enumerate(rows):
        for column, group in enumerate(row.groups):
            if group in begins:
                spanned.add((index, column))
                first = begins[group][0]
                if index > first:
                    spans_down[first] = max(spans_down.get(first, 0), index)
            else:
                begins[group] = (index, column)
    bold = [row.bold for row in rows]
    colours = [ground.at(grid.xs[0] + 2.0, (row.top + row.bottom) / 2) for row in rows]
    stands_out = colours[0] is not None and colours.count(colours[0]) <= max(1, len(rows) // 3)
    marked = [
        all(one for one, text in zip(row.bold, row.texts, strict=True) if text)
        or (stands_out and colours[index] == colours[0])
        for index, row in enumerate(rows)
    ]
    head = count_header_rows(texts, marked, spans_down)
    places = tuple(Place(page, frame.shown((grid.xs[0], row.top, grid.xs[-1], row.bottom))) for row in rows)
    return Table(
        tuple(tuple(row) for row in texts),
        head,
        count_header_columns(texts, bold, head),
        "",
        frozenset(spanned),
        places,
    )
