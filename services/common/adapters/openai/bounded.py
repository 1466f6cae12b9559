"""Reading no more of a provider's answer than a reply can have: an endpoint that sends without end fills no memory.

Nothing compressed is asked for or taken, so that what is counted is what is kept.
"""

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any, Final

import openai

from services.common.adapters.openai.errors import ReplyError

MAX_REPLY_BYTES: Final = 4 * 1024 * 1024
"""Largest body of an answer, in bytes: some times what a reply of 100,000 tokens has."""

_HTTP: Final[Any] = import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
"""The HTTP library that the client is built on; its responses take streams of its own kind alone."""


async def bound_response(response: Any) -> None:
    """Let the reading of an answer end with a ``ReplyError`` once it is too large; to be called before it is read.

    Raises:
        ReplyError: ``compressed_reply``.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ReplyError("compressed_reply")
    response.stream = _BoundedStream(response.stream)


class _BoundedStream(_HTTP.AsyncByteStream):  # type: ignore[misc]
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_REPLY_BYTES
        async for part in self._inner:
            left -= len(part)
            if left < 0:
                raise ReplyError("reply_too_large")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
