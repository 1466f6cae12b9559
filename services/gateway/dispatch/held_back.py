"""A streamed answer that is held back: a sentence leaves when the answer up to its end has passed (ADR 0132).

Text comes in pieces cut anywhere. While the model writes, the sentences that are whole are checked, with everything
before them; one check runs at a time, over all that is whole by then. What passed is released. A beginning that does
not pass waits: the whole may be better than its beginning; only what no continuation can heal, a contradicted claim,
ends the stream at once. The last check is that of the whole answer, as if it had not been streamed.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from groundtrail.reading.boundaries import skip_blanks
from groundtrail.reading.growing import FinishedSentence, GrowingText

from services.common.streaming.release import ReleaseBuffer
from services.gateway.domain.holding import Hold

_MOST_CHARS: Final = 1_000_000
_AT_ONCE: Final = 4_096
"""Characters that are read before others get their turn."""


class Check(Protocol):
    """Judges a text: ``withheld`` says whether it may not leave, ``certain`` whether no continuation changes that.

    ``faulted_at`` is where the first claim begins that withholds it, ``None`` where no single one does.
    """

    async def __call__(self, text: str, *, is_whole: bool) -> dict[str, Any]:
        """Judge a text from its beginning, up to the end of a sentence or of the whole."""
        ...


@dataclass(frozen=True, slots=True)
class Released:
    """Text that may leave; ``is_rest`` where the whole has passed and this is what was left of it."""

    text: str = field(repr=False)
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the text.

    Attributes:
        told: what the last check found; empty for an empty text.
        halted: the rest is withheld.
    """

    told: dict[str, Any] = field(repr=False)
    halted: bool


async def held_back(
    pieces: AsyncIterator[str], check: Check, hold: Hold = Hold.SENTENCES
) -> AsyncGenerator[Released | Ended, None]:
    """Yield what may leave of a text, and at last its end.

    Args:
        pieces: of the text, as the model writes them.
        check: judges the text so far.
        hold: what waits.
    """
    held = _Held(check, hold)
    reading: asyncio.Future[str | None] = asyncio.ensure_future(_next(pieces))
    try:
        while True:
            checking = held.checking()
            waiting: set[asyncio.Future[Any]] = {reading} if checking is None else {reading, checking}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if checking is not None and checking.done():
                if halting := await held.judged(checking.result()):
                    for one in halting:
                        yield one
                    return
                if left := held.released():
                    yield Released(left)
            if reading.done():
                piece = reading.result()
                if piece is None:
                    break
                await held.add(piece)
                if hold is Hold.NOTHING and (left := held.released()):
                    yield Released(left)
                reading = asyncio.ensure_future(_next(pieces))
        for one in await held.end():
            yield one
    finally:
        reading.cancel()
        held.close()


class _Held:
    """The text so far, how much of it is whole sentences, and how much has passed."""

    def __init__(self, check: Check, hold: Hold) -> None:
        self._check = check
        self._hold = hold
        self._buffer = ReleaseBuffer(_MOST_CHARS)
        self._text = ""
        self._whole = 0
        self._asked = 0
        self._passed = 0
        self._growing = GrowingText()
        self._starts: list[int] = [0]
        """Where each sentence begins, the unfinished one last."""
        self._checking: asyncio.Future[dict[str, Any]] | None = None

    def checking(self) -> "asyncio.Future[dict[str, Any]] | None":
        """Return the check that runs, begun now if there is something new to check."""
        if self._checking is None and self._whole > self._asked:
            self._asked = self._whole
            self._checking = asyncio.ensure_future(self._check(self._text[: self._whole], is_whole=False))
        return self._checking

    async def judged(self, told: dict[str, Any]) -> "list[Released | Ended]":
        """Take in what a check found; return the end when nothing can heal it."""
        self._checking = None
        if not told["withheld"]:
            self._passed = self._asked
            return []
        return await self._halted(told) if told.get("certain") else []

    def released(self) -> str:
        """Return what may leave and has not."""
        return self._buffer.release(self._buffer.received if self._hold is Hold.NOTHING else self._passed)

    async def add(self, piece: str) -> None:
        """Take in the next piece."""
        self._buffer.add(piece)
        self._text += piece
        if self._hold is Hold.ALL:
            return
        for at in range(0, len(piece), _AT_ONCE):
            if at:
                await asyncio.sleep(0)
            self._note(self._growing.add(piece[at : at + _AT_ONCE]))
        self._whole = self._starts[-1]

    def _note(self, found: Sequence[FinishedSentence]) -> None:
        self._starts += [one.clear_to for one in found]

    async def end(self) -> list[Released | Ended]:
        """Return what is left once the whole text is there."""
        if self._checking is not None:
            await asyncio.wait({self._checking})  # it has asked the models what the last check asks again
            self._checking.exception()
            self._checking = None
        if self._hold is Hold.SENTENCES:
            self._note(self._growing.end())
        told = await self._check(self._text, is_whole=True) if self._text.strip() else {}
        if told.get("withheld"):
            return await self._halted(told)
        left = self._buffer.release(len(self._text))
        return [*([Released(left, is_rest=True)] if left else []), Ended(told, halted=False)]

    async def _halted(self, told: dict[str, Any]) -> list[Released | Ended]:
        """Return the end, and before it what stands in front of the faulted sentence and passes by itself.

        So what leaves does not hang on how fast the model wrote.
        """
        at = told.get("faulted_at")
        if at is not None and self._hold is Hold.SENTENCES:
            before = skip_blanks(self._text, self._starts[bisect_right(self._starts, at) - 1])
            unseen = self._text[self._passed : before].strip()
            if not unseen or not (await self._check(self._text[:before], is_whole=False))["withheld"]:
                self._passed = max(self._passed, before)
        self._buffer.halt(self._passed)
        left = self.released()
        return [*([Released(left)] if left else []), Ended(told, halted=True)]

    def close(self) -> None:
        """End the check that runs; idempotent."""
        if self._checking is not None:
            self._checking.cancel()


async def _next(pieces: AsyncIterator[str]) -> str | None:
    return await anext(pieces, None)
