"""Around every route: the caller is proven first, and every failure is answered in one shape."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Caller, Role
from services.common.errors import CrpError, internal_error
from services.common.rpc.credential_gate import CredentialGate
from services.gateway.doors.http.callers import prove_caller
from services.gateway.doors.http.problems import problem_response
from services.gateway.doors.http.requests import ClientGoneError, request_id_of

_LOG: Final = logging.getLogger(__name__)
_CLIENT_GONE: Final = 499
"""What nobody reads."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call whose caller is proven."""

    request_id: str
    caller: Caller


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
        request_id = request_id_of(request)
        try:
            caller = await prove_caller(request, gate, role, rpc)
            return await handler(request, Asked(request_id, caller))
        except (ClientGoneError, ClientDisconnect):
            return Response(status_code=_CLIENT_GONE)
        except CrpError as error:
            return problem_response(error, request_id=request_id, trace_id=None, clock=clock)
        except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
            _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": request_id})
            return problem_response(internal_error(), request_id=request_id, trace_id=None, clock=clock)

    return route
