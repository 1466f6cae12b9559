"""Receipts on Neo4j: written in the caller's transaction, bound for 24 hours, dropped later in portions.

Each store has receipts of its own, under a label of its own, since each is the only writer of what it keeps.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j.database import Neo4jDatabase, rows_of
from services.common.adapters.neo4j.typed_properties import NodeShape, bytes_of, moment_of
from services.common.adapters.neo4j.values import Properties, key, micros
from services.common.errors import ConflictError, CrpError, ErrorReason, UnreadableRecordError
from services.common.ports.receipts import RECEIPT_RETENTION, Receipt

_LOG: Final = logging.getLogger(__name__)
_FORGET_EVERY: Final = timedelta(hours=1)
_FORGOTTEN_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class ReceiptStatements:
    """The Cypher of one store's receipts: remember one, get one, forget those past their retention."""

    remember: str
    get: str
    forget: str


class Neo4jReceipts:
    """The receipts of one store.

    Args:
        database: the store's.
        statements: over the store's own label.
        forget_every: shortest time between two searches for receipts past their retention.
    """

    def __init__(
        self, database: Neo4jDatabase, statements: ReceiptStatements, *, forget_every: timedelta = _FORGET_EVERY
    ) -> None:
        self._database = database
        self._statements = statements
        self._forget_every = forget_every
        self._forgot_at: datetime | None = None

    async def get(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        rows = await self._database.rows(self._statements.get, key=receipt_key(tenant_id, rpc, request_id))
        try:
            return receipt_of(rows[0]["receipt"]) if rows else None
        except UnreadableRecordError:  # as good as none
            return None

    async def remember(self, transaction: AsyncManagedTransaction, receipt: Receipt, **others: Any) -> None:
        """Keep the receipt if nobody answered the same request otherwise.

        Args:
            transaction: of the write that it belongs to.
            receipt: the answer.
            others: further properties of its node.

        Raises:
            ConflictError: COMMIT_RACE.
        """
        properties = receipt_properties(receipt) | others
        oldest = micros(receipt.created_at - RECEIPT_RETENTION)
        statement = self._statements.remember
        rows = await rows_of(transaction, statement, key=properties["key"], receipt=properties, oldest=oldest)
        if (rows[0]["body_hash"], bytes(rows[0]["response"])) != (receipt.body_hash, receipt.response):
            raise ConflictError(
                ErrorReason.COMMIT_RACE,
                f"request {receipt.request_id} was answered meanwhile; read its stored answer and return that",
                request_id=receipt.request_id,
            )

    async def forget(self, now: datetime) -> None:
        """Drop receipts past their retention, now and then; a write that was made never fails for it."""
        if self._forgot_at is not None and now < self._forgot_at + self._forget_every:
            return
        self._forgot_at = now
        parameters = {"oldest": micros(now - RECEIPT_RETENTION), "limit": _FORGOTTEN_AT_ONCE}
        try:
            while (await self._database.rows(self._statements.forget, **parameters))[0]["forgotten"]:
                pass
        except CrpError as error:
            self._forgot_at = None
            _LOG.warning("receipts past their retention stay for now: %s", error.message)


def receipt_key(tenant_id: str, rpc: str, request_id: str) -> str:
    """Return what a receipt is found by."""
    return key(tenant_id, rpc, request_id)


def receipt_properties(receipt: Receipt) -> Properties:
    """Return a receipt's properties."""
    return {
        "key": receipt_key(receipt.tenant_id, receipt.rpc, receipt.request_id),
        "tenant_id": receipt.tenant_id,
        "rpc": receipt.rpc,
        "request_id": receipt.request_id,
        "body_hash": receipt.body_hash,
        "response": receipt.response,
        "created_us": micros(receipt.created_at),
    }


_RECEIPT: Final = NodeShape(
    "receipt",
    ("rpc", "request_id"),
    plain={"tenant_id": str, "rpc": str, "request_id": str, "body_hash": str},
    parsed={"response": ("response", bytes_of), "created_at": ("created_us", moment_of)},
)


def receipt_of(row: Properties) -> Receipt:
    """Read what ``receipt_properties`` wrote.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return Receipt(**_RECEIPT.read(row))
