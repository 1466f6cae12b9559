"""Everything that happens around an RPC, in one pass.

Request id, limits, deadline, credential, role, context, span, error table, metrics and access line. It wraps the
registered handlers themselves instead of standing in gRPC's chain of interceptors: that chain is walked anew for every
call, and each link of it costs more than all the work done here (bench/rpc_overhead.py).

Invariants: whatever was entered is left, on every path; ``CancelledError`` and gRPC's ``AbortError`` pass through; an
unexpected exception leaves as INTERNAL with a fixed text and goes to the log with its traceback.
"""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeVar

import grpc
from opentelemetry.trace import Span

from services.common.context import CallContext, Caller, current_call, set_current_call
from services.common.errors import (
    CrpError,
    DeadlineError,
    ErrorReason,
    LimitExceededError,
    PermissionDeniedError,
    internal_error,
)
from services.common.lateness import late, told_truly
from services.common.progress import open_progress
from services.common.rpc.admission import Admission, Ticket
from services.common.rpc.concurrency import CallLimits
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.in_flight import CallsInFlight
from services.common.rpc.methods import Method
from services.common.rpc.nesting import WITHIN_KEY, is_own_mark
from services.common.rpc.protocol_headers import failure_metadata
from services.common.rpc.status import DETAILS_KEY, to_wire
from services.common.settings import ServerSettings
from services.common.telemetry import Telemetry, open_notes
from services.common.telemetry.access import AccessLine, AccessLog
from services.common.telemetry.admission import AdmissionCounts
from services.common.telemetry.traces import begin_server_span, end_server_span, keep_received

ResultT = TypeVar("ResultT")

REQUEST_ID_KEY: Final = "x-request-id"
AUTHORIZATION_KEY: Final = "authorization"
_SANE_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_NO_CLASS: Final = "unknown"
"""The class of callers that were refused before they were known."""
_SLOW_READER_S: Final = 1.0
_NOBODY: Final = Caller("", "", frozenset(), "")
_MOST_MARGIN: Final = 0.1
"""Of a call's time, what may be kept back to tell the caller that it is up."""
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


class ServedCall:
    """One call on its way through; lives as long as the call."""

    __slots__ = (
        "authorization",
        "code",
        "context",
        "counted_tenant",
        "ends_at",
        "entered",
        "in_flight",
        "method",
        "nested",
        "notes",
        "progress",
        "reason",
        "received",
        "request_id",
        "span",
        "started",
        "tenant",
        "ticket",
    )

    def __init__(self, method: Method, context: Any) -> None:
        self.method = method
        self.context = context
        self.started = time.monotonic()
        self.authorization = ""
        self.request_id = ""
        self.received: dict[str, str] = {}
        self.code = grpc.StatusCode.OK
        self.reason = ""
        self.tenant = ""
        self.entered = False
        self.in_flight = False
        self.counted_tenant = False
        self.nested = False
        self.ticket: Ticket | None = None
        self.span: Span | None = None
        self.notes = open_notes()
        self.progress = open_progress()
        self.ends_at: float | None = None


class Pipeline:
    """The steps around every RPC of a server."""

    def __init__(
        self, gate: CredentialGate, telemetry: Telemetry, settings: ServerSettings, *, log_calls: bool = True
    ) -> None:
        self._gate = gate
        self._tracer = telemetry.tracer
        self._settings = settings
        self._limits = CallLimits(settings)
        self._counts = AdmissionCounts(telemetry.registry)
        self._admission = Admission(settings, self._counts)
        self._in_flight = CallsInFlight(settings.overload_retry_s)
        self._min_left_s = settings.min_deadline_ms / 1000
        self._margin_s = settings.deadline_margin_ms / 1000
        self._log = telemetry.log.bind()
        self._access = AccessLog(telemetry.log) if log_calls else None

    def begin(self, method: Method, context: Any) -> ServedCall:
        """Read the call's metadata and count it; never refuses."""
        call = ServedCall(method, context)
        if method.metrics is not None:
            method.metrics.begin()
        for key, value in context.invocation_metadata() or ():
            if key == AUTHORIZATION_KEY:
                # Two credentials prove nobody: joined they match no form of credential.
                call.authorization = f"{call.authorization} {value}".strip()
            elif key == REQUEST_ID_KEY:
                call.request_id = value if _SANE_REQUEST_ID.fullmatch(value) else ""
            elif key in {"traceparent", "tracestate"}:
                call.received[key] = value
            elif key == WITHIN_KEY:
                call.nested = is_own_mark(value)
        if not call.request_id:
            call.request_id = _fresh_id()
        if self._tracer is not None:
            call.span = begin_server_span(self._tracer, method.rpc, call.received)
        elif call.received:
            keep_received(call.received)
        return call

    async def admit(self, call: ServedCall) -> None:
        """Let the call in and set its context.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the process is draining.
            LimitExceededError: CONCURRENCY_LIMIT, RATE_LIMIT.
            DeadlineError: the time left is too short.
            UnauthenticatedError, LimitExceededError: as ``CredentialGate.prove``.
            PermissionDeniedError: ROLE_MISSING.
        """
        self._in_flight.enter(call.request_id, nested=call.nested)
        call.in_flight = True
        is_counted = not call.nested and (call.method.work is None or not call.method.work.bounded)
        if is_counted:
            self._count_in(call)
        call.ends_at = self._deadline(call)
        caller = _NOBODY
        if call.method.role is not None:
            caller = self._gate.remembered(call.authorization) or await self._gate.prove(
                call.authorization, self._gate.addresses.of_call(call.context), "grpc"
            )
            if not caller.allows(call.method.role):
                raise _role_missing(call.method)
            if is_counted:
                self._count_in_tenant(call, caller)
            call.tenant = caller.tenant_id
            if call.method.limits is not None:
                call.method.limits.admit(caller.scope)
        tenant_class = self._settings.class_of(caller.tenant_id)
        set_current_call(
            CallContext(caller, call.request_id, call.method.rpc, call.ends_at, call.authorization, tenant_class)
        )

    async def in_time(self, call: ServedCall, work: Awaitable[ResultT]) -> ResultT:
        """Return the result of ``work``, or end it while there is time to tell the caller.

        Raises:
            DeadlineError: the caller's time is up; says whether something was stored.
        """
        timer = asyncio.timeout_at(call.ends_at)
        try:
            async with timer:
                return await work
        except TimeoutError:
            if timer.expired():
                raise late(call.progress) from None
            raise

    async def begin_work(self, call: ServedCall, request: Any) -> None:
        """Admit the work that the request asks for, and wait for the call's turn.

        Raises:
            DeadlineError: the time was up before it was the call's turn.
            LimitExceededError: WORK_LIMIT, DEADLINE_UNREACHABLE.
            UnavailableError: SERVICE_UNAVAILABLE: the process began to stop before it was the call's turn.
        """
        work = call.method.work
        if work is not None:
            entering = self._admission.enter(
                current_call(), work.units(request), computes=work.computes, nested=call.nested
            )
            call.ticket = await self.in_time(call, entering)

    @contextmanager
    def sending(self, call: ServedCall) -> Iterator[None]:
        """Send a part of a streamed answer; a reader who lets it wait does not keep a place from others meanwhile."""
        if call.ticket is None or call.ticket.turn is None:
            yield
            return
        giving = asyncio.get_running_loop().call_later(_SLOW_READER_S, self._give_place, call.ticket)
        try:
            yield
        finally:
            giving.cancel()

    async def drain(self, grace_s: float) -> None:
        """Refuse calls from outside from now on, and wait until none is in flight, ``grace_s`` seconds at most."""
        self.refuse_waiting()
        await self._in_flight.drain(grace_s)

    def refuse_waiting(self) -> None:
        """Send away the calls that were admitted and not begun: another process, or the next, can serve them."""
        self._admission.refuse_waiting()

    def succeed(self, call: ServedCall) -> None:
        """Send the request id along with what the servicer set as trailing metadata."""
        call.context.set_trailing_metadata((*call.context.trailing_metadata(), (REQUEST_ID_KEY, call.request_id)))
        code = call.context.code()
        if code:
            call.code = _CODES.get(code, grpc.StatusCode.UNKNOWN) if isinstance(code, int) else code

    async def fail(self, call: ServedCall, error: Exception) -> NoReturn:
        """End the call with the status and details of ``error``."""
        if isinstance(error, grpc.aio.AbortError):
            call.code = grpc.StatusCode.UNKNOWN  # gRPC does not tell which one was sent; servicers raise CrpErrors
            raise error
        if not isinstance(error, CrpError):
            self._log.error("unexpected exception", rpc=call.method.rpc, request_id=call.request_id, exc_info=error)
            error = internal_error()
        if isinstance(error, DeadlineError):
            error = told_truly(error, call.progress)
        wire = to_wire(error, call.request_id)
        call.code, call.reason = wire.code, error.reason.value
        said = (*call.context.trailing_metadata(), *failure_metadata(error))
        sent = (*said, (REQUEST_ID_KEY, call.request_id), (DETAILS_KEY, wire.details))
        await call.context.abort(wire.code, wire.message, sent)
        raise AssertionError("abort returned")  # it always raises

    def cancelled(self, call: ServedCall) -> None:
        """Note that the caller went away, or that its time was up while we worked."""
        left = call.context.time_remaining()
        over = left is not None and left <= 0
        call.code = grpc.StatusCode.DEADLINE_EXCEEDED if over else grpc.StatusCode.CANCELLED
        call.reason = ErrorReason.DEADLINE_EXCEEDED.value if over else ""

    def end(self, call: ServedCall) -> None:
        """Count the call out, close its span and write its access line."""
        seconds = time.monotonic() - call.started
        if call.ticket is not None:
            self._admission.leave(call.ticket, done=call.code is grpc.StatusCode.OK)
        if call.in_flight:
            self._in_flight.leave(call.request_id)
        if call.entered and call.method.role is None:
            self._limits.leave_open()
        elif call.entered:
            self._limits.leave()
        if call.counted_tenant:
            self._limits.leave_tenant(call.tenant)
        code = call.code.name
        if call.method.metrics is not None:
            call.method.metrics.end(code, seconds)
        if call.span is not None:
            end_server_span(call.span, code, call.code.value[0], call.reason)
        if (
            self._access is not None and call.reason != ErrorReason.LOGIN_LIMIT
        ):  # counted, for a flood of them fills disks
            self._access.write(
                AccessLine(call.method.rpc, code, call.reason, seconds, call.request_id, call.tenant, call.notes)
            )

    def _count_in(self, call: ServedCall) -> None:
        try:
            if call.method.role is None:
                self._limits.enter_open()
            else:
                self._limits.enter()
        except LimitExceededError as error:
            self._counts.refuse(_NO_CLASS, error.reason)
            raise
        call.entered = True

    def _count_in_tenant(self, call: ServedCall, caller: Caller) -> None:
        try:
            self._limits.enter_tenant(caller.tenant_id)
        except LimitExceededError as error:
            self._counts.refuse(self._settings.class_of(caller.tenant_id), error.reason)
            raise
        call.counted_tenant = True
        call.tenant = caller.tenant_id  # what is counted must be found again, whatever follows

    def _give_place(self, ticket: Ticket) -> None:
        self._admission.give_place(ticket, done=False)

    def _deadline(self, call: ServedCall) -> float | None:
        """Return when the call has to be answered: a little before the caller stops waiting, so that it is told."""
        left = call.context.time_remaining()
        if left is None:
            return None
        if left <= self._min_left_s:
            raise DeadlineError(
                ErrorReason.DEADLINE_EXCEEDED,
                f"{max(left, 0) * 1000:.1f} ms are left, too few to do anything",
                left_ms=f"{max(left, 0) * 1000:.1f}",
                needed_ms=f"{self._min_left_s * 1000:.1f}",
            )
        margin = min(self._margin_s, float(left) * _MOST_MARGIN)
        return asyncio.get_running_loop().time() + float(left) - margin


def _fresh_id() -> str:
    """Return a random UUID (version 4); a fifth of the time that the library takes."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _role_missing(method: Method) -> PermissionDeniedError:
    role = method.role.value if method.role is not None else ""
    return PermissionDeniedError(
        ErrorReason.ROLE_MISSING,
        f"{method.rpc} needs the role {role}, which this credential does not have",
        role=role,
        rpc=method.rpc,
    )
