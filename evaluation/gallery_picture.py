"""A document, what the former readers made of it and what today's do, side by side as SVG.

Written by hand, like the other charts: the same facts give the same bytes. Text is wrapped by the widths of a wide
sans-serif face, so that narrower ones fit as well. Colours follow the reader's light or dark mode; signs say the same.
"""

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET  # writes; nothing is parsed

from evaluation.gallery import JudgedFact, Reading, Verdict

MARGIN: Final = 16
COLUMN: Final = 400
GAP: Final = 14
WIDTH: Final = 2 * MARGIN + 3 * COLUMN + 2 * GAP
TOP: Final = 74
SIZE: Final = 13
LINE: Final = 17
PAD: Final = 6
INDENT: Final = 20
MAX_FACT_CHARS: Final = 700
SIGNS: Final = {Verdict.WRONG: "✗", Verdict.WHOLE: "✓", Verdict.UNLABELLED: "·"}
LEGEND: Final = (
    "✗ states what the labels call false, or tells what nobody sees or what is no content    "
    "✓ holds a labelled statement together (the rest of the fact is not judged)    · not labelled"
)
_STYLE: Final = """
text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; font-size: 13px; fill: #1f2328; }
.title { font-size: 19px; font-weight: bold; } .head { font-weight: bold; } .note { fill: #59636e; }
.ground { fill: #ffffff; } .sheet { fill: #ffffff; stroke: #8c959f; }
.wrong { fill: #ffebe9; stroke: #cf222e; } .whole { fill: #dafbe1; stroke: #1a7f37; }
.unlabelled { fill: #f6f8fa; stroke: #d1d9e0; } .why { fill: #a40e26; font-weight: bold; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .note { fill: #9198a1; } .ground { fill: #0d1117; }
.wrong { fill: #4b1113; stroke: #ff7b72; } .whole { fill: #12351e; stroke: #3fb950; }
.unlabelled { fill: #151b23; stroke: #3d444d; } .why { fill: #ffa198; }
}
"""
_NARROW: Final = frozenset("iljI.,:;'|!()[] ft/-rJ")
_WIDE: Final = frozenset("mwMW@%—…<>=+")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a picture shows: its title, the page as PNG, both readings, the commit of the former one."""

    title: str
    page: bytes
    former: Reading
    today: Reading
    commit: str


def draw(shown: Shown) -> str:
    """Return the picture."""
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    ET.SubElement(root, "title").text = f"{shown.title}: the document, its facts before, its facts today"
    ET.SubElement(root, "style").text = _STYLE
    ground = ET.SubElement(root, "rect", {"class": "ground"})
    _text(root, MARGIN, 30, shown.title, "title")
    _text(root, MARGIN, 52, LEGEND, "note")
    left, middle, right = (MARGIN + (COLUMN + GAP) * index for index in range(3))
    bottoms = (
        _page(root, left, shown.page),
        _reading(root, middle, f"Before (commit {shown.commit[:10]})", shown.former),
        _reading(root, right, "Today", shown.today),
    )
    size = {"width": str(WIDTH), "height": str(max(bottoms) + MARGIN)}
    for name, value in size.items():
        root.set(name, value)
        ground.set(name, value)
    root.set("viewBox", f"0 0 {size['width']} {size['height']}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _page(root: ET.Element, x: int, png: bytes) -> int:
    _text(root, x, TOP + LINE, "As a person sees it", "head")
    width, height = map(int, struct.unpack(">II", png[16:24]))
    y, tall = TOP + 2 * LINE + PAD, round(COLUMN * height / width)
    place = {"x": str(x), "y": str(y), "width": str(COLUMN), "height": str(tall)}
    ET.SubElement(root, "rect", {"class": "sheet", **place})
    ET.SubElement(root, "image", {**place, "href": f"data:image/png;base64,{base64.b64encode(png).decode()}"})
    return y + tall


def _reading(root: ET.Element, x: int, title: str, reading: Reading) -> int:
    _text(root, x, TOP + LINE, title, "head")
    y = TOP + 2 * LINE
    for line in wrap(reading.told, COLUMN):
        _text(root, x, y, line, "note")
        y += LINE
    y -= LINE - PAD
    if reading.refused:
        y = _box(root, x, y, JudgedFact("(no facts)", Verdict.WRONG, (f"refused: {reading.refused}",)))
    for fact in reading.facts:
        y = _box(root, x, y, fact)
    for number, texts in enumerate(reading.missing):
        if not number:
            y += LINE + PAD
            _text(root, x, y, "Labelled statements that stand in no fact:", "why")
        for line in wrap(f"• {texts}", COLUMN):
            y += LINE
            _text(root, x, y, line, "")
    return y + PAD


def _box(root: ET.Element, x: int, y: int, fact: JudgedFact) -> int:
    """Draw one fact; return where the next begins."""
    box = ET.SubElement(root, "rect", {"class": fact.verdict.value, "rx": "4", "x": str(x), "y": str(y)})
    _text(root, x + PAD, y + LINE, SIGNS[fact.verdict], "head")
    rows = [(line, "") for line in wrap(shortened(fact.text), COLUMN - INDENT - PAD)]
    for reason in fact.reasons:
        rows += [(line, "why") for line in wrap(reason, (COLUMN - INDENT - PAD) * 0.9)]
    for index, (line, look) in enumerate(rows):
        _text(root, x + INDENT, y + LINE * (index + 1), line, look)
    height = LINE * len(rows) + PAD
    box.set("width", str(COLUMN))
    box.set("height", str(height))
    return y + height + 4


def shortened(text: str) -> str:
    """Return a fact as it is shown: of a very long one the beginning, and how much follows."""
    if len(text) <= MAX_FACT_CHARS:
        return text
    return f"{text[:MAX_FACT_CHARS]}… ({len(text) - MAX_FACT_CHARS} more characters)"


def wrap(text: str, width: float) -> Iterator[str]:
    """Yield the lines of a text, each at most so many pixels wide."""
    line = ""
    for word in text.split():
        for piece in _pieces(word, width):
            longer = f"{line} {piece}".lstrip()
            if line and wide(longer) > width:
                yield line
                longer = piece
            line = longer
    if line:
        yield line


def _pieces(word: str, width: float) -> Iterator[str]:
    """Yield a word, cut where it alone is wider than a line."""
    piece = ""
    for character in word:
        if piece and wide(piece + character) > width:
            yield piece
            piece = ""
        piece += character
    yield piece


def wide(text: str) -> float:
    """Return about how many pixels a text takes, in a wide face."""
    return SIZE * sum(
        0.4 if one in _NARROW else 0.95 if one in _WIDE else 0.72 if one.isupper() else 0.625 for one in text
    )


def _text(root: ET.Element, x: int, y: int, words: str, look: str) -> None:
    ET.SubElement(root, "text", {"x": str(x), "y": str(y), **({"class": look} if look else {})}).text = words
