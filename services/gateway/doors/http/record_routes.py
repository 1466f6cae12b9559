"""A dispatch in the contract's own JSON, and what is kept of it: ``/v1/dispatch``, reports, DAG, audit (ADR 0144).

The paths are those that the contract's annotations name. ``Dispatch`` answers with the status of its outcome (200, 202,
304, 451) and the protocol's headers, or, with ``stream``, in server-sent events; the others read. Answers are the
protobuf JSON mapping with the contract's field names.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.envelope.v1 import envelope_service_pb2 as envelopes_pb
from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel, Field, create_model
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.validation import Violations
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.audit_exports import MEDIA_TYPE, PARAMETERS, exported, is_export
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body, protocol_answer
from services.gateway.doors.http.chat.checking import LATE_S
from services.gateway.doors.http.chat.sending import Streamed
from services.gateway.doors.http.ercp_answers import RefusalAnswer
from services.gateway.doors.http.guarded import Asked, Handler
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, asked_in_headers, label
from services.gateway.doors.http.requests import call_metadata, until_disconnected
from services.gateway.doors.http.review_routes import OUTCOME_STATUS, outcome_headers
from services.gateway.doors.http.streamed_dispatch import Awaited, DispatchCall, written_events

SESSION_SERVICE: Final = "crp.dag.v1.SessionService"
ENVELOPE_SERVICE: Final = "crp.envelope.v1.EnvelopeService"
DISPATCH: Final = "/v1/dispatch"
_AUDIT: Final = "ListAuditEvents"
_FORM: Final = create_model(
    "DispatchRequest",
    __base__=MessageModels().request(pb.DispatchRequest),
    stream=(Annotated[bool, Field(strict=True)], False),
)
"""The contract's fields, and whether the answer is sent as it passes, in server-sent events."""
_OUTCOMES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The answer; with stream in server-sent events: token, stage, outcome, crp-headers."},
    202: {"description": "A person decides first."},
    304: {"description": "The presented ETag still stands."},
    451: {"description": "Withheld."},
}
_NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": RefusalAnswer, "description": "There is no such thing, or it is not the caller's."}
}


@dataclass(frozen=True, slots=True)
class RecordEndpoint:
    """One GET over an RPC; fields of its message stand in the path or in the query."""

    path: str
    rpc: str
    message: type[Message]
    name: str
    says: str
    service: str = SESSION_SERVICE


RECORD_ENDPOINTS: Final = (
    RecordEndpoint("/v1/reports/{report_id}", "GetReport", dag.GetReportRequest, "report", "A stored report."),
    RecordEndpoint(
        "/v1/sessions/{session_id}/dag", "GetDag", dag.GetDagRequest, "dag", "A session's windows and edges."
    ),
    RecordEndpoint(
        "/v1/sessions/{session_id}/audit",
        "ListAuditEvents",
        dag.ListAuditEventsRequest,
        "audit",
        "Its audit events: a page, or with format all of them as lines, NDJSON or OCSF.",
    ),
    RecordEndpoint(
        "/v1/envelope/preview",
        "PreviewEnvelope",
        envelopes_pb.PreviewEnvelopeRequest,
        "preview_envelope",
        "What would be packed for a question; no window is opened.",
        ENVELOPE_SERVICE,
    ),
)


class RecordRoutes:
    """The endpoints.

    Args:
        dispatches, sessions, envelopes: of the services, over channels that raise the peers' own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_FORM,)
    """Schemas of the bodies."""

    def __init__(
        self,
        dispatches: DispatchServiceStub,
        sessions: SessionServiceStub,
        envelopes: EnvelopeServiceStub,
        gate: CredentialGate,
        settings: HttpSettings,
        clock: Clock,
    ) -> None:
        self._dispatches, self._sessions = dispatches, sessions
        self._settings = settings
        roles = {"Dispatch": Role.WRITER}
        self._writing = RpcCalls(dispatches, "crp.gateway.v1.DispatchService", roles, gate, settings, clock)
        reading = {one.rpc: Role.READER for one in RECORD_ENDPOINTS}
        self._reading = {
            name: RpcCalls(stub, name, reading, gate, settings, clock)
            for name, stub in ((SESSION_SERVICE, sessions), (ENVELOPE_SERVICE, envelopes))
        }

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Dispatch"])
        router.add_api_route(
            DISPATCH,
            self._writing.guarded("Dispatch", self._dispatch),
            methods=["POST"],
            responses={**_OUTCOMES, **REFUSALS, **_NOT_FOUND},
            openapi_extra=body(_FORM),
            summary="Answer one query from the tenant's knowledge, checked and chained.",
            operation_id="dispatch",
        )
        for endpoint in RECORD_ENDPOINTS:
            router.add_api_route(
                endpoint.path,
                self._reading[endpoint.service].guarded(endpoint.rpc, self._read(endpoint)),
                methods=["GET"],
                responses={200: _answer(endpoint), **REFUSALS, **_NOT_FOUND},
                openapi_extra={"parameters": _parameters(endpoint)},
                summary=endpoint.says,
                operation_id=endpoint.name,
            )
        return router

    async def _dispatch(self, request: Request, asked: Asked) -> Response:
        wishes = asked_in_headers(request)
        message = await self._writing.message(request, asked, _FORM, pb.DispatchRequest)
        twice = Violations()
        for field, _ in wishes.ListFields():
            given = getattr(message, field.name)
            twice.require(
                not given, field.name, f"stands in the header {HEADER_OF_FIELD[field.name]} too; give it once"
            )
        twice.raise_if_any()
        message.MergeFrom(wishes)
        if getattr(asked.form, "stream", False):
            metadata = call_metadata(request, asked.request_id)
            dispatch = DispatchCall(self._dispatches, message, self._settings.run_timeout_s, metadata)
            return await self._streamed(request, asked, dispatch)
        return await self._answered(asked, await self._writing.call(request, asked, "Dispatch", message))

    async def _answered(self, asked: Asked, response: pb.DispatchResponse) -> Response:
        headers = outcome_headers(response)
        status = OUTCOME_STATUS[response.WhichOneof("outcome") or "answer"]
        if status is HTTPStatus.NOT_MODIFIED:
            return label(Response(status_code=status, headers={"X-Request-Id": asked.request_id, **headers}))
        return await protocol_answer(response, asked, status, headers)

    async def _streamed(self, request: Request, asked: Asked, dispatch: DispatchCall) -> Response:
        """Wait a moment for what comes first, so that a refusal has its status; then begin the stream."""
        interval_s, awaited = self._settings.event_interval_s, Awaited(dispatch.events())
        opened = contextlib.AsyncExitStack()
        opened.push_async_callback(awaited.close)
        try:
            with contextlib.suppress(TimeoutError):
                first = await until_disconnected(request, awaited.pending, interval_s)
                if first is not None and first.outcome.WhichOneof("outcome") == "not_modified":
                    await opened.aclose()
                    return await self._answered(asked, first.outcome)
        except BaseException:
            await opened.aclose()
            raise
        events = written_events(awaited, interval_s, lambda error: bytes(self._writing.refusal(error, asked).body))
        headers = {"X-Request-Id": asked.request_id, **dispatch.begun}
        return label(Streamed(events, opened, self._settings.run_timeout_s + LATE_S, headers))

    def _read(self, endpoint: RecordEndpoint) -> Handler:
        calls = self._reading[endpoint.service]

        async def handler(request: Request, asked: Asked) -> Response:
            if endpoint.rpc == _AUDIT and is_export(request):
                return await exported(request, asked, self._sessions, self._settings)
            found = await calls.call(request, asked, endpoint.rpc, filled(endpoint.message, request))
            return await protocol_answer(found, asked)

        return handler


def _parameters(endpoint: RecordEndpoint) -> list[dict[str, Any]]:
    more = PARAMETERS if endpoint.rpc == _AUDIT else ()
    return [*parameters(endpoint.message, endpoint.path), *more]


def _answer(endpoint: RecordEndpoint) -> dict[str, Any]:
    lines = {MEDIA_TYPE: {"schema": {"type": "string"}}} if endpoint.rpc == _AUDIT else {}
    return {"description": endpoint.says, **({"content": lines} if lines else {})}
