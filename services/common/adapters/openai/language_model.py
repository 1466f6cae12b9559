"""Any OpenAI-compatible chat endpoint as a ``LanguageModel``.

Only the messages and the sampling parameters leave the process (Axiom 4): no tenant, session or fact id, no platform
headers, and nothing to any host but the configured one (redirects are not followed). Where the model stands is for the
operator: callers are told the provider's name, the log has the host.
"""

import asyncio
import json
import logging
import random
import re
from contextlib import AbstractAsyncContextManager
from typing import Any, Final
from urllib.parse import urlsplit

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion

from services.common.adapters.http.chat_provider import HttpChatProvider, openai_endpoint
from services.common.adapters.http.language_models import Told, out_of_time, streamed_reply
from services.common.adapters.http.written_replies import read_chunk
from services.common.adapters.openai.bounded import bound_response
from services.common.adapters.openai.errors import EXPECTED, Failure, ReplyError, classify
from services.common.encoding import sha256_hex
from services.common.errors import UnavailableError
from services.common.names import plain_name
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream
from services.common.provider_circuit import ProviderCircuit
from services.common.settings.llm import LlmSettings

_LOG: Final = logging.getLogger(__name__)
CHECK_TIMEOUT_S: Final = 5.0
"""How long a readiness check waits."""
FIRST_PAUSE_S: Final = 0.25
"""Pause before the second attempt when the provider names none; it doubles with each attempt."""
LONGEST_PAUSE_S: Final = 8.0
_REASONING: Final = re.compile(r"^(?:o\d|gpt-5)")
"""Models that want ``max_completion_tokens`` and refuse a temperature."""
_NOT_FOUND: Final = 404
_FAILURES: Final = frozenset({"connection", "timeout", *(f"http_{status}" for status in (500, 502, 503, 504, 529))})
"""Causes that are the provider's own."""


class OpenAiLanguageModel:
    """``LanguageModel`` over the official client; belongs to one event loop.

    Args:
        settings: endpoint, key, default model, time and attempts.
        section: of the settings that they stand in, for messages.
    """

    def __init__(self, settings: LlmSettings, section: str = "LLM") -> None:
        self._settings = settings
        self._section = section
        self._host = urlsplit(settings.base_url).netloc  # without a user: the settings refuse one
        self._http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            timeout=settings.timeout_s,
            event_hooks={"request": [self._strip_headers], "response": [bound_response]},
        )
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() or "none",
            max_retries=0,
            http_client=self._http,
        )
        self._circuit = ProviderCircuit(settings.circuit_failures, settings.circuit_open_s)
        self._streams = HttpChatProvider(openai_endpoint(settings), self._circuit)
        # The client would take these from the environment.
        self._client.organization = None
        self._client.project = None

    @property
    def default_model(self) -> str:
        """The model of the settings."""
        return self._settings.model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply, after up to ``max_attempts`` attempts within ``timeout_s``.

        Raises:
            UnavailableError: LLM_UNAVAILABLE.
            DeadlineError: the caller's time was up first.
        """
        limit = self._settings.timeout_s
        hurried = request.timeout_s is not None and request.timeout_s < limit
        if request.timeout_s is not None:
            limit = min(limit, request.timeout_s)
        self._circuit.admit()
        try:
            async with asyncio.timeout(limit):
                reply = await self._attempts(request, asyncio.get_running_loop().time() + limit)
        except TimeoutError:
            self._circuit.failed()
            if hurried:
                raise out_of_time(request.model) from None
            raise self._given_up(Failure("timeout", retry_after_s=1.0), request.model) from None
        except UnavailableError as error:
            if error.metadata.get("cause") in _FAILURES:
                self._circuit.failed()
            raise
        self._circuit.succeeded()
        return reply

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply piece by piece; only what a retry can heal before anything came is tried again."""
        body = _parameters(request) | {"stream": True, "stream_options": {"include_usage": True}}
        return streamed_reply(self._streams, body, request, Told(read_chunk, self._settings.provider, self._section))

    async def check(self) -> None:
        """Ask for the list of models; an endpoint that has none, but answers, counts as there.

        Raises:
            UnavailableError: LLM_UNAVAILABLE.
        """
        try:
            await self._client.models.list(timeout=CHECK_TIMEOUT_S)
        except EXPECTED as error:
            if isinstance(error, openai.APIStatusError) and error.status_code == _NOT_FOUND:
                return
            raise self._given_up(classify(error), self.default_model) from None

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._http.aclose()
        await self._streams.close()

    async def _attempts(self, request: LanguageRequest, deadline: float) -> LanguageReply:
        attempt = 1
        while True:
            try:
                return await self._attempt(request)
            except EXPECTED as error:
                failure = classify(error)
            pause = self._pause(failure, attempt)
            left = deadline - asyncio.get_running_loop().time()
            if pause is None or attempt >= self._settings.max_attempts or pause >= left:
                raise self._given_up(failure, request.model)
            await asyncio.sleep(pause)
            attempt += 1

    def _given_up(self, failure: Failure, model: str) -> UnavailableError:
        """Return what the caller is told; the operator reads in the log which host it was."""
        _LOG.warning("the language model %s at %s is not available (%s)", model, self._host, failure.cause)
        return failure.error(model, self._section)

    def _pause(self, failure: Failure, attempt: int) -> float | None:
        if failure.retry_after_s is None:
            return None
        if failure.cause == "http_429":
            return failure.retry_after_s
        longest = min(FIRST_PAUSE_S * 2.0 ** (attempt - 1), LONGEST_PAUSE_S)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing

    async def _attempt(self, request: LanguageRequest) -> LanguageReply:
        parameters = _parameters(request)
        try:
            completion: Any = await self._client.chat.completions.create(**parameters)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, and lists in lists without end
            if isinstance(error, EXPECTED):
                raise
            raise ReplyError("malformed_reply") from None
        # The client hands through whatever a server sends; only a chat completion with text is a reply.
        if not isinstance(completion, ChatCompletion) or not isinstance(completion.choices, list):
            raise ReplyError("malformed_reply")
        if not completion.choices:
            raise ReplyError("empty_choices")
        message = getattr(completion.choices[0], "message", None)
        text = getattr(message, "content", None) or getattr(message, "refusal", None)
        if not isinstance(text, str) or not text.strip():
            raise ReplyError("empty_reply")
        if not _is_text(text):
            raise ReplyError("malformed_reply")
        usage = completion.usage if isinstance(completion.usage, CompletionUsage) else None
        return LanguageReply(
            text=text,
            finish_reason=getattr(completion.choices[0], "finish_reason", None) or "unknown",
            model_fingerprint=self._fingerprint(completion, request.model, text),
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            model=_told(completion, "model"),
            response_id=_told(completion, "id"),
        )

    def _fingerprint(self, completion: ChatCompletion, asked: str, text: str) -> str:
        system = getattr(completion, "system_fingerprint", None)
        version = f"@{system}" if isinstance(system, str) and system else ""
        model = plain_name(f"{completion.model or asked}{version}")
        return f"{self._settings.provider}/{model}+sha256:{sha256_hex(text)}"

    async def _strip_headers(self, request: Any) -> None:
        for name in list(request.headers):
            if name.lower().startswith("x-stainless"):
                del request.headers[name]
        request.headers["user-agent"] = "groundtrail"
        request.headers["accept-encoding"] = "identity"
        if not self._settings.api_key.get_secret_value():
            del request.headers["authorization"]


def _told(completion: object, name: str) -> str:
    """Return a text of a reply; the client checks no types, so that a hostile one may hold anything there."""
    value = getattr(completion, name, None)
    return value if isinstance(value, str) else ""


def _is_text(text: str) -> bool:
    """Say whether it is text: JSON can name halves of a character that no encoding of text has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parameters(request: LanguageRequest) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": message.role.value, "content": message.content} for message in request.messages],
    }
    if _REASONING.match(request.model):
        parameters["max_completion_tokens"] = request.max_tokens
    else:
        parameters["max_tokens"] = request.max_tokens
        parameters["temperature"] = request.temperature
        if request.top_p is not None:
            parameters["top_p"] = request.top_p
    if request.seed is not None:
        parameters["seed"] = request.seed
    if request.reply_schema:
        schema = {"name": "reply", "strict": True, "schema": json.loads(request.reply_schema)}
        parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.reply_json:
        parameters["response_format"] = {"type": "json_object"}
    return parameters


async def open_language_model(settings: LlmSettings) -> OpenAiLanguageModel:
    """Return the adapter for the configured endpoint; nothing is sent before the first call.

    Raises:
        ValueError: no endpoint is configured.
    """
    if not settings.configured:
        msg = "GROUNDTRAIL_LLM__BASE_URL is not set"
        raise ValueError(msg)
    return OpenAiLanguageModel(settings)
