"""``DraftStore`` over the gateway's own store: a draft is kept as the receipt of the dispatch that made it.

The form is this service's business alone (JSON of the draft's dataclasses): nobody else reads it, and a draft in the
form of another version counts as none.
"""

from typing import Final

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from services.common.clock import Clock
from services.common.errors import ConflictError, ErrorReason, PreconditionError
from services.common.ports.credentials import CredentialStore
from services.common.ports.receipts import Receipt
from services.gateway.domain.command import DispatchDraft

RPC: Final = "Dispatch"


class _Form(BaseModel):
    """A draft as it is stored; bytes are base64."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", extra="forbid")

    draft: DispatchDraft


class StoredDrafts:
    """Keeps drafts as receipts."""

    def __init__(self, credentials: CredentialStore, clock: Clock) -> None:
        self._credentials = credentials
        self._clock = clock

    async def find(self, tenant_id: str, draft_id: str, body_hash: str) -> DispatchDraft | None:
        """Return the draft or ``None``."""
        receipt = await self._credentials.get_receipt(tenant_id, RPC, draft_id)
        if receipt is None:
            return None
        if receipt.body_hash != body_hash:
            text = "request_id was used for another query; take a fresh UUID"
            raise PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, rpc=RPC)
        return _read(receipt.response)

    async def keep(self, tenant_id: str, draft_id: str, body_hash: str, draft: DispatchDraft) -> DispatchDraft:
        """Keep the draft, or return the one that came first."""
        receipt = Receipt(
            tenant_id, RPC, draft_id, body_hash, _Form(draft=draft).model_dump_json().encode(), self._clock.now()
        )
        try:
            await self._credentials.put_receipt(receipt)
        except ConflictError:
            first = await self.find(tenant_id, draft_id, body_hash)
            if first is None:
                raise
            return first
        return draft


def _read(form: bytes) -> DispatchDraft | None:
    try:
        return _Form.model_validate_json(form).draft
    except ValidationError:
        structlog.get_logger("groundtrail").warning("a kept draft cannot be read; the dispatch starts anew")
        return None
