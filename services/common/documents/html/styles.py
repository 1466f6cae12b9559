"""What the style sheets of a page and an element's own style say of what hides text; the cascade, nothing else of CSS.

Style sheets that a page only links to are not fetched: ``linked`` says that there are some.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import tinycss2
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from tinycss2.color3 import RGBA, parse_color

_WANTED: Final = frozenset(
    {
        *("display", "visibility", "opacity", "content-visibility", "color", "background", "background-color"),
        *("background-image", "font-size", "position", "left", "top", "right", "bottom", "margin-left", "margin-top"),
        *("text-indent", "transform", "clip", "clip-path", "overflow", "overflow-x", "overflow-y", "width", "height"),
        *("max-width", "max-height", "list-style", "list-style-type", "font-weight", "filter", "vertical-align"),
    }
)
_MAY_HIDE: Final = re.compile(
    r"display|visib|opacity|colou?r|background|font|position|left|top|indent|transform|clip|overflow|width|height"
    r"|list-style|filter|vertical-align",
    re.IGNORECASE,
)
MAX_RULES: Final = 2_000
"""Later rules that could hide are not looked at."""
MAX_MATCHES: Final = 2_000_000
"""So many times in all may rules meet elements."""
_MAX_SELECTOR_CHARS: Final = 300
_MAX_COMBINED: Final = 5
"""Compound selectors with more parts could take long to match."""
_WIDEST_PX: Final = 1_200
"""A screen of this width sees what is hidden from narrower ones."""
_MEDIA_WIDTH: Final = re.compile(r"(min|max)-width\s*:\s*(\d+)")
_CLASS: Final = re.compile(r"\.(-?[_a-zA-Z][\w-]*)")
_ID: Final = re.compile(r"#[\w-]+")
_SIMPLE: Final = re.compile(r"[.\[:][\w-]*")
_ELEMENT: Final = re.compile(r"(?:^|[\s>+~])[a-zA-Z][\w-]*")

Declarations = Mapping[str, str]
"""Values by property, in lower case."""


class Styles:
    """Looks up what holds for an element.

    Args:
        tree: the page.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.linked = bool(tree.css_matches('link[rel~="stylesheet" i]'))
        self.named_classes: set[str] = set()
        self._found: dict[int, dict[str, tuple[tuple[int, int], str]]] = {}
        self._matches = 0
        order = 0
        for sheet in tree.css("style"):
            text = sheet.text() or ""
            self.linked = self.linked or "@import" in text
            for selectors, declarations in _rules(
                tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
            ):
                self.named_classes.update(_CLASS.findall(selectors))
                if not declarations:
                    continue
                order += 1
                if order > MAX_RULES or self._matches > MAX_MATCHES:
                    return
                self._apply(tree, selectors, declarations, order)

    def of(self, node: LexborNode, inline: str) -> Declarations:
        """Return what holds for an element; ``inline`` is its own ``style``."""
        sheet = self._found.get(node.mem_id) if self._found else None
        own = _declarations_of(inline) if inline and _MAY_HIDE.search(inline) else ()
        if sheet is None:
            return {name: value for name, value, _ in own}
        merged = {name: value for name, (_, value) in sheet.items()}
        winning = {name: value for name, value, own_way in own if own_way or _may_change(sheet, name)}
        return {**merged, **winning}

    def _apply(self, tree: LexborHTMLParser, selectors: str, declarations: "_Declared", order: int) -> None:
        for selector in selectors.split(","):
            plain = selector.strip()
            if not plain or len(plain) > _MAX_SELECTOR_CHARS or len(plain.split()) > _MAX_COMBINED or ":has" in plain:
                continue
            try:
                nodes = tree.css(plain)
            except (SelectolaxError, ValueError):
                continue  # a selector that the parser does not know, such as ::before
            weight = _specificity(plain)
            self._matches += len(nodes)
            for node in nodes:
                known = self._found.setdefault(node.mem_id, {})
                for name, value, important in declarations:
                    rank = (weight + (_IMPORTANT if important else 0), order)
                    if name not in known or known[name][0] <= rank:
                        known[name] = (rank, value)


_IMPORTANT: Final = 1_000_000_000
_Declared = tuple[tuple[str, str, bool], ...]


def _may_change(sheet: Mapping[str, tuple[tuple[int, int], str]], name: str) -> bool:
    """Say whether an element's own style changes what the sheets say: they say nothing of it, or not ``!important``."""
    return name not in sheet or sheet[name][0][0] < _IMPORTANT


def _specificity(selector: str) -> int:
    ids, simple, elements = (len(one.findall(selector)) for one in (_ID, _SIMPLE, _ELEMENT))
    return ids * 1_000_000 + simple * 1_000 + elements


def _rules(nodes: list[Any]) -> Iterator[tuple[str, _Declared]]:
    """Yield selectors and declarations of the rules that a wide screen applies."""
    open_rules = list(reversed(nodes))
    while open_rules:
        rule = open_rules.pop()
        if rule.type == "qualified-rule":
            yield tinycss2.serialize(rule.prelude), _wanted(rule.content)
        elif rule.type == "at-rule" and rule.content is not None:
            keyword = rule.lower_at_keyword
            if keyword in {"supports", "layer"} or (
                keyword == "media" and _on_screen(tinycss2.serialize(rule.prelude))
            ):
                open_rules.extend(
                    reversed(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True))
                )


def _on_screen(query: str) -> bool:
    """Say whether a person at a wide screen is meant."""
    lower = query.lower()
    if "print" in lower or "prefers" in lower or "not " in lower or "speech" in lower:
        return False
    return all(
        int(width) <= _WIDEST_PX if bound == "min" else int(width) >= _WIDEST_PX
        for bound, width in _MEDIA_WIDTH.findall(lower)
    )


def _wanted(content: Any) -> _Declared:
    return tuple(
        (one.lower_name, tinycss2.serialize(one.value).strip().lower(), one.important)
        for one in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
        if one.type == "declaration" and one.lower_name in _WANTED
    )


@lru_cache(maxsize=4_096)
def _declarations_of(inline: str) -> _Declared:
    return _wanted(inline)


@lru_cache(maxsize=4_096)
def colour_of(text: str) -> RGBA | None:
    """Return a colour; ``None`` where the text names none."""
    found = parse_color(text)
    return found if isinstance(found, RGBA) else None
