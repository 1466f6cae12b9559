"""A provider of chat completions that is spoken to in the caller's own words: bodies go through as they are."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

NO_HEADERS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a provider answered, whole.

    Attributes:
        status: of HTTP.
        body: as it came.
        retry_after: of a refusal; empty when none was named.
    """

    status: int
    body: bytes = field(repr=False)
    retry_after: str = ""


@dataclass(frozen=True, slots=True)
class ChatStream:
    """What a provider answers piece by piece.

    Attributes:
        refusal: instead of a stream; ``None`` when there is one.
        events: the data of its server-sent events, without the one that ends it.
    """

    refusal: ChatReply | None
    events: AsyncIterator[bytes]


class ChatProvider(Protocol):
    """An endpoint of a known dialect. Bodies are JSON in UTF-8 and reach it byte for byte.

    Headers are those of the dialect that a caller may choose, such as ``anthropic-version``; nothing else of a caller's
    headers goes along.
    """

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Return the answer to a body, whatever its status.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: it cannot be reached, is too slow, or sent too much.
        """
        ...

    def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AbstractAsyncContextManager[ChatStream]:
        """Open a streamed answer; leaving the context ends the call. Raises as ``ask``, while reading too."""
        ...

    async def models(self) -> ChatReply:
        """Return its list of models. Raises as ``ask``."""
        ...

    async def close(self) -> None:
        """Close the connections; idempotent."""
        ...
