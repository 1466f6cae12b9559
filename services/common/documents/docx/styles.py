"""What Word's styles say of a paragraph or run, through the styles that they are based on (ISO/IEC 29500-1 §17.7)."""

import re
from typing import Any, Final

from docx.oxml.ns import qn

from services.common.documents.numerals import whole

_HEADING: Final = re.compile(r"heading ([1-9])")
_LIST: Final = re.compile(r"list(?: number| bullet)? ([1-5])")
_CONTENTS: Final = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)|index \d")
_CODE: Final = re.compile(r"\b(?:code|source|preformatted|macro text|listing|verbatim)\b")
_MAX_CHAIN: Final = 32
_BODY_LEVEL: Final = 9
_OFF: Final = frozenset({"0", "false", "off", "none"})
_UNSHADED: Final = frozenset({"", "auto", "FFFFFF"})
MAX_HEADING_LEVEL: Final = 6


def is_switched_on(element: Any | None) -> bool:
    """Say whether a switch is there, and not off."""
    return element is not None and element.get(qn("w:val"), "1") not in _OFF


def is_shaded(properties: Any | None) -> bool:
    """Say whether properties lay a colour behind the text."""
    shade = None if properties is None else properties.find(qn("w:shd"))
    return shade is not None and (shade.get(qn("w:fill")) or "") not in _UNSHADED


def value_of(properties: Any | None, name: str) -> str:
    """Return a property's ``w:val``; empty when it is not there."""
    found = None if properties is None else properties.find(qn(name))
    return "" if found is None else found.get(qn("w:val"), "")


class Styles:
    """Asks styles.xml.

    Args:
        root: of styles.xml; ``None`` when there is none.
    """

    def __init__(self, root: Any | None) -> None:
        found = [] if root is None else root.findall(qn("w:style"))
        self._styles = {style.get(qn("w:styleId"), ""): style for style in found}
        self._default = next(
            (
                style.get(qn("w:styleId"), "")
                for style in found
                if style.get(qn("w:type")) == "paragraph" and style.get(qn("w:default")) in {"1", "true"}
            ),
            "",
        )
        self._chains: dict[str, tuple[Any, ...]] = {}
        self._run_properties: dict[tuple[str, str], Any | None] = {}

    def _chain(self, style_id: str) -> tuple[Any, ...]:
        if style_id not in self._chains:
            chain: list[Any] = []
            current = style_id or self._default
            while current in self._styles and len(chain) < _MAX_CHAIN:
                chain.append(self._styles[current])
                current = value_of(self._styles[current], "w:basedOn")
            self._chains[style_id] = tuple(chain)
        return self._chains[style_id]

    def names(self, style_id: str) -> tuple[str, ...]:
        """Return the names of a style and of those that it is based on, in lower case."""
        return tuple(value_of(style, "w:name").lower() for style in self._chain(style_id))

    def is_title(self, style_id: str) -> bool:
        """Say whether it is the document's title."""
        return "title" in self.names(style_id)[:1]

    def is_contents(self, style_id: str) -> bool:
        """Say whether it is a line of a table of contents or of an index."""
        return any(_CONTENTS.match(name) for name in self.names(style_id))

    def is_caption(self, style_id: str) -> bool:
        """Say whether it is a caption."""
        return "caption" in self.names(style_id)

    def is_code(self, style_id: str) -> bool:
        """Say whether it is code."""
        return any(_CODE.search(name) for name in self.names(style_id))

    def heading_level(self, style_id: str, properties: Any | None) -> int:
        """Return the level of a heading, from 1; 0 for other paragraphs."""
        level = value_of(properties, "w:outlineLvl")
        for style in self._chain(style_id):
            if level:
                break
            named = _HEADING.match(value_of(style, "w:name").lower())
            if named:
                return min(int(named[1]), MAX_HEADING_LEVEL)
            level = value_of(style.find(qn("w:pPr")), "w:outlineLvl")
        outline = whole(level, _BODY_LEVEL)
        if outline < _BODY_LEVEL:
            return min(outline + 1, MAX_HEADING_LEVEL)
        return 1 if self.is_title(style_id) else 0

    def list_of(self, style_id: str) -> tuple[str, int] | None:
        """Return the list and level that a paragraph style belongs to."""
        for style in self._chain(style_id):
            numbered = style.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
            if numbered is not None:
                return value_of(numbered, "w:numId"), whole(value_of(numbered, "w:ilvl"), 0)
        return None

    def list_depth(self, style_id: str) -> int:
        """Return how deep lists of a built-in style are nested, from 0: ``List Number 2`` is the second level."""
        named = next((found for name in self.names(style_id)[:1] if (found := _LIST.fullmatch(name))), None)
        return int(named[1]) - 1 if named else 0

    def run_switch(self, properties: Any | None, style_id: str, name: str) -> bool:
        """Say whether a run has a switch on, as ``w:vanish`` or ``w:b``: by itself, its style or its paragraph's."""
        return is_switched_on(self._of_run(properties, style_id, name))

    def run_value(self, properties: Any | None, style_id: str, name: str) -> str:
        """Return a run's ``w:val``, from where ``run_switch`` looks; empty where nothing says it."""
        found = self._of_run(properties, style_id, name)
        return "" if found is None else found.get(qn("w:val"), "")

    def is_lit(self, properties: Any | None, style_id: str) -> bool:
        """Say whether a run's style or its paragraph's lays a colour behind the text."""
        chains = (self._chain(one) for one in (value_of(properties, "w:rStyle"), style_id) if one)
        parts = (style.find(qn(name)) for chain in chains for style in chain for name in ("w:pPr", "w:rPr"))
        return any(is_shaded(part) for part in parts)

    def _of_run(self, properties: Any | None, style_id: str, name: str) -> Any | None:
        found = None if properties is None else properties.find(qn(name))
        for one in (value_of(properties, "w:rStyle"), style_id):
            if found is None and one:
                found = self._of_style(one, name)
        return found

    def _of_style(self, style_id: str, name: str) -> Any | None:
        if (style_id, name) not in self._run_properties:
            parts = (style.find(qn("w:rPr")) for style in self._chain(style_id))
            found = (part.find(qn(name)) for part in parts if part is not None)
            self._run_properties[style_id, name] = next((one for one in found if one is not None), None)
        return self._run_properties[style_id, name]
