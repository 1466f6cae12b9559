"""A dispatch in the contract's own JSON, and what is kept of it: ``/v1/dispatch``, reports, DAG, audit (ADR 0144).

The paths are those that the contract's annotations name. ``Dispatch`` answers with the status of its outcome (200, 304,
451) and the protocol's headers, or, with ``stream``, in server-sent events; the others read. Answers are the protobuf
JSON mapping with the contract's field names.
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
from services.common.computing import compute
from services.common.context import Role
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.validation import Violations
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, Asked, RpcCalls, body
from services.gateway.doors.http.chat.checking import LATE_S
from services.gateway.doors.http.chat.sending import Streamed
from services.gateway.doors.http.ercp_answers import RefusalAnswer
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, asked_in_headers, dispatched_headers, label
from services.gateway.doors.http.requests import call_metadata, until_disconnected
from services.gateway.doors.http.streamed_dispatch import Awaited, DispatchCall, written_events

SESSION_SERVICE: Final = "crp.dag.v1.SessionService"
ENVELOPE_SERVICE: Final = "crp.envelope.v1.EnvelopeService"
_BOOLS: Final = {"true": True, "false": False}
DISPATCH: Final = "/v1/dispatch"
_FORM: Final = create_model(
    "DispatchRequest",
    __base__=MessageModels().request(pb.DispatchRequest),
    stream=(Annotated[bool, Field(strict=True)], False),
)
"""The contract's fields, and whether the answer is sent as it passes, in server-sent events."""
_STATUS: Final = {
    "answer": HTTPStatus.OK,
    "halted": HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS,
    "not_modified": HTTPStatus.NOT_MODIFIED,
    "held_for_review": HTTPStatus.ACCEPTED,
}
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
        "/v1/sessions/{session_id}/audit", "ListAuditEvents", dag.ListAuditEventsRequest, "audit", "Its audit events."
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
        self._dispatches = dispatches
        self._settings = settings
        roles = {"Dispatch": Role.WRITER}
        self._writing = RpcCalls(dispatches, "crp.gateway.v1.DispatchService", roles, gate, settings, clock)
        reading = {one.rpc: Role.READER for one in RECORD_ENDPOINTS}
        self._stubs: dict[str, Any] = {SESSION_SERVICE: sessions, ENVELOPE_SERVICE: envelopes}
        self._reading = {
            name: RpcCalls(stub, name, reading, gate, settings, clock) for name, stub in self._stubs.items()
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
                responses={200: {"description": endpoint.says}, **REFUSALS, **_NOT_FOUND},
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
        metadata = call_metadata(request, asked.request_id)
        if getattr(asked.form, "stream", False):
            dispatch = DispatchCall(self._dispatches, message, self._settings.run_timeout_s, metadata)
            return await self._streamed(request, asked, dispatch)
        call = self._dispatches.Dispatch(message, timeout=self._settings.call_timeout_s, metadata=metadata)
        return await self._answered(asked, await until_disconnected(request, call))

    async def _answered(self, asked: Asked, response: pb.DispatchResponse) -> Response:
        headers = {"X-Request-Id": asked.request_id, **dispatched_headers(response)}
        status = _STATUS[response.WhichOneof("outcome") or "answer"]
        if status is HTTPStatus.NOT_MODIFIED:
            return label(Response(status_code=status, headers=headers))
        return label(json_response(await compute(message_json, response), status, headers))

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

    def _read(self, endpoint: RecordEndpoint) -> Any:
        async def handler(request: Request, asked: Asked) -> Response:
            message = _filled(endpoint.message, request)
            metadata = call_metadata(request, asked.request_id)
            call = getattr(self._stubs[endpoint.service], endpoint.rpc)(
                message, timeout=self._settings.call_timeout_s, metadata=metadata
            )
            found = await until_disconnected(request, call)
            return label(json_response(await compute(message_json, found), headers={"X-Request-Id": asked.request_id}))

        return handler


def _filled(kind: type[Message], request: Request) -> Message:
    """Return the message that path and query ask for.

    Raises:
        InvalidRequestError: INVALID_FIELD naming every parameter that it has no field for, or whose value is none.
    """
    message, found = kind(), Violations()
    fields: dict[str, Any] = {field.name: field for field in kind.DESCRIPTOR.fields}
    given = [*request.path_params.items(), *request.query_params.multi_items()]
    for name, text in given:
        field = fields.get(name)
        if field is None or sum(one == name for one, _ in given) > 1:
            found.add(name, "must be a parameter that /openapi.json names, once")
            continue
        try:
            setattr(message, name, _value(field, text))
        except ValueError:
            found.add(name, "must be a value that /openapi.json names")
    found.raise_if_any()
    return message


def _value(field: Any, text: str) -> Any:
    if field.enum_type is not None:
        words = {word: number for number, word in _words(field.enum_type).items()}
        if text not in words:
            raise ValueError(text)
        return words[text]
    if field.cpp_type == field.CPPTYPE_BOOL:
        return _BOOLS[text] if text in _BOOLS else int("no bool")
    if field.cpp_type == field.CPPTYPE_UINT32:
        return int(text) if text.isascii() else int("no digits")
    text.encode()  # a half of a surrogate pair is no text
    return text


def _words(enum: Any) -> dict[int, str]:
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix).lower() for value in enum.values if value.number}


def _parameters(endpoint: RecordEndpoint) -> list[dict[str, Any]]:
    listed = []
    for field in endpoint.message.DESCRIPTOR.fields:
        in_path = f"{{{field.name}}}" in endpoint.path
        schema: dict[str, Any] = {"type": "string"}
        if field.enum_type is not None:
            schema["enum"] = list(_words(field.enum_type).values())
        elif field.cpp_type == field.CPPTYPE_UINT32:
            schema = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
        elif field.cpp_type == field.CPPTYPE_BOOL:
            schema = {"type": "boolean"}
        place = "path" if in_path else "query"
        listed.append({"name": field.name, "in": place, "required": in_path, "schema": schema})
    return listed
