"""Turning: text that runs in any of four directions is read in a frame in which it is upright.

A frame is a number of quarter turns against the clock, 0 to 3: how far the direction of the text is turned from that of
the page's own x axis. Coordinates in a frame grow to the right and down. A page that is shown turned (its /Rotate)
is shown in the frame of its rotation.
"""

from dataclasses import dataclass

from services.common.documents.document import Box


def turned(turn: int, x: float, y: float) -> tuple[float, float]:
    """Return a point of the page's own space, y upwards, in a frame; or the other way: each turn is its own inverse."""
    if turn == 0:
        return x, -y
    if turn == 1:
        return y, x
    return (-x, y) if turn == 2 else (-y, -x)  # noqa: PLR2004


def turned_box(turn: int, box: Box) -> Box:
    """Return a box of the page's own space (left, bottom, right, top) as left, top, right, bottom in a frame."""
    one, other = turned(turn, box[0], box[1]), turned(turn, box[2], box[3])
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])


def between(box: Box, turn: int, to: int) -> Box:
    """Return a box of one frame in another."""
    if turn == to:
        return box
    one = turned(to, *turned(turn, box[0], box[1]))
    other = turned(to, *turned(turn, box[2], box[3]))
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page is read, and how it is shown.

    Attributes:
        bounds: of the page in its own space: left, bottom, right, top.
        rotation: quarter turns by the clock in which it is shown.
        turn: of the frame in which its text is upright.
    """

    bounds: Box
    rotation: int
    turn: int

    @property
    def page(self) -> Box:
        """The page's box in the frame."""
        return turned_box(self.turn, self.bounds)

    def shown(self, box: Box) -> Box:
        """Return a box of the frame as shares of the page as it is shown, cut to the page."""
        page = turned_box(self.rotation, self.bounds)
        width, height = max(page[2] - page[0], 1.0), max(page[3] - page[1], 1.0)
        here = between(box, self.turn, self.rotation)
        return (
            _share(here[0] - page[0], width),
            _share(here[1] - page[1], height),
            _share(here[2] - page[0], width),
            _share(here[3] - page[1], height),
        )


def _share(part: float, whole: float) -> float:
    return round(min(max(part / whole, 0.0), 1.0), 4)


def joined_box(boxes: list[Box]) -> Box:
    """Return the smallest box around all."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
