"""The order in which a person reads boxes on a page: columns where there are columns, else from top to bottom."""

from collections.abc import Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")
Edges = tuple[float, float, float, float]
"""Left, top, right, bottom."""
MAX_BOXES: Final = 500
"""More on one page are read by their upper edges alone."""
_MAX_DEPTH: Final = 16
_OVERLAP_RATIO: Final = 0.1
"""Boxes that overlap by so much of the smaller one's width or height still stand beside each other."""


def in_reading_order(boxes: Sequence[tuple[Edges, Item]]) -> list[Item]:
    """Return the items of boxes in reading order."""
    placed = sorted(boxes, key=lambda one: (one[0][1], one[0][0]))
    if len(placed) > MAX_BOXES:
        return [item for _, item in placed]
    return [item for _, item in _ordered(placed, 0)]


def _ordered(boxes: list[tuple[Edges, Item]], depth: int) -> list[tuple[Edges, Item]]:
    if len(boxes) < 2 or depth > _MAX_DEPTH:  # noqa: PLR2004 - one box needs no order
        return boxes
    columns = _split(boxes, 0)
    if len(columns) > 1:
        return [one for column in columns for one in _ordered(column, depth + 1)]
    bands = _split(boxes, 1)
    if len(bands) == 1:
        return boxes
    result: list[tuple[Edges, Item]] = []
    at = 0
    while at < len(bands):
        # Heads of columns and what stands below them are bands with one gap in common: they are read column by column.
        end, together = at + 1, bands[at]
        if len(_split(together, 0)) > 1:
            while end < len(bands) and len(_split(bands[end], 0)) > 1 and len(_split(together + bands[end], 0)) > 1:
                together = together + bands[end]
                end += 1
        result.extend(_ordered(together, depth + 1))
        at = end
    return result


def _split(boxes: list[tuple[Edges, Item]], axis: int) -> list[list[tuple[Edges, Item]]]:
    """Split boxes where no box stands: between columns (axis 0) or bands (axis 1)."""
    parts: list[list[tuple[Edges, Item]]] = []
    reach = float("-inf")
    for one in sorted(boxes, key=lambda box: box[0][axis]):
        start, end = one[0][axis], one[0][axis + 2]
        slack = (end - start) * _OVERLAP_RATIO
        if parts and start < reach - slack:
            parts[-1].append(one)
            reach = max(reach, end)
        else:
            parts.append([one])
            reach = end if not parts[:-1] else max(reach, end)
    return [sorted(part, key=lambda box: (box[0][1], box[0][0])) for part in parts]
