"""What makes a write idempotent: the answer, kept under the caller's ``request_id`` in the write's transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

RECEIPT_RETENTION: Final = timedelta(hours=24)
"""How long a ``request_id`` is honoured; the protos promise it."""

ERASING_RPC: Final = "EraseSource"
"""Its answers say nothing of the source but that it was there; they outlive the erasure."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A remembered answer.

    Attributes:
        rpc: short method name, e.g. ``CommitWindow``.
        body_hash: SHA-256 hex of the deterministic serialisation of the request without its ``request_id``; another
            body under the same id is REQUEST_ID_REUSED.
        response: the serialised response.
    """

    tenant_id: str
    rpc: str
    request_id: str
    body_hash: str
    response: bytes
    created_at: datetime
