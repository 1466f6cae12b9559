"""A streamed run as server-sent events (ERCP 1.0 §3.1; ADR 0075, ADR 0079).

Each trace event has its id, so that who lost the connection can say with ``Last-Event-ID`` how far it came. While a run
is silent, comments keep proxies from taking it for dead. However the client leaves, the call behind it ends.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from services.common.message_json import json_of

EVENT_STREAM: Final = "text/event-stream"
_COMMENT: Final = b": the run goes on\n\n"
_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")


class RunEvents:
    """The messages of one ``RunStream`` call, read one ahead.

    Args:
        stream: the call.
        interval_s: longest silence, in seconds.
        seen: id of the last event that the client has; empty = none.
    """

    def __init__(self, stream: Any, interval_s: float, seen: str = "") -> None:
        self._stream = stream
        self._events = aiter(stream)
        self._interval_s = interval_s
        self._seen = seen
        self.next = self._read()

    def _read(self) -> "asyncio.Future[Any]":
        reading: asyncio.Future[Any] = asyncio.ensure_future(_one(self._events))
        reading.add_done_callback(_retrieve)
        return reading

    async def sent(self, told: Callable[[Exception], bytes]) -> AsyncGenerator[bytes, None]:
        """Yield what is sent, to the end of the run.

        Args:
            told: makes the body of the event that ends a run which broke off.
        """
        try:
            while True:
                done, _ = await asyncio.wait({self.next}, timeout=self._interval_s)
                if not done:
                    yield _COMMENT
                    continue
                event = self.next.result()
                if event is None:
                    return
                self.next = self._read()
                if text := self._text(event):
                    yield text
        except Exception as error:  # noqa: BLE001 - told to the client
            yield _event("error", told(error))

    def close(self) -> None:
        """End the call; idempotent."""
        self.next.cancel()
        self._stream.cancel()

    def _text(self, event: Any) -> bytes:
        """Return one message as an event; nothing for what the client has, or what a newer service says (§10)."""
        kind = event.WhichOneof("event")
        if kind is None:
            return b""
        event_id = getattr(event.trace_event, "event_id", "") if kind == "trace_event" else ""
        if self._seen and kind == "trace_event":
            if event_id == self._seen:
                self._seen = ""
            return b""
        # ASCII alone: some readers of lines break them at U+0085 and U+2028 as well.
        data = json.dumps(json_of(getattr(event, kind)), separators=(",", ":"), allow_nan=False).encode()
        return _event(kind, data, event_id)


class EventsResponse(StreamingResponse):
    """Sends the events and ends the call, whether they were all sent, the client left, or it reads no more.

    Args:
        events: the run's.
        told: as of ``RunEvents.sent``.
        within_s: longest time of all, in seconds.
        headers: beside the content type.
    """

    def __init__(
        self, events: RunEvents, told: Callable[[Exception], bytes], within_s: float, headers: dict[str, str]
    ) -> None:
        self._run = events
        self._body = events.sent(told)
        self._within_s = within_s
        # A proxy that buffers would hold events back; this is how nginx is told not to.
        super().__init__(self._body, headers={**headers, "X-Accel-Buffering": "no"}, media_type=EVENT_STREAM)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        try:
            async with asyncio.timeout(self._within_s):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return  # the client reads no more; the server closes what was not completed
        finally:
            self._run.close()
            await self._body.aclose()


async def _one(events: AsyncIterator[Any]) -> Any:
    return await anext(events, None)


def _retrieve(reading: "asyncio.Future[Any]") -> None:
    """Look at the error of a read that nobody waits for any more."""
    if not reading.cancelled():
        reading.exception()


def _event(kind: str, data: bytes, event_id: str = "") -> bytes:
    """Return one server-sent event; JSON without white space has no line breaks."""
    named = f"id: {event_id}\n" if _ID.fullmatch(event_id) else ""
    return f"{named}event: {kind}\ndata: ".encode() + data + b"\n\n"
