"""What every route over one RPC does: prove the caller, read the body, call, answer every failure in one shape."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.errors import CrpError, internal_error
from services.common.message_json import json_of
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.callers import prove_caller
from services.gateway.doors.http.ercp_answers import RefusalAnswer
from services.gateway.doors.http.json_bodies import message_of, read_form
from services.gateway.doors.http.json_bounds import check_nodes
from services.gateway.doors.http.problems import json_response, problem_response
from services.gateway.doors.http.requests import (
    ClientGoneError,
    call_metadata,
    idempotency_key,
    read_body,
    request_id_of,
    until_disconnected,
)

_LOG: Final = logging.getLogger(__name__)
_CLIENT_GONE: Final = 499
"""What nobody reads."""
_LARGE_BYTES: Final = 8 * 1024
"""A larger body is read off the event loop."""
_REQUEST_ID: Final = "request_id"
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": RefusalAnswer, "description": text}
    for status, text in {
        400: "A field is malformed; nothing was done.",
        401: "The credential does not hold.",
        403: "The caller may not do this.",
        408: "The body took too long to arrive.",
        409: "Another call came first, or the trace is another run's.",
        413: "The body is too large, or holds too many values.",
        415: "The body is no JSON, or compressed.",
        424: "The state forbids it.",
        429: "A limit was reached.",
        500: "A fault of the server.",
        503: "A backend does not serve now.",
        504: "No answer within the deadline.",
    }.items()
}

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class Routes(Protocol):
    """Some of an app's routes, and the schemas of the bodies that they read themselves."""

    @property
    def forms(self) -> Sequence[type[BaseModel]]:
        """The schemas."""
        ...

    def router(self) -> APIRouter:
        """Return the routes."""
        ...


@dataclass(slots=True)
class Asked:
    """What a refusal says of its call; ``form`` is its body, once that was read and checked."""

    request_id: str
    trace_id: str | None = None
    form: BaseModel | None = None


class RpcCalls:
    """Calls the RPCs of one service.

    Args:
        stub: of the service, over a channel that raises the peer's own errors.
        service: its full name.
        roles: what each RPC will ask for in the end; asked for here before the body is read.
        gate: proves callers.
        settings: limits and deadlines.
        clock: the time.
    """

    def __init__(
        self,
        stub: Any,
        service: str,
        roles: Mapping[str, Role],
        gate: CredentialGate,
        settings: HttpSettings,
        clock: Clock,
    ) -> None:
        self._stub = stub
        self._service = service
        self._roles = roles
        self._gate = gate
        self._settings = settings
        self._clock = clock

    def guarded(self, rpc: str, handler: Callable[[Request, Asked], Awaitable[Response]]) -> Handler:
        """Return a handler that proves the caller first, and answers every failure in one shape."""

        async def guarded(request: Request) -> Response:
            asked = Asked(request_id_of(request))
            try:
                await prove_caller(request, self._gate, self._roles[rpc], f"/{self._service}/{rpc}")
                return await handler(request, asked)
            except (ClientGoneError, ClientDisconnect):
                return Response(status_code=_CLIENT_GONE)
            except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
                return self.refusal(error, asked)

        return guarded

    def refusal(self, error: Exception, asked: Asked) -> Response:
        """Return the answer to a call that failed; what nobody expected is logged, with its traceback."""
        if not isinstance(error, CrpError):
            _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": asked.request_id})
            error = internal_error()
        return problem_response(error, request_id=asked.request_id, trace_id=asked.trace_id, clock=self._clock)

    def operator(
        self, rpc: str, form: type[BaseModel], message: type[Message]
    ) -> Callable[[Request, Asked], Awaitable[Response]]:
        """Return what answers a body with the RPC's answer."""

        async def handler(request: Request, asked: Asked) -> Response:
            filled = await self.message(request, asked, form, message)
            return await self.call(request, asked, rpc, filled, self._settings.call_timeout_s)

        return handler

    async def message(self, request: Request, asked: Asked, form: type[BaseModel], message: type[Message]) -> Any:
        """Read, check and convert the body; a repeat is recognised by its ``Idempotency-Key``."""
        body = await read_body(request, self._settings)
        if len(body) > _LARGE_BYTES:
            checked, filled = await asyncio.to_thread(_read, body, form, message, self._settings.max_json_nodes)
        else:
            checked, filled = _read(body, form, message, self._settings.max_json_nodes)
        asked.form = checked
        asked.trace_id = getattr(checked, "trace_id", "") or None
        if _REQUEST_ID in message.DESCRIPTOR.fields_by_name:
            filled.request_id = idempotency_key(request)
        return filled

    async def call(self, request: Request, asked: Asked, rpc: str, message: Message, timeout_s: float) -> Response:
        """Call, and give up when the client does."""
        metadata = call_metadata(request, asked.request_id)
        call = getattr(self._stub, rpc)(message, timeout=timeout_s, metadata=metadata)
        answer = await until_disconnected(request, call)
        return json_response(json_of(answer), headers={"X-Request-Id": asked.request_id})


def answered(model: type[BaseModel], description: str) -> dict[str, Any]:
    """Return the answer of an operation, for the OpenAPI document."""
    return {"model": model, "description": description}


def body(form: type[BaseModel], *parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the request body of an operation, by reference; ``openapi`` adds the schemas themselves."""
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    content = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"requestBody": content, "parameters": [REQUEST_ID, *parameters]}


def header(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    """Return an optional header of a request, for the OpenAPI document."""
    return {"name": name, "in": "header", "required": False, "schema": schema, "description": description}


REQUEST_ID: Final = header("X-Request-Id", {"type": "string"}, "Finds the call in the server's log; comes back.")


def _read(body: bytes, form: type[BaseModel], message: type[Message], most_nodes: int) -> tuple[BaseModel, Any]:
    check_nodes(body, most_nodes)
    checked = read_form(body, form)
    return checked, message_of(checked, message)
