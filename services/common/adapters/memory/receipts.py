"""Remembered answers, as the durable stores keep them: a ``request_id`` is honoured for 24 hours."""

from collections.abc import Iterable
from dataclasses import replace

from services.common.errors import ConflictError, ErrorReason
from services.common.ports.receipts import RECEIPT_RETENTION, Receipt
from services.common.quotations import QUOTING_RPC, unquoted


class MemoryReceipts:
    """Receipts by (tenant, rpc, request id)."""

    def __init__(self) -> None:
        self._receipts: dict[tuple[str, str, str], Receipt] = {}

    def check(self, receipt: Receipt | None) -> None:
        """Refuse an answer to a request that was answered otherwise.

        Raises:
            ConflictError: COMMIT_RACE.
        """
        if receipt is None:
            return
        known = self.get(receipt.tenant_id, receipt.rpc, receipt.request_id)
        expired = known is not None and known.created_at < receipt.created_at - RECEIPT_RETENTION
        same = known is not None and (known.body_hash, known.response) == (receipt.body_hash, receipt.response)
        if known is not None and not expired and not same:
            raise ConflictError(
                ErrorReason.COMMIT_RACE,
                f"request {receipt.request_id} was answered meanwhile; read its stored answer and return that",
                request_id=receipt.request_id,
            )

    def put(self, receipt: Receipt | None) -> None:
        """Keep the receipt and drop those that are older than the retention."""
        if receipt is None:
            return
        oldest = receipt.created_at - RECEIPT_RETENTION
        self._receipts = {key: kept for key, kept in self._receipts.items() if kept.created_at >= oldest}
        self._receipts[receipt.tenant_id, receipt.rpc, receipt.request_id] = receipt

    def get(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return the receipt or ``None``."""
        return self._receipts.get((tenant_id, rpc, request_id))

    def scrub(self, tenant_id: str, rpc: str, request_id: str) -> None:
        """Destroy what an answer says; that the request was answered stays known."""
        known = self.get(tenant_id, rpc, request_id)
        if known is not None:
            self._receipts[tenant_id, rpc, request_id] = replace(known, body_hash="", response=b"")

    def unquote(self, tenant_id: str, source_id: str) -> None:
        """Take the words of an erased source out of what was answered about others."""
        for asked, kept in self._receipts.items():
            if asked[:2] == (tenant_id, QUOTING_RPC) and source_id.encode() in kept.response:
                self._receipts[asked] = unquoted(kept, {source_id})

    def drop(self, tenant_id: str, requests: Iterable[tuple[str, str]]) -> None:
        """Forget what was answered to these requests, each an RPC and a request id."""
        for request in requests:
            self._receipts.pop((tenant_id, *request), None)
