"""Honouring ``request_id``: the same request is answered as before, another one under the same id is refused.

The pattern: the servicer takes ``body_hash(request)``; the app asks its store for the receipt of (tenant, rpc, request
id) and calls ``matching_receipt``; otherwise it does its work and stores a new receipt in the work's own transaction.
"""

from typing import TypeVar

from google.protobuf.message import Message

from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.receipts import Receipt

MessageT = TypeVar("MessageT", bound=Message)


def body_hash(message: Message) -> str:
    """Return 64 hex digits of SHA-256 over the deterministic serialisation of ``message`` without its request_id."""
    body = type(message)()
    body.CopyFrom(message)
    body.ClearField("request_id")
    return sha256_hex(body.SerializeToString(deterministic=True))


def replay(receipt: Receipt | None, body: str, response_type: type[MessageT]) -> MessageT | None:
    """Return the remembered answer, or ``None`` when the request was not seen before.

    Args:
        receipt: what the store has under the request id.
        body: ``body_hash`` of the request at hand.
        response_type: message class of the answer.

    Raises:
        PreconditionError: REQUEST_ID_REUSED, the id was used with another body.
    """
    if receipt is None:
        return None
    if receipt.body_hash != body:
        raise PreconditionError(
            ErrorReason.REQUEST_ID_REUSED,
            f"request_id {receipt.request_id} was used for another {receipt.rpc} request; take a fresh UUID",
            request_id=receipt.request_id,
            rpc=receipt.rpc,
        )
    return response_type.FromString(receipt.response)
