"""A curve as SVG, written by hand: the same figures give the same bytes, and no plotting library is needed."""

import math
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET  # writes; nothing is parsed

WIDTH: Final = 640.0
HEIGHT: Final = 400.0
LEFT: Final = 64.0
TOP: Final = 40.0
PLOT_WIDTH: Final = 380.0
PLOT_HEIGHT: Final = 300.0
# Colours that people with colour blindness tell apart; dashes for print in grey.
STYLES: Final = (("#0072b2", ""), ("#d55e00", "7 4"), ("#009e73", "2 3"), ("#cc79a7", "9 3 2 3"))

Points = Sequence[tuple[float, float]]


def growth_curve(title: str, across: str, up: str, curves: Mapping[str, Points]) -> str:
    """Return curves over a logarithmic horizontal axis that ticks at the first curve's points.

    Args:
        title: stands above.
        across: names the horizontal axis.
        up: names the vertical axis, which begins at 0.
        curves: up to four, each with at least one point, all at the same places.
    """
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "width": f"{WIDTH:g}",
            "height": f"{HEIGHT:g}",
            "viewBox": f"0 0 {WIDTH:g} {HEIGHT:g}",
        },
    )
    ET.SubElement(root, "title").text = title
    ET.SubElement(root, "rect", {"width": f"{WIDTH:g}", "height": f"{HEIGHT:g}", "fill": "#ffffff"})
    page = ET.SubElement(root, "g", {"font-family": "sans-serif", "font-size": "12", "fill": "#222222"})
    _text(page, (LEFT, 24), title, **{"font-size": "15"})
    places = [x for x, _ in next(iter(curves.values()))]
    step = _step(max(y for points in curves.values() for _, y in points))
    top = step * math.ceil(max(y for points in curves.values() for _, y in points) / step)
    _frame(page, places, (step, top), (across, up))
    for number, (name, points) in enumerate(curves.items()):
        colour, dashes = STYLES[number % len(STYLES)]
        drawn = [(_x(x, places), _y(y, top)) for x, y in points]
        line = {"fill": "none", "stroke": colour, "stroke-width": "2", "stroke-dasharray": dashes or "none"}
        ET.SubElement(page, "polyline", {"points": " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn), **line})
        for x, y in drawn:
            ET.SubElement(page, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3", "fill": colour})
        _text(page, (LEFT + PLOT_WIDTH + 14, TOP + 14 + 20 * number), name, fill=colour)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _frame(page: ET.Element, places: Sequence[float], scale: tuple[float, float], names: tuple[str, str]) -> None:
    step, top = scale
    for tick in range(round(top / step) + 1):
        y = _y(tick * step, top)
        ends = {"x1": f"{LEFT:g}", "x2": f"{LEFT + PLOT_WIDTH:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
        ET.SubElement(page, "line", {**ends, "stroke": "#dddddd"})
        _text(page, (LEFT - 6, y + 4), f"{tick * step:g}", **{"text-anchor": "end"})
    for place in places:
        _text(page, (_x(place, places), TOP + PLOT_HEIGHT + 18), f"{place:,.0f}", **{"text-anchor": "middle"})
    across, up = names
    _text(page, (LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 42), across, **{"text-anchor": "middle"})
    _text(page, (LEFT - 6, TOP - 6), up, **{"text-anchor": "end"})


def _x(value: float, places: Sequence[float]) -> float:
    if len(places) == 1:
        return LEFT + PLOT_WIDTH / 2
    low, high = math.log(places[0]), math.log(places[-1])
    return LEFT + PLOT_WIDTH * (math.log(value) - low) / (high - low)


def _y(value: float, top: float) -> float:
    return TOP + PLOT_HEIGHT * (1 - value / top)


def _step(highest: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that the axis has five to ten ticks."""
    power = 10.0 ** math.floor(math.log10(max(highest, 1e-9) / 5))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * 10 >= highest)


def _text(page: ET.Element, place: tuple[float, float], text: str, **style: str) -> None:
    ET.SubElement(page, "text", {"x": f"{place[0]:.1f}", "y": f"{place[1]:.1f}", **style}).text = text
