"""Where a streamed answer leaves: no faster than it is read, and never more of it than was let go.

The dispatch runs in a task of its own and puts what may leave into the outlet; who serves the stream takes it out. One
piece waits at most: a slow reader holds up the model, not memory.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, TypeAlias

from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.headers import Header, HeaderInputs, PolicyOutcome, response_headers
from services.gateway.domain.holding import Hold, hold_of
from services.gateway.domain.vocabulary import SafetyMode
from services.gateway.domain.window import WindowPlace


@dataclass(frozen=True, slots=True)
class Begun:
    """What is known before any text leaves: all of the outcome's headers where everything waited for it."""

    headers: tuple[Header, ...]


Leaving: TypeAlias = Begun | str


class Outlet:
    """One stream.

    Args:
        wish: what the caller wants to wait; ``None`` = nothing in particular.
    """

    def __init__(self, wish: Hold | None = None) -> None:
        self._wish = wish
        self._queue: asyncio.Queue[Leaving] = asyncio.Queue(maxsize=1)
        self._said: list[str] = []
        self.hold = Hold.ALL
        """What waits; ALL until a window was opened, and where an earlier try has the answer."""

    @property
    def said(self) -> str:
        """Text that was let go."""
        return "".join(self._said)

    async def open(self, admitted: AdmittedDispatch, place: WindowPlace) -> None:
        """Decide what waits, now that policy and budget of the window are known; say so unless everything does.

        Args:
            admitted: the query, with its session's policy and the circuit breaker.
            place: of the window.
        """
        strict = admitted.command.policy.mode is SafetyMode.STRICT
        rewritten = admitted.terms().may_rewrite
        self.hold = hold_of(self._wish, admitted.policy, strict=strict, rewritten=rewritten)
        if self.hold is not Hold.ALL:
            policy = PolicyOutcome(admitted.policy.applied, admitted.policy.oversight)
            inputs = HeaderInputs(strategy=admitted.strategy, policy=policy, place=place, stream_mode=self.hold)
            await self._queue.put(Begun(response_headers(inputs)))

    async def say(self, text: str) -> None:
        """Let text go; returns when what was let go before was taken."""
        self._said.append(text)
        await self._queue.put(text)

    async def taken(self, running: "asyncio.Future[Any]") -> AsyncGenerator[Leaving, None]:
        """Yield what leaves until ``running``, which puts it in, is done."""
        while True:
            taking = asyncio.ensure_future(self._queue.get())
            try:
                await asyncio.wait({taking, running}, return_when=asyncio.FIRST_COMPLETED)
                if taking.done():
                    yield taking.result()
                elif self._queue.empty():
                    return
            finally:
                taking.cancel()
