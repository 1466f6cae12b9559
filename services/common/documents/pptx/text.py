"""The text of a shape on a slide: paragraphs, with bullets and numbers as the slide's layout gives them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.documents.marks import plain_of
from services.common.documents.numerals import letters, roman, whole
from services.common.documents.office.formulas import MATH, formula_text
from services.common.documents.office.unseen import is_unreadable
from services.common.documents.shifts import lowered, raised
from services.common.documents.wording import collapse

A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MAX_LEVEL: Final = 8
_USUAL_HUNDREDTHS: Final = 1_800
_BULLETS: Final = (f"{A}buChar", f"{A}buBlip", f"{A}buAutoNum", f"{A}buNone")


@dataclass(frozen=True, slots=True)
class SlideLine:
    """One paragraph: its nesting, whether it is an item of a list, and its number there."""

    text: str
    level: int = 0
    item: bool = False
    number: str = ""


@dataclass(slots=True)
class SlideText:
    """What a shape says; ``hidden`` is what is too small to read."""

    lines: list[SlideLine] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


def read_text(body: Any, inherited: tuple[Any, ...]) -> SlideText:
    """Return the paragraphs of a text body.

    Args:
        body: the element; ``None`` for a shape without one.
        inherited: list styles that it inherits, the nearest first.
    """
    found = SlideText()
    if body is None:
        return found
    own = body.find(f"{A}lstStyle")
    styles = tuple(style for style in (own, *inherited) if style is not None)
    counters: dict[int, int] = {}
    for paragraph in body.findall(f"{A}p"):
        properties = paragraph.find(f"{A}pPr")
        level = whole("" if properties is None else properties.get("lvl", ""), 0)
        text = _paragraph_text(paragraph, found.hidden)
        if not text:
            continue
        bullet = _bullet(properties, styles, level)
        for deeper in [one for one in counters if one > level]:
            del counters[deeper]
        number = ""
        if bullet is not None and bullet.tag == f"{A}buAutoNum":
            counters[level] = counters.get(level, whole(bullet.get("startAt", ""), 1) - 1) + 1
            number = _numbered(counters[level], bullet.get("type", "arabicPeriod"))
        else:
            counters.pop(level, None)
        item = bullet is not None and bullet.tag != f"{A}buNone"
        found.lines.append(SlideLine(text, level, item, number))
    return found


def _paragraph_text(paragraph: Any, hidden: list[str]) -> str:
    parts: list[str] = []
    for child in paragraph.iter(f"{A}r", f"{A}br", f"{A}fld", f"{MATH}oMath"):
        if child.tag == f"{A}br":
            parts.append(" ")
            continue
        if child.tag == f"{MATH}oMath":
            parts.append(formula_text(child))
            continue
        text = plain_of("".join(one.text or "" for one in child.findall(f"{A}t")))
        properties = child.find(f"{A}rPr")
        size = whole("" if properties is None else properties.get("sz", ""), _USUAL_HUNDREDTHS)
        if is_unreadable(size / 100):
            if text.strip():
                hidden.append(collapse(text))
            continue
        base = "" if properties is None else properties.get("baseline", "")
        if base and base != "0":
            text = lowered("".join(parts[-2:]), text) if base.startswith("-") else raised("".join(parts[-2:]), text)
        parts.append(text)
    return collapse("".join(parts))


def _bullet(properties: Any | None, styles: tuple[Any, ...], level: int) -> Any | None:
    """Return the nearest element that says what stands before a paragraph."""
    name = f"{A}lvl{min(level, _MAX_LEVEL) + 1}pPr"
    for one in (properties, *(style.find(name) for style in styles)):
        found = None if one is None else next((child for child in one if child.tag in _BULLETS), None)
        if found is not None:
            return found
    return None


def level_properties(styles: tuple[Any, ...]) -> Iterator[Any]:
    """Yield what list styles say of the first level, the nearest first."""
    for style in styles:
        found = style.find(f"{A}lvl1pPr")
        if found is not None:
            yield found


def _numbered(number: int, kind: str) -> str:
    if kind.startswith("alpha"):
        text = letters(number)
    elif kind.startswith("roman"):
        text = roman(number)
    else:
        text = str(number)
    if "Uc" in kind:
        text = text.upper()
    if kind.endswith("ParenBoth"):
        return f"({text})"
    return f"{text})" if kind.endswith("ParenR") else text if kind.endswith("Plain") else f"{text}."
