"""``ChatProvider`` over HTTP (httpx): one host, one key, nothing followed, nothing of the caller but the body."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.chat_provider import ChatReply, ChatStream
from services.common.settings.llm import LlmSettings

_LOG: Final = logging.getLogger(__name__)
MOST_BYTES: Final = 16 * 1024 * 1024
"""Largest answer, in bytes; what is longer is no chat's."""
MOST_EVENT_BYTES: Final = 1024 * 1024
_CONNECT_S: Final = 10.0
_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
_OK: Final = 200


class HttpChatProvider:
    """The endpoint of the settings.

    Args:
        settings: root of its API, key, time.
    """

    def __init__(self, settings: LlmSettings) -> None:
        key = settings.api_key.get_secret_value()
        headers = {"user-agent": "groundtrail", "accept-encoding": "identity", "content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        self._root = settings.base_url.rstrip("/")
        self._host = urlsplit(settings.base_url).netloc
        timeout = httpx.Timeout(settings.timeout_s, connect=min(_CONNECT_S, settings.timeout_s))
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, follow_redirects=False, trust_env=False)

    async def ask(self, body: bytes) -> ChatReply:
        """Post a body."""
        return await self._whole("POST", "/chat/completions", body)

    async def models(self) -> ChatReply:
        """Get the list."""
        return await self._whole("GET", "/models", b"")

    @asynccontextmanager
    async def stream(self, body: bytes) -> AsyncIterator[ChatStream]:
        """Post a body and read the events of the answer."""
        try:
            async with self._client.stream("POST", f"{self._root}/chat/completions", content=body) as response:
                if response.status_code == _OK:
                    yield ChatStream(None, self._events(response))
                else:
                    yield ChatStream(await self._read(response), _none())
        except httpx.HTTPError as error:
            raise self._unavailable(error) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _whole(self, method: str, path: str, body: bytes) -> ChatReply:
        try:
            async with self._client.stream(method, f"{self._root}{path}", content=body) as response:
                return await self._read(response)
        except httpx.HTTPError as error:
            raise self._unavailable(error) from None

    async def _read(self, response: Any) -> ChatReply:
        found = bytearray()
        async for part in response.aiter_raw():
            found += part
            if len(found) > MOST_BYTES:
                raise _too_large()
        return ChatReply(response.status_code, bytes(found), response.headers.get("retry-after", ""))

    async def _events(self, response: Any) -> AsyncIterator[bytes]:
        """Yield the data of each event; a line that never ends is refused before it fills memory."""
        waiting, total = bytearray(), 0
        async for part in response.aiter_raw():
            total += len(part)
            waiting += part
            if total > MOST_BYTES:
                raise _too_large()
            *lines, rest = waiting.split(b"\n")
            waiting = bytearray(rest)
            if len(waiting) > MOST_EVENT_BYTES:
                raise _too_large()
            for line in lines:
                data = bytes(line[len(_DATA) :]).strip() if line.startswith(_DATA) else b""
                if data == _DONE:
                    return
                if data:
                    yield data
        text = "The language model broke its answer off."
        raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="cut_off")

    def _unavailable(self, error: httpx.HTTPError) -> UnavailableError:
        cause = "timeout" if isinstance(error, httpx.TimeoutException) else "connection"
        _LOG.warning("the provider at %s is not available (%s)", self._host, type(error).__name__)
        text = f"The language model is not available ({cause})."
        return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=cause, retry_after_s=1.0)


async def _none() -> AsyncIterator[bytes]:
    none: tuple[bytes, ...] = ()
    for one in none:
        yield one


def _too_large() -> UnavailableError:
    text = "The language model sent more than an answer can be."
    return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="reply_too_large")
