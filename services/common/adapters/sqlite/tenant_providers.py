"""Tenants' own providers in the credentials' file; what is stored of a key is sealed (ADR 0163)."""

import sqlite3
from typing import Final

from services.common.adapters.sqlite.values import json_list, micros, moment, strings
from services.common.ports.credentials import TenantProviderRecord

SCHEMA: Final = (
    """
    CREATE TABLE providers (
        tenant_id TEXT NOT NULL,
        name TEXT NOT NULL,
        form TEXT NOT NULL,
        base_url TEXT NOT NULL,
        models TEXT NOT NULL,
        sealed_key BLOB NOT NULL,
        key_version INTEGER NOT NULL,
        updated_us INTEGER NOT NULL,
        PRIMARY KEY (tenant_id, name)
    )
    """,
)
"""Of the migration that brings them."""


def put(connection: sqlite3.Connection, provider: TenantProviderRecord) -> None:
    """Insert or replace."""
    connection.execute(
        "INSERT OR REPLACE INTO providers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            provider.tenant_id,
            provider.name,
            provider.form,
            provider.base_url,
            json_list(provider.models),
            provider.sealed_key,
            provider.key_version,
            micros(provider.updated_at),
        ),
    )


def of_tenant(connection: sqlite3.Connection, tenant_id: str) -> list[TenantProviderRecord]:
    """Return a tenant's providers by name."""
    statement = (
        "SELECT name, form, base_url, models, sealed_key, key_version, updated_us FROM providers "
        "WHERE tenant_id = ? ORDER BY name"
    )
    return [
        TenantProviderRecord(tenant_id, name, form, base_url, strings(models), sealed_key, version, moment(updated))
        for name, form, base_url, models, sealed_key, version, updated in connection.execute(statement, (tenant_id,))
    ]


def remove(connection: sqlite3.Connection, tenant_id: str, name: str) -> None:
    """Delete."""
    connection.execute("DELETE FROM providers WHERE tenant_id = ? AND name = ?", (tenant_id, name))
