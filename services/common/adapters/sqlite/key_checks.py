"""What tells the master keys that the sessions were made with from all others, by version (ADR 0220)."""

import sqlite3
from typing import Final

from services.common.adapters.sqlite.fetching import fetch

KEY_CHECKS_SCHEMA: Final = ("CREATE TABLE key_checks (key_version INTEGER PRIMARY KEY, value BLOB NOT NULL)",)
KEEP_KEY_CHECK: Final = "INSERT INTO key_checks VALUES (?, ?) ON CONFLICT (key_version) DO NOTHING"


def kept_key_checks(connection: sqlite3.Connection) -> dict[int, bytes]:
    """Return the values by version, without those that are none."""
    rows = fetch(connection, "SELECT key_version, value FROM key_checks", ())
    return {version: value for version, value in rows if isinstance(value, bytes)}
