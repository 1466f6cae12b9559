"""Replies of language models read from a provider's events, in either form (``LanguageStream``)."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, UnavailableError
from services.common.names import plain_name
from services.common.ports.chat_provider import ChatReply
from services.common.ports.language_model import LanguageReply
from services.common.provider_refusals import refusal_text
from services.common.streaming.surrogates import Halves

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_DEFAULT_RETRY_S: Final = 1.0
_MOST_RETRY_S: Final = 3600.0


@dataclass(slots=True)
class Read:
    """What was read of a reply besides its text, as it came; counts are ``None`` where the provider did not say."""

    model: Any = ""
    version: Any = ""
    response_id: Any = ""
    finish_reason: Any = ""
    prompt_tokens: Any = None
    completion_tokens: Any = None


class EventReader(Protocol):
    """Reads one event of a form: returns its text, and notes in ``read`` what else it says."""

    def __call__(self, event: Any, read: Read) -> str:
        """Read. Raises AttributeError, KeyError, TypeError or ValueError where it is no event of the form."""
        ...


def read_chunk(event: Any, read: Read) -> str:
    """Read an event of OpenAI's form."""
    read.model = event.get("model") or read.model
    read.version = event.get("system_fingerprint") or read.version
    read.response_id = event.get("id") or read.response_id
    if usage := event.get("usage"):
        read.prompt_tokens, read.completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if event.get("error"):
        raise ValueError("an error instead of a chunk")
    choices = event.get("choices") or []
    if not choices:
        return ""
    read.finish_reason = choices[0].get("finish_reason") or read.finish_reason
    delta = choices[0].get("delta") or {}
    return delta.get("content") or delta.get("refusal") or ""


_STOP_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def read_message_event(event: Any, read: Read) -> str:
    """Read an event of Anthropic's form."""
    kind = event["type"]
    if kind == "error":
        raise ValueError("an error instead of an event")
    if kind == "message_start":
        _note_message(event["message"], read)
    elif kind == "message_delta":
        reason = event["delta"].get("stop_reason")
        read.finish_reason = _STOP_REASONS.get(reason, reason) or read.finish_reason
        read.completion_tokens = (event.get("usage") or {}).get("output_tokens", read.completion_tokens)
    elif kind == "content_block_delta" and event["delta"]["type"] == "text_delta":
        return str(event["delta"]["text"])
    return ""


def read_message(event: Any, read: Read) -> str:
    """Read a whole message of Anthropic's form."""
    _note_message(event, read)
    reason = event.get("stop_reason")
    read.finish_reason = _STOP_REASONS.get(reason, reason) or "unknown"
    return "".join(block["text"] for block in event["content"] if block["type"] == "text")


def _note_message(message: Any, read: Read) -> None:
    read.model = message.get("model") or read.model
    read.response_id = message.get("id") or read.response_id
    usage = message.get("usage") or {}
    read.prompt_tokens = usage.get("input_tokens", read.prompt_tokens)
    read.completion_tokens = usage.get("output_tokens", read.completion_tokens)


@dataclass(slots=True)
class WrittenReply:
    """A ``LanguageStream`` over a provider's events.

    Attributes:
        events: their data.
        reader: of the form.
        provider: what callers are told of the provider.
        asked: the model that was asked.
    """

    events: AsyncIterator[bytes]
    reader: EventReader
    provider: str
    asked: str
    _read: Read = field(default_factory=Read)
    _said: list[str] = field(default_factory=list)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the pieces."""
        halves = Halves()
        async for data in self.events:
            if piece := halves.joined(_text_of(lambda event: self.reader(event, self._read), data)):
                self._said.append(piece)
                yield piece
        if rest := halves.rest():
            self._said.append(rest)
            yield rest
        if not any(piece.strip() for piece in self._said):
            raise malformed("empty_reply")

    def reply(self, length: int | None = None) -> LanguageReply:
        """Return what was read so far, or its beginning."""
        return made_reply("".join(self._said)[:length], self._read, self.provider, self.asked)


def made_reply(text: str, read: Read, provider: str, asked: str) -> LanguageReply:
    """Return a reply with the fingerprint of who wrote it."""
    version = f"@{read.version}" if isinstance(read.version, str) and read.version else ""
    model = plain_name(f"{read.model or asked}{version}")
    return LanguageReply(
        text=text,
        finish_reason=str(read.finish_reason or "unknown"),
        model_fingerprint=f"{provider}/{model}+sha256:{sha256_hex(text)}",
        prompt_tokens=counted(read.prompt_tokens),
        completion_tokens=counted(read.completion_tokens),
        model=read.model if isinstance(read.model, str) else "",
        response_id=read.response_id if isinstance(read.response_id, str) else "",
    )


def refused(reply: ChatReply, model: str, section: str) -> UnavailableError:
    """Return what the caller of a dispatch is told of a provider's refusal; nothing of its body, which may quote."""
    cause, retry_after_s = f"http_{reply.status}", None
    if reply.status in _PASSING:
        try:
            retry_after_s = min(max(float(reply.retry_after or _DEFAULT_RETRY_S), 0.0), _MOST_RETRY_S)
        except ValueError:  # a date
            retry_after_s = _DEFAULT_RETRY_S
    text = refusal_text(reply.status, section)
    return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, retry_after_s=retry_after_s, cause=cause, model=model)


def read_whole(body: bytes, reader: EventReader, provider: str, asked: str) -> LanguageReply:
    """Return a whole reply.

    Raises:
        UnavailableError: LLM_UNAVAILABLE: it is none of the form, or holds no text.
    """
    read, halves = Read(), Halves()
    text = halves.joined(_text_of(lambda message: reader(message, read), body)) + halves.rest()
    if not text.strip():
        raise malformed("empty_reply")
    return made_reply(text, read, provider, asked)


def malformed(cause: str = "malformed_reply") -> UnavailableError:
    """Return the refusal of what is no reply."""
    text = "The language model did not answer with a chat's reply."
    return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=cause)


def _text_of(reading: Callable[[Any], str], data: bytes) -> str:
    try:
        text = reading(json.loads(data))
    except (ValueError, AttributeError, KeyError, TypeError, IndexError, RecursionError):
        raise malformed() from None
    if not isinstance(text, str):
        raise malformed()
    return text


def counted(given: Any) -> int | None:
    """Return a count that a provider gave, or ``None`` where it is none."""
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 2**31 else None
