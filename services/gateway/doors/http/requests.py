"""What every route reads of an HTTP request: its body within limits, its id, and what travels on as gRPC metadata."""

import asyncio
import re
import uuid
from collections.abc import Awaitable
from typing import Final, TypeVar

from fastapi import Request

from services.common.errors import (
    CrpError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    LimitExceededError,
    UnauthenticatedError,
)
from services.common.rpc.pipeline import AUTHORIZATION_KEY, REQUEST_ID_KEY
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.callers import API_KEY
from services.gateway.doors.http.problems import SlowRequestError

IDEMPOTENCY_KEY: Final = "Idempotency-Key"
_SANE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_UUID4: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_TRACE_HEADERS: Final = {
    "traceparent": re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"),
    "tracestate": re.compile(r"[\x20-\x7e]{1,512}"),
}
_CREDENTIAL: Final = re.compile(r"[\x20-\x7e]{0,8192}")
"""gRPC takes no more than this in one header of a call."""
_JSON_TYPE: Final = re.compile(r"application/(?:json|[\w.+-]+\+json|x-www-form-urlencoded)", re.IGNORECASE)
"""The last is what ``curl -d`` calls any body; it is read as JSON all the same (ADR 0079)."""
_POLL_S: Final = 0.25

_T = TypeVar("_T")


class ClientGoneError(Exception):
    """The client went away; nobody is left to answer."""


def request_id_of(request: Request) -> str:
    """Return the caller's ``X-Request-Id`` if it is a sane one, else a fresh UUID."""
    given = request.headers.get(REQUEST_ID_KEY, "")
    return given if _SANE_ID.fullmatch(given) else str(uuid.uuid4())


def idempotency_key(request: Request) -> str:
    """Return what makes a repeat recognisable: the caller's ``Idempotency-Key``, else a fresh UUID4.

    Raises:
        InvalidRequestError: INVALID_FIELD: it is no UUID4.
    """
    given = request.headers.get(IDEMPOTENCY_KEY)
    if given is None:
        return str(uuid.uuid4())
    if not _UUID4.fullmatch(given):
        fault = FieldViolation(IDEMPOTENCY_KEY, "must be a UUID4, once")
        message = f"the header {IDEMPOTENCY_KEY} must be a UUID4, or be left out"
        raise InvalidRequestError(ErrorReason.INVALID_FIELD, message, violations=(fault,))
    return given.lower()


def request_id_for(request: Request, named: str, field: str = "request_id") -> str:
    """Return the id under which a call is done once: the body's, else the header's, else a fresh one.

    The service judges the body's, as it judges that of a gRPC call.

    Args:
        request: its headers count.
        named: what the body says; empty where it says nothing.
        field: where in the body that stands.

    Raises:
        InvalidRequestError: INVALID_FIELD: the header is no UUID4, or the body says another than it.
    """
    if not named or "idempotency-key" not in request.headers:
        return named or idempotency_key(request)
    if (key := idempotency_key(request)) != named.lower():
        text = "differs from the header Idempotency-Key; give one of the two, or the same UUID4 in both"
        raise InvalidRequestError.of(FieldViolation(field, text))
    return key


def call_metadata(request: Request, request_id: str) -> tuple[tuple[str, str], ...]:
    """Return what goes to the service: the caller's own credential (ADR 0021), the request id, the trace.

    Raises:
        UnauthenticatedError: CREDENTIAL_INVALID: the header holds what no credential can, or stands there twice.
    """
    carried = [(REQUEST_ID_KEY, request_id)]
    credentials = request.headers.getlist(AUTHORIZATION_KEY)
    credentials += [f"Bearer {key.strip()}" for key in request.headers.getlist(API_KEY)]
    if len(credentials) > 1 or not all(map(_CREDENTIAL.fullmatch, credentials)):
        text = "the header Authorization must stand there once, in plain ASCII of at most 8,192 characters"
        raise UnauthenticatedError(ErrorReason.CREDENTIAL_INVALID, text)
    carried.extend((AUTHORIZATION_KEY, credential) for credential in credentials)
    carried.extend(trace_headers(request).items())
    return tuple(carried)


def trace_headers(request: Request) -> dict[str, str]:
    """Return the caller's trace, as far as it is well formed."""
    given = {name: request.headers.get(name, "") for name in _TRACE_HEADERS}
    return {name: value for name, value in given.items() if _TRACE_HEADERS[name].fullmatch(value)}


async def read_body(request: Request, settings: HttpSettings) -> bytes:
    """Return the body, and stop reading as soon as it is too large or takes too long.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: it says itself that it is no JSON, or is compressed.
        LimitExceededError: MESSAGE_TOO_LARGE.
        SlowRequestError: DEADLINE_EXCEEDED.
        starlette.requests.ClientDisconnect: the client went away.
    """
    _check_type(request)
    most = settings.max_body_bytes
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    parts, size = [], 0
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
    except TimeoutError:
        text = f"the body did not arrive within {settings.body_timeout_s:g} s; send it faster, or send less"
        raise SlowRequestError(ErrorReason.DEADLINE_EXCEEDED, text) from None
    return b"".join(parts)


async def until_disconnected(request: Request, call: Awaitable[_T], within_s: float | None = None) -> _T:
    """Return the call's answer; cancel it when the client goes away.

    Args:
        request: of the client.
        call: what is awaited; a future that is not done in time is left running.
        within_s: how long, in seconds; ``None`` = until it is done.

    Raises:
        CrpError: what the service raised.
        TimeoutError: it is not done within ``within_s``.
        ClientGoneError: the client went away.
    """
    running = asyncio.ensure_future(call)
    ends = None if within_s is None else asyncio.get_running_loop().time() + within_s
    keep = False
    try:
        while True:
            left = _POLL_S if ends is None else min(_POLL_S, ends - asyncio.get_running_loop().time())
            done, _ = await asyncio.wait({running}, timeout=max(0.0, left))
            if done:
                return running.result()
            if await request.is_disconnected():
                raise ClientGoneError
            if ends is not None and asyncio.get_running_loop().time() >= ends:
                keep = True
                raise TimeoutError
    finally:
        if not keep:
            running.cancel()


def _check_type(request: Request) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    faults = []
    if given and not _JSON_TYPE.fullmatch(given):
        faults.append(FieldViolation("Content-Type", "must be application/json, or be left out"))
    if encoding not in {"", "identity"}:
        faults.append(FieldViolation("Content-Encoding", "must be left out: send the body as it is"))
    if faults:
        text = f"{faults[0].field} {faults[0].description}"
        raise InvalidRequestError(ErrorReason.UNSUPPORTED_MEDIA, text, violations=tuple(faults))


def _too_large(most: int) -> CrpError:
    text = f"the body is larger than {most} bytes; send less, or raise GROUNDTRAIL_HTTP__MAX_BODY_BYTES"
    return LimitExceededError(ErrorReason.MESSAGE_TOO_LARGE, text, limit_bytes=str(most))
