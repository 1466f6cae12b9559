"""Names of groups of columns, which stand in the middle of what they name and above none of it."""

from collections.abc import Sequence
from typing import Final

from services.common.documents.pdf.bare.cells import Line
from services.common.documents.pdf.bare.segments import Segment
from services.common.documents.pdf.lines import Piece

Extent = tuple[float, float]

_HEAD_LINES: Final = 3
_MOST: Final = 40
_OFF_EM: Final = 0.8
"""The name of a group stands so near to the middle of its columns."""


def join_columns_of_groups(segment: Segment, lines: list[Line]) -> bool:
    """Join the strips beside the name of a group that stands between two columns, and so looks like one of its own.

    No line below the head has anything there, and nothing names the columns beside it. Says whether any was joined.
    """
    strips = segment.kept()
    found = False
    for column in range(1, len(strips)):
        holding = [number for number, line in enumerate(lines) if column in line.cells]
        beside = {column - 1, column + 1}
        head = lines[: _HEAD_LINES if len(lines) > 2 * _HEAD_LINES else 1]
        if not holding or holding[-1] >= len(head) or any(beside & set(lines[number].cells) for number in holding):
            continue
        if not all(any(side in line.cells for line in lines[len(head) :]) for side in beside):
            continue
        one, two = strips[column - 1], strips[column]
        if one in segment.strips and two in segment.strips:
            segment.strips.remove(two)
            one.right = two.right
            found = True
    return found


def shared_out(pieces: Sequence[Piece], columns: Sequence[Extent]) -> list[tuple[int, int]]:
    """Return the first and last column of each name, all columns shared out so that each name stands in the middle.

    Empty when no such share exists. Names and columns from left to right; O(names x columns^2).
    """
    count = len(columns)
    if not pieces or count > _MOST or len(pieces) > count:
        return []
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}]
    for piece in pieces:
        reached: dict[int, tuple[float, int]] = {}
        for start, (cost, _) in best[-1].items():
            for end in range(start + 1, count + 1):
                off = abs(columns[start][0] + columns[end - 1][1] - piece.left - piece.right) / 2
                total = cost + off
                if off <= _OFF_EM * piece.size and (end not in reached or total < reached[end][0]):
                    reached[end] = (total, start)
        best.append(reached)
    if count not in best[-1]:
        return []
    result: list[tuple[int, int]] = []
    end = count
    for reached in reversed(best[1:]):
        start = reached[end][1]
        result.append((start, end - 1))
        end = start
    return result[::-1]
