"""Several endpoints of one form as one: the model that a body names decides who gets it (ADR 0163)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from fnmatch import fnmatchcase
from typing import Any, Final

from services.common.errors import UnavailableError
from services.common.ports.chat_provider import NO_HEADERS, ChatProvider, ChatReply, ChatStream

_OK: Final = 200


class RoutedChatProvider:
    """A ``ChatProvider`` that asks whoever answers for the model's name.

    Args:
        default: answers for names that no pattern holds.
        routes: patterns of names, and who answers for them; the first that holds a name.
    """

    def __init__(self, default: ChatProvider, routes: Sequence[tuple[Sequence[str], ChatProvider]]) -> None:
        self._default = default
        self._routes = tuple(routes)

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Pass a body on."""
        return await self._of(body).ask(body, headers)

    def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AbstractAsyncContextManager[ChatStream]:
        """Pass a body on, and open the streamed answer."""
        return self._of(body).stream(body, headers)

    async def models(self) -> ChatReply:
        """Return the models of all of them: the default's, and of each other those that it is asked for.

        One that does not answer is left out, unless it is the default.
        """
        first, *others = await asyncio.gather(
            self._default.models(), *(provider.models() for _, provider in self._routes), return_exceptions=True
        )
        if isinstance(first, BaseException):
            raise first
        listed = _models_of(first)
        if listed is None:
            return first
        for (patterns, _), reply in zip(self._routes, others, strict=True):
            if isinstance(reply, BaseException) and not isinstance(reply, UnavailableError):
                raise reply
            found = None if isinstance(reply, BaseException) else _models_of(reply)
            listed += [one for one in found or [] if _holds(patterns, one.get("id"))]
        return ChatReply(_OK, json.dumps({"object": "list", "data": listed}).encode())

    async def close(self) -> None:
        """Close all of them."""
        await self._default.close()
        for _, provider in self._routes:
            await provider.close()

    def _of(self, body: bytes) -> ChatProvider:
        try:
            name = json.loads(body)["model"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._default  # it says itself what is wrong with the body
        return next((one for patterns, one in self._routes if _holds(patterns, name)), self._default)


def _holds(patterns: Sequence[str], name: Any) -> bool:
    return isinstance(name, str) and any(fnmatchcase(name, pattern) for pattern in patterns)


def _models_of(reply: ChatReply) -> list[dict[str, Any]] | None:
    """Return what a list of models holds; ``None`` where it is none."""
    try:
        found = json.loads(reply.body)["data"] if reply.status == _OK else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else None
