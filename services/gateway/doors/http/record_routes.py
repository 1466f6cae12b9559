"""A dispatch in the contract's own JSON, and what is kept of it: ``/v1/dispatch``, reports, DAG, audit (ADR 0144).

The paths are those that the contract's annotations name. ``Dispatch`` answers with the status of its outcome (200, 202,
304, 451) and the protocol's headers; the others read. Answers are the protobuf JSON mapping with the contract's names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute
from services.common.context import Role
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.validation import Violations
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, Asked, RpcCalls, body
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, asked_in_headers, label
from services.gateway.doors.http.requests import call_metadata, until_disconnected
from services.gateway.doors.http.review_routes import OUTCOME_STATUS, outcome_headers

DISPATCH: Final = "/v1/dispatch"
_FORM: Final = MessageModels().request(pb.DispatchRequest)


@dataclass(frozen=True, slots=True)
class RecordEndpoint:
    """One GET over an RPC of SessionService; fields stand in the path or in the query."""

    path: str
    rpc: str
    message: type[Message]
    name: str
    says: str


RECORD_ENDPOINTS: Final = (
    RecordEndpoint("/v1/reports/{report_id}", "GetReport", dag.GetReportRequest, "report", "A stored report."),
    RecordEndpoint(
        "/v1/sessions/{session_id}/dag", "GetDag", dag.GetDagRequest, "dag", "A session's windows and edges."
    ),
    RecordEndpoint(
        "/v1/sessions/{session_id}/audit", "ListAuditEvents", dag.ListAuditEventsRequest, "audit", "Its audit events."
    ),
)


class RecordRoutes:
    """The endpoints.

    Args:
        dispatches, sessions: of the services, over channels that raise the peers' own errors.
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
        gate: CredentialGate,
        settings: HttpSettings,
        clock: Clock,
    ) -> None:
        self._dispatches = dispatches
        self._sessions = sessions
        self._settings = settings
        roles = {"Dispatch": Role.WRITER}
        self._writing = RpcCalls(dispatches, "crp.gateway.v1.DispatchService", roles, gate, settings, clock)
        reading = {one.rpc: Role.READER for one in RECORD_ENDPOINTS}
        self._reading = RpcCalls(sessions, "crp.dag.v1.SessionService", reading, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Dispatch"])
        router.add_api_route(
            DISPATCH,
            self._writing.guarded("Dispatch", self._dispatch),
            methods=["POST"],
            responses={
                200: {"description": "The outcome."},
                202: {"description": "Held for review."},
                451: {"description": "Withheld."},
                **REFUSALS,
            },
            openapi_extra=body(_FORM),
            summary="Answer one query from the tenant's knowledge, checked and chained.",
            operation_id="dispatch",
        )
        for endpoint in RECORD_ENDPOINTS:
            router.add_api_route(
                endpoint.path,
                self._reading.guarded(endpoint.rpc, self._read(endpoint)),
                methods=["GET"],
                responses={200: {"description": endpoint.says}, **REFUSALS},
                openapi_extra={"parameters": parameters(endpoint.message, endpoint.path)},
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
        metadata = call_metadata(request, asked.request_id)
        call = self._dispatches.Dispatch(message, timeout=self._settings.call_timeout_s, metadata=metadata)
        response: pb.DispatchResponse = await until_disconnected(request, call)
        headers = {"X-Request-Id": asked.request_id, **outcome_headers(response)}
        status = OUTCOME_STATUS[response.WhichOneof("outcome") or "answer"]
        if status is HTTPStatus.NOT_MODIFIED:
            return label(Response(status_code=status, headers=headers))
        return label(json_response(await compute(message_json, response), status, headers))

    def _read(self, endpoint: RecordEndpoint) -> Any:
        async def handler(request: Request, asked: Asked) -> Response:
            message = filled(endpoint.message, request)
            metadata = call_metadata(request, asked.request_id)
            call = getattr(self._sessions, endpoint.rpc)(
                message, timeout=self._settings.call_timeout_s, metadata=metadata
            )
            found = await until_disconnected(request, call)
            return label(json_response(await compute(message_json, found), headers={"X-Request-Id": asked.request_id}))

        return handler
