"""The seven endpoints of ERCP 1.0 §3, each over one RPC of ``ercp.v1.ErcpService``."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ercp.v1 import ercp_service_pb2 as pb
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http import ercp_answers as answers
from services.gateway.doors.http import ercp_schemas as schemas
from services.gateway.doors.http.calls import ERCP_REFUSALS, REQUEST_ID, RpcCalls, answered, body, header, plain_answer
from services.gateway.doors.http.ercp_events import EVENT_STREAM, EventsResponse, RunEvents
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.requests import call_metadata, until_disconnected

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
_LATE_S: Final = 30.0
"""How much later than its run an event stream may end, in seconds."""
_NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": answers.ErcpRefusalAnswer, "description": "No such trace for this tenant."}
}


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
        self._settings = settings
        self._calls = RpcCalls(stub, SERVICE, ROLES, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(prefix=PREFIX, tags=["ERCP 1.0"])
        router.add_api_route(
            "/run",
            self._calls.guarded("Run", self._run),
            methods=["POST"],
            responses={200: _streamed(answers.RunAnswer), **ERCP_REFUSALS},
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
                self._calls.guarded(endpoint.rpc, self._calls.operator(endpoint.rpc, endpoint.form, endpoint.message)),
                methods=["POST"],
                responses={200: _answered(endpoint.answer), **ERCP_REFUSALS},
                openapi_extra=_body(endpoint.form),
                summary=endpoint.says,
                operation_id=endpoint.path.strip("/"),
            )
        router.add_api_route(
            "/trace/{trace_id}",
            self._calls.guarded("GetTrace", self._trace),
            methods=["GET"],
            responses={200: _answered(answers.TraceAnswer), **ERCP_REFUSALS, **_NOT_FOUND},
            openapi_extra={"parameters": [_TRACE_ID, REQUEST_ID]},
            summary="Read a whole trace (ERCP 1.0 §3.7, §5).",
            operation_id="trace",
        )
        return router

    async def _run(self, request: Request, asked: Asked) -> Response:
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await self._run_streamed(request, asked)
        message = await self._calls.message(request, asked, schemas.RunRequest, pb.RunRequest)
        return plain_answer(await self._calls.call(request, asked, "Run", message, self._settings.run_timeout_s), asked)

    async def _run_streamed(self, request: Request, asked: Asked) -> Response:
        message = await self._calls.message(request, asked, schemas.RunRequest, pb.RunStreamRequest)
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

    def _told(self, asked: Asked, error: Exception) -> bytes:
        return bytes(self._calls.refusal(error, asked).body)

    async def _trace(self, request: Request, asked: Asked) -> Response:
        trace_id = request.path_params["trace_id"]
        asked.trace_id = trace_id
        found = await self._calls.call(request, asked, "GetTrace", pb.GetTraceRequest(trace_id=trace_id))
        return plain_answer(found, asked)


def _last_event_id(request: Request, asked: Asked) -> str:
    """Return the id of the last event that the client has; it means something only where the run is named again."""
    named = asked.trace_id or "idempotency-key" in request.headers
    return request.headers.get("last-event-id", "") if named else ""


def _answered(model: type[BaseModel]) -> dict[str, Any]:
    return answered(model, "The answer, with the audit metadata of §2.")


def _streamed(model: type[BaseModel]) -> dict[str, Any]:
    return {**_answered(model), "content": {EVENT_STREAM: {"schema": {"type": "string"}}}}


def _body(form: type[BaseModel], *more: dict[str, Any]) -> dict[str, Any]:
    return body(form, _IDEMPOTENCY_KEY, *more)


_IDEMPOTENCY_KEY: Final = header(
    "Idempotency-Key", {"type": "string", "format": "uuid"}, "UUID4: the same call again gets the first answer."
)
_LAST_EVENT_ID: Final = header(
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
