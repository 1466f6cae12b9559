"""``ChatProvider`` over HTTP (httpx): one host, one key, nothing followed, nothing of the caller but the body.

What a retry can heal before anything was answered is tried again, with jitter; an endpoint that fails again and again
is left alone for a while (``provider_circuit``).
"""

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx

from services.common.adapters.http.trust import trusted
from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.chat_provider import NO_HEADERS, ChatReply, ChatStream
from services.common.provider_circuit import ProviderCircuit
from services.common.settings.chat import AnthropicSettings
from services.common.settings.llm import LlmSettings, ProviderPatience

_LOG: Final = logging.getLogger(__name__)
MOST_BYTES: Final = 16 * 1024 * 1024
"""Largest answer, in bytes; what is longer is no chat's."""
MOST_EVENT_BYTES: Final = 1024 * 1024
_CONNECT_S: Final = 10.0
_MODELS: Final = "/models"
_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
_STOP: Final = b"message_stop"
_ANTHROPIC_VERSION: Final = "2023-06-01"
"""Where the caller names none."""
_OK: Final = 200
_FAILURES: Final = frozenset({500, 502, 503, 504, 529})
"""What a provider answers when it is its own fault."""
_RETRIED: Final = _FAILURES - {500}
"""Overloaded, or not there: nothing was done. What 500 means nobody knows; it goes to the caller, who may ask again."""
_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 8.0
_KEPT: Final = 100
"""Connections that are kept for the next call; how many there are is bounded by the calls that are let in."""
_EVENT_STREAM: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a dialect is spoken.

    Attributes:
        root: of its API.
        path: behind the root, of chats.
        patience: longest waits, attempts, and when it is left alone.
        is_last: says whether an event's data ends its stream.
        headers: of every call: the key, defaults of the dialect.
    """

    root: str
    path: str
    patience: ProviderPatience
    is_last: Callable[[bytes], bool]
    headers: Mapping[str, str] = field(repr=False)


def openai_endpoint(settings: LlmSettings) -> Endpoint:
    """Return an OpenAI-compatible endpoint."""
    key = settings.api_key.get_secret_value()
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Endpoint(settings.base_url, "/chat/completions", settings, _DONE.__eq__, headers)


def anthropic_endpoint(settings: AnthropicSettings) -> Endpoint:
    """Return an endpoint of Anthropic's form."""
    key = settings.api_key.get_secret_value()
    headers = {"anthropic-version": _ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    return Endpoint(settings.base_url, "/messages", settings, _stops, headers)


def _stops(data: bytes) -> bool:
    try:
        return _STOP in data and json.loads(data).get("type") == _STOP.decode()
    except (ValueError, AttributeError, RecursionError):
        return False


class HttpChatProvider:
    """One endpoint.

    Args:
        endpoint: its address, key, patience and form.
        circuit: of the endpoint, where something else calls it too; ``None`` = its own.
    """

    def __init__(self, endpoint: Endpoint, circuit: ProviderCircuit | None = None) -> None:
        headers = {
            "accept": "*/*",
            "accept-encoding": "identity",
            "user-agent": "groundtrail",
            "content-type": "application/json",
        }
        patience = endpoint.patience
        self._path = endpoint.path
        root = endpoint.root.rstrip("/")
        self._urls = {path: httpx.URL(f"{root}{path}") for path in (endpoint.path, _MODELS)}  # read once
        self._is_last = endpoint.is_last
        self._host = urlsplit(endpoint.root).netloc
        self._patience = patience
        self._circuit = circuit or ProviderCircuit(patience.circuit_failures, patience.circuit_open_s)
        # Silence is bounded here for streams and in all for whole answers; see _in_time.
        timeout = httpx.Timeout(None, connect=min(_CONNECT_S, patience.timeout_s))
        self._waits = {"timeout": timeout.as_dict()}
        self._headers = {**headers, **endpoint.headers}
        # The transport alone: a client would add redirects, cookies and proxies, which are not wanted, at a quarter of
        # the time that a call takes.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT)
        self._transport = httpx.AsyncHTTPTransport(verify=trusted(), limits=limits, trust_env=False)

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Post a body."""
        return await self._whole("POST", self._path, body, headers)

    async def models(self) -> ChatReply:
        """Get the list."""
        return await self._whole("GET", _MODELS, b"", NO_HEADERS)

    @asynccontextmanager
    async def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AsyncIterator[ChatStream]:
        """Post a body and read the events of the answer."""
        loop = asyncio.get_running_loop()
        first_by = loop.time() + self._patience.first_token_s
        async with AsyncExitStack() as opened:
            try:
                async with asyncio.timeout_at(first_by):
                    response = await self._opened(opened, "POST", self._path, body, headers)
                    refusal = None if response.status_code == _OK else self._noted(await self._read(response))
            except (httpx.HTTPError, TimeoutError) as error:
                raise self._unavailable(error) from None
            if refusal is not None:
                yield ChatStream(refusal, _none())
                return
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind and kind != _EVENT_STREAM:
                self._circuit.failed()
                text = "The language model did not answer with a stream of events."
                raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="wrong_content_type")
            yield ChatStream(None, self._events(response, first_by))

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _whole(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> ChatReply:
        try:
            async with asyncio.timeout(self._patience.timeout_s), AsyncExitStack() as opened:
                return self._noted(await self._read(await self._opened(opened, method, path, body, headers)))
        except (httpx.HTTPError, TimeoutError) as error:
            raise self._unavailable(error) from None

    async def _opened(
        self, opened: AsyncExitStack, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        """Return a response whose head has come; what a retry can heal is tried again.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: the circuit is open.
            httpx.HTTPError: it cannot be reached, after as many attempts as the settings allow.
        """
        self._circuit.admit()
        url, pause = self._urls[path], _FIRST_PAUSE_S
        for left in range(self._patience.max_attempts - 1, -1, -1):
            request = httpx.Request(
                method, url, headers={**self._headers, **headers}, content=body, extensions=dict(self._waits)
            )
            try:
                response = await self._transport.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.RemoteProtocolError):
                if not left:
                    raise
            else:
                response.request = request
                if response.status_code not in _RETRIED or not left:
                    opened.push_async_callback(response.aclose)
                    return response
                await response.aclose()
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - spreads retries, guards nothing
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        raise AssertionError("there is one attempt at least")

    def _noted(self, reply: ChatReply) -> ChatReply:
        if reply.status in _FAILURES:
            self._circuit.failed()
        else:
            self._circuit.succeeded()
        return reply

    async def _read(self, response: httpx.Response) -> ChatReply:
        found = bytearray()
        async for part in response.aiter_raw():
            found += part
            if len(found) > MOST_BYTES:
                raise _too_large()
        return ChatReply(response.status_code, bytes(found), response.headers.get("retry-after", ""))

    async def _events(self, response: httpx.Response, first_by: float) -> AsyncIterator[bytes]:
        """Yield the data of each event; a line that never ends is refused before it fills memory.

        Raises:
            UnavailableError: it is too slow (``first_token_timeout``, ``token_timeout``), too long, or breaks off.
        """
        waiting, total, due = bytearray(), 0, first_by
        parts, cause, loop = aiter(response.aiter_raw()), "first_token_timeout", asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout_at(due):
                    part = await anext(parts, b"")
            except TimeoutError:
                raise self._broken(f"The language model was silent for too long ({cause}).", cause) from None
            except httpx.HTTPError:
                part = b""
            if not part:
                raise self._broken("The language model broke its answer off.", "cut_off")
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
                    due, cause = loop.time() + self._patience.between_tokens_s, "token_timeout"
                if last:
                    self._circuit.succeeded()
                    return

    def _broken(self, text: str, cause: str) -> UnavailableError:
        self._circuit.failed()
        _LOG.warning("the provider at %s broke a stream off (%s)", self._host, cause)
        return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=cause, retry_after_s=1.0)

    def _unavailable(self, error: httpx.HTTPError | TimeoutError) -> UnavailableError:
        self._circuit.failed()
        cause = "timeout" if isinstance(error, httpx.TimeoutException | TimeoutError) else "connection"
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
