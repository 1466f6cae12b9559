"""``ChatProvider`` over HTTP (httpx): one host, one key, nothing followed, nothing of the caller but the body."""

import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.chat_provider import NO_HEADERS, ChatReply, ChatStream
from services.common.settings.chat import AnthropicSettings
from services.common.settings.llm import LlmSettings

_LOG: Final = logging.getLogger(__name__)
MOST_BYTES: Final = 16 * 1024 * 1024
"""Largest answer, in bytes; what is longer is no chat's."""
MOST_EVENT_BYTES: Final = 1024 * 1024
_CONNECT_S: Final = 10.0
_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
_STOP: Final = b"message_stop"
_ANTHROPIC_VERSION: Final = "2023-06-01"
"""Where the caller names none."""
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a dialect is spoken.

    Attributes:
        root: of its API.
        path: behind the root, of chats.
        timeout_s: longest silence, in seconds.
        is_last: says whether an event's data ends its stream.
        headers: of every call: the key, defaults of the dialect.
    """

    root: str
    path: str
    timeout_s: float
    is_last: Callable[[bytes], bool]
    headers: Mapping[str, str] = field(repr=False)


def openai_endpoint(settings: LlmSettings) -> Endpoint:
    """Return an OpenAI-compatible endpoint."""
    key = settings.api_key.get_secret_value()
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Endpoint(settings.base_url, "/chat/completions", settings.timeout_s, _DONE.__eq__, headers)


def anthropic_endpoint(settings: AnthropicSettings) -> Endpoint:
    """Return an endpoint of Anthropic's form."""
    key = settings.api_key.get_secret_value()
    headers = {"anthropic-version": _ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    return Endpoint(settings.base_url, "/messages", settings.timeout_s, _stops, headers)


def _stops(data: bytes) -> bool:
    try:
        return _STOP in data and json.loads(data).get("type") == _STOP.decode()
    except (ValueError, AttributeError, RecursionError):
        return False


class HttpChatProvider:
    """One endpoint.

    Args:
        endpoint: its address, key, time and form.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        headers = {"user-agent": "groundtrail", "accept-encoding": "identity", "content-type": "application/json"}
        self._root = endpoint.root.rstrip("/")
        self._path = endpoint.path
        self._is_last = endpoint.is_last
        self._host = urlsplit(endpoint.root).netloc
        timeout = httpx.Timeout(endpoint.timeout_s, connect=min(_CONNECT_S, endpoint.timeout_s))
        self._client = httpx.AsyncClient(
            headers={**headers, **endpoint.headers}, timeout=timeout, follow_redirects=False, trust_env=False
        )

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Post a body."""
        return await self._whole("POST", self._path, body, headers)

    async def models(self) -> ChatReply:
        """Get the list."""
        return await self._whole("GET", "/models", b"", NO_HEADERS)

    @asynccontextmanager
    async def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AsyncIterator[ChatStream]:
        """Post a body and read the events of the answer."""
        url = f"{self._root}{self._path}"
        try:
            async with self._client.stream("POST", url, content=body, headers=dict(headers)) as response:
                if response.status_code == _OK:
                    yield ChatStream(None, self._events(response))
                else:
                    yield ChatStream(await self._read(response), _none())
        except httpx.HTTPError as error:
            raise self._unavailable(error) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _whole(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> ChatReply:
        url = f"{self._root}{path}"
        try:
            async with self._client.stream(method, url, content=body, headers=dict(headers)) as response:
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
                last = self._is_last(data)
                if data and data != _DONE:
                    yield data
                if last:
                    return
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
