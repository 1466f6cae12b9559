"""A provider's streamed answers on their way to the client, held back, in any dialect."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from services.common.errors import CrpError, internal_error
from services.gateway.dispatch.held_back import Check, Ended, held_back
from services.gateway.domain.holding import Hold
from services.gateway.doors.http.chat.dialect import DialectStream

_LOG: Final = logging.getLogger(__name__)
Told = Callable[[dict[str, Any], list[str]], dict[str, Any] | None]
"""Makes our object of the last event, of what the last check found and what was not checked."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """How a provider's stream is judged.

    Attributes:
        check: judges the text so far.
        hold: what waits.
        told_of: makes our object.
        request_id: of the call.
    """

    check: Check
    hold: Hold
    told_of: Told
    request_id: str


async def held_back_answer(
    events: AsyncIterator[bytes], stream: DialectStream, how: HeldBack
) -> AsyncGenerator[bytes, None]:
    """Yield the events for the client; nothing of a provider's text that has not passed."""
    opened = False
    try:
        async for one in held_back(_pieces(events, stream), how.check, how.hold):
            if not opened:
                yield stream.opening()
                opened = True
            if not isinstance(one, Ended):
                yield stream.text(one.text)
                continue
            if not one.halted and (held := stream.held()):
                yield held
            yield stream.closing(how.told_of(one.told, sorted(stream.unchecked)), halted=one.halted)
    except Exception as error:  # noqa: BLE001 - told to the client, and logged unless it is one of ours
        yield stream.failed(told_error(error), how.request_id)


async def _pieces(events: AsyncIterator[bytes], stream: DialectStream) -> AsyncIterator[str]:
    async for data in events:
        if text := stream.read(data):
            yield text
    if text := stream.rest():
        yield text


def told_error(error: Exception) -> CrpError:
    """Return what the client of a stream that broke off is told; what nobody expected is logged."""
    if isinstance(error, CrpError):
        return error
    _LOG.error("a streamed answer failed unexpectedly", exc_info=error)
    return internal_error()


class Streamed(StreamingResponse):
    """Sends the events and ends what they come from, whether they were all sent or the client left.

    Args:
        events: to be sent.
        opened: what they come from.
        within_s: longest time of all, in seconds.
        headers: beside the content type.
    """

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        opened: contextlib.AsyncExitStack,
        within_s: float,
        headers: dict[str, str],
    ) -> None:
        self._events = events
        self._opened = opened
        self._within_s = within_s
        # A proxy that buffers would hold events back; this is how nginx is told not to.
        super().__init__(events, headers={**headers, "X-Accel-Buffering": "no"}, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        try:
            async with asyncio.timeout(self._within_s):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return
        finally:
            with contextlib.suppress(RuntimeError):
                await self._events.aclose()
            await self._opened.aclose()
