"""Errors in the caller's dialect, with our reason inside and the protocol's headers around."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.ports.chat_provider import ChatReply
from services.common.provider_refusals import refusal_text
from services.common.rpc.protocol_headers import failure_headers
from services.common.rpc.status import is_retryable
from services.gateway.doors.http.chat.asks import FIELD
from services.gateway.doors.http.chat.dialect import Dialect
from services.gateway.doors.http.problems import http_status, json_bytes

_RETRY_S: Final = "1"
"""Where a provider that failed names no time."""
_MOST_MESSAGE: Final = 2_000
_TOLD: Final = frozenset({400, 404, 408, 409, 413, 422, 429})
"""Refusals of a provider that are the caller's to know; others may name the deployment's key or host."""


def refusal_of(dialect: Dialect, reply: ChatReply, request_id: str) -> Response:
    """Return a provider's refusal in the caller's dialect."""
    headers = {"X-Request-Id": request_id}
    if reply.status not in _TOLD:
        text = refusal_text(reply.status, dialect.section)
        error = UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=f"http_{reply.status}")
        if is_retryable(error):
            headers["Retry-After"] = reply.retry_after or _RETRY_S
        body = dialect.error_body(text, "api_error", error.reason.value, None, request_id)
        return _error(http_status(error), body, headers)
    if reply.retry_after:
        headers["Retry-After"] = reply.retry_after
    try:
        told = json.loads(reply.body)["error"]
        message, (kind, code) = str(told["message"]), dialect.told_by(told)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message, kind, code = "The language model refused the request.", "api_error", ""
    code = code or f"http_{reply.status}"
    body = dialect.error_body(message[:_MOST_MESSAGE], kind, code, None, request_id)
    return _error(HTTPStatus(reply.status), body, headers)


def error_response(dialect: Dialect, error: CrpError, request_id: str) -> Response:
    """Return one of our errors in the caller's dialect, with our reason as its code."""
    status = http_status(error)
    headers = {"X-Request-Id": request_id, **dict(failure_headers(error))}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    param = error.violations[0].field if error.violations else None
    body = dialect.error_body(error.message, dialect.kind_of(status), error.reason.value, param, request_id)
    return _error(status, body, headers)


def withheld_response(
    dialect: Dialect, reason: str, told: Mapping[str, Any], request_id: str, headers: Mapping[str, str]
) -> Response:
    """Return the answer to a request whose answer is withheld: 451, as the safety policy has it."""
    status = HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS
    error = dialect.error_body(reason, dialect.kind_of(status), "ANSWER_WITHHELD", None, request_id)
    return _error(status, {**error, FIELD: dict(told)}, {"X-Request-Id": request_id, **headers})


def _error(status: HTTPStatus, body: dict[str, Any], headers: Mapping[str, str]) -> Response:
    return Response(json_bytes(body), status.value, dict(headers), media_type="application/json")
