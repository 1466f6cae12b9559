"""Around every route: the caller is proven first, and every failure is answered in one shape."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from fastapi import Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Caller, Role
from services.common.errors import CrpError, internal_error
from services.common.rpc.credential_gate import CredentialGate
from services.gateway.doors.http.callers import prove_caller
from services.gateway.doors.http.problems import ERCP, problem_response
from services.gateway.doors.http.requests import ClientGoneError, request_id_of

_LOG: Final = logging.getLogger(__name__)
_CLIENT_GONE: Final = 499
"""What nobody reads."""


@dataclass(slots=True)
class Asked:
    """A call whose caller is proven, as a refusal tells of it; ``form`` is its body, once read and checked.

    ``audited``: its path is one of ERCP's, whose answers hold audit metadata.
    """

    request_id: str
    caller: Caller
    audited: bool = False
    trace_id: str | None = None
    form: BaseModel | None = None


Handler: TypeAlias = Callable[[Request, Asked], Awaitable[Response]]


def guarded(
    gate: CredentialGate, clock: Clock, role: Role, rpc: str, handler: Handler
) -> Callable[[Request], Awaitable[Response]]:
    """Return a route over a handler.

    Args:
        gate: proves callers before anything of their bodies is read.
        clock: the time in refusals.
        role: what the call needs.
        rpc: what it is called in refusals.
        handler: answers.
    """

    async def route(request: Request) -> Response:
        request_id, asked, audited = request_id_of(request), None, request.url.path.startswith(ERCP)
        try:
            asked = Asked(request_id, await prove_caller(request, gate, role, rpc), audited)
            return await handler(request, asked)
        except (ClientGoneError, ClientDisconnect):
            return Response(status_code=_CLIENT_GONE)
        except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
            trace_id = asked.trace_id if asked else None
            return refusal(error, request_id, clock, audited=audited, trace_id=trace_id)

    return route


def refusal(error: Exception, request_id: str, clock: Clock, *, audited: bool, trace_id: str | None) -> Response:
    """Return the answer to a call that failed; what nobody expected is logged, with its traceback."""
    if not isinstance(error, CrpError):
        _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": request_id})
        error = internal_error()
    return problem_response(error, request_id=request_id, clock=clock, audited=audited, trace_id=trace_id)
