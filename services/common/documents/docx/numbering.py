"""Numbers that Word writes before list items and headings: numbering.xml and the counters (ISO/IEC 29500-1 §17.9)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from docx.oxml.ns import qn

from services.common.documents.numerals import letters, ordinal, roman, whole

_PLACEHOLDER: Final = re.compile(r"%([1-9])")
_MAX_LEVEL: Final = 8
_FORMATS: Final[Mapping[str, Callable[[int], str]]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "ordinal": ordinal,
}


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int
    restarts: bool


@dataclass(slots=True)
class _List:
    """What one ``w:num`` says: its abstract list, and levels that begin anew."""

    abstract: str
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, _Level] = field(default_factory=dict)
    begun: bool = False


class Numbering:
    """Counts list items in the order of the document.

    Args:
        root: of numbering.xml; ``None`` when there is none.
    """

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counters: dict[str, dict[int, int]] = {}
        if root is None:
            return
        for abstract in root.findall(qn("w:abstractNum")):
            name = abstract.get(qn("w:abstractNumId"), "")
            self._levels[name] = dict(_level(level) for level in abstract.findall(qn("w:lvl")))
        self._follow_styles(root)
        for num in root.findall(qn("w:num")):
            abstract = num.find(qn("w:abstractNumId"))
            if abstract is not None:
                self._lists[num.get(qn("w:numId"), "")] = _overridden(abstract.get(qn("w:val"), ""), num)

    def _follow_styles(self, root: Any) -> None:
        """Give lists that name a numbering style the levels of the list that defines it."""
        abstracts = [(one.get(qn("w:abstractNumId"), ""), one) for one in root.findall(qn("w:abstractNum"))]
        defined = {_value(one, "w:styleLink", ""): name for name, one in abstracts}
        for name, one in abstracts:
            style = _value(one, "w:numStyleLink", "")
            if style in defined and style:
                self._levels[name] = self._levels[defined[style]]

    def number(self, num_id: str, level: int) -> str | None:
        """Count one more item and return its number: empty for a bullet, ``None`` when there is no such list."""
        of = self._lists.get(num_id)
        if of is None or of.abstract not in self._levels:
            return None
        levels = {**self._levels[of.abstract], **of.levels}
        level = max(0, min(level, _MAX_LEVEL))
        counters = self._counters.setdefault(of.abstract, {})
        if not of.begun:
            of.begun = True
            for which, start in of.starts.items():
                counters[which] = start - 1
        this = levels.get(level)
        if this is None:
            return ""
        counters[level] = counters.get(level, this.start - 1) + 1
        for deeper in range(level + 1, _MAX_LEVEL + 1):
            if deeper in counters and (deeper not in levels or levels[deeper].restarts):
                del counters[deeper]
        if this.form in {"bullet", "none"}:
            return ""

        def written(match: re.Match[str]) -> str:
            which = int(match[1]) - 1
            at = levels.get(which, this)
            return _FORMATS.get(at.form, str)(counters.get(which, at.start))

        return _PLACEHOLDER.sub(written, this.text).strip()


def _value(element: Any, name: str, default: str) -> str:
    found = element.find(qn(name))
    return default if found is None else found.get(qn("w:val"), default)


def _level(level: Any) -> tuple[int, _Level]:
    which = whole(level.get(qn("w:ilvl"), "0"), 0)
    return which, _Level(
        _value(level, "w:numFmt", "decimal"),
        _value(level, "w:lvlText", f"%{which + 1}."),
        whole(_value(level, "w:start", "1"), 1),
        _value(level, "w:lvlRestart", "1") != "0",
    )


def _overridden(abstract: str, num: Any) -> _List:
    found = _List(abstract)
    for override in num.findall(qn("w:lvlOverride")):
        which = whole(override.get(qn("w:ilvl"), "0"), 0)
        start = _value(override, "w:startOverride", "")
        if start:
            found.starts[which] = whole(start, 1)
        level = override.find(qn("w:lvl"))
        if level is not None:
            found.levels[which] = _level(level)[1]
    return found
