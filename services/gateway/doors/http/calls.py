"""What every route over one RPC does: prove the caller, read the body, call, answer every failure in one shape."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute
from services.common.context import Role
from services.common.message_json import json_of
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.ercp_answers import ErcpRefusalAnswer, RefusalAnswer
from services.gateway.doors.http.guarded import Asked, Handler, guarded, refusal
from services.gateway.doors.http.json_bodies import message_of, read_form
from services.gateway.doors.http.json_bounds import check_nodes
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import label
from services.gateway.doors.http.requests import call_metadata, read_body, request_id_for, until_disconnected

_LARGE_BYTES: Final = 8 * 1024
"""A larger body is read off the event loop."""
_REQUEST_ID: Final = "request_id"


def refusals(form: type[BaseModel], texts: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return the refusals of an operation, for the OpenAPI document: the form once, then by reference.

    FastAPI builds a reader of its own for each form that it is given, which takes longer than all else of a route.
    """
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    by_reference = {"content": {"application/json": {"schema": schema}}}
    first, *others = texts.items()
    told: dict[int | str, dict[str, Any]] = {first[0]: {"model": form, "description": first[1]}}
    return told | {status: {**by_reference, "description": text} for status, text in others}


_REFUSED: Final = {
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
}
REFUSALS: Final = refusals(RefusalAnswer, _REFUSED)
ERCP_REFUSALS: Final = refusals(ErcpRefusalAnswer, _REFUSED)
"""The same with the audit metadata of ERCP 1.0 §2."""


class Routes(Protocol):
    """Some of an app's routes, and the schemas of the bodies that they read themselves."""

    @property
    def forms(self) -> Sequence[type[BaseModel]]:
        """The schemas."""
        ...

    def router(self) -> APIRouter:
        """Return the routes."""
        ...


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

    def guarded(self, rpc: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return a route that proves the caller first, and answers every failure in one shape."""
        return guarded(self._gate, self._clock, self._roles[rpc], f"/{self._service}/{rpc}", handler)

    def refusal(self, error: Exception, asked: Asked) -> Response:
        """Return the answer to a call that failed; what nobody expected is logged, with its traceback."""
        return refusal(error, asked.request_id, self._clock, audited=asked.audited, trace_id=asked.trace_id)

    def operator(self, rpc: str, form: type[BaseModel], message: type[Message]) -> Handler:
        """Return what answers a body with the RPC's answer."""

        async def handler(request: Request, asked: Asked) -> Response:
            filled = await self.message(request, asked, form, message)
            return plain_answer(await self.call(request, asked, rpc, filled), asked)

        return handler

    async def message(self, request: Request, asked: Asked, form: type[BaseModel], message: type[Message]) -> Any:
        """Read, check and convert the body; a repeat is recognised by ``request_id`` or ``Idempotency-Key``."""
        body = await read_body(request, self._settings)
        if len(body) > _LARGE_BYTES:
            checked, filled = await asyncio.to_thread(_read, body, form, message, self._settings.max_json_nodes)
        else:
            checked, filled = _read(body, form, message, self._settings.max_json_nodes)
        asked.form = checked
        asked.trace_id = getattr(checked, "trace_id", "") or None
        if _REQUEST_ID in message.DESCRIPTOR.fields_by_name:
            filled.request_id = request_id_for(request, filled.request_id)
        return filled

    async def call(
        self, request: Request, asked: Asked, rpc: str, message: Message, timeout_s: float | None = None
    ) -> Any:
        """Call, within the usual time unless told another, and give up when the client does."""
        within_s, metadata = timeout_s or self._settings.call_timeout_s, call_metadata(request, asked.request_id)
        return await until_disconnected(request, getattr(self._stub, rpc)(message, timeout=within_s, metadata=metadata))


def plain_answer(found: Message, asked: Asked) -> Response:
    """Return a message in the words of HTTP."""
    return json_response(json_of(found), headers={"X-Request-Id": asked.request_id})


async def protocol_answer(
    found: Message, asked: Asked, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a message in the contract's own JSON, with the protocol's label."""
    given = {"X-Request-Id": asked.request_id, **(headers or {})}
    return label(json_response(await compute(message_json, found), status, given))


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
