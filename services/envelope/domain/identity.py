"""Identifiers: the same section and content of one source always give the same fact (idempotent replay).

They are under a key of the source, which its erasure destroys: what is left of it confirms no guess (ADR 0112).
"""

import hmac
import uuid
from typing import Final

_SEPARATOR: Final = "\x1f"
_NAMESPACE: Final = uuid.UUID("6f0b3b0a-6f8e-5a44-9d0c-3a1c53f3a7b1")
"""Fixed; chosen once for this project."""


def fact_id_for(source_id: str, key: str, section: str, content: str) -> str:
    """Return the id of a fact; a fact whose content changes is another fact.

    Args:
        source_id: of its source.
        key: the source's; empty for one that was ingested before sources had keys, whose ids stay what they were.
        section: where in the source it stands.
        content: its text.
    """
    if not key:
        return str(uuid.uuid5(uuid.UUID(source_id), _SEPARATOR.join((section, content))))
    digest = hmac.digest(bytes.fromhex(key), _SEPARATOR.join((source_id, section, content)).encode(), "sha256")
    return str(uuid.UUID(bytes=digest[:16], version=4))


def carried_fact_id_for(source_window_id: str, content: str) -> str:
    """Return the id of text that a former window hands on as a fact (SPEC-003 §14.1)."""
    return str(uuid.uuid5(_NAMESPACE, _SEPARATOR.join(("carried", source_window_id, content))))


def tool_fact_id_for(tool: str, content: str) -> str:
    """Return the id of what a tool answered, as a fact."""
    return str(uuid.uuid5(_NAMESPACE, _SEPARATOR.join(("tool", tool, content))))


def tool_source_id_for(tool: str) -> str:
    """Return the id of a tool as the source of facts."""
    return str(uuid.uuid5(_NAMESPACE, _SEPARATOR.join(("tool", tool))))
