"""Remembered answers beside the data they belong to, in the same transaction."""

import sqlite3
from typing import Final

from services.common.adapters.sqlite.fetching import fetch_one
from services.common.adapters.sqlite.typed_rows import RowShape
from services.common.adapters.sqlite.values import marks, micros, moment
from services.common.errors import ConflictError, ErrorReason, UnreadableRecordError
from services.common.ports.receipts import ERASING_RPC, RECEIPT_RETENTION, Receipt
from services.common.quotations import QUOTING_RPC, without_words_of

RECEIPTS_SCHEMA: Final = (
    """
    CREATE TABLE receipts (
        tenant_id TEXT NOT NULL,
        rpc TEXT NOT NULL,
        request_id TEXT NOT NULL,
        body_hash TEXT NOT NULL,
        response BLOB NOT NULL,
        created_us INTEGER NOT NULL,
        PRIMARY KEY (tenant_id, rpc, request_id)
    )
    """,
    "CREATE INDEX receipts_by_age ON receipts (created_us)",
)
RECEIPTS_OF_SESSIONS: Final = (
    "ALTER TABLE receipts ADD COLUMN session_id TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX receipts_of_session ON receipts (tenant_id, session_id)",
)
"""In the store of sessions a receipt is also its session's: it goes when that is erased."""
RECEIPTS_OF_SOURCES: Final = (
    "ALTER TABLE receipts ADD COLUMN source_id TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX receipts_of_source ON receipts (tenant_id, source_id)",
)
"""In the knowledge graph it is its source's: what it says is destroyed when that is erased (ADR 0112)."""
QUOTATIONS_OF_ERASED: Final = """
    DELETE FROM receipts WHERE rpc = 'IngestSource' AND typeof(response) = 'blob' AND EXISTS (
        SELECT 1 FROM sources WHERE sources.tenant_id = receipts.tenant_id AND sources.status = 'ERASED'
        AND instr(receipts.response, CAST(sources.source_id AS BLOB)) > 0
    )
    """
"""Earlier programs left in other sources' answers what they quote of an erased one: those requests are done anew."""
_RECEIPT: Final = RowShape.of(
    "receipt",
    "body_hash, response, created_us",
    named=(),
    types={"response": bytes, "created_us": int},
    parsed={"created_us": moment},
)
_GET: Final = "SELECT body_hash, response, created_us FROM receipts WHERE tenant_id = ? AND rpc = ? AND request_id = ?"
_COLUMNS: Final = "tenant_id, rpc, request_id, body_hash, response, created_us"


def scrub_receipts(connection: sqlite3.Connection, tenant_id: str, source_id: str) -> None:
    """Destroy what the answers about an erased source say: a repeated request then is another under its id."""
    connection.execute(
        "UPDATE receipts SET body_hash = '', response = x'' WHERE tenant_id = ? AND source_id = ? AND rpc <> ?",
        (tenant_id, source_id, ERASING_RPC),
    )


def unquote_receipts(connection: sqlite3.Connection, tenant_id: str, source_id: str) -> None:
    """Take the words of an erased source out of what was answered about others; these answers are given again."""
    rows = connection.execute(
        "SELECT request_id, response FROM receipts WHERE tenant_id = ? AND rpc = ? "
        "AND typeof(response) = 'blob' AND instr(response, ?) > 0",
        (tenant_id, QUOTING_RPC, source_id.encode()),
    ).fetchall()
    connection.executemany(
        "UPDATE receipts SET response = ? WHERE tenant_id = ? AND rpc = ? AND request_id = ?",
        [(without_words_of(told, {source_id}), tenant_id, QUOTING_RPC, request_id) for request_id, told in rows],
    )


def put_receipt(
    connection: sqlite3.Connection,
    receipt: Receipt | None,
    session_id: str | None = None,
    *,
    source_id: str | None = None,
) -> None:
    """Keep a receipt and drop those older than the retention.

    Args:
        connection: in a transaction.
        receipt: to keep.
        session_id: whose it is, where the table knows sessions.
        source_id: whose it is, where the table knows sources.

    Raises:
        ConflictError: COMMIT_RACE: the request was answered otherwise meanwhile.
    """
    if receipt is None:
        return
    oldest = micros(receipt.created_at - RECEIPT_RETENTION)
    connection.execute("DELETE FROM receipts WHERE created_us < ?", (oldest,))
    known = get_receipt(connection, receipt.tenant_id, receipt.rpc, receipt.request_id)
    if known is not None and (known.body_hash, known.response) != (receipt.body_hash, receipt.response):
        raise ConflictError(
            ErrorReason.COMMIT_RACE,
            f"request {receipt.request_id} was answered meanwhile; read its stored answer and return that",
            request_id=receipt.request_id,
        )
    values = (
        receipt.tenant_id,
        receipt.rpc,
        receipt.request_id,
        receipt.body_hash,
        receipt.response,
        micros(receipt.created_at),
    )
    whose = {"session_id": session_id, "source_id": source_id}
    named = {name: value for name, value in whose.items() if value is not None}
    columns = ", ".join([_COLUMNS, *named])
    statement = f"INSERT OR REPLACE INTO receipts ({columns}) VALUES ({marks((*values, *named))})"  # noqa: S608
    connection.execute(statement, (*values, *named.values()))


def get_receipt(connection: sqlite3.Connection, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
    """Return a receipt or ``None``; one that does not parse is as good as none."""
    row = fetch_one(connection, _GET, (tenant_id, rpc, request_id))
    if row is None:
        return None
    try:
        return Receipt(tenant_id, rpc, request_id, *_RECEIPT.read(row))
    except UnreadableRecordError:
        return None
