"""``DraftStore`` over the gateway's own store: a draft is kept as the receipt of the dispatch that made it.

The form is this service's business alone (JSON of the draft's dataclasses): nobody else reads it, and a draft in the
form of another version counts as none. It is sealed with AES-256-GCM under the key that the dag service gave with the
window and remembers as long as the session is not erased (ADR 0055): a retry gets the key again, and once the session
is erased nothing here opens any more. A kept draft is ``gtdraft1.``, a nonce of 12 bytes and the ciphertext; without a
key, from a dag service that gives none, it is the JSON itself.
"""

import os
from typing import Final

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import BaseModel, ConfigDict, ValidationError

from services.common.clock import Clock
from services.common.errors import ConflictError, ErrorReason, PreconditionError
from services.common.ports.credentials import CredentialStore
from services.common.ports.receipts import Receipt
from services.gateway.domain.command import DispatchDraft
from services.gateway.ports import DraftOwner, DraftSlot

RPC: Final = "Dispatch"
MARK: Final = b"gtdraft1."
_NONCE_BYTES: Final = 12
_LENGTH_BYTES: Final = 4


class _Form(BaseModel):
    """A draft as it is stored; bytes are base64."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", extra="forbid")

    draft: DispatchDraft


class StoredDrafts:
    """Keeps drafts as receipts."""

    def __init__(self, credentials: CredentialStore, clock: Clock) -> None:
        self._credentials = credentials
        self._clock = clock

    async def holds(self, slot: DraftSlot) -> bool:
        """Say whether there is a draft."""
        return await self._kept(slot) is not None

    async def find(self, slot: DraftSlot, owner: DraftOwner) -> DispatchDraft | None:
        """Return the draft or ``None``."""
        kept = await self._kept(slot)
        if kept is None:
            return None
        form = _opened(kept, slot, owner) if kept.startswith(MARK) else kept
        draft = _read(form)
        if draft is not None and draft.place.window_id != owner.window_id:
            raise _gone()
        return draft

    async def keep(self, slot: DraftSlot, owner: DraftOwner, draft: DispatchDraft) -> DispatchDraft:
        """Keep the draft, or return the one that came first."""
        form = _sealed(_Form(draft=draft).model_dump_json().encode(), slot, owner)
        receipt = Receipt(slot.tenant_id, RPC, slot.draft_id, slot.body_hash, form, self._clock.now())
        try:
            await self._credentials.put_receipt(receipt)
        except ConflictError:
            first = await self.find(slot, owner)
            if first is None:
                raise
            return first
        return draft

    async def _kept(self, slot: DraftSlot) -> bytes | None:
        receipt = await self._credentials.get_receipt(slot.tenant_id, RPC, slot.draft_id)
        if receipt is None:
            return None
        if receipt.body_hash != slot.body_hash:
            text = "request_id was used for another query; take a fresh UUID"
            raise PreconditionError(ErrorReason.REQUEST_ID_REUSED, text, rpc=RPC)
        return receipt.response


def _sealed(form: bytes, slot: DraftSlot, owner: DraftOwner) -> bytes:
    if not owner.key:
        return form
    nonce = os.urandom(_NONCE_BYTES)
    return MARK + nonce + AESGCM(owner.key).encrypt(nonce, form, _bound(slot, owner))


def _opened(kept: bytes, slot: DraftSlot, owner: DraftOwner) -> bytes:
    """Open a sealed draft.

    Raises:
        PreconditionError: SESSION_CLOSED: the key is another than the one that it was sealed under.
    """
    nonce, sealed = kept[len(MARK) :][:_NONCE_BYTES], kept[len(MARK) + _NONCE_BYTES :]
    try:
        return AESGCM(owner.key).decrypt(nonce, sealed, _bound(slot, owner))
    except (InvalidTag, ValueError):  # ValueError: no key, or less than a nonce was kept
        raise _gone() from None


def _bound(slot: DraftSlot, owner: DraftOwner) -> bytes:
    """Return where a draft stands, every part after its length: it opens nowhere else."""
    parts = [part.encode() for part in (slot.tenant_id, slot.draft_id, slot.body_hash, owner.window_id)]
    return b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)


def _gone() -> PreconditionError:
    text = "the answer to this request_id is gone: its session was erased, or 24 h are over; take a fresh request_id"
    return PreconditionError(ErrorReason.SESSION_CLOSED, text, rpc=RPC)


def _read(form: bytes) -> DispatchDraft | None:
    try:
        return _Form.model_validate_json(form).draft
    except ValidationError:
        structlog.get_logger("groundtrail").warning("a kept draft cannot be read; the dispatch starts anew")
        return None
