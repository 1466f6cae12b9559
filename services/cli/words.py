"""Names of the contract as people read them."""

from typing import Any


def enum_text(enum: Any, value: int) -> str:
    """Return an enum value's name without its prefix: ``RISK_LEVEL_LOW`` is ``LOW``."""
    name: str = enum.Name(value)
    words = "".join("_" + c if c.isupper() else c for c in enum.DESCRIPTOR.name).upper().lstrip("_")
    return name.removeprefix(words + "_")
