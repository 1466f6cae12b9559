"""Content of which a file holds several versions, for newer and older programs (ISO/IEC 29500-3 §7.5)."""

from typing import Any, Final

_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
ALTERNATIVES: Final = f"{_MC}AlternateContent"


def chosen(element: Any) -> list[Any]:
    """Return what the one version holds that is drawn."""
    found = element.find(f"{_MC}Choice")
    found = element.find(f"{_MC}Fallback") if found is None else found
    return [] if found is None else list(found)
