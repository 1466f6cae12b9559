"""Language models in Anthropic's form, streams of both forms, and which of several answers for a model's name."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from services.common.adapters.http.written_replies import (
    EventReader,
    WrittenReply,
    read_message,
    read_message_event,
    read_whole,
    refused,
)
from services.common.errors import DeadlineError, ErrorReason, UnavailableError
from services.common.ports.chat_provider import ChatProvider
from services.common.ports.language_model import (
    ChatRole,
    LanguageReply,
    LanguageRequest,
    LanguageStream,
    StreamingLanguageModel,
)
from services.common.settings.chat import AnthropicSettings

CHECK_TIMEOUT_S: Final = 5.0
"""How long a readiness check waits."""
_OK: Final = 200
_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Told:
    """How a form's events are read, and what errors and fingerprints call the provider.

    Attributes:
        reader: of events.
        provider: first part of fingerprints.
        section: of the settings, for hints.
    """

    reader: EventReader
    provider: str
    section: str


@asynccontextmanager
async def streamed_reply(
    provider: ChatProvider, body: dict[str, Any], request: LanguageRequest, told: Told
) -> AsyncIterator[LanguageStream]:
    """Open a streamed reply.

    Args:
        provider: speaks the form.
        body: in the form.
        request: what is asked.
        told: how the form is read and what the provider is called.

    Raises:
        UnavailableError: LLM_UNAVAILABLE.
        DeadlineError: the caller's time was up.
    """
    try:
        async with asyncio.timeout(request.timeout_s), provider.stream(json.dumps(body).encode()) as opened:
            if opened.refusal is not None:
                raise refused(opened.refusal, request.model, told.section)
            yield WrittenReply(opened.events, told.reader, told.provider, request.model)
    except TimeoutError:
        raise out_of_time(request.model) from None


def out_of_time(model: str) -> DeadlineError:
    """Return the error of a call whose caller had no more time."""
    text = "The language model did not answer before the caller's deadline."
    return DeadlineError(ErrorReason.DEADLINE_EXCEEDED, text, model=model)


class AnthropicLanguageModel:
    """``LanguageModel`` over a provider of Anthropic's form; nothing but messages and sampling goes out (Axiom 4).

    Args:
        provider: speaks the form.
        settings: default model, and what callers are told of the provider.
    """

    def __init__(self, provider: ChatProvider, settings: AnthropicSettings) -> None:
        self._provider = provider
        self._settings = settings
        self._told = Told(read_message_event, settings.provider, "ANTHROPIC")

    @property
    def default_model(self) -> str:
        """The model of the settings."""
        return self._settings.model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply. Raises as the port says."""
        try:
            async with asyncio.timeout(request.timeout_s):
                reply = await self._provider.ask(json.dumps(_parameters(request)).encode())
        except TimeoutError:
            raise out_of_time(request.model) from None
        if reply.status != _OK:
            raise refused(reply, request.model, self._told.section)
        return read_whole(reply.body, read_message, self._settings.provider, request.model)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply piece by piece."""
        return streamed_reply(self._provider, _parameters(request) | {"stream": True}, request, self._told)

    async def check(self) -> None:
        """Ask for the list of models; an endpoint that has none, but answers, counts as there."""
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                reply = await self._provider.models()
        except TimeoutError:
            text = "The language model is not available (timeout)."
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="timeout") from None
        if reply.status not in {_OK, _NOT_FOUND}:
            raise refused(reply, self.default_model, self._told.section)

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._provider.close()


class RoutedLanguageModel:
    """The models of several providers as one: which answers is told by the name that is asked for.

    Args:
        default: answers every name that no route takes.
        routes: patterns of names (``*`` stands for any characters) and who answers them; the first that fits is taken.
    """

    def __init__(
        self, default: StreamingLanguageModel, routes: Sequence[tuple[Sequence[str], StreamingLanguageModel]]
    ) -> None:
        self._default = default
        self._routes = routes

    @property
    def default_model(self) -> str:
        """The default's."""
        return self._default.default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply of whoever answers for the name."""
        return await self._of(request.model).complete(request)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply of whoever answers for the name."""
        return self._of(request.model).stream(request)

    async def check(self) -> None:
        """Return when all of them can be reached."""
        await asyncio.gather(self._default.check(), *(model.check() for _, model in self._routes))

    async def close(self) -> None:
        """Close all of them."""
        await self._default.close()
        for _, model in self._routes:
            await model.close()

    def _of(self, name: str) -> StreamingLanguageModel:
        for patterns, model in self._routes:
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                return model
        return self._default


def _parameters(request: LanguageRequest) -> dict[str, Any]:
    said = [one for one in request.messages if one.role is not ChatRole.SYSTEM]
    system = "\n\n".join(one.content for one in request.messages if one.role is ChatRole.SYSTEM)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "temperature": min(request.temperature, 1.0),  # the form's range
        "messages": [{"role": one.role.value, "content": one.content} for one in said],
    }
    if system:
        body["system"] = system
    if request.top_p is not None:
        body["top_p"] = request.top_p
    return body
