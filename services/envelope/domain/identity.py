"""Deterministic identifiers: the same source, section and content always give the same fact (idempotent replay)."""

import uuid
from typing import Final

_SEPARATOR: Final = "\x1f"
_NAMESPACE: Final = uuid.UUID("6f0b3b0a-6f8e-5a44-9d0c-3a1c53f3a7b1")
"""Fixed; chosen once for this project."""


def source_id_for(tenant_id: str, uri: str, generation: int = 0) -> str:
    """Return the id of a source.

    Args:
        tenant_id: the tenant; two tenants' sources never share an id.
        uri: the caller's identifier.
        generation: how many sources of this uri were erased before: an erased source's id is never used again.
    """
    return str(uuid.uuid5(_NAMESPACE, _SEPARATOR.join(("source", tenant_id, uri, str(generation)))))


def fact_id_for(source_id: str, section: str, content: str) -> str:
    """Return the id of a fact; a fact whose content changes is another fact."""
    return str(uuid.uuid5(uuid.UUID(source_id), _SEPARATOR.join((section, content))))


def carried_fact_id_for(source_window_id: str, content: str) -> str:
    """Return the id of text that a former window hands on as a fact (SPEC-003 §14.1)."""
    return str(uuid.uuid5(_NAMESPACE, _SEPARATOR.join(("carried", source_window_id, content))))
