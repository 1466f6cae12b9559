"""A reply that came at once, read as a stream of one piece."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from services.common.ports.language_model import (
    LanguageModel,
    LanguageReply,
    LanguageRequest,
    LanguageStream,
    StreamingLanguageModel,
)


class WholeReply:
    """Implements ``LanguageStream`` over a reply that is there."""

    def __init__(self, reply: LanguageReply) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the text."""
        yield self._reply.text

    def reply(self, length: int | None = None) -> LanguageReply:
        """Return the reply, or its beginning."""
        return self._reply if length is None else replace(self._reply, text=self._reply.text[:length])


@asynccontextmanager
async def whole_reply(writing: Awaitable[LanguageReply]) -> AsyncIterator[LanguageStream]:
    """Open a reply that is written at once."""
    yield WholeReply(await writing)


class AtOnce:
    """A ``StreamingLanguageModel`` over one that writes whole replies."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def default_model(self) -> str:
        """The model's."""
        return self._model.default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply."""
        return await self._model.complete(request)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply, which comes at once."""
        return whole_reply(self._model.complete(request))

    async def check(self) -> None:
        """Return when it can be reached."""
        await self._model.check()

    async def close(self) -> None:
        """Close it."""
        await self._model.close()


def streaming(model: LanguageModel) -> StreamingLanguageModel:
    """Return the model as one that streams."""
    return model if isinstance(model, StreamingLanguageModel) else AtOnce(model)
