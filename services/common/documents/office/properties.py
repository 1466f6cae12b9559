"""What Office documents say of themselves: core and custom properties (ISO/IEC 29500-2 §8.3), names in lower case."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from services.common.documents.office.packages import parse_part

_NAMES: Final = {
    "title": "title",
    "author": "author",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "category": "category",
    "content_status": "status",
    "contentStatus": "status",
    "language": "language",
    "version": "version",
    "created": "created",
    "modified": "modified",
    "identifier": "identifier",
}
_GENERIC_TITLES: Final = frozenset(
    {"", "word document", "powerpoint presentation", "untitled", "document", "presentation", "untitled document"}
)
"""Titles that programs write by themselves."""
_FILE_NAME: Final = re.compile(r"\S+\.\w{2,5}|(?:Microsoft \w+ - ).*", re.IGNORECASE)
_PROPERTY: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/custom-properties}property"
_MAX_CHARS: Final = 1_000
_MAX_PROPERTIES: Final = 100


def core_properties(properties: Any) -> dict[str, str]:
    """Return the core properties that a library's object holds; ``date`` is when it was last changed."""
    found: dict[str, str] = {}
    for name, ours in _NAMES.items():
        value = getattr(properties, name, None)
        text = value.date().isoformat() if isinstance(value, datetime) else str(value or "").strip()
        if text and ours not in found:
            found[ours] = text[:_MAX_CHARS]
    date = found.get("modified") or found.get("created")
    return {**found, "date": date} if date else found


def custom_properties(xml: bytes, kind: str) -> dict[str, str]:
    """Return the custom properties of a part; spaces in names become underscores.

    Args:
        xml: the part; empty where there is none.
        kind: what is read, as in "the document is …".
    """
    if not xml:
        return {}
    root = parse_part(xml, kind)
    found = {}
    for one in root.findall(_PROPERTY)[:_MAX_PROPERTIES]:
        text = "".join(one.itertext()).strip()
        name = "_".join(one.get("name", "").lower().split())
        if name and text and not name.startswith("_"):
            found[name[:_MAX_CHARS]] = text[:_MAX_CHARS]
    return found


def own_title(properties: Mapping[str, str]) -> str:
    """Return the title that somebody gave a document; empty for a file's name or what a program writes by itself."""
    title = properties.get("title", "")
    return "" if title.lower() in _GENERIC_TITLES or _FILE_NAME.fullmatch(title) else title
