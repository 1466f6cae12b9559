"""The embedded stores: one SQLite file each, durable and shared between processes.

Each is imported when it is asked for: the facts bring a vector index, which a process without facts does not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from services.common.adapters.sqlite.credentials import SqliteCredentialStore
    from services.common.adapters.sqlite.facts import SqliteFactStore
    from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph
    from services.common.adapters.sqlite.sessions import SqliteSessionStore

__all__ = ["SqliteCredentialStore", "SqliteFactStore", "SqliteKnowledgeGraph", "SqliteSessionStore"]

_MODULES: Final = {
    "SqliteCredentialStore": "credentials",
    "SqliteFactStore": "facts",
    "SqliteKnowledgeGraph": "graph",
    "SqliteSessionStore": "sessions",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
