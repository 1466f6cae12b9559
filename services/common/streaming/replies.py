"""A reply that came at once, read as a stream of one piece."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import replace

from services.common.ports.language_model import LanguageReply, LanguageStream


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
