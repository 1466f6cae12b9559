"""``/v1/feedback`` and ``/v1/violation-reports`` over HTTP, on the paths that the contract's annotations name."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crp.gateway.v1 import feedback_service_pb2 as feedback_pb
from crp.gateway.v1 import violation_report_service_pb2 as reports_pb
from crp.gateway.v1.feedback_service_pb2_grpc import FeedbackServiceStub
from crp.gateway.v1.violation_report_service_pb2_grpc import ViolationReportServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute
from services.common.context import Role
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import label
from services.gateway.doors.http.requests import call_metadata, until_disconnected

FEEDBACK: Final = "/v1/feedback"
REPORTS: Final = "/v1/violation-reports"
_FEEDBACK_SERVICE: Final = "crp.gateway.v1.FeedbackService"
_REPORT_SERVICE: Final = "crp.gateway.v1.ViolationReportService"
_MODELS: Final = MessageModels()
_GIVE_FORM: Final = _MODELS.request(feedback_pb.GiveFeedbackRequest)
_REPLAY_FORM: Final = _MODELS.request(reports_pb.ReplayReportsRequest)


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """One RPC over HTTP; with a form its message is the body, else path and query."""

    method: str
    path: str
    service: str
    rpc: str
    role: Role
    message: type[Message]
    name: str
    says: str
    form: type[BaseModel] | None = None


ENDPOINTS: Final = (
    _Endpoint(
        "POST",
        FEEDBACK,
        _FEEDBACK_SERVICE,
        "GiveFeedback",
        Role.WRITER,
        feedback_pb.GiveFeedbackRequest,
        "give_feedback",
        "Say whether the verdict on a claim was right.",
        _GIVE_FORM,
    ),
    _Endpoint(
        "GET",
        FEEDBACK,
        _FEEDBACK_SERVICE,
        "ListFeedback",
        Role.READER,
        feedback_pb.ListFeedbackRequest,
        "feedback",
        "What people said about verdicts.",
    ),
    _Endpoint(
        "GET",
        f"{REPORTS}/dead",
        _REPORT_SERVICE,
        "ListDeadReports",
        Role.ADMIN,
        reports_pb.ListDeadReportsRequest,
        "dead_reports",
        "Violation reports that no endpoint took.",
    ),
    _Endpoint(
        "POST",
        f"{REPORTS}:replay",
        _REPORT_SERVICE,
        "ReplayReports",
        Role.ADMIN,
        reports_pb.ReplayReportsRequest,
        "replay_reports",
        "Send dead reports again, all of them where none is named.",
        _REPLAY_FORM,
    ),
    _Endpoint(
        "GET",
        f"{REPORTS}/key",
        _REPORT_SERVICE,
        "GetReportKey",
        Role.ADMIN,
        reports_pb.GetReportKeyRequest,
        "report_key",
        "The public key that reports are signed with.",
    ),
)


class OversightRoutes:
    """The endpoints.

    Args:
        feedback, reports: of the services, over channels that raise their own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_GIVE_FORM, _REPLAY_FORM)
    """Schemas of the bodies."""

    def __init__(
        self,
        feedback: FeedbackServiceStub,
        reports: ViolationReportServiceStub,
        gate: CredentialGate,
        settings: HttpSettings,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._stubs: Mapping[str, Any] = {_FEEDBACK_SERVICE: feedback, _REPORT_SERVICE: reports}
        roles = {one.rpc: one.role for one in ENDPOINTS}
        self._calls = {
            service: RpcCalls(stub, service, roles, gate, settings, clock) for service, stub in self._stubs.items()
        }

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Oversight"])
        for one in ENDPOINTS:
            extra = body(one.form) if one.form else {"parameters": parameters(one.message, one.path)}
            router.add_api_route(
                one.path,
                self._calls[one.service].guarded(one.rpc, self._handler(one)),
                methods=[one.method],
                responses={200: {"description": one.says}, **REFUSALS},
                openapi_extra=extra,
                summary=one.says,
                operation_id=one.name,
            )
        return router

    def _handler(self, one: _Endpoint) -> Callable[[Request, Asked], Awaitable[Response]]:
        async def handler(request: Request, asked: Asked) -> Response:
            calls = self._calls[one.service]
            message = (
                await calls.message(request, asked, one.form, one.message) if one.form else filled(one.message, request)
            )
            metadata = call_metadata(request, asked.request_id)
            rpc = getattr(self._stubs[one.service], one.rpc)
            found: Any = await until_disconnected(
                request, rpc(message, timeout=self._settings.call_timeout_s, metadata=metadata)
            )
            headers = {"X-Request-Id": asked.request_id}
            return label(json_response(await compute(message_json, found), headers=headers))

        return handler
