"""``POST /v1/chat/completions`` and ``POST /v1/messages``: one route for all dialects and modes."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from services.common.computing import compute_unless_small
from services.common.context import Role
from services.common.errors import CrpError, internal_error
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.rate_limits import RateLimits
from services.common.settings.chat import ChatMode, ChatSettings
from services.common.settings.http import HttpSettings
from services.common.telemetry import follow_trace
from services.gateway.doors.http.callers import prove_caller
from services.gateway.doors.http.calls import refusals
from services.gateway.doors.http.chat.asks import Call, mode_of
from services.gateway.doors.http.chat.dialect import Dialect
from services.gateway.doors.http.chat.providers import ChatProviders
from services.gateway.doors.http.chat.refusals import error_response
from services.gateway.doors.http.chat.schemas import ChatRefusal
from services.gateway.doors.http.protocol import asked_in_headers, label
from services.gateway.doors.http.requests import (
    ClientGoneError,
    read_body,
    request_id_of,
    trace_headers,
)

CHECK_RPC: Final = "/crp.dpe.v1.ProvenanceService/Check"
_CLIENT_GONE: Final = 499
_LOG: Final = logging.getLogger(__name__)

REFUSALS: Final = refusals(
    ChatRefusal,
    {
        400: "A field cannot be honoured; nothing was done.",
        401: "The credential does not hold.",
        403: "The caller may not do this.",
        404: "There is no such session, model or path.",
        408: "The body took too long to arrive.",
        409: "Another call came first.",
        413: "The body is too large.",
        415: "The body is no JSON, or compressed.",
        422: "The provider cannot process the request.",
        424: "The state forbids it.",
        429: "A limit was reached.",
        451: "The answer is withheld.",
        500: "A fault of the server.",
        503: "A backend, or the provider, does not serve now.",
        504: "No answer within the deadline.",
    },
)


def _answers(form: type[BaseModel]) -> dict[str, Any]:
    """Return the answers of a chat, for the OpenAPI document: whole, or in server-sent events."""
    events = {"text/event-stream": {"schema": {"type": "string"}}}
    return {"model": form, "description": "The answer.", "content": events}


Handler = Callable[[Request, str], Awaitable[Response]]


class Mode(Protocol):
    """One way to answer a chat."""

    async def answer(self, call: Call) -> Response:
        """Return the answer.

        Raises:
            CrpError: there is none.
            ClientGoneError: the client went away.
        """
        ...


class ChatRoutes:
    """The endpoint of one dialect.

    Args:
        dialect: the form.
        modes: how each mode answers.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines, and which mode is taken.
        providers: speak the dialect.
        limits: what callers may ask for in a minute.
    """

    def __init__(
        self,
        dialect: Dialect,
        modes: Mapping[ChatMode, Mode],
        gate: CredentialGate,
        settings: tuple[HttpSettings, ChatSettings],
        providers: ChatProviders,
        limits: RateLimits,
    ) -> None:
        self._dialect = dialect
        self._modes = modes
        self._gate = gate
        self._settings, self._chat = settings
        self._providers = providers
        self._limits = limits

    @property
    def forms(self) -> Sequence[type[BaseModel]]:
        """Schemas of the bodies."""
        return (self._dialect.request_form,)

    def router(self) -> APIRouter:
        """Return the route, for an app."""
        router = APIRouter(tags=["Chat"])
        schema = {"$ref": f"#/components/schemas/{self._dialect.request_form.__name__}"}
        body = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
        router.add_api_route(
            self._dialect.path,
            guarded_chat(self._dialect, self._answer),
            methods=["POST"],
            responses={200: _answers(self._dialect.answer_form), **REFUSALS},
            openapi_extra=body,
            summary=self._dialect.summary,
            operation_id=self._dialect.operation,
        )
        return router

    async def _answer(self, request: Request, request_id: str) -> Response:
        caller = await prove_caller(request, self._gate, Role.READER, CHECK_RPC)
        wishes = asked_in_headers(request)
        body = await read_body(request, self._settings)
        ask = await compute_unless_small(len(body), self._dialect.read, body)
        call = Call(request, request_id, caller, ask, wishes)
        follow_trace(trace_headers(request))  # the call of a provider is part of it
        mode = mode_of(call, self._chat, provided=await self._providers.provided(caller))
        if mode != "ground":  # a dispatch is counted where it is served
            self._limits.admit(caller.scope)
        return await self._modes[mode].answer(call)


def guarded_chat(dialect: Dialect, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a route whose every failure is answered in the dialect, with the protocol's headers around."""

    async def route(request: Request) -> Response:
        request_id = request_id_of(request)
        try:
            return label(await handler(request, request_id))
        except (ClientGoneError, ClientDisconnect):
            return Response(status_code=_CLIENT_GONE)
        except CrpError as error:
            return label(error_response(dialect, error, request_id))
        except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
            _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": request_id})
            return label(error_response(dialect, internal_error(), request_id))

    return route
