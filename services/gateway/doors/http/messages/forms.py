"""Bodies of ``/v1/messages``: read as data, forwarded as they came, answered in the same dialect."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from services.gateway.doors.http.chat.asks import (
    ChatAsk,
    ChatQuery,
    Written,
    messages_of,
    read_object,
    streamed,
    without_field,
)
from services.gateway.doors.http.chat.queries import chat_query, read_numbers
from services.gateway.doors.http.chat.schemas import MessageAnswer, MessagesRequest
from services.gateway.doors.http.messages.streaming import MessageStream, stop_reason

_KINDS: Final = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "invalid_request_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "overloaded_error",
    HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: "content_filter",
}
_VERSION: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BETA: Final = re.compile(r"[A-Za-z0-9._, -]{1,1024}")
_NEUTRAL: Final[Mapping[str, tuple[Any, ...]]] = {
    "top_p": (1,),
    "stop_sequences": ([],),
    "tools": ([],),
    "thinking": ({"type": "disabled"},),
    "service_tier": ("auto",),
}
"""Values that ask for nothing."""
_READ: Final = frozenset({"model", "messages", "system", "stream", "max_tokens", "temperature"})
_OF_THE_CALLER: Final = frozenset({"metadata"})


class AnthropicDialect:
    """Anthropic's form."""

    path: Final = "/v1/messages"
    section: Final = "ANTHROPIC"
    operation: Final = "messages"
    request_form: Final = MessagesRequest
    answer_form: Final = MessageAnswer
    summary: Final = "Anthropic's messages: grounded, or a provider's, checked against what their messages hold."

    def read(self, body: bytes) -> ChatAsk:
        """Return a request; its system prompt is the first of the messages."""
        value = read_object(body)
        messages = messages_of(value)
        system = [{"role": "system", "content": value["system"]}] if value.get("system") else []
        options, forwarded = without_field(value, body)
        return ChatAsk(forwarded, value, [*system, *messages], options, streamed(value), len(system))

    def with_messages(self, ask: ChatAsk, messages: Sequence[Mapping[str, Any]]) -> ChatAsk:
        """Return a request with other messages; the system prompt is a field by itself."""
        system = {"system": messages[0]["content"]} if ask.leading else {}
        return ask.rewritten({"messages": messages[ask.leading :], **system})

    def forwarded_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the version of the form, and what of it is asked for before its time."""
        allowed = {"anthropic-version": _VERSION, "anthropic-beta": _BETA}
        given = {name: headers.get(name, "") for name in allowed}
        return {name: value for name, value in given.items() if allowed[name].fullmatch(value)}

    def query(self, ask: ChatAsk) -> ChatQuery:
        """Return a request as a dispatch asks it."""
        return chat_query(ask, read_numbers(ask.value, ("max_tokens",)), _READ | _OF_THE_CALLER, _NEUTRAL)

    def texts_of(self, completion: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Return the text of a message's blocks, and the blocks that are not checked."""
        blocks = completion.get("content")
        if completion.get("type") != "message" or not isinstance(blocks, list):
            raise ValueError("no message")
        texts, unchecked = [], []
        for number, block in enumerate(blocks):
            if not isinstance(block, dict):
                raise ValueError("a block that is none")  # noqa: TRY004 - of the reply, not of our types
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            else:
                unchecked.append(f"content[{number}]")
        return ["".join(texts)], unchecked

    def answer(self, written: Written) -> dict[str, Any]:
        """Return an answer of ours as a message."""
        return {
            "id": f"msg_{written.answer_id}",
            "type": "message",
            "role": "assistant",
            "model": written.model,
            "content": [{"type": "text", "text": written.text}],
            "stop_reason": stop_reason(written.finish),
            "stop_sequence": None,
            "usage": {"input_tokens": written.prompt_tokens, "output_tokens": written.completion_tokens},
        }

    def kind_of(self, status: HTTPStatus) -> str:
        """Return the dialect's word for errors of a status."""
        return _KINDS.get(status, "api_error")

    def error_body(self, message: str, kind: str, code: str, param: str | None, request_id: str) -> dict[str, Any]:
        """Return the body of an error."""
        error = {"type": kind, "message": message, "code": code, "param": param}
        return {"type": "error", "error": error, "request_id": request_id}

    def told_by(self, error: Mapping[str, Any]) -> tuple[str, str]:
        """Return kind and code of a provider's error; this form has no codes but its kinds."""
        kind = str(error.get("type") or "api_error")
        return kind, str(error.get("code") or kind)

    def stream(self) -> MessageStream:
        """Return a streamed answer that has not begun."""
        return MessageStream()
