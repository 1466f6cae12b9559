"""Tables with lines: rules that touch make a grid, cells that no rule divides are one.

Rules on one line are joined first, so that a table of any number of cells has as many rules as it has lines.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import Box

_SNAP: Final = 2.0
_TOUCH: Final = 3.0
_MAX_CROSSINGS: Final = 2_000_000
_MIN_CELL: Final = 5.0
_MAX_CELLS: Final = 50_000


@dataclass(slots=True)
class Rule:
    """A level rule at ``at`` from ``start`` to ``end``; an upright one the same with x and y changed."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Grid:
    """Lines of a table in its frame.

    Attributes:
        xs: of the upright lines, from the left.
        ys: of the level lines, from the top.
        group: the number of the cell at each position, by row and column.
    """

    xs: list[float]
    ys: list[float]
    group: list[list[int]] = field(default_factory=list)

    @property
    def box(self) -> Box:
        """Around it."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def position(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of a point; ``None`` outside."""
        if not (self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]):
            return None
        row = min(bisect_right(self.ys, y) - 1, len(self.ys) - 2)
        column = min(bisect_right(self.xs, x) - 1, len(self.xs) - 2)
        return row, column


def split_rules(boxes: list[Box]) -> tuple[list[Rule], list[Rule]]:
    """Return level and upright rules, those on one line joined."""
    level = [Rule((box[1] + box[3]) / 2, box[0], box[2]) for box in boxes if box[2] - box[0] >= box[3] - box[1]]
    upright = [Rule((box[0] + box[2]) / 2, box[1], box[3]) for box in boxes if box[2] - box[0] < box[3] - box[1]]
    return _joined(level), _joined(upright)


def _joined(rules: list[Rule]) -> list[Rule]:
    lines: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if lines and rule.at - lines[-1][0].at <= _SNAP:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    result: list[Rule] = []
    for line in lines:
        at = line[0].at
        here: Rule | None = None
        for rule in sorted(line, key=lambda rule: rule.start):
            if here is not None and rule.start - here.end <= _SNAP:
                here.end = max(here.end, rule.end)
            else:
                here = Rule(at, rule.start, rule.end)
                result.append(here)
    return result


def find_grids(level: list[Rule], upright: list[Rule]) -> list[Grid]:
    """Return the grids that rules make, from the top; rules that touch no other make none."""
    if len(level) * len(upright) > _MAX_CROSSINGS:
        return []
    parent = list(range(len(level) + len(upright)))
    for row, one in enumerate(level):
        for column, other in enumerate(upright):
            if (
                one.start - _TOUCH <= other.at <= one.end + _TOUCH
                and other.start - _TOUCH <= one.at <= other.end + _TOUCH
            ):
                _join(parent, row, len(level) + column)
    members: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for number in range(len(parent)):
        levels, uprights = members.setdefault(_root(parent, number), ([], []))
        if number < len(level):
            levels.append(level[number])
        else:
            uprights.append(upright[number - len(level)])
    grids = [_grid(levels, uprights) for levels, uprights in members.values() if levels and uprights]
    return sorted((grid for grid in grids if grid is not None), key=lambda grid: (grid.ys[0], grid.xs[0]))


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


def _join(parent: list[int], one: int, other: int) -> None:
    one, other = _root(parent, one), _root(parent, other)
    if one != other:
        parent[other] = one


def _grid(level: list[Rule], upright: list[Rule]) -> Grid | None:
    xs = _lines([rule.at for rule in upright], min(rule.start for rule in level), max(rule.end for rule in level))
    ys = _lines([rule.at for rule in level], min(rule.start for rule in upright), max(rule.end for rule in upright))
    if len(xs) < 2 or len(ys) < 2 or len(xs) * len(ys) > _MAX_CELLS:  # noqa: PLR2004
        return None
    grid = Grid(xs, ys)
    rows, columns = len(ys) - 1, len(xs) - 1
    parent = list(range(rows * columns))
    across, down = _covering(level, ys, xs), _covering(upright, xs, ys)
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if column + 1 < columns and row not in down[column + 1]:
                _join(parent, here, here + 1)
            if row + 1 < rows and column not in across[row + 1]:
                _join(parent, here, here + columns)
    grid.group = [[_root(parent, row * columns + column) for column in range(columns)] for row in range(rows)]
    return grid


def _lines(at: list[float], start: float, end: float) -> list[float]:
    """Return the places of lines, each once; an edge without a line is one where rules reach beyond the last."""
    lines: list[float] = []
    for place in sorted([*at, start, end]):
        if not lines or place - lines[-1] > _MIN_CELL:
            lines.append(place)
    return lines


def _covering(rules: list[Rule], at: list[float], across: list[float]) -> list[set[int]]:
    """Return, for each line of the grid, the gaps between the lines across that a rule on it closes."""
    closed: list[set[int]] = [set() for _ in at]
    for rule in rules:
        near = min(range(len(at)), key=lambda index: abs(at[index] - rule.at))
        for index in range(len(across) - 1):
            middle = (across[index] + across[index + 1]) / 2
            if rule.start <= middle <= rule.end:
                closed[near].add(index)
    return closed
