"""Bodies of ``/v1/chat/completions``: read as data, forwarded as they came, answered in the same dialect."""

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
    wrong,
)
from services.gateway.doors.http.chat.queries import chat_query, read_numbers
from services.gateway.doors.http.chat.schemas import ChatCompletion, ChatCompletionRequest
from services.gateway.doors.http.chat.streaming import ChunkStream

_KINDS: Final = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "invalid_request_error",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "invalid_request_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: "content_filter",
}
_UNCHECKED: Final = ("tool_calls", "function_call", "audio", "reasoning", "reasoning_content")
_NEUTRAL: Final[Mapping[str, tuple[Any, ...]]] = {
    "n": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logprobs": (False,),
    "store": (False,),
    "response_format": ({"type": "text"},),
    "tools": ([],),
    "functions": ([],),
    "stop": ([], ""),
    "modalities": (["text"],),
    "service_tier": ("auto", "default"),
    "logit_bias": ({},),
}
"""Values that ask for nothing; another one, like every other field, cannot be honoured by a dispatch."""
_READ: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "seed"}
)
_OF_THE_CALLER: Final = frozenset({"user", "metadata", "safety_identifier", "prompt_cache_key"})
"""What callers note down for themselves; nothing of the answer hangs on it."""


class OpenAiDialect:
    """OpenAI's form."""

    path: Final = "/v1/chat/completions"
    section: Final = "LLM"
    operation: Final = "chat"
    request_form: Final = ChatCompletionRequest
    answer_form: Final = ChatCompletion
    summary: Final = "OpenAI's chat completions: grounded, or a provider's, checked against what their messages hold."

    def read(self, body: bytes) -> ChatAsk:
        """Return a request as it is needed here; everything else is the provider's to judge."""
        value = read_object(body)
        messages = messages_of(value)
        choices = value.get("n", 1)
        is_streamed = streamed(value)
        if is_streamed and isinstance(choices, int) and choices > 1:
            raise wrong("n", "must be 1 where the answer is streamed: each choice would have to be held back by itself")
        options, forwarded = without_field(value, body)
        return ChatAsk(forwarded, value, messages, options, is_streamed)

    def with_messages(self, ask: ChatAsk, messages: Sequence[Mapping[str, Any]]) -> ChatAsk:
        """Return a request with other messages."""
        return ask.rewritten({"messages": messages})

    def forwarded_headers(self, headers: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002 - there are none
        """Return none: nothing of this form stands in headers."""
        return {}

    def query(self, ask: ChatAsk) -> ChatQuery:
        """Return a request as a dispatch asks it."""
        numbers = read_numbers(ask.value, ("max_completion_tokens", "max_tokens"))
        return chat_query(ask, numbers, _READ | _OF_THE_CALLER, _NEUTRAL)

    def texts_of(self, completion: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Return the texts of a completion's choices, and the places that hold something that is not checked."""
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

    def answer(self, written: Written) -> dict[str, Any]:
        """Return an answer of ours as a completion."""
        message = {"role": "assistant", "content": written.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": written.finish}
        return {
            "id": f"chatcmpl-{written.answer_id}",
            "object": "chat.completion",
            "created": written.created,
            "model": written.model,
            "choices": [choice],
            "usage": usage_of(written),
        }

    def kind_of(self, status: HTTPStatus) -> str:
        """Return the dialect's word for errors of a status."""
        return _KINDS.get(status, "api_error")

    def error_body(
        self,
        message: str,
        kind: str,
        code: str,
        param: str | None,
        request_id: str,  # noqa: ARG002 - it stands in a header
    ) -> dict[str, Any]:
        """Return the body of an error."""
        return {"error": {"message": message, "type": kind, "param": param, "code": code}}

    def told_by(self, error: Mapping[str, Any]) -> tuple[str, str]:
        """Return kind and code of a provider's error."""
        return str(error.get("type") or "api_error"), str(error.get("code") or "")

    def stream(self) -> ChunkStream:
        """Return a streamed answer that has not begun."""
        return ChunkStream()


def usage_of(written: Written) -> dict[str, int]:
    """Return what an answer of ours took, in tokens."""
    return {
        "prompt_tokens": written.prompt_tokens,
        "completion_tokens": written.completion_tokens,
        "total_tokens": written.prompt_tokens + written.completion_tokens,
    }
