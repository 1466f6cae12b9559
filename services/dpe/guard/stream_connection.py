"""One connection of a stream under oversight: messages in, events out (ADR 0123).

Nothing is read before what was read is concluded, but while a score is awaited: then up to so many tokens are read
ahead, so that sentences that follow are scored beside it. A client that does not read lets its events wait in gRPC's
flow control, and nothing is read from it meanwhile. So memory is bounded whoever is slow, and verdicts depend on the
tokens alone, whenever they come.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from services.common.errors import ConflictError, CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.progress import at
from services.common.streaming.intake import Taken
from services.dpe.domain.guard.sentence_scores import SentenceScore, SentenceToScore
from services.dpe.domain.guard.stream_messages import End, Event, Message, Token
from services.dpe.guard.overseen import Overseen

MOST_SENTENCES_AHEAD: Final = 8
"""Sentences of one stream that are scored beside each other, at most."""


class StreamConnection:
    """Goes on with a stream until it ends or the connection does.

    Args:
        stream: the stream; this is its newest connection.
        messages: what the client sends.
        read_ahead: tokens that are read while a score is awaited.
        score_timeout_s: how long a token waits for a score.
    """

    def __init__(
        self, stream: Overseen, messages: AsyncIterator[Message], read_ahead: int, score_timeout_s: float
    ) -> None:
        stream.connection += 1
        self._stream = stream
        self._messages = messages
        self._read_ahead = read_ahead
        self._timeout_s = score_timeout_s
        self._number = stream.connection
        self._tasks: dict[int, list[asyncio.Task[SentenceScore]]] = {}
        """Scores under way, by the place of their token in line since the connection began."""
        self._reading: asyncio.Task[Message | None] | None = None
        self._failed: CrpError | None = None
        """What the client did wrong, told when all before it is concluded."""
        self._concluded = 0
        self._in_line = 0

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield what the client is told, to the end of the stream.

        Raises:
            InvalidRequestError: INVALID_FIELD: a message that is not due.
            ConflictError: OVERSIGHT_TAKEN_OVER.
            LimitExceededError, UnavailableError: as ``SentenceScorer.score``; the stream can be resumed.
        """
        stream = self._stream
        for taken in stream.ahead:
            self._line_up(taken)
        while not stream.ended:
            if not stream.ahead:
                await self._read_next()
                self._require_own()
                continue
            taken = stream.ahead[0]
            scores: Sequence[SentenceScore] | None = ()
            if taken.units:
                at("scoring a sentence")
                scores = await self._scores(self._concluded)
                self._require_own()
            self._concluded += 1
            for event in stream.time_out() if scores is None else stream.conclude(scores):
                yield event

    async def linger(self, most_s: float) -> None:
        """Read what the client still sends and drop it, until it has done or so long.

        A call that ends while its client writes may look broken to that client, and the halt be lost on it.
        """
        with contextlib.suppress(TimeoutError, CrpError):
            async with asyncio.timeout(most_s):
                if self._reading is not None:
                    await self._reading
                    self._reading = None
                async for _ in self._messages:
                    pass

    async def close(self) -> None:
        """End what is under way."""
        tasks: list[asyncio.Task[object]] = [task for some in self._tasks.values() for task in some]
        tasks += [] if self._reading is None else [self._reading]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read_next(self) -> None:
        """Read the next message and put it in line."""
        if self._failed is not None:
            raise self._failed
        if self._reading is None:
            message = await anext(self._messages, None)
        else:
            reading, self._reading = self._reading, None
            try:
                message = await reading
            except asyncio.CancelledError:
                reading.cancel()
                raise
        self._require_own()
        self._put(message)

    def _put(self, message: Message | None) -> None:
        stream = self._stream
        if type(message) is Token:
            taken = stream.take(message, again=self._number > 1)
        elif isinstance(message, End):
            taken = stream.take_end()
        else:
            raise _not_due(message)
        if taken is not None:
            self._line_up(taken)

    def _line_up(self, taken: Taken) -> None:
        """Begin to score what the token made whole."""
        if taken.units:
            self._tasks[self._in_line] = [
                asyncio.create_task(self._stream.scorer.score(SentenceToScore(unit.start, unit.text, unit.context)))
                for unit in taken.units
            ]
        self._in_line += 1

    async def _scores(self, place: int) -> Sequence[SentenceScore] | None:
        """Return the scores of a token in line, reading ahead meanwhile; ``None`` = they did not come in time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._timeout_s
        tasks = self._tasks[place]
        while waiting := {task for task in tasks if not task.done()}:
            reading = self._begin_to_read()
            wanted = waiting if reading is None else waiting | {reading}
            done, _ = await asyncio.wait(
                wanted, timeout=max(0.0, until - loop.time()), return_when=asyncio.FIRST_COMPLETED
            )
            if not done and loop.time() >= until:
                return None
            if reading is not None and reading.done():
                self._reading = None
                try:
                    self._put(reading.result())
                except CrpError as error:
                    self._failed = error
        scores = [task.result() for task in tasks]
        del self._tasks[place]
        return scores

    def _begin_to_read(self) -> "asyncio.Task[Message | None] | None":
        """Return the message that is being read, or begin to read one; ``None`` = none is wanted now."""
        if self._reading is not None:
            return self._reading
        stream = self._stream
        is_full = len(stream.ahead) > self._read_ahead or len(self._tasks) >= MOST_SENTENCES_AHEAD
        if is_full or stream.end_taken or self._failed is not None or self._number != stream.connection:
            return None
        self._reading = asyncio.create_task(_next_of(self._messages))
        return self._reading

    def _require_own(self) -> None:
        if self._number != self._stream.connection:
            raise ConflictError(ErrorReason.OVERSIGHT_TAKEN_OVER, "another call goes on with this oversight")


async def _next_of(messages: AsyncIterator[Message]) -> Message | None:
    return await anext(messages, None)


def _not_due(message: Message | None) -> InvalidRequestError:
    if message is None:
        text = "the stream must end with `end`; it can be resumed if it was given an oversight_id"
    else:
        text = "after the first one must be token or end"
    return InvalidRequestError.of(FieldViolation("message", text))
