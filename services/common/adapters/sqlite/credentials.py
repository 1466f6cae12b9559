"""``CredentialStore`` on SQLite. Every service reads it to authenticate, so finding a key must be quick.

``find_key`` is answered from memory as long as no connection has changed the file, which SQLite's ``data_version``
tells in microseconds and without waiting; a key that another process revokes is therefore refused from its commit on.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from services.common.adapters.sqlite import ai_systems, tenant_providers
from services.common.adapters.sqlite.ai_systems import AI_SYSTEM_VERSIONS
from services.common.adapters.sqlite.connections import Schema, connect
from services.common.adapters.sqlite.database import Database
from services.common.adapters.sqlite.failures import translated
from services.common.adapters.sqlite.receipts import RECEIPTS_SCHEMA, get_receipt, put_receipt
from services.common.adapters.sqlite.values import json_list, micros, moment, optional_micros, optional_moment, strings
from services.common.errors import ConflictError, ErrorReason
from services.common.ports.credentials import (
    AiSystemRecord,
    ApiKeyRecord,
    TenantPolicyRecord,
    TenantProviderRecord,
)
from services.common.ports.receipts import Receipt
from services.common.settings.stores import StoreSettings

_CACHED_KEYS: Final = 10_000

_SCHEMA: Final = Schema(
    application_id=0x47544757,  # "GTGW"
    migrations=(
        (
            """
            CREATE TABLE api_keys (
                tenant_id TEXT NOT NULL,
                key_id TEXT NOT NULL,
                prefix TEXT NOT NULL UNIQUE,
                key_hash TEXT NOT NULL,
                label TEXT NOT NULL,
                roles TEXT NOT NULL,
                created_us INTEGER NOT NULL,
                expires_us INTEGER,
                revoked_us INTEGER,
                PRIMARY KEY (tenant_id, key_id)
            )
            """,
            """
            CREATE TABLE ai_systems (
                tenant_id TEXT NOT NULL,
                ai_system_id TEXT NOT NULL,
                name TEXT NOT NULL,
                domain TEXT NOT NULL,
                sector TEXT NOT NULL,
                registered_us INTEGER NOT NULL,
                iso_42001_evidence TEXT NOT NULL,
                PRIMARY KEY (tenant_id, ai_system_id)
            )
            """,
            """
            CREATE TABLE policies (
                tenant_id TEXT PRIMARY KEY,
                safety_policy TEXT NOT NULL,
                allowed_sink_hosts TEXT NOT NULL,
                data_residency TEXT NOT NULL,
                version INTEGER NOT NULL,
                updated_us INTEGER NOT NULL
            )
            """,
            *RECEIPTS_SCHEMA,
        ),
        AI_SYSTEM_VERSIONS,
        tenant_providers.SCHEMA,
    ),
)
_KEYS: Final = (
    "SELECT tenant_id, key_id, prefix, key_hash, label, roles, created_us, expires_us, revoked_us FROM api_keys "
)


class SqliteCredentialStore:
    """Keys, AI systems, policies and tenants' own providers in one file.

    Args:
        database: the open file.
        watcher: a connection that is only asked whether the file changed.
    """

    def __init__(self, database: Database, watcher: sqlite3.Connection) -> None:
        self._database = database
        self._watcher = watcher
        self._seen_version = -1
        self._found: dict[str, ApiKeyRecord] = {}
        self._closed = False

    @classmethod
    async def open(cls, path: Path, settings: StoreSettings) -> Self:
        """Open or create the file.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            LimitExceededError: STORAGE_FULL.
        """
        database = await Database.open(path, _SCHEMA, settings)
        try:
            impatient = settings.model_copy(update={"busy_timeout_ms": 0})  # it is asked on the event loop
            with translated(path):
                return cls(database, connect(path, impatient, read_only=True))
        except BaseException:
            await database.close()
            raise

    async def find_key(self, prefix: str) -> ApiKeyRecord | None:
        """Return the key with this prefix, of whatever tenant."""
        version = self._file_version()
        if version != self._seen_version or version < 0:
            self._found.clear()
            self._seen_version = version
        known = self._found.get(prefix)
        if known is not None:
            return known
        found = await self._keys("WHERE prefix = ?", prefix)
        if found and self._file_version() == version and len(self._found) < _CACHED_KEYS:
            self._found[prefix] = found[0]
        return found[0] if found else None

    async def put_key(self, key: ApiKeyRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace by ``key_id``.

        Raises:
            ConflictError: COMMIT_RACE: another key has this prefix.
        """

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            _put_key(connection, key)

        await self._database.write(job)

    async def get_key(self, tenant_id: str, key_id: str) -> ApiKeyRecord | None:
        """Return the key or ``None``."""
        found = await self._keys("WHERE tenant_id = ? AND key_id = ?", tenant_id, key_id)
        return found[0] if found else None

    async def page_keys(self, tenant_id: str, *, after: str, limit: int) -> list[ApiKeyRecord]:
        """Return the next keys by id."""
        return await self._keys("WHERE tenant_id = ? AND key_id > ? ORDER BY key_id LIMIT ?", tenant_id, after, limit)

    async def key_tenants(self) -> list[str]:
        """Return the tenants of all keys."""
        statement = "SELECT DISTINCT tenant_id FROM api_keys ORDER BY tenant_id"
        return [row[0] for row in await self._database.read(lambda c: c.execute(statement).fetchall())]

    async def count_keys(self) -> int:
        """Return the number of keys of all tenants."""
        counted = await self._database.read(lambda c: c.execute("SELECT count(*) FROM api_keys").fetchone())
        return int(counted[0])

    async def put_ai_system(self, system: AiSystemRecord, receipt: Receipt | None = None) -> None:
        """Add a version.

        Raises:
            ConflictError: ETAG_STALE: the last version is not ``system.version - 1``.
        """

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            ai_systems.put(connection, system)

        await self._database.write(job)

    async def get_ai_system(self, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
        """Return the last version or ``None``."""
        return await self._database.read(lambda c: ai_systems.get(c, tenant_id, ai_system_id))

    async def page_ai_systems(self, tenant_id: str, *, after: str, limit: int) -> list[AiSystemRecord]:
        """Return the next systems by id."""
        return await self._database.read(lambda c: ai_systems.page(c, tenant_id, after, limit))

    async def page_ai_system_versions(
        self, tenant_id: str, ai_system_id: str, *, after: int, limit: int
    ) -> list[AiSystemRecord]:
        """Return the next versions of one system."""
        return await self._database.read(lambda c: ai_systems.page_versions(c, tenant_id, ai_system_id, after, limit))

    async def put_policy(self, policy: TenantPolicyRecord, receipt: Receipt | None = None) -> None:
        """Store the next version of the tenant's policy.

        Raises:
            ConflictError: ETAG_STALE: the stored version is not ``policy.version - 1``.
        """

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            _put_policy(connection, policy)

        await self._database.write(job)

    async def get_policy(self, tenant_id: str) -> TenantPolicyRecord | None:
        """Return the tenant's policy or ``None``."""
        statement = (
            "SELECT safety_policy, allowed_sink_hosts, data_residency, version, updated_us FROM policies "
            "WHERE tenant_id = ?"
        )
        row = await self._database.read(lambda c: c.execute(statement, (tenant_id,)).fetchone())
        if row is None:
            return None
        return TenantPolicyRecord(tenant_id, row[0], strings(row[1]), row[2], row[3], moment(row[4]))

    async def put_provider(self, provider: TenantProviderRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace by name."""

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            tenant_providers.put(connection, provider)

        await self._database.write(job)

    async def list_providers(self, tenant_id: str) -> list[TenantProviderRecord]:
        """Return a tenant's providers by name."""
        return await self._database.read(lambda c: tenant_providers.of_tenant(c, tenant_id))

    async def remove_provider(self, tenant_id: str, name: str, receipt: Receipt | None = None) -> None:
        """Delete."""

        def job(connection: sqlite3.Connection) -> None:
            put_receipt(connection, receipt)
            tenant_providers.remove(connection, tenant_id, name)

        await self._database.write(job)

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return await self._database.read(lambda c: get_receipt(c, tenant_id, rpc, request_id))

    async def put_receipt(self, receipt: Receipt) -> None:
        """Remember an answer that stands alone."""
        await self._database.write(lambda c: put_receipt(c, receipt))

    async def check(self) -> None:
        """Return when the file can be read."""
        await self._database.check()

    async def close(self) -> None:
        """Close the file; idempotent."""
        self._closed = True
        self._watcher.close()
        await self._database.close()

    def _file_version(self) -> int:
        """Return a number that changes with the file; -1 when it cannot be told at once."""
        if self._closed:
            return -1
        try:
            version: int = self._watcher.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.OperationalError:
            return -1
        return version

    async def _keys(self, condition: str, *values: Any) -> list[ApiKeyRecord]:
        rows = await self._database.read(lambda c: c.execute(_KEYS + condition, values).fetchall())
        return [_key(row) for row in rows]


def _put_key(connection: sqlite3.Connection, key: ApiKeyRecord) -> None:
    statement = """
        INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (tenant_id, key_id) DO UPDATE SET
            prefix = excluded.prefix, key_hash = excluded.key_hash, label = excluded.label, roles = excluded.roles,
            created_us = excluded.created_us, expires_us = excluded.expires_us, revoked_us = excluded.revoked_us
    """
    values = (
        key.tenant_id,
        key.key_id,
        key.prefix,
        key.key_hash,
        key.label,
        json_list(key.roles),
        micros(key.created_at),
        optional_micros(key.expires_at),
        optional_micros(key.revoked_at),
    )
    try:
        connection.execute(statement, values)
    except sqlite3.IntegrityError as error:
        message = "another key has this prefix; make a new key"
        raise ConflictError(ErrorReason.COMMIT_RACE, message) from error


def _put_policy(connection: sqlite3.Connection, policy: TenantPolicyRecord) -> None:
    row = connection.execute("SELECT version FROM policies WHERE tenant_id = ?", (policy.tenant_id,)).fetchone()
    if policy.version != (row[0] if row else 0) + 1:
        raise ConflictError(ErrorReason.ETAG_STALE, "the policy was changed meanwhile; read it again")
    connection.execute(
        "INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?)",
        (
            policy.tenant_id,
            policy.safety_policy,
            json_list(policy.allowed_sink_hosts),
            policy.data_residency,
            policy.version,
            micros(policy.updated_at),
        ),
    )


def _key(row: Sequence[Any]) -> ApiKeyRecord:
    tenant_id, key_id, prefix, key_hash, label, roles, created, expires, revoked = row
    life = (moment(created), optional_moment(expires), optional_moment(revoked))
    return ApiKeyRecord(tenant_id, key_id, prefix, key_hash, label, strings(roles), *life)
