"""What is held, and how it is sealed: AES-256-GCM under a key that the dag service gives until the session is erased.

The form is this service's business alone (JSON of its dataclasses). A sealed text is ``gtheld1.``, a nonce of 12 bytes
and the ciphertext; it is bound to tenant, review and window, and opens nowhere else.
"""

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import BaseModel, ConfigDict, ValidationError

from services.common.errors import UnreadableRecordError
from services.common.ports.reviews import ReviewRecord
from services.common.taxonomy import BreakerState
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import CommittedWindow

MARK: Final = b"gtheld1."
_NONCE_BYTES: Final = 12
_LENGTH_BYTES: Final = 4


class Held(BaseModel):
    """A held answer.

    Attributes:
        draft: the answer with its report.
        committed: its window in the chain; ``None`` until the answer is released, unless it was committed before.
        breaker: the circuit breaker of the safety budget as the window was opened.
        comment: the reviewer's words.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", extra="forbid", frozen=True)

    draft: DispatchDraft
    committed: CommittedWindow | None = None
    breaker: BreakerState = BreakerState.CLOSED
    comment: str = ""


def sealed(held: Held, review: ReviewRecord, key: bytes) -> bytes:
    """Return the held answer."""
    nonce = os.urandom(_NONCE_BYTES)
    return MARK + nonce + AESGCM(key).encrypt(nonce, held.model_dump_json().encode(), _bound(review))


def opened(review: ReviewRecord, key: bytes) -> Held:
    """Return what is held.

    Raises:
        UnreadableRecordError: it does not open: altered, or taken from another review.
    """
    body = review.held[len(MARK) :]
    try:
        text = AESGCM(key).decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], _bound(review))
        return Held.model_validate_json(text)
    except (InvalidTag, ValueError, ValidationError):
        detail = "does not open"
        raise UnreadableRecordError("review", review.review_id, detail, session_id=review.session_id) from None


def _bound(review: ReviewRecord) -> bytes:
    parts = [part.encode() for part in (review.tenant_id, review.review_id, review.window_id)]
    return b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)
