"""Language models and providers whose calls are told to ``ModelCalls``; what passes through is not changed."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from services.common.adapters.http.written_replies import EventReader, Read, counted, read_chunk, read_message_event
from services.common.computing import compute_unless_small
from services.common.errors import CrpError
from services.common.ports.chat_provider import NO_HEADERS, ChatProvider, ChatReply, ChatStream
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream, StreamingLanguageModel
from services.common.telemetry.model_calls import AskedModel, Message, ModelCall, ModelCalls, error_type

_OK: Final = 200
_UNKNOWN: Final = "unknown"
_MOST_NUMBER: Final = 1e6
_TELLING: Final = re.compile(rb'"usage"\s*:\s*\{|"finish_reason"\s*:\s*"|"message_start"|"message_delta"')
"""Events that say more than a piece of the text; no others are read unless their text is told."""
_UNWRITTEN: Final = re.compile(
    rb'"tool_calls"\s*:\s*\[|"type"\s*:\s*"(?:tool_use|thinking)"|"reasoning_tokens"\s*:\s*[1-9]'
)
"""Answers that hold more than their text: the provider counts what nobody can read here."""
_UNREADABLE: Final = (ValueError, AttributeError, KeyError, TypeError, IndexError, RecursionError)


class ToldLanguageModel:
    """A ``StreamingLanguageModel`` whose calls are told.

    Args:
        model: does the work.
        calls: is told.
        provider: its name.
    """

    def __init__(self, model: StreamingLanguageModel, calls: ModelCalls, provider: str) -> None:
        self._model = model
        self._calls = calls
        self._provider = provider

    @property
    def default_model(self) -> str:
        """The model's."""
        return self._model.default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply."""
        with self._calls.call(self._asked(request, is_streamed=False)) as call:
            reply = await self._model.complete(request)
            _note_reply(call, reply)
            return reply

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply piece by piece."""
        return self._streamed(request)

    @asynccontextmanager
    async def _streamed(self, request: LanguageRequest) -> AsyncIterator[LanguageStream]:
        with self._calls.call(self._asked(request, is_streamed=True)) as call:
            async with self._model.stream(request) as stream:
                try:
                    yield _ToldStream(stream, call)
                finally:
                    _note_reply(call, stream.reply())

    async def check(self) -> None:
        """Return when it can be reached."""
        await self._model.check()

    async def close(self) -> None:
        """Close it."""
        await self._model.close()

    def _asked(self, request: LanguageRequest, *, is_streamed: bool) -> AskedModel:
        return AskedModel(
            provider=self._provider,
            model=request.model,
            is_streamed=is_streamed,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            top_p=request.top_p,
            seed=request.seed,
            messages=tuple((one.role.value, (_text(one.content),)) for one in request.messages),
        )


class _ToldStream:
    """A ``LanguageStream`` whose first piece and end are noted."""

    def __init__(self, stream: LanguageStream, call: ModelCall) -> None:
        self._stream = stream
        self._call = call

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the pieces."""
        try:
            async for piece in self._stream:
                self._call.chunk()
                yield piece
        except CrpError as error:
            self._call.error_type = error_type(error)  # the reader may make do with what came
            raise
        self._call.ended()

    def reply(self, length: int | None = None) -> LanguageReply:
        """Return what was read so far, or its beginning."""
        return self._stream.reply(length)


class ToldChatProvider:
    """A ``ChatProvider`` whose calls are told.

    Args:
        provider: does the work.
        calls: is told.
        name: of the provider.
        reader: of its form's events.
    """

    def __init__(self, provider: ChatProvider, calls: ModelCalls, name: str, reader: EventReader) -> None:
        self._provider = provider
        self._calls = calls
        self._name = name
        self._reader = reader

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Return the answer to a body."""
        with self._calls.call(await self._asked(body, is_streamed=False)) as call:
            reply = await self._provider.ask(body, headers)
            call.ended()
            if reply.status == _OK:
                await compute_unless_small(len(reply.body), self._note_answer, call, reply.body)
            else:
                call.error_type = str(reply.status)
            return reply

    def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AbstractAsyncContextManager[ChatStream]:
        """Open a streamed answer."""
        return self._streamed(body, headers)

    async def models(self) -> ChatReply:
        """Return its list of models, which is no call of one."""
        return await self._provider.models()

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()

    @asynccontextmanager
    async def _streamed(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[ChatStream]:
        with self._calls.call(await self._asked(body, is_streamed=True)) as call:
            async with self._provider.stream(body, headers) as opened:
                if opened.refusal is not None:
                    call.error_type = str(opened.refusal.status)
                    yield opened
                    return
                read, said = Read(), list[str]()
                try:
                    yield ChatStream(None, self._events(opened.events, call, read, said))
                finally:
                    _note_read(call, read)
                    call.texts = ("".join(said),) if call.shows_content else ()

    async def _events(
        self, events: AsyncIterator[bytes], call: ModelCall, read: Read, said: list[str]
    ) -> AsyncIterator[bytes]:
        try:
            async for data in events:
                is_first = call.first_chunk_s is None
                call.chunk()
                if is_first or call.shows_content or _TELLING.search(data):
                    with contextlib.suppress(*_UNREADABLE):  # whoever needs the event finds out for himself
                        said.append(str(self._reader(json.loads(data), read)))
                yield data
        except CrpError as error:
            call.error_type = error_type(error)  # the reader may turn it into an end of its own
            raise
        call.ended()

    def _note_answer(self, call: ModelCall, body: bytes) -> None:
        try:
            answer = json.loads(body)
            read, texts, reasons = Read(), list[str](), list[str]()
            for event, reason in _as_events(answer):
                texts.append(str(self._reader(event, read)))
                reasons.append(reason)
            _note_read(call, read)
        except _UNREADABLE:
            return
        call.finish_reasons = tuple(reason for reason in reasons if reason) or call.finish_reasons
        call.written = None if _UNWRITTEN.search(body) else "".join(texts)
        call.texts = tuple(text for text in texts if text) if call.shows_content else ()

    async def _asked(self, body: bytes, *, is_streamed: bool) -> AskedModel:
        return await compute_unless_small(len(body), _asked_of, body, self._name, is_streamed)


def told_openai(provider: ChatProvider, calls: ModelCalls, name: str) -> ToldChatProvider:
    """Return a provider of OpenAI's form whose calls are told."""
    return ToldChatProvider(provider, calls, name, read_chunk)


def told_anthropic(provider: ChatProvider, calls: ModelCalls, name: str) -> ToldChatProvider:
    """Return a provider of Anthropic's form whose calls are told."""
    return ToldChatProvider(provider, calls, name, read_message_event)


def _asked_of(body: bytes, provider: str, is_streamed: bool) -> AskedModel:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = {}
    if not isinstance(value, dict):
        value = {}
    model, most = value.get("model"), value.get("max_tokens", value.get("max_completion_tokens"))
    return AskedModel(
        provider=provider,
        model=model if isinstance(model, str) else "",
        is_streamed=is_streamed,
        max_tokens=counted(most),
        temperature=_number(value.get("temperature")),
        top_p=_number(value.get("top_p")),
        seed=counted(value.get("seed")),
        messages=tuple(_messages(value)),
    )


def _messages(value: Mapping[str, Any]) -> list[Message]:
    found = value.get("messages")
    said = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    system = [{"role": "system", "content": value["system"]}] if "system" in value else []
    return [(str(one.get("role", "")), _parts(one.get("content"))) for one in (*system, *said)]


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """Return the parts of a message; of what is no text only the kind."""
    if isinstance(content, str):
        return [_text(content)]
    parts = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return [
        _text(one["text"]) if isinstance(one.get("text"), str) else {"type": str(one.get("type", ""))} for one in parts
    ]


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "content": text}


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST_NUMBER
    return float(value) if is_number else None


def _as_events(answer: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str]]:
    """Return a whole answer of either form as events of a stream, each with its finish reason, if any."""
    if "choices" in answer:
        return [
            ({**answer, "choices": [{**one, "delta": one.get("message")}]}, str(one.get("finish_reason") or ""))
            for one in answer["choices"]
        ]
    pieces = [{**one, "type": f"{one['type']}_delta"} for one in answer["content"]]
    blocks = [{"type": "content_block_delta", "delta": piece} for piece in pieces]
    end = {"type": "message_delta", "delta": answer}
    return [({"type": "message_start", "message": answer}, ""), *((one, "") for one in blocks), (end, "")]


def _note_read(call: ModelCall, read: Read) -> None:
    call.model = read.model if isinstance(read.model, str) else ""
    call.response_id = read.response_id if isinstance(read.response_id, str) else ""
    call.finish_reasons = (str(read.finish_reason),) if read.finish_reason else ()
    call.input_tokens, call.output_tokens = counted(read.prompt_tokens), counted(read.completion_tokens)


def _note_reply(call: ModelCall, reply: LanguageReply) -> None:
    call.model, call.response_id = reply.model, reply.response_id
    call.finish_reasons = () if reply.finish_reason == _UNKNOWN else (reply.finish_reason,)
    call.input_tokens, call.output_tokens = reply.prompt_tokens, reply.completion_tokens
    call.written = reply.text
    call.texts = (reply.text,) if call.shows_content else ()
