"""A streamed dispatch as HTTP serves it: its messages one by one, what is known of the headers, its end."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

from services.common.computing import compute_unless_small
from services.common.rpc.canonical import message_json

COMMENT: Final = b": the answer is being written\n\n"
"""What keeps a stream alive while nothing may leave."""
HEADERS: Final = "crp-headers"
"""The last event (CRP-SPEC-008, streaming)."""
_CRP: Final = "crp-"

EventT = TypeVar("EventT")


@dataclass(slots=True)
class DispatchCall:
    """One ``DispatchStream``.

    Attributes:
        stub: of the service, over a channel that raises its own errors.
        message: the query.
        timeout_s: longest time of all, in seconds.
        metadata: of the call.
        begun: the protocol's headers that were known before any text left; filled as they come.
    """

    stub: DispatchServiceStub
    message: pb.DispatchRequest
    timeout_s: float
    metadata: tuple[tuple[str, str], ...]
    begun: dict[str, str] = field(default_factory=dict)

    async def events(self) -> AsyncGenerator[pb.DispatchStreamResponse, None]:
        """Yield its messages; closing this ends the call. Raises the service's own errors."""
        asked = pb.DispatchStreamRequest(dispatch=self.message)
        call = self.stub.DispatchStream(asked, timeout=self.timeout_s, metadata=self.metadata)
        try:
            known = await call.initial_metadata() or ()
            self.begun |= {name: value for name, value in known if name.startswith(_CRP) and isinstance(value, str)}
            async for event in call:
                yield event
        finally:
            call.cancel()


class Awaited(Generic[EventT]):
    """Messages that are waited for no longer than so, again and again.

    Args:
        events: the messages; ended by ``close``.
    """

    def __init__(self, events: AsyncGenerator[EventT, None]) -> None:
        self._events = events
        self.pending: asyncio.Future[EventT | None] = asyncio.ensure_future(_next(events))
        """The next message; ``None`` behind the last."""

    def take(self) -> EventT | None:
        """Return the message that is pending, which is there, and wait for the next. Raises what the call raised."""
        event = self.pending.result()
        if event is not None:
            self.pending = asyncio.ensure_future(_next(self._events))
        return event

    async def all(self, interval_s: float) -> AsyncIterator[EventT | None]:
        """Yield the messages, and ``None`` whenever the next takes longer than ``interval_s`` seconds."""
        while True:
            if not (await asyncio.wait({self.pending}, timeout=interval_s))[0]:
                yield None
            elif (event := self.take()) is None:
                return
            else:
                yield event

    async def close(self) -> None:
        """End what they come from; idempotent."""
        self.pending.cancel()
        await asyncio.wait({self.pending})
        if not self.pending.cancelled():
            self.pending.exception()
        await self._events.aclose()


async def written_events(
    awaited: Awaited[pb.DispatchStreamResponse], interval_s: float, refused: Callable[[Exception], bytes]
) -> AsyncGenerator[bytes, None]:
    """Yield a streamed dispatch in the contract's own JSON: tokens, stages, the outcome, and the headers at last.

    Args:
        awaited: its messages.
        interval_s: between comments, while nothing may leave.
        refused: makes the data of the event of a failure.
    """
    try:
        async for event in awaited.all(interval_s):
            kind = "" if event is None else event.WhichOneof("event")
            if event is None:
                yield COMMENT
            elif kind == "token":
                yield sse(kind, {"token": event.token})
            elif kind:
                found = getattr(event, kind)
                yield sse(kind, await compute_unless_small(found.ByteSize(), message_json, found))
                if kind == "outcome":
                    yield sse(HEADERS, {"headers": {one.name: one.value for one in event.outcome.headers}})
    except Exception as error:  # noqa: BLE001 - told to the client
        yield b"event: error\ndata: " + refused(error) + b"\n\n"


def sse(kind: str, value: Any) -> bytes:
    """Return an event; in ASCII, for some readers of lines break them at U+0085 and U+2028 as well."""
    return f"event: {kind}\ndata: {json.dumps(value, separators=(',', ':'), allow_nan=False)}\n\n".encode()


async def _next(events: AsyncGenerator[EventT, None]) -> EventT | None:
    return await anext(events, None)
