"""Refusals over HTTP: one shape for all, with the status of docs/errors.md; on ERCP's paths with its audit metadata.

A refusal was signed by nobody and no model had a part in it, so that ``model_fingerprint`` and ``node_signature`` (ERCP
1.0 §2) are ``null`` in it, never made up. Chats are refused in the forms of their providers (``chat.refusals``).
"""

import json
from http import HTTPStatus
from typing import Any, Final

import grpc
from starlette.responses import Response

from services.common.clock import Clock
from services.common.encoding import iso_micros
from services.common.errors import CrpError, DeadlineError, ErrorReason
from services.common.rpc.protocol_headers import failure_body, failure_headers
from services.common.rpc.status import DEFAULT_RETRY_S, STATUS, is_retryable

PROTO_VERSION: Final = "ercp-1.0"
ERCP: Final = "/ercp/"
"""What paths of ERCP begin with."""
JSON: Final = "application/json"
_HTTP: Final = {
    grpc.StatusCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    grpc.StatusCode.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    grpc.StatusCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    grpc.StatusCode.ABORTED: HTTPStatus.CONFLICT,
    grpc.StatusCode.DATA_LOSS: HTTPStatus.CONFLICT,
    grpc.StatusCode.FAILED_PRECONDITION: HTTPStatus.FAILED_DEPENDENCY,
    grpc.StatusCode.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    grpc.StatusCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
}
_OF_REASON: Final = {
    ErrorReason.MESSAGE_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ErrorReason.UNSUPPORTED_MEDIA: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}


class SlowRequestError(DeadlineError):
    """The caller took too long to send a request (DEADLINE_EXCEEDED): 408 over HTTP."""


def http_status(error: CrpError) -> HTTPStatus:
    """Return the status of an error (ADR 0019)."""
    if isinstance(error, SlowRequestError):
        return HTTPStatus.REQUEST_TIMEOUT
    if error.reason in _OF_REASON:
        return _OF_REASON[error.reason]
    return _HTTP.get(STATUS[error.reason].code, HTTPStatus.INTERNAL_SERVER_ERROR)


def problem_response(
    error: CrpError, *, request_id: str, clock: Clock, audited: bool = False, trace_id: str | None = None
) -> Response:
    """Return the answer to a call that failed.

    Args:
        error: what went wrong.
        request_id: of the call; finds it in the server's log.
        clock: the time.
        audited: the path is one of ERCP's: its audit metadata stands in the answer.
        trace_id: of that, as the caller gave it, ``None`` where none was.
    """
    status, row = http_status(error), STATUS[error.reason]
    retryable, retry_after_s = is_retryable(error), error.retry_after_s
    if retry_after_s is None and retryable:
        retry_after_s = DEFAULT_RETRY_S
    told: dict[str, Any] = {
        "reason": error.reason.value,
        "status": row.code.name,
        "message": error.message,
        "fields": [{"field": one.field, "description": one.description} for one in error.violations],
        "metadata": dict(error.metadata),
        "retryable": retryable,
        "request_id": request_id,
    }
    body: dict[str, Any] = {"error": told, "timestamp": iso_micros(clock.now()), **failure_body(error)}
    if audited:
        unsigned: dict[str, Any] = {"proto_version": PROTO_VERSION, "model_fingerprint": None, "node_signature": None}
        body |= {"trace_id": trace_id, **unsigned}
    headers = {"X-Request-Id": request_id, **dict(failure_headers(error))}
    if retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(retry_after_s)))
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return json_response(body, status, headers)


def json_response(body: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None) -> Response:
    """Return a value as JSON in UTF-8, without white space."""
    return Response(json_bytes(body), status.value, headers, media_type=JSON)


def json_bytes(body: Any) -> bytes:
    """Return a value as JSON in UTF-8, without white space."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
