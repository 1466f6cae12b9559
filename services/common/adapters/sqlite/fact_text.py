"""Full text of facts: one FTS5 table per tenant, so that no tenant's words weigh in another's BM25.

The tables are contentless: they hold terms and positions, the text itself stands once, in ``facts``. They are changed
only in the transaction that changes ``facts``. Their terms are the ``keywords`` of the other stores (ADR 0082): FTS5
gets them one by one and only has to part them at the blanks. How they were made stands in the file itself, so that
every process that writes or searches it makes them alike.
"""

import sqlite3
from collections.abc import Iterable
from typing import TypeAlias

from services.common.adapters.sqlite.values import marks, micros
from services.common.keywords import Stemming, edition, holds_headings, keywords, stemming_of
from services.common.locations import searched_text
from services.common.ports.facts import FactFilter, FactStatus

RETRIEVABLE = (FactStatus.ACTIVE, FactStatus.STALE)
"""What a search may return (SPEC-003 §17.2: nothing that is marked for deletion; nothing quarantined)."""


IndexedText: TypeAlias = tuple[int, str, str]
"""Number, content and location of a fact: all that its words are made of."""


def text_table(tenant_no: int) -> str:
    """Return the name of the tenant's FTS5 table."""
    return f"words_{int(tenant_no)}"


def create_text_table(connection: sqlite3.Connection, tenant_no: int) -> None:
    """Create the tenant's table."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {text_table(tenant_no)} USING fts5(content, content = '', tokenize = 'ascii')"
    )


def add_text(connection: sqlite3.Connection, tenant_no: int, rows: Iterable[IndexedText]) -> None:
    """Index facts by their own words and those of the headings over them (ADR 0110)."""
    built_with = _built_with(connection)
    connection.executemany(
        f"INSERT INTO {text_table(tenant_no)} (rowid, content) VALUES (?, ?)",  # noqa: S608
        ((number, _terms(content, location, built_with)) for number, content, location in rows),
    )


def remove_text(connection: sqlite3.Connection, tenant_no: int, rows: Iterable[IndexedText]) -> None:
    """Take facts out of the index; content and location must be what was indexed."""
    table, built_with = text_table(tenant_no), _built_with(connection)
    connection.executemany(
        f"INSERT INTO {table} ({table}, rowid, content) VALUES ('delete', ?, ?)",  # noqa: S608
        ((number, _terms(content, location, built_with)) for number, content, location in rows),
    )


def built_as(connection: sqlite3.Connection, stemming: Stemming) -> bool:
    """Say whether the index holds the words that this program makes with ``stemming``."""
    return _built_with(connection) == edition(stemming)


def build_anew(connection: sqlite3.Connection, stemming: Stemming) -> int:
    """Index all facts of all tenants with ``stemming``, and return how many; needs a write transaction."""
    if built_as(connection, stemming):
        return 0  # another process came first
    connection.execute("INSERT OR REPLACE INTO store VALUES ('words', ?)", (edition(stemming),))
    for (tenant_no,) in connection.execute("SELECT tenant_no FROM tenants").fetchall():
        connection.execute(f"DROP TABLE IF EXISTS {text_table(tenant_no)}")
        create_text_table(connection, tenant_no)
        alive = "SELECT fact_no, content, source_location FROM facts WHERE tenant_no = ? AND status <> 'DELETED'"
        add_text(connection, tenant_no, connection.execute(alive, (tenant_no,)))
    facts: int = connection.execute("SELECT count(*) FROM facts WHERE status <> 'DELETED'").fetchone()[0]
    return facts


def purge_text(connection: sqlite3.Connection, tenant_no: int) -> None:
    """Merge the index into one segment: only then are the words of removed rows gone from the file."""
    table = text_table(tenant_no)
    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608


def match_expression(query: str, stemming: Stemming) -> str:
    """Return an FTS5 expression that holds any word of ``query``, whatever characters are in it; empty for no word."""
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(keywords(query, stemming)))


def rank_text(
    connection: sqlite3.Connection, tenant_no: int, query: str, where: FactFilter, limit: int
) -> list[tuple[int, float]]:
    """Return (fact number, BM25) of the best rows; ties by ``fact_id``."""
    expression = match_expression(query, _stemming(connection))
    if not expression:
        return []
    table = text_table(tenant_no)
    condition, values = filter_condition(where)
    return connection.execute(
        f"SELECT facts.fact_no, -bm25({table}) AS score FROM {table} JOIN facts ON facts.fact_no = {table}.rowid "  # noqa: S608
        f"WHERE {table} MATCH ? AND facts.status IN ({marks(RETRIEVABLE)}) {condition} "
        "ORDER BY score DESC, facts.fact_id LIMIT ?",
        (expression, *RETRIEVABLE, *values, limit),
    ).fetchall()


def filter_condition(where: FactFilter) -> tuple[str, list[str | int]]:
    """Return ``AND …`` for a filter on ``facts``, and its values."""
    condition = ""
    values: list[str | int] = []
    columns = (("source_id", where.source_ids), ("community_label", where.communities), ("status", where.statuses))
    for column, allowed in columns:
        if allowed:
            condition += f" AND facts.{column} IN ({marks(allowed)})"
            values.extend(allowed)
    time = where.time
    if time is not None and not time.ended:
        condition += " AND (facts.superseded_us IS NULL OR facts.superseded_us > ?)"
        condition += " AND (facts.valid_to_us IS NULL OR facts.valid_to_us > ?)"
        values += [micros(time.at)] * 2
    if time is not None and not time.coming:
        condition += " AND (facts.valid_from_us IS NULL OR facts.valid_from_us <= ?)"
        values.append(micros(time.at))
    return condition, values


def _terms(content: str, location: str, built_with: str) -> str:
    text = searched_text(content, location) if holds_headings(built_with) else content
    return " ".join(keywords(text, stemming_of(built_with)))


def _stemming(connection: sqlite3.Connection) -> Stemming:
    return stemming_of(_built_with(connection))


def _built_with(connection: sqlite3.Connection) -> str:
    found: str = connection.execute("SELECT value FROM store WHERE name = 'words'").fetchone()[0]
    return found
