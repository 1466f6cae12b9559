"""How many attributes the elements of an HTML text have, counted before the parser compares each with all others.

And what elements without a meaning of their own say that they are by ``role``: tables, their rows and cells (WAI-ARIA).
"""

import re
from typing import Final

_BLANK: Final = r"[\t\n\f\r ]"
_VALUE: Final = r"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)"""
_ATTRIBUTE: Final = rf"[^\t\n\f\r />][^\t\n\f\r />=]*+(?:{_BLANK}*+={_BLANK}*+{_VALUE}?+)?+"
_EACH: Final = re.compile(_ATTRIBUTE)
_PIECE: Final = re.compile(
    # What a comment, a script or a style sheet holds are no elements; one that is never closed goes on to the end.
    r"<!--(?:[^-]++|-(?!->))*+|<(?:script|style)\b(?:[^<]++|<(?!/(?:script|style)\b))*+"
    rf"|<[a-z][^\t\n\f\r />]*+(?P<attributes>(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)",
    re.IGNORECASE,
)


def most_attributes(text: str, few: int) -> int:
    """Return how many attributes the element with the most has; 0 where none can have more than ``few``."""
    most = 0
    for piece in _PIECE.finditer(text):
        attributes = piece["attributes"]
        if attributes is not None and len(attributes) > 2 * few:  # a letter and a blank each
            most = max(most, sum(1 for _ in _EACH.finditer(attributes)))
    return most


_NEUTRAL: Final = frozenset({"div", "span"})
_ROLES: Final = {
    **dict.fromkeys(("table", "grid", "treegrid"), "table"),
    "row": "tr",
    **dict.fromkeys(("cell", "gridcell"), "td"),
    **dict.fromkeys(("columnheader", "rowheader"), "th"),
}
_SCOPES: Final = {"columnheader": "col", "rowheader": "row"}
_SPANS: Final = {"aria-colspan": "colspan", "aria-rowspan": "rowspan"}


def by_role(tag: str, attributes: dict[str, str | None]) -> tuple[str, dict[str, str | None]]:
    """Return tag and attributes of the element of a table that a ``div`` or ``span`` stands for; others as they are."""
    role = (attributes.get("role") or "").strip().lower() if tag in _NEUTRAL else ""
    if role not in _ROLES:
        return tag, attributes
    spans = {name: attributes[own] for own, name in _SPANS.items() if attributes.get(own)}
    scope = {"scope": _SCOPES[role]} if role in _SCOPES else {}
    return _ROLES[role], attributes | spans | scope
