"""The seven endpoints of ERCP 1.0 §3, each over one RPC of ``ercp.v1.ErcpService``."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from ercp.v1 import ercp_service_pb2 as pb
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.errors import CrpError
from services.common.message_json import json_of
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.status import internal_error
from services.common.settings.http import HttpSettings
from services.gateway.http import ercp_answers as answers
from services.gateway.http import ercp_schemas as schemas
from services.gateway.http.callers import prove_caller
from services.gateway.http.ercp_events import EVENT_STREAM, EventsResponse, RunEvents
from services.gateway.http.ercp_json import message_of, read_form
from services.gateway.http.json_bounds import check_nodes
from services.gateway.http.problems import json_response, problem_response
from services.gateway.http.requests import (
    ClientGoneError,
    call_metadata,
    idempotency_key,
    read_body,
    request_id_of,
    until_disconnected,
)

_LOG: Final = logging.getLogger(__name__)
PREFIX: Final = "/ercp/v1"
SERVICE: Final = "ercp.v1.ErcpService"
ROLES: Final = {
    "Run": Role.WRITER,
    "Generate": Role.WRITER,
    "Verify": Role.WRITER,
    "ExtractConstraints": Role.WRITER,
    "Stabilize": Role.WRITER,
    "Mutate": Role.WRITER,
    "GetTrace": Role.READER,
}
"""What each RPC will ask for in the end; asked for here before the body is read."""
_CLIENT_GONE: Final = 499
"""What nobody reads."""
_LARGE_BYTES: Final = 8 * 1024
"""A larger body is read off the event loop."""
_LATE_S: Final = 30.0
"""How much later than its run an event stream may end, in seconds."""
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": answers.RefusalAnswer, "description": text}
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
_NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": answers.RefusalAnswer, "description": "No such trace for this tenant."}
}

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One POST of the document.

    Attributes:
        path: below ``/ercp/v1``.
        rpc: of ErcpService.
        form: the request's schema.
        message: what it becomes.
        answer: the answer's schema.
        says: one line for the OpenAPI document.
    """

    path: str
    rpc: str
    form: type[BaseModel]
    message: type[Message]
    answer: type[BaseModel]
    says: str


ENDPOINTS: Final = (
    Endpoint(
        "/generate",
        "Generate",
        schemas.GenerateRequest,
        pb.GenerateRequest,
        answers.GenerateAnswer,
        "Produce one reasoning candidate (ERCP 1.0 §3.2).",
    ),
    Endpoint(
        "/verify",
        "Verify",
        schemas.VerifyRequest,
        pb.VerifyRequest,
        answers.VerifyAnswer,
        "Find the faults of a reasoning (ERCP 1.0 §3.3, §7).",
    ),
    Endpoint(
        "/extract_constraints",
        "ExtractConstraints",
        schemas.ExtractConstraintsRequest,
        pb.ExtractConstraintsRequest,
        answers.ExtractConstraintsAnswer,
        "Derive constraints from errors (ERCP 1.0 §3.4).",
    ),
    Endpoint(
        "/stabilize",
        "Stabilize",
        schemas.StabilizeRequest,
        pb.StabilizeRequest,
        answers.StabilizeAnswer,
        "Say whether two candidates mean the same (ERCP 1.0 §3.5).",
    ),
    Endpoint(
        "/mutate",
        "Mutate",
        schemas.MutateRequest,
        pb.MutateRequest,
        answers.MutateAnswer,
        "Change a problem that cannot be solved as it stands (ERCP 1.0 §3.6).",
    ),
)


class ErcpRoutes:
    """The endpoints.

    Args:
        stub: ErcpService, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time.
    """

    def __init__(self, stub: ErcpServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self._stub = stub
        self._gate = gate
        self._settings = settings
        self._clock = clock

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(prefix=PREFIX, tags=["ERCP 1.0"])
        router.add_api_route(
            "/run",
            self._guarded("Run", self._run),
            methods=["POST"],
            responses={200: _streamed(answers.RunAnswer), **_REFUSALS},
            openapi_extra=_body(schemas.RunRequest, _LAST_EVENT_ID),
            summary="Run the whole loop (ERCP 1.0 §3.1, §9).",
            description=(
                "With `Accept: text/event-stream` each trace event is sent as it is written (`event: trace_event`), "
                "then the answer (`event: result`); a run that breaks off ends with `event: error`."
            ),
            operation_id="run",
        )
        for endpoint in ENDPOINTS:
            router.add_api_route(
                endpoint.path,
                self._guarded(endpoint.rpc, self._operator(endpoint)),
                methods=["POST"],
                responses={200: _answered(endpoint.answer), **_REFUSALS},
                openapi_extra=_body(endpoint.form),
                summary=endpoint.says,
                operation_id=endpoint.path.strip("/"),
            )
        router.add_api_route(
            "/trace/{trace_id}",
            self._guarded("GetTrace", self._trace),
            methods=["GET"],
            responses={200: _answered(answers.TraceAnswer), **_REFUSALS, **_NOT_FOUND},
            openapi_extra={"parameters": [_TRACE_ID, _REQUEST_ID]},
            summary="Read a whole trace (ERCP 1.0 §3.7, §5).",
            operation_id="trace",
        )
        return router

    def _guarded(self, rpc: str, handler: Callable[[Request, "_Asked"], Awaitable[Response]]) -> Handler:
        """Return a handler that proves the caller first, and answers every failure in one shape."""

        async def guarded(request: Request) -> Response:
            asked = _Asked(request_id_of(request))
            try:
                await prove_caller(request, self._gate, ROLES[rpc], f"/{SERVICE}/{rpc}")
                return await handler(request, asked)
            except (ClientGoneError, ClientDisconnect):
                return Response(status_code=_CLIENT_GONE)
            except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
                return self._refusal(_known(error, asked), asked)

        return guarded

    def _refusal(self, error: CrpError, asked: "_Asked") -> Response:
        return problem_response(error, request_id=asked.request_id, trace_id=asked.trace_id, clock=self._clock)

    def _operator(self, endpoint: Endpoint) -> Callable[[Request, "_Asked"], Awaitable[Response]]:
        async def handler(request: Request, asked: "_Asked") -> Response:
            message = await self._message(request, asked, endpoint.form, endpoint.message)
            return await self._call(request, asked, endpoint.rpc, message, self._settings.call_timeout_s)

        return handler

    async def _run(self, request: Request, asked: "_Asked") -> Response:
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await self._run_streamed(request, asked)
        message = await self._message(request, asked, schemas.RunRequest, pb.RunRequest)
        return await self._call(request, asked, "Run", message, self._settings.run_timeout_s)

    async def _run_streamed(self, request: Request, asked: "_Asked") -> Response:
        message = await self._message(request, asked, schemas.RunRequest, pb.RunStreamRequest)
        metadata = call_metadata(request, asked.request_id)
        within_s = self._settings.run_timeout_s
        stream = self._stub.RunStream(message, timeout=within_s, metadata=metadata)
        events = RunEvents(stream, self._settings.event_interval_s, _last_event_id(request, asked))
        try:
            await until_disconnected(request, events.next, self._settings.event_interval_s)
        except TimeoutError:
            pass  # the first event is slow; a refusal from now on is an event
        except BaseException:
            events.close()
            raise
        headers = {"X-Request-Id": asked.request_id}
        return EventsResponse(events, partial(self._told, asked), within_s + _LATE_S, headers)

    def _told(self, asked: "_Asked", error: Exception) -> bytes:
        return bytes(self._refusal(_known(error, asked), asked).body)

    async def _trace(self, request: Request, asked: "_Asked") -> Response:
        trace_id = request.path_params["trace_id"]
        asked.trace_id = trace_id
        message = pb.GetTraceRequest(trace_id=trace_id)
        return await self._call(request, asked, "GetTrace", message, self._settings.call_timeout_s)

    async def _message(self, request: Request, asked: "_Asked", form: type[BaseModel], message: type[Message]) -> Any:
        """Read, check and convert the body; a repeat is recognised by its ``Idempotency-Key``."""
        body = await read_body(request, self._settings)
        if len(body) > _LARGE_BYTES:
            checked, filled = await asyncio.to_thread(_read, body, form, message, self._settings.max_json_nodes)
        else:
            checked, filled = _read(body, form, message, self._settings.max_json_nodes)
        asked.trace_id = getattr(checked, "trace_id", "") or None
        filled.request_id = idempotency_key(request)
        return filled

    async def _call(self, request: Request, asked: "_Asked", rpc: str, message: Message, timeout_s: float) -> Response:
        """Call, and give up when the client does."""
        metadata = call_metadata(request, asked.request_id)
        call = getattr(self._stub, rpc)(message, timeout=timeout_s, metadata=metadata)
        answer = await until_disconnected(request, call)
        return json_response(json_of(answer), headers={"X-Request-Id": asked.request_id})


@dataclass(slots=True)
class _Asked:
    """What a refusal says of its call."""

    request_id: str
    trace_id: str | None = None


def _read(body: bytes, form: type[BaseModel], message: type[Message], most_nodes: int) -> tuple[BaseModel, Any]:
    check_nodes(body, most_nodes)
    checked = read_form(body, form)
    return checked, message_of(checked, message)


def _known(error: Exception, asked: _Asked) -> CrpError:
    """Return what the caller is told of an error; what nobody expected is logged, with its traceback."""
    if isinstance(error, CrpError):
        return error
    _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": asked.request_id})
    return internal_error()


def _last_event_id(request: Request, asked: _Asked) -> str:
    """Return the id of the last event that the client has; it means something only where the run is named again."""
    named = asked.trace_id or "idempotency-key" in request.headers
    return request.headers.get("last-event-id", "") if named else ""


def _answered(model: type[BaseModel]) -> dict[str, Any]:
    return {"model": model, "description": "The answer, with the audit metadata of §2."}


def _streamed(model: type[BaseModel]) -> dict[str, Any]:
    return {**_answered(model), "content": {EVENT_STREAM: {"schema": {"type": "string"}}}}


def _body(form: type[BaseModel], *more: dict[str, Any]) -> dict[str, Any]:
    """Return the request body of an operation, by reference; ``openapi`` adds the schemas themselves."""
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"requestBody": body, "parameters": [_REQUEST_ID, _IDEMPOTENCY_KEY, *more]}


def _header(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "schema": schema, "description": description}


_REQUEST_ID: Final = _header("X-Request-Id", {"type": "string"}, "Finds the call in the server's log; comes back.")
_IDEMPOTENCY_KEY: Final = _header(
    "Idempotency-Key", {"type": "string", "format": "uuid"}, "UUID4: the same call again gets the first answer."
)
_LAST_EVENT_ID: Final = _header(
    "Last-Event-ID",
    {"type": "string"},
    "Of a streamed run that is asked for again under its trace_id or Idempotency-Key: the last event that came.",
)


_TRACE_ID: Final = {
    "name": "trace_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
    "description": "UUID4 of the trace.",
}
