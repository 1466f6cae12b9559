"""Entity recognition and a language model without weights or network, for tests."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from services.common.encoding import sha256_hex
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream
from services.common.ports.recognition import Entity, EntityKind

_MENTION: Final = re.compile(
    r"(?P<PERCENT>\d[\d.,]*\d\s?%|\d\s?%)"
    r"|(?P<MONEY>[$€£]\s?\d[\d.,]*\d|[$€£]\s?\d)"
    r"|(?P<NUMBER>\d[\d.,]*\d|\d)"
    r"|(?P<OTHER>\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b)"
)


class MemoryEntityRecognizer:
    """``EntityRecognizer`` by one pattern: percentages, money, numbers, and runs of capitalised words as OTHER."""

    @property
    def fingerprint(self) -> str:
        """A constant: there are no weights."""
        return f"memory-ner@1+sha256:{'0' * 16}"

    async def recognize(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return the matches of each text, ordered, not overlapping."""
        return [tuple(_mentions(text)) for text in texts]


def _mentions(text: str) -> Iterable[Entity]:
    for match in _MENTION.finditer(text):
        kind = EntityKind(match.lastgroup or EntityKind.OTHER)
        yield Entity(kind, match.group(), match.start(), match.end())


class MemoryLanguageModel:
    """``LanguageModel`` that gives scripted replies in order and remembers what it was asked.

    Args:
        replies: texts to answer with, or errors to raise, one per call; the last one is repeated for ever.
        default_model: the name used when a request names none.
    """

    def __init__(
        self, replies: Sequence[str | Exception], *, default_model: str = "gpt-4o-mini", finish_reason: str = "stop"
    ) -> None:
        if not replies:
            msg = "a scripted model needs at least one reply"
            raise ValueError(msg)
        self._replies = list(replies)
        self._default_model = default_model
        self._finish_reason = finish_reason
        self.requests: list[LanguageRequest] = []
        self.closed = False
        self.left = 0
        """Streams whose context was left."""

    @property
    def default_model(self) -> str:
        """The model name used when the request names none."""
        return self._default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return the next scripted reply, or raise the next scripted error."""
        self.requests.append(request)
        reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return LanguageReply(reply, self._finish_reason, f"memory/{request.model}+sha256:{sha256_hex(reply)}")

    @asynccontextmanager
    async def stream(self, request: LanguageRequest) -> AsyncIterator[LanguageStream]:
        """Open the next scripted reply, which comes word by word."""
        reply = await self.complete(request)
        try:
            yield _ScriptedStream(reply, self.before_piece)
        finally:
            self.left += 1

    async def before_piece(self, number: int) -> None:
        """Wait before the 0-based piece of a stream: a test's to override."""

    async def check(self) -> None:
        """Return: it is always there."""

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


class _ScriptedStream:
    def __init__(self, reply: LanguageReply, before_piece: Callable[[int], Awaitable[None]]) -> None:
        self._reply = reply
        self._before_piece = before_piece
        self._said = ""

    async def __aiter__(self) -> AsyncIterator[str]:
        for number, piece in enumerate(filter(None, re.findall(r"\S*\s*", self._reply.text))):
            await self._before_piece(number)
            self._said += piece
            yield piece

    def reply(self, length: int | None = None) -> LanguageReply:
        return replace(self._reply, text=self._said[:length])
