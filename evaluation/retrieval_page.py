"""The table of ``docs/retrieval.md`` and its picture, from docs/results/retrieval.json alone."""

import re
from collections.abc import Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET  # writes; nothing is parsed

from evaluation.data import EvaluationDataError
from evaluation.retrieval_modes import NDCG, RECALL
from evaluation.retrieval_sets import CRANFIELD, HALVES, WICE
from evaluation.tables import Table
from services.common.taxonomy import RetrievalMode

NAMES: Final = {
    RetrievalMode.DENSE: "dense",
    RetrievalMode.TEXT: "BM25",
    RetrievalMode.HYBRID: "hybrid",
    RetrievalMode.RERANKED: "reranked",
    RetrievalMode.LATE_INTERACTION: "late interaction",
}
SETS: Final = (CRANFIELD, WICE)
METRICS: Final = (NDCG, RECALL)
COLOURS: Final = {NDCG: "#0072b2", RECALL: "#d55e00"}
_SECTION: Final = re.compile(r"^<!-- begin (?P<half>\S+) -->$.*?^<!-- end (?P=half) -->$", re.MULTILINE | re.DOTALL)
_WIDTH: Final = 760
_LEFT: Final = 130
_SCALE: Final = 560
_ROW: Final = 30
_SET_ROWS: Final = len(NAMES) + 1


def table(half: str, kept: Mapping[str, Any]) -> Table:
    """Return a half's figures: a row per set and mode."""
    rows = [
        _row(name, mode, found["modes"][mode.name], found["queries"])
        for name, found in kept.items()
        for mode in NAMES
        if mode.name in found["modes"]
    ]
    columns: tuple[str, ...] = ("set", "queries", "mode")
    for metric in METRICS:
        columns += (metric, "95%", "against the better of dense and BM25", "95%")
    return Table(half, f"Retrieval, {half}", (*columns, "median ms"), tuple(rows))


def _row(name: str, mode: RetrievalMode, found: Mapping[str, Any], queries: int) -> tuple[str, ...]:
    cells = [name, f"{queries:,}", NAMES[mode]]
    for metric in METRICS:
        figures = found[metric]
        low, high = figures["interval"]
        worse, better = figures["gain_interval"]
        cells += [f"{figures['value']:.3f}", f"{low:.3f} to {high:.3f}"]
        cells += [f"{figures['gain']:+.3f}", f"{worse:+.3f} to {better:+.3f}"]
    return (*cells, f"{found['median_ms']:,.0f}")


def rewritten(page: str, document: Mapping[str, Any]) -> str:
    """Return the page with the tables of both halves between its markers.

    Raises:
        EvaluationDataError: a marker names no half.
    """

    def section(match: re.Match[str]) -> str:
        half = match["half"]
        if half not in HALVES:
            raise EvaluationDataError(f"a marker names {half}; the halves are {', '.join(HALVES)}")
        kept = document["halves"].get(half)
        body = "Not measured yet." if kept is None else table(half, kept).markdown()
        return f"<!-- begin {half} -->\n\n{body}\n\n<!-- end {half} -->"

    return _SECTION.sub(section, page)


def picture(half: str, kept: Mapping[str, Any]) -> str:
    """Return the means of a half with their intervals, as SVG: the same figures give the same bytes."""
    height = 60 + len(kept) * _SET_ROWS * _ROW + 30
    size = {"width": str(_WIDTH), "height": str(height), "viewBox": f"0 0 {_WIDTH} {height}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    ET.SubElement(root, "title").text = f"Retrieval by mode ({half})"
    ET.SubElement(root, "rect", {"width": str(_WIDTH), "height": str(height), "fill": "#ffffff"})
    page = ET.SubElement(root, "g", {"font-family": "sans-serif", "font-size": "12", "fill": "#222222"})
    for number, metric in enumerate(METRICS):
        _text(page, _LEFT + 160 * number, 24, f"● {metric}", fill=COLOURS[metric])
    _text(page, _LEFT + 320, 24, "bars: 95% bootstrap interval")
    for tick in range(0, 11, 2):
        x = str(_x(tick / 10))
        ET.SubElement(page, "line", {"x1": x, "x2": x, "y1": "40", "y2": str(height - 30), "stroke": "#dddddd"})
        _text(page, _x(tick / 10) - 8, height - 12, f"{tick / 10:.1f}")
    for place, (name, found) in enumerate(kept.items()):
        top = 56 + place * _SET_ROWS * _ROW
        _text(page, 12, top, f"{name}, {found['queries']} queries", weight="bold")
        for row, mode in enumerate(NAMES, start=1):
            _text(page, 12, top + row * _ROW + 4, NAMES[mode])
            for number, metric in enumerate(METRICS if mode.name in found["modes"] else ()):
                _bar(page, top + row * _ROW - 5 + 10 * number, found["modes"][mode.name][metric], COLOURS[metric])
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _x(value: float) -> float:
    return round(_LEFT + _SCALE * value, 1)


def _text(page: ET.Element, x: float, y: float, text: str, *, fill: str = "#222222", weight: str = "normal") -> None:
    place = {"x": str(x), "y": str(y), "fill": fill, "font-weight": weight}
    ET.SubElement(page, "text", place).text = text


def _bar(page: ET.Element, y: float, figures: Mapping[str, Any], colour: str) -> None:
    low, high = figures["interval"]
    line = {"x1": str(_x(low)), "x2": str(_x(high)), "y1": str(y), "y2": str(y), "stroke": colour, "stroke-width": "2"}
    ET.SubElement(page, "line", line)
    ET.SubElement(page, "circle", {"cx": str(_x(figures["value"])), "cy": str(y), "r": "4", "fill": colour})
