"""Rules for ``crp.ckf.v1.SearchMode`` in requests."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2

from services.common.rpc.validation import Violations

_KNOWN: Final = frozenset(knowledge_service_pb2.SearchMode.values())
_NAMES: Final = ", ".join(name.removeprefix("SEARCH_MODE_") for name in knowledge_service_pb2.SearchMode.keys()[1:])


def known_mode(found: Violations, path: str, mode: int) -> None:
    """Require a mode of the enum; absent is allowed."""
    found.require(mode in _KNOWN, path, f"must be one of {_NAMES}, or absent")
