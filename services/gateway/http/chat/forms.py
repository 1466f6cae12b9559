"""Bodies of ``/v1/chat/completions``: read as data, forwarded as they came, answered in the same dialect."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from pydantic import ValidationError
from starlette.responses import Response

from services.common.errors import CrpError, FieldViolation, InvalidRequestError
from services.common.ports.chat_provider import ChatReply
from services.common.rpc.protocol_headers import failure_headers
from services.common.strict_json import read_json
from services.gateway.http.check_schemas import GuardrailOptions
from services.gateway.http.problems import http_status, json_bytes

FIELD: Final = "groundtrail"
"""The one field of ours, in requests and in answers."""
_MOST_MESSAGE: Final = 2_000
_TOLD: Final = frozenset({400, 404, 408, 409, 413, 422, 429})
"""Refusals of a provider that are the caller's to know; others may name the deployment's key or host."""
_TYPES: Final = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "invalid_request_error",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "invalid_request_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: "content_filter",
}


class ChatOptions(GuardrailOptions):
    """What a request says to us in its field ``groundtrail``, which no provider sees."""

    evidence: bool = True


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """A request.

    Attributes:
        forwarded: what the provider gets: the caller's own bytes, unless our field was among them.
        messages: of the chat.
        is_streamed: the answer is asked for piece by piece.
        choices: how many answers are asked for.
    """

    forwarded: bytes = field(repr=False)
    messages: list[Mapping[str, Any]] = field(repr=False)
    options: ChatOptions
    is_streamed: bool
    choices: int


def read_chat(body: bytes) -> ChatAsk:
    """Return a request as it is needed here; everything else is the provider's to judge.

    Raises:
        InvalidRequestError: INVALID_FIELD.
    """
    try:
        value = read_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _wrong("body", "must be one JSON object in UTF-8") from None
    if not isinstance(value, dict):
        raise _wrong("body", "must be a JSON object")
    messages = value.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise _wrong("messages", "must be a list of objects")
    choices = value.get("n", 1)
    if not isinstance(choices, int) or choices < 1:
        choices = 1
    is_streamed = value.get("stream") is True
    if is_streamed and choices > 1:
        raise _wrong("n", "must be 1 where the answer is streamed: each choice would have to be held back by itself")
    options, forwarded = ChatOptions(), body
    if FIELD in value:
        options = _options(value.pop(FIELD))
        forwarded = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return ChatAsk(forwarded, messages, options, is_streamed, choices)


def with_messages(ask: ChatAsk, messages: Sequence[Mapping[str, Any]]) -> bytes:
    """Return what the provider gets where something in the messages was taken out (ADR 0145)."""
    value = {**read_json(ask.forwarded.decode("utf-8-sig")), "messages": messages}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def texts_of(completion: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the texts of a completion's choices, and the places that hold something that is not checked.

    Raises:
        ValueError: it is no completion.
    """
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ValueError("no choices")
    texts, unchecked = [], []
    for number, choice in enumerate(choices):
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise ValueError("a choice without a message")  # noqa: TRY004 - of the reply, not of our types
        content = message.get("content")
        texts.append(content if isinstance(content, str) else "")
        unchecked += [f"choices[{number}].message.{name}" for name in _UNCHECKED if message.get(name)]
        if content and not isinstance(content, str):
            unchecked.append(f"choices[{number}].message.content")
    return texts, unchecked


_UNCHECKED: Final = ("tool_calls", "function_call", "audio", "reasoning", "reasoning_content")


def refusal_of(reply: ChatReply) -> Response:
    """Return a provider's refusal in the caller's dialect."""
    headers = {"Retry-After": reply.retry_after} if reply.retry_after else {}
    if reply.status not in _TOLD:
        text = f"The language model is not available (http_{reply.status})."
        return _error(HTTPStatus.BAD_GATEWAY, error_body(text, "api_error", "LLM_UNAVAILABLE"), headers)
    try:
        told = json.loads(reply.body)["error"]
        message, kind, code = str(told["message"]), str(told.get("type") or "api_error"), told.get("code")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message, kind, code = "The language model refused the request.", "api_error", None
    return _error(
        HTTPStatus(reply.status),
        error_body(message[:_MOST_MESSAGE], kind, str(code or f"http_{reply.status}")),
        headers,
    )


def error_response(error: CrpError, request_id: str) -> Response:
    """Return one of our errors in the caller's dialect, with our reason as its code."""
    status = http_status(error)
    kind = _TYPES.get(status, "api_error")
    headers = {"X-Request-Id": request_id, **dict(failure_headers(error))}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    param = error.violations[0].field if error.violations else None
    return _error(status, error_body(error.message, kind, error.reason.value, param), headers)


def withheld_response(reason: str, told: Mapping[str, Any], request_id: str) -> Response:
    """Return the answer to a request whose answer is withheld: 451, as the safety policy has it."""
    status = HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS
    headers = {"X-Request-Id": request_id}
    body = {**error_body(reason, _TYPES[status], "ANSWER_WITHHELD"), FIELD: dict(told)}
    return _error(status, body, headers)


def error_body(message: str, kind: str, code: str, param: str | None = None) -> dict[str, Any]:
    """Return the object of an error in this dialect."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _error(status: HTTPStatus, body: dict[str, Any], headers: Mapping[str, str]) -> Response:
    return Response(json_bytes(body), status.value, dict(headers), media_type="application/json")


def _options(given: Any) -> ChatOptions:
    try:
        return ChatOptions.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join([FIELD, *map(str, first["loc"])])
        raise _wrong(place, first["msg"]) from None


def _wrong(place: str, text: str) -> InvalidRequestError:
    return InvalidRequestError.of(FieldViolation(place, text))
