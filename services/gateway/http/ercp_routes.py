"""The seven endpoints of ERCP 1.0 §3, each over one RPC of ``ercp.v1.ErcpService``."""

import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ercp.v1 import ercp_service_pb2 as pb
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from services.common.clock import Clock
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.message_json import json_of
from services.common.rpc.status import internal_error
from services.common.settings.http import HttpSettings
from services.gateway.http import ercp_answers as answers
from services.gateway.http import ercp_schemas as schemas
from services.gateway.http.ercp_json import message_of, read_form
from services.gateway.http.problems import json_bytes, json_response, problem_response
from services.gateway.http.requests import call_metadata, read_body, request_id_of, until_disconnected

_LOG: Final = logging.getLogger(__name__)
PREFIX: Final = "/ercp/v1"
EVENT_STREAM: Final = "text/event-stream"
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": answers.RefusalAnswer, "description": text}
    for status, text in {
        400: "A field is malformed; nothing was done.",
        401: "The credential does not hold.",
        403: "The caller may not do this.",
        409: "Another call came first, or the trace is another run's.",
        413: "The body is too large.",
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
        settings: limits and deadlines.
        clock: the time.
    """

    def __init__(self, stub: ErcpServiceStub, settings: HttpSettings, clock: Clock) -> None:
        self._stub = stub
        self._settings = settings
        self._clock = clock

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(prefix=PREFIX, tags=["ERCP 1.0"])
        router.add_api_route(
            "/run",
            self._guarded(self._run),
            methods=["POST"],
            responses={200: _answered(answers.RunAnswer), **_REFUSALS},
            openapi_extra=_body(schemas.RunRequest),
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
                self._guarded(self._operator(endpoint)),
                methods=["POST"],
                responses={200: _answered(endpoint.answer), **_REFUSALS},
                openapi_extra=_body(endpoint.form),
                summary=endpoint.says,
                operation_id=endpoint.path.strip("/"),
            )
        router.add_api_route(
            "/trace/{trace_id}",
            self._guarded(self._trace),
            methods=["GET"],
            responses={200: _answered(answers.TraceAnswer), **_REFUSALS, **_NOT_FOUND},
            openapi_extra={"parameters": [_TRACE_ID]},
            summary="Read a whole trace (ERCP 1.0 §3.7, §5).",
            operation_id="trace",
        )
        return router

    def _guarded(self, handler: Callable[[Request, "_Asked"], Awaitable[Response]]) -> Handler:
        """Return a handler that answers every failure in one shape."""

        async def guarded(request: Request) -> Response:
            asked = _Asked(request_id_of(request))
            try:
                return await handler(request, asked)
            except CrpError as error:
                return self._refusal(error, asked)
            except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
                return self._refusal(_logged(error, asked), asked)

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
        stream = self._stub.RunStream(message, timeout=self._settings.run_timeout_s, metadata=metadata)
        events = aiter(stream)
        first = await anext(events, None)  # a refusal is a status, not an event
        body, headers = self._events(stream, first, events, asked), {"X-Request-Id": asked.request_id}
        return StreamingResponse(body, headers=headers, media_type=EVENT_STREAM)

    async def _events(self, stream: Any, first: Any, rest: AsyncIterator[Any], asked: "_Asked") -> AsyncIterator[bytes]:
        """Yield a run's messages as server-sent events; when the client leaves, the call ends."""
        try:
            event = first
            while event is not None:
                kind = event.WhichOneof("event")
                yield _event(kind, json_bytes(json_of(getattr(event, kind))))
                event = await anext(rest, None)
        except CrpError as error:
            yield _event("error", bytes(self._refusal(error, asked).body))
        except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
            yield _event("error", bytes(self._refusal(_logged(error, asked), asked).body))
        finally:
            stream.cancel()

    async def _trace(self, request: Request, asked: "_Asked") -> Response:
        trace_id = request.path_params["trace_id"]
        asked.trace_id = trace_id
        message = pb.GetTraceRequest(trace_id=trace_id)
        return await self._call(request, asked, "GetTrace", message, self._settings.call_timeout_s)

    async def _message(self, request: Request, asked: "_Asked", form: type[BaseModel], message: type[Message]) -> Any:
        """Read, check and convert the body; a repeat is recognised by its ``Idempotency-Key``."""
        checked = read_form(await read_body(request, self._settings.max_body_bytes), form)
        asked.trace_id = getattr(checked, "trace_id", "") or None
        filled: Any = message_of(checked, message)
        filled.request_id = _idempotency_key(request)
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


def _logged(error: Exception, asked: _Asked) -> CrpError:
    """Log what nobody expected, with its traceback, and return what the caller is told of it."""
    _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": asked.request_id})
    return internal_error()


def _idempotency_key(request: Request) -> str:
    given = request.headers.get("idempotency-key")
    if given is None:
        return str(uuid.uuid4())
    try:
        return str(uuid.UUID(given))
    except ValueError:
        fault = FieldViolation("Idempotency-Key", "must be a UUID4")
        message = "the header Idempotency-Key must be a UUID4, or be left out"
        raise InvalidRequestError(ErrorReason.INVALID_FIELD, message, violations=(fault,)) from None


def _event(kind: str, data: bytes) -> bytes:
    """Return one server-sent event; JSON without white space has no line breaks."""
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def _answered(model: type[BaseModel]) -> dict[str, Any]:
    return {"model": model, "description": "The answer, with the audit metadata of §2."}


def _body(form: type[BaseModel]) -> dict[str, Any]:
    """Return the request body of an operation, by reference; ``openapi`` adds the schemas themselves."""
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


_TRACE_ID: Final = {
    "name": "trace_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
    "description": "UUID4 of the trace.",
}
