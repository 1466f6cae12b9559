"""AI systems in the gateway's SQLite file: every version of a description is a row, and none is ever changed.

The description is a JSON document (SPEC-005 §14), so that a field more needs no migration; what is searched and ordered
by is a column.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from services.common.adapters.sqlite.values import micros, moment
from services.common.errors import ConflictError, ErrorReason
from services.common.ports.credentials import AiSystemRecord

AI_SYSTEM_VERSIONS: Final = (
    """
    CREATE TABLE ai_system_versions (
        tenant_id TEXT NOT NULL,
        ai_system_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        registered_us INTEGER NOT NULL,
        updated_us INTEGER NOT NULL,
        description TEXT NOT NULL,
        PRIMARY KEY (tenant_id, ai_system_id, version)
    )
    """,
    """
    INSERT INTO ai_system_versions
    SELECT tenant_id, ai_system_id, 1, registered_us, registered_us,
           json_object('name', name, 'domain', domain, 'sector', sector, 'iso_42001_evidence', json(iso_42001_evidence))
    FROM ai_systems
    """,
    "DROP TABLE ai_systems",
)
"""Takes a file in which a system was one row to one in which each of its versions is."""

_COLUMNS: Final = frozenset({"tenant_id", "ai_system_id", "version", "registered_at", "updated_at"})
_DESCRIPTION: Final = tuple(field.name for field in fields(AiSystemRecord) if field.name not in _COLUMNS)
_SELECT: Final = (
    "SELECT tenant_id, ai_system_id, version, registered_us, updated_us, description FROM ai_system_versions AS one "
)
_LAST: Final = (
    "AND version = (SELECT max(version) FROM ai_system_versions AS other "
    "WHERE other.tenant_id = one.tenant_id AND other.ai_system_id = one.ai_system_id) "
)


def put(connection: sqlite3.Connection, system: AiSystemRecord) -> None:
    """Add a version.

    Raises:
        ConflictError: ETAG_STALE: the last version is not ``system.version - 1``.
    """
    last = get(connection, system.tenant_id, system.ai_system_id)
    if system.version != (last.version if last else 0) + 1:
        raise ConflictError(ErrorReason.ETAG_STALE, "the AI system was described anew meanwhile; read it again")
    described = {name: value for name, value in asdict(system).items() if name in _DESCRIPTION}
    connection.execute(
        "INSERT INTO ai_system_versions VALUES (?, ?, ?, ?, ?, ?)",
        (
            system.tenant_id,
            system.ai_system_id,
            system.version,
            micros(system.registered_at),
            micros(system.updated_at or system.registered_at),
            json.dumps(described, ensure_ascii=False),
        ),
    )


def get(connection: sqlite3.Connection, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
    """Return the last version or ``None``."""
    condition = "WHERE tenant_id = ? AND ai_system_id = ? " + _LAST
    found = _systems(connection, condition, tenant_id, ai_system_id)
    return found[0] if found else None


def page(connection: sqlite3.Connection, tenant_id: str, after: str, limit: int) -> list[AiSystemRecord]:
    """Return the next systems by id, each in its last version."""
    condition = f"WHERE tenant_id = ? AND ai_system_id > ? {_LAST} ORDER BY ai_system_id LIMIT ?"
    return _systems(connection, condition, tenant_id, after, limit)


def page_versions(
    connection: sqlite3.Connection, tenant_id: str, ai_system_id: str, after: int, limit: int
) -> list[AiSystemRecord]:
    """Return the next versions of one system."""
    condition = "WHERE tenant_id = ? AND ai_system_id = ? AND version > ? ORDER BY version LIMIT ?"
    return _systems(connection, condition, tenant_id, ai_system_id, after, limit)


def _systems(connection: sqlite3.Connection, condition: str, *values: Any) -> list[AiSystemRecord]:
    return [_system(row) for row in connection.execute(_SELECT + condition, values).fetchall()]


def _system(row: Sequence[Any]) -> AiSystemRecord:
    tenant_id, ai_system_id, version, registered, updated, description = row
    described = {name: _tuples(value) for name, value in json.loads(description).items()}
    return AiSystemRecord(
        tenant_id=tenant_id,
        ai_system_id=ai_system_id,
        version=version,
        registered_at=moment(registered),
        updated_at=moment(updated),
        **described,
    )


def _tuples(value: Any) -> Any:
    """Return lists as the tuples that the record holds."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
