"""Full text of facts: one FTS5 table per tenant, so that no tenant's words weigh in another's BM25.

The tables are contentless: they hold terms and positions, the text itself stands once, in ``facts``. They are changed
only in the transaction that changes ``facts``.
"""

import sqlite3
import unicodedata
from collections.abc import Iterable

from services.common.adapters.sqlite.values import marks
from services.common.ports.facts import FactFilter, FactStatus

RETRIEVABLE = (FactStatus.ACTIVE, FactStatus.STALE)
"""What a search may return (SPEC-003 §17.2: nothing that is marked for deletion; nothing quarantined)."""


def text_table(tenant_no: int) -> str:
    """Return the name of the tenant's FTS5 table."""
    return f"words_{int(tenant_no)}"


def create_text_table(connection: sqlite3.Connection, tenant_no: int) -> None:
    """Create the tenant's table."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {text_table(tenant_no)} "
        "USING fts5(content, content = '', tokenize = 'unicode61 remove_diacritics 2')"
    )


def add_text(connection: sqlite3.Connection, tenant_no: int, rows: Iterable[tuple[int, str]]) -> None:
    """Index (fact number, content) rows."""
    connection.executemany(f"INSERT INTO {text_table(tenant_no)} (rowid, content) VALUES (?, ?)", rows)  # noqa: S608


def remove_text(connection: sqlite3.Connection, tenant_no: int, rows: Iterable[tuple[int, str]]) -> None:
    """Take (fact number, content) rows out of the index; the content must be what was indexed."""
    table = text_table(tenant_no)
    connection.executemany(
        f"INSERT INTO {table} ({table}, rowid, content) VALUES ('delete', ?, ?)",  # noqa: S608
        rows,
    )


def purge_text(connection: sqlite3.Connection, tenant_no: int) -> None:
    """Merge the index into one segment: only then are the words of removed rows gone from the file."""
    table = text_table(tenant_no)
    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608


def match_expression(query: str) -> str:
    """Return an FTS5 expression that holds any word of ``query``, whatever characters are in it; empty for no word."""
    spaced = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in query)
    distinct = {_folded(word): word for word in reversed(spaced.split())}
    return " OR ".join(f'"{word}"' for word in reversed(distinct.values()))


def rank_text(
    connection: sqlite3.Connection, tenant_no: int, query: str, where: FactFilter, limit: int
) -> list[tuple[int, float]]:
    """Return (fact number, BM25) of the best rows; ties by ``fact_id``."""
    expression = match_expression(query)
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


def filter_condition(where: FactFilter) -> tuple[str, list[str]]:
    """Return ``AND …`` for a filter on ``facts``, and its values."""
    condition = ""
    values: list[str] = []
    columns = (("source_id", where.source_ids), ("community_label", where.communities), ("status", where.statuses))
    for column, allowed in columns:
        if allowed:
            condition += f" AND facts.{column} IN ({marks(allowed)})"
            values.extend(allowed)
    return condition, values


def _folded(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word) if unicodedata.category(char) != "Mn").lower()
