"""HTTP/1.1 connections with bounds that uvicorn has not: on the time that a head may take, and on bodies nobody reads.

What is no HTTP at all is refused in the shape of every refusal. A connection whose call was answered before
its body came is closed so that its peer can still read the answer: our side ends at once, and what comes is thrown away
for a moment instead of being met with a reset.
"""

import asyncio
import uuid
from typing import Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.common.clock import Clock
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.listener import ConnectionBook
from services.gateway.doors.http.problems import SlowRequestError, problem_response

_LINGER_S: Final = 2.0
"""How long a peer may go on sending a body that was refused."""


def connection_class(settings: HttpSettings, clock: Clock, book: ConnectionBook) -> type[H11Protocol]:
    """Return the class that uvicorn makes one of for each connection; it tells ``book`` when it has a call."""

    class BoundConnection(Connection):
        bounds = settings
        time = clock
        told = book

    return BoundConnection


class Connection(H11Protocol):
    """One connection."""

    bounds: HttpSettings
    time: Clock
    told: ConnectionBook
    _peer: Any = None
    _head: asyncio.TimerHandle | None = None
    _linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take it up."""
        super().connection_made(cast("asyncio.Transport", _LingeringTransport(transport, self)))
        self._peer = transport.get_extra_info("peername")
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._head_came()
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End it with the process."""
        if self._linger is not None:
            self.transport.abort()
        else:
            super().shutdown()

    def linger(self) -> None:
        """Wait a moment for the peer to see the answer."""
        self._head_came()
        self._linger = self.loop.call_later(_LINGER_S, self.transport.abort)

    @property
    def lingers(self) -> bool:
        """Whether it is closed for us."""
        return self._linger is not None

    @property
    def body_is_due(self) -> bool:
        """Whether some of the running call's body did not come yet."""
        return self.conn.their_state is h11.SEND_BODY

    def data_received(self, data: bytes) -> None:
        """Read on; the time for a head runs from its first byte, or from the beginning of the connection."""
        if self.lingers:
            return
        super().data_received(data)
        self.told.busy(self._peer, is_busy=not self._is_idle)
        if self._is_idle:
            self._expect_head()
        else:
            self._head_came()

    def on_response_complete(self) -> None:
        """Go on; what came behind the call already may be the beginning of the next head."""
        super().on_response_complete()
        self.told.busy(self._peer, is_busy=not self._is_idle)
        if self._is_idle and self.conn.trailing_data[0]:
            self._expect_head()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text is not told
        """Refuse what is no HTTP."""
        fault = FieldViolation("request", "must be HTTP/1.1")
        self._refuse(InvalidRequestError(ErrorReason.INVALID_FIELD, "this is no HTTP request", violations=(fault,)))

    @property
    def _is_idle(self) -> bool:
        """Whether no call runs on it."""
        cycle: Any = self.cycle  # None before the first call
        return cycle is None or bool(cycle.response_complete)

    def _expect_head(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(self.bounds.head_timeout_s, self._head_is_late)

    def _head_came(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _head_is_late(self) -> None:
        self._head = None
        if self._is_idle and not self.transport.is_closing():
            text = f"no request came within {self.bounds.head_timeout_s:g} s"
            self._refuse(SlowRequestError(ErrorReason.DEADLINE_EXCEEDED, text))

    def _refuse(self, error: CrpError) -> None:
        answer = problem_response(error, request_id=str(uuid.uuid4()), clock=self.time)
        headers: list[Any] = [*answer.raw_headers, (b"connection", b"close")]
        try:
            for event in (
                h11.Response(status_code=answer.status_code, headers=headers),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
        except h11.LocalProtocolError:
            pass  # an answer was under way: what is left is to close
        self.transport.close()


class _LingeringTransport:
    """A transport whose ``close`` waits for the peer of a call that was answered before its body came.

    Whatever is not defined here is the transport's own.
    """

    def __init__(self, inner: asyncio.Transport, connection: Connection) -> None:
        self._inner = inner
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Say whether nothing more is sent."""
        return self._connection.lingers or self._inner.is_closing()

    def close(self) -> None:
        """Close, or stop sending and throw away what comes."""
        if self._inner.is_closing() or self._connection.lingers or not self._connection.body_is_due:
            self._inner.close()
            return
        if self._inner.can_write_eof():
            self._inner.write_eof()
        self._connection.linger()
        self._inner.resume_reading()
