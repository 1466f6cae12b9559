"""Tables of knowledge.db.

A fact that is replaced gets a new ``fact_no``; numbers only grow and are never used twice, so a vector index can be
caught up by asking for what changed after a tenant's change number. ``removals`` tells it what went away.

Version 2 changed the words of keyword search. Its step only marks the file: what builds the words anew is the opening
of the store, as whenever they were built in another way than the settings ask for (``fact_text``).

Version 3 tells when a fact was replaced and from when to when it holds (ADR 0109). Until then a STALE row was one that
its source had replaced, at the time of its last change.
"""

from typing import Final

from services.common.adapters.sqlite.connections import Schema
from services.common.ports.facts import ERASED_HASH

FACTS_SCHEMA: Final = Schema(
    application_id=0x47544B4E,  # "GTKN"
    migrations=(
        (
            "CREATE TABLE store (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE tenants (
                tenant_no INTEGER PRIMARY KEY,
                tenant_id TEXT NOT NULL UNIQUE,
                change INTEGER NOT NULL DEFAULT 0
            )
            """,
            """
            CREATE TABLE facts (
                fact_no INTEGER PRIMARY KEY AUTOINCREMENT,
                tenant_no INTEGER NOT NULL REFERENCES tenants,
                change INTEGER NOT NULL,
                fact_id TEXT NOT NULL,
                status TEXT NOT NULL,
                source_id TEXT NOT NULL,
                community_label TEXT NOT NULL,
                content_hash TEXT NOT NULL,
                modified_us INTEGER NOT NULL,
                ingested_us INTEGER NOT NULL,
                ttl_us INTEGER,
                access_count INTEGER NOT NULL,
                last_accessed_us INTEGER,
                importance_weight REAL NOT NULL,
                embedding_model TEXT NOT NULL,
                source_location TEXT NOT NULL,
                entities TEXT NOT NULL,
                metadata TEXT NOT NULL,
                content TEXT NOT NULL,
                UNIQUE (tenant_no, fact_id)
            )
            """,
            "CREATE INDEX facts_by_source ON facts (tenant_no, source_id, status, fact_id)",
            "CREATE INDEX facts_by_community ON facts (tenant_no, community_label, status, fact_id)",
            "CREATE INDEX facts_by_change ON facts (tenant_no, change)",
            """
            CREATE TABLE vectors (
                fact_no INTEGER PRIMARY KEY REFERENCES facts ON DELETE CASCADE,
                embedding BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE removals (
                tenant_no INTEGER NOT NULL REFERENCES tenants,
                change INTEGER NOT NULL,
                fact_no INTEGER NOT NULL,
                PRIMARY KEY (tenant_no, change, fact_no)
            ) WITHOUT ROWID
            """,
        ),
        ("INSERT INTO store VALUES ('words', 'unicode61')",),
        (
            "ALTER TABLE facts ADD COLUMN superseded_us INTEGER",
            "ALTER TABLE facts ADD COLUMN valid_from_us INTEGER",
            "ALTER TABLE facts ADD COLUMN valid_to_us INTEGER",
            "UPDATE facts SET superseded_us = modified_us WHERE status = 'STALE'",
            "CREATE INDEX facts_by_start ON facts (tenant_no, valid_from_us) WHERE valid_from_us IS NOT NULL",
            "CREATE INDEX facts_by_end ON facts (tenant_no, valid_to_us) WHERE valid_to_us IS NOT NULL",
        ),
        (f"UPDATE facts SET content_hash = '{ERASED_HASH}' WHERE status = 'DELETED'",),  # noqa: S608
        ("CREATE INDEX facts_by_replacement ON facts (tenant_no, superseded_us) WHERE superseded_us IS NOT NULL",),
    ),
)
