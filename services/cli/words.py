"""Names of the contract as people read them."""

from typing import Any, Final

from crp.ckf.v1 import ckf_pb2 as ckf

from services.common.locations import place_of


def where(location: str) -> str:
    """Return where a fact stands as people say it: the headings over it, then the page."""
    place = place_of(location, "")
    page = f"p. {place.page}" if place.page else ""
    return ", ".join(part for part in (place.section, page) if part)


def enum_text(enum: Any, value: int) -> str:
    """Return an enum value's name without its prefix: ``RISK_LEVEL_LOW`` is ``LOW``."""
    name: str = enum.Name(value)
    words = "".join("_" + c if c.isupper() else c for c in enum.DESCRIPTOR.name).upper().lstrip("_")
    return name.removeprefix(words + "_")


_TIME_MARKS: Final = {
    ckf.STALE_REASON_SUPERSEDED: "[superseded] ",
    ckf.STALE_REASON_NO_LONGER_VALID: "[no longer valid] ",
    ckf.STALE_REASON_NOT_YET_VALID: "[not valid yet] ",
}


def time_mark(reason: "ckf.StaleReason") -> str:
    """Return what stands before a fact that does not hold now; empty for one that does, or is merely old."""
    return _TIME_MARKS.get(reason, "")
