"""The model that writes the answer."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date
from enum import StrEnum, unique
from typing import Protocol, runtime_checkable


@unique
class ChatRole(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn."""

    role: ChatRole
    content: str


@dataclass(frozen=True, slots=True)
class EvidenceFact:
    """A fact as the answerer sees it, in envelope order; ``stale`` when a newer version of its source replaced it.

    Attributes:
        location: headings that it stands under in its source; empty when unknown.
        holds_from: first day on which it holds, of one that does not yet; ``None`` for every other.
    """

    fact_id: str
    content: str
    relevance_score: float
    stale: bool = False
    location: str = ""
    holds_from: date | None = None


@dataclass(frozen=True, slots=True)
class LanguageRequest:
    """What is asked of the model.

    Attributes:
        query: the user's question alone.
        messages: the whole prompt; what an LLM gets. Nothing else leaves the process (Axiom 4).
        evidence: the envelope's facts; what the extractive answerer composes from.
        prior_texts: answers of earlier windows that the extractive answerer does not say again, oldest first.
        leans_on: questions of the conversation that the query leans on, nearest first; for the extractive answerer.
        parts: of the question, which the extractive answerer answers each; empty = the question is taken as it is.
        reply_json: the reply must be a JSON object, where the provider can see to it.
        reply_schema: a JSON Schema, as text, that it must follow, where the provider can see to that; empty = none.
        model: target model name.
        max_tokens: upper bound of the reply.
        temperature: 0.0-2.0.
        top_p: nucleus mass, above 0.0 and up to 1.0; ``None`` = the provider's default.
        seed: for providers that honour it.
        timeout_s: seconds left until the caller's deadline; ``None`` = the adapter's default.
    """

    query: str
    messages: tuple[ChatMessage, ...]
    evidence: tuple[EvidenceFact, ...]
    model: str
    max_tokens: int = 2048
    temperature: float = 0.7
    top_p: float | None = None
    seed: int | None = None
    timeout_s: float | None = None
    prior_texts: tuple[str, ...] = ()
    leans_on: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    reply_json: bool = False
    reply_schema: str = ""


@dataclass(frozen=True, slots=True)
class LanguageReply:
    """What came back; ``text`` is data, never control.

    Attributes:
        finish_reason: ``stop``, ``length``, ``content_filter`` or the provider's own word.
        model_fingerprint: who wrote it: provider, model, version or system fingerprint, SHA-256 of the reply.
        prompt_tokens, completion_tokens: as the provider counted; ``None`` when it did not say.
        model, response_id: as the provider names them, for traces; empty when it did not say.
    """

    text: str
    finish_reason: str
    model_fingerprint: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str = ""
    response_id: str = ""


class LanguageStream(Protocol):
    """A reply that is being written, in whole characters; to be iterated once."""

    def __aiter__(self) -> AsyncIterator[str]:
        """Yield the pieces.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: it broke off, or is no reply.
            DeadlineError: the time was up.
        """
        ...

    def reply(self, length: int | None = None) -> LanguageReply:
        """Return what was read so far, or its first ``length`` characters; whole once the iteration has ended."""
        ...


class LanguageModel(Protocol):
    """Any provider, or the built-in extractive answerer (ADR 0020)."""

    @property
    def default_model(self) -> str:
        """The model name used when the request names none; known to the ``TokenCounter``."""
        ...

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply.

        Raises:
            UnavailableError: LLM_UNAVAILABLE, with the cause in ``metadata`` and ``retry_after_s`` when known.
            DeadlineError: the time was up.
        """
        ...

    async def check(self) -> None:
        """Return when the provider can be reached; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...


@runtime_checkable
class StreamingLanguageModel(LanguageModel, Protocol):
    """A language model that also writes piece by piece."""

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply piece by piece; leaving the context ends the call. Raises as ``complete``."""
        ...
