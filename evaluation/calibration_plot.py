"""Reliability diagrams as SVG: what was promised along, how often it came true up; the diagonal is perfect.

Written by hand instead of by a plotting library: two small charts need no dependency, and the same figures give the
same bytes, so that a changed plot in the repository is a changed figure.
"""

import math
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET  # writes; nothing is parsed

from evaluation.calibration import Calibration

SIDE: Final = 320.0
LEFT: Final = 56.0
TOP: Final = 40.0
WIDTH: Final = 640
HEIGHT: Final = 420
TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# Colours that people with colour blindness tell apart; dashes for print in grey.
STYLES: Final = (("#0072b2", ""), ("#d55e00", "7 4"), ("#009e73", "2 3"), ("#cc79a7", "9 3 2 3"))


def reliability_diagram(title: str, promise: str, outcome: str, curves: Sequence[Calibration]) -> str:
    """Return a diagram of up to four curves.

    Args:
        title: stands above it.
        promise: names the horizontal axis, e.g. "confidence".
        outcome: names the vertical axis, e.g. "accuracy".
        curves: the calibrations; points grow with the rows of their bins.

    Raises:
        ValueError: more curves than there are styles.
    """
    if len(curves) > len(STYLES):
        raise ValueError(f"a diagram shows at most {len(STYLES)} curves, not {len(curves)}")
    size = {"width": str(WIDTH), "height": str(HEIGHT), "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    ET.SubElement(root, "title").text = title
    ET.SubElement(root, "rect", {"width": str(WIDTH), "height": str(HEIGHT), "fill": "#ffffff"})
    page = ET.SubElement(root, "g", {"font-family": "sans-serif", "font-size": "12", "fill": "#222222"})
    _text(page, (LEFT, 24), title, {"font-size": "15"})
    _frame(page, promise, outcome)
    for number, curve in enumerate(curves):
        _curve(page, curve, STYLES[number])
        _legend(page, curve, number)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _x(share: float) -> float:
    return LEFT + SIDE * share


def _y(share: float) -> float:
    return TOP + SIDE * (1 - share)


def _frame(page: ET.Element, promise: str, outcome: str) -> None:
    for tick in TICKS:
        _line(page, (_x(tick), _y(0)), (_x(tick), _y(1)), {"stroke": "#dddddd"})
        _line(page, (_x(0), _y(tick)), (_x(1), _y(tick)), {"stroke": "#dddddd"})
        _text(page, (_x(tick), _y(0) + 18), f"{tick:g}", {"text-anchor": "middle"})
        _text(page, (LEFT - 8, _y(tick) + 4), f"{tick:g}", {"text-anchor": "end"})
    _line(page, (_x(0), _y(0)), (_x(1), _y(1)), {"stroke": "#888888", "stroke-dasharray": "4 4"})
    _text(page, (_x(0.5), _y(0) + 40), promise, {"text-anchor": "middle"})
    x, y = 16.0, _y(0.5)
    _text(page, (x, y), outcome, {"text-anchor": "middle", "transform": f"rotate(-90 {_number(x)} {_number(y)})"})


def _curve(page: ET.Element, curve: Calibration, style: tuple[str, str]) -> None:
    colour, dashes = style
    points = [(_x(one.confidence), _y(one.observed)) for one in curve.bins]
    path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    look = {"fill": "none", "stroke": colour, "stroke-width": "2"} | ({"stroke-dasharray": dashes} if dashes else {})
    ET.SubElement(page, "polyline", {"points": path, **look})
    for (x, y), one in zip(points, curve.bins, strict=True):
        radius = 2 + 6 * math.sqrt(one.rows / curve.rows)
        ET.SubElement(page, "circle", {"cx": _number(x), "cy": _number(y), "r": _number(radius), "fill": colour})


def _legend(page: ET.Element, curve: Calibration, number: int) -> None:
    colour, dashes = STYLES[number]
    x, y = _x(1) + 20, TOP + 20 + 44 * number
    stroke = {"stroke": colour, "stroke-width": "2"} | ({"stroke-dasharray": dashes} if dashes else {})
    _line(page, (x, y), (x + 28, y), stroke)
    _text(page, (x + 36, y + 4), curve.name, {})
    _text(page, (x + 36, y + 20), f"error {curve.equal_mass:.3f}, {curve.rows:,} rows", {"fill": "#555555"})


def _line(page: ET.Element, start: tuple[float, float], end: tuple[float, float], look: dict[str, str]) -> None:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    ET.SubElement(page, "line", {name: _number(value) for name, value in ends.items()} | look)


def _text(page: ET.Element, place: tuple[float, float], words: str, look: dict[str, str]) -> None:
    ET.SubElement(page, "text", {"x": _number(place[0]), "y": _number(place[1]), **look}).text = words


def _number(value: float) -> str:
    return f"{value:.1f}"
