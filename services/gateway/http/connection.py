"""HTTP/1.1 connections with bounds that uvicorn has not: on their number, and on the time that a head may take.

What is no HTTP at all is refused in the shape of every refusal.
"""

import asyncio
import uuid
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.common.clock import Clock
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.settings.http import HttpSettings
from services.gateway.http.problems import SlowRequestError, problem_response

_PER_CALL: Final = 2
"""Connections that may stand for each call that may run: most of a proxy's are idle."""


def connection_class(settings: HttpSettings, clock: Clock) -> type[H11Protocol]:
    """Return the class that uvicorn makes one of for each connection."""

    class BoundConnection(Connection):
        bounds = settings
        time = clock

    return BoundConnection


class Connection(H11Protocol):
    """One connection."""

    bounds: HttpSettings
    time: Clock
    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take it up, or close it when too many stand."""
        super().connection_made(transport)
        if len(self.connections) > _PER_CALL * self.bounds.max_connections:
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the time for a head runs from its first byte, or from the beginning of the connection."""
        super().data_received(data)
        if self._is_idle:
            self._expect_head()
        else:
            self._head_came()

    def on_response_complete(self) -> None:
        """Go on; what came behind the call already may be the beginning of the next head."""
        super().on_response_complete()
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
        answer = problem_response(error, request_id=str(uuid.uuid4()), trace_id=None, clock=self.time)
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
