"""Oversees token streams (Director-AI page, D5; ADR 0123): how many at a time, and which of them can be resumed."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final

from services.common.context import current_call
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError, LimitExceededError
from services.common.settings.guard.oversight import OversightSettings
from services.common.streaming.rules import HaltReason
from services.dpe.domain.guard.stream_messages import Ended, Event, Message, Resume, Start
from services.dpe.guard.held_streams import HeldStreams
from services.dpe.guard.overseen import Overseen
from services.dpe.guard.sentence_scoring import Scoring
from services.dpe.guard.stream_connection import StreamConnection

_NO_TENANT: Final = ""
_ERROR_LINGER_S: Final = 0.5
"""How long a call that fails goes on reading, so that its client hears why."""


class OversightApp:
    """Oversees streams; belongs to one event loop.

    Args:
        scoring: scores sentences.
        settings: limits.
        now: a monotonic clock, in seconds.
    """

    def __init__(self, scoring: Scoring, settings: OversightSettings, now: Callable[[], float]) -> None:
        self._scoring = scoring
        self._settings = settings
        self._held = HeldStreams(settings.resume_s, settings.max_held_streams, now)
        self._open: Counter[str] = Counter()
        self.halts: Counter[HaltReason] = Counter()
        """Streams that were halted, by reason."""
        self.counts: Counter[str] = Counter()
        """``streams`` that began, ``resumed``, ``completed`` and ``broken`` ones; ``tokens`` and ``sentences`` of those
        that ended."""

    @property
    def open(self) -> int:
        """Streams that are on a connection."""
        return self._open.total()

    @property
    def held(self) -> int:
        """Streams that are kept for a client that may come again."""
        return self._held.loose

    async def oversee(self, messages: AsyncIterator[Message]) -> AsyncGenerator[Event, None]:
        """Yield what the client is told.

        Args:
            messages: what it sends: a start or a resumption first.

        Raises:
            InvalidRequestError: INVALID_FIELD.
            LimitExceededError: QUEUE_FULL: too many streams are open, or a model's queue is full.
            NotFoundError: OVERSIGHT_NOT_FOUND, EVENT_NOT_FOUND.
            PreconditionError: REQUEST_ID_REUSED.
            ConflictError: OVERSIGHT_TAKEN_OVER.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        tenant = _tenant()
        self._enter(tenant)
        connection: StreamConnection | None = None
        stream: Overseen | None = None
        number = 0
        try:
            stream, again = await self._first(tenant, await anext(messages, None))
            settings = self._settings
            connection = StreamConnection(stream, messages, settings.read_ahead_tokens, settings.score_timeout_s)
            number = stream.connection
            for event in again:
                yield event
            async with aclosing(connection.events()) as events:
                async for event in events:
                    if type(event.told) is Ended:
                        self._count(event.told)
                    yield event
            await connection.linger(settings.linger_s)
        except CrpError:
            self.counts["broken"] += stream is not None
            if connection is not None:
                await connection.linger(_ERROR_LINGER_S)
            raise
        finally:
            self._leave(tenant)
            if connection is not None:
                await connection.close()
            if stream is not None and stream.is_resumable and stream.connection == number:
                self._held.let_go(stream)

    async def _first(self, tenant: str, message: Message | None) -> tuple[Overseen, tuple[Event, ...]]:
        """Return the stream, and what its client has missed."""
        if isinstance(message, Resume):
            stream = self._held.find(tenant, message.oversight_id)
            missed = stream.after(message.after)
            self._held.connect(stream)
            self.counts["resumed"] += 1
            return stream, missed
        if not isinstance(message, Start):
            raise InvalidRequestError.of(FieldViolation("message", "the first one must be start or resume"))
        if message.oversight_id:
            self._held.require_free(tenant, message.oversight_id)
        scorer = await self._scoring.open(message.prompt, message.facts)
        models = self._scoring.fingerprints()
        stream = Overseen(tenant, message, scorer, models, self._settings.replay_events)
        if stream.is_resumable:
            self._held.require_free(tenant, message.oversight_id)
            self._held.add(stream)
        self.counts["streams"] += 1
        return stream, ()

    def _enter(self, tenant: str) -> None:
        most, share = self._settings.max_streams, self._settings.max_streams_per_tenant
        for scope, limit, there in (("process", most, self._open.total()), ("tenant", share, self._open[tenant])):
            if there >= limit:
                text = f"{limit} streams of this {scope} are open already; try again when one has ended"
                raise LimitExceededError(ErrorReason.QUEUE_FULL, text, scope=scope, limit=str(limit))
        self._open[tenant] += 1

    def _leave(self, tenant: str) -> None:
        self._open[tenant] -= 1
        if not self._open[tenant]:
            del self._open[tenant]

    def _count(self, ended: Ended) -> None:
        halt = ended.summary.halt
        if halt is not None:
            self.halts[halt.reason] += 1
        else:
            self.counts["completed"] += 1
        self.counts["tokens"] += ended.summary.tokens
        self.counts["sentences"] += ended.sentences


def _tenant() -> str:
    """Return who calls; outside of a call (tools, tests) everything belongs to the nameless tenant."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return _NO_TENANT
