"""What every route reads of an HTTP request: its body within a limit, its id, and what travels on as gRPC metadata."""

import asyncio
import re
import uuid
from collections.abc import Awaitable
from typing import Final, TypeVar

from fastapi import Request

from services.common.errors import CrpError, ErrorReason, LimitExceededError, UnauthenticatedError
from services.common.rpc.pipeline import AUTHORIZATION_KEY, REQUEST_ID_KEY

_SANE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_TRACE_HEADERS: Final = ("traceparent", "tracestate")
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]*")
_POLL_S: Final = 0.25

_T = TypeVar("_T")


def request_id_of(request: Request) -> str:
    """Return the caller's ``X-Request-Id`` if it is a sane one, else a fresh UUID."""
    given = request.headers.get(REQUEST_ID_KEY, "")
    return given if _SANE_ID.fullmatch(given) else str(uuid.uuid4())


def call_metadata(request: Request, request_id: str) -> tuple[tuple[str, str], ...]:
    """Return what goes to the service: the caller's own credential (ADR 0021), the request id, the trace.

    Raises:
        UnauthenticatedError: CREDENTIAL_INVALID: the header holds what no credential can.
    """
    carried = [(REQUEST_ID_KEY, request_id)]
    credential = request.headers.get(AUTHORIZATION_KEY)
    if credential is not None:
        if not _PRINTABLE.fullmatch(credential):
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_INVALID, "the header Authorization must be plain ASCII")
        carried.append((AUTHORIZATION_KEY, credential))
    for name in _TRACE_HEADERS:
        value = request.headers.get(name, "")
        if value and _PRINTABLE.fullmatch(value):
            carried.append((name, value))
    return tuple(carried)


async def read_body(request: Request, most: int) -> bytes:
    """Return the body, and stop reading as soon as it is too large.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


async def until_disconnected(request: Request, call: Awaitable[_T]) -> _T:
    """Return the call's answer; cancel it when the client goes away.

    Raises:
        CrpError: what the service raised.
        asyncio.CancelledError: the client went away; nobody is left to answer.
    """
    running = asyncio.ensure_future(_awaited(call))
    try:
        while True:
            done, _ = await asyncio.wait({running}, timeout=_POLL_S)
            if done:
                return running.result()
            if await request.is_disconnected():
                raise asyncio.CancelledError
    finally:
        running.cancel()


async def _awaited(call: Awaitable[_T]) -> _T:
    return await call


def _too_large(most: int) -> CrpError:
    text = f"the body is larger than {most} bytes; send less, or raise GROUNDTRAIL_HTTP__MAX_BODY_BYTES"
    return LimitExceededError(ErrorReason.MESSAGE_TOO_LARGE, text, limit_bytes=str(most))
