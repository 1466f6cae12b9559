"""``crp.ckf.v1.SearchMode`` to and from the domain's."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2

from services.envelope.domain.search_mode import SearchMode

_BACK: Final = {mode: f"SEARCH_MODE_{mode.value}" for mode in SearchMode}
_MODES: Final = {knowledge_service_pb2.SearchMode.Value(name): mode for mode, name in _BACK.items()}


def requested_mode(number: int) -> SearchMode | None:
    """Read a validated mode; ``None`` when the request leaves it to the server."""
    return _MODES.get(number)


def mode_message(mode: SearchMode) -> str:
    """Return the name of the mode on the wire."""
    return _BACK[mode]
