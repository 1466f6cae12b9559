"""``TraceSessions`` over ``crp.dag.v1.SessionService`` (ADR 0073)."""

import json
from collections.abc import Mapping
from typing import Any, Final

import grpc
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.dpe.v1 import report_pb2
from crp.envelope.v1 import envelope_pb2

from services.common.context import current_call
from services.common.encoding import canonical_json
from services.common.errors import ErrorReason, NotFoundError
from services.common.ids import IdSource, trace_session_id
from services.ercp.ports import StoredEvent, StoredTrace, TraceSession, Window, WindowDraft

_PAGE: Final = 1_000
_MAX_FINGERPRINT: Final = 200
_MAX_REASON: Final = 500
_OPERATOR = dag_pb2.AUDIT_EVENT_TYPE_ERCP_OPERATOR
_TERMINATED = dag_pb2.AUDIT_EVENT_TYPE_SESSION_TERMINATED


class GrpcTraceSessions:
    """Speaks to the dag service for the running call."""

    def __init__(self, channel: grpc.aio.Channel, ids: IdSource) -> None:
        self._stub = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self._ids = ids

    async def find(self, trace_id: str) -> StoredTrace | None:
        """Read every event of the trace's session; another session of that id cannot be."""
        session_id = trace_session_id(current_call().caller.tenant_id, trace_id)
        found: list[StoredEvent] = []
        reason, token = "", ""
        while True:
            request = session_service_pb2.ListAuditEventsRequest(
                session_id=session_id, page_size=_PAGE, page_token=token
            )
            try:
                page = await self._stub.ListAuditEvents(request)
            except NotFoundError as error:
                if error.reason is ErrorReason.SESSION_NOT_FOUND:
                    return None
                raise
            for event in page.events:
                if event.event_type == _OPERATOR and event.data:
                    found.append(StoredEvent(event.window_id, json.loads(event.data)))
                elif event.event_type == _TERMINATED and event.data:
                    reason = str(json.loads(event.data).get("cause") or "ENDED")
            token = page.next_page_token
            if not token:
                return StoredTrace(session_id, tuple(found), reason)

    async def join(self, trace_id: str) -> TraceSession:
        """Begin or join the trace's session and look for windows that were left open."""
        request = session_service_pb2.CreateSessionRequest(request_id=self._ids.uuid(), trace_id=trace_id)
        created = await self._stub.CreateSession(request)
        session = created.session
        opened = session.status == dag_pb2.SESSION_STATUS_OPEN
        pending: tuple[str, ...] = ()
        windows = 0
        if session.version > 1:
            dag = await self._stub.GetDag(session_service_pb2.GetDagRequest(session_id=session.session_id))
            pending = tuple(each.window_id for each in dag.windows if each.status == dag_pb2.WINDOW_STATUS_PENDING)
            windows = len(dag.windows)
        token = created.session_token if opened else ""
        return TraceSession(session.session_id, token, pending, windows)

    async def open_window(self, request_id: str, session: TraceSession) -> Window:
        """Open the session's next window; nothing of an earlier candidate flows into it."""
        request = session_service_pb2.OpenWindowRequest(
            request_id=request_id, session_token=session.token, available_budget_tokens=0
        )
        window = (await self._stub.OpenWindow(request)).window
        return Window(window.session_id, window.window_id, window.window_number)

    async def commit_window(self, request_id: str, window: Window, draft: WindowDraft) -> TraceSession:
        """Commit the candidate with its report and what the envelope held."""
        envelope = envelope_pb2.ContextEnvelope.FromString(draft.envelope)
        answer = await self._stub.CommitWindow(
            session_service_pb2.CommitWindowRequest(
                request_id=request_id,
                session_id=window.session_id,
                window_id=window.window_id,
                response_text=draft.text,
                report=report_pb2.DpeReport.FromString(draft.report),
                envelope_etag=envelope.etag,
                quality_tier=envelope.quality_tier or taxonomy_pb2.QUALITY_TIER_D,
                token_count=envelope.token_count,
                facts_included=[fact.fact_id for fact in envelope.facts],
                model_fingerprint=draft.model_fingerprint[:_MAX_FINGERPRINT],
                ckf_state_hash=envelope.ckf_state_hash,
            )
        )
        opened = answer.session.status == dag_pb2.SESSION_STATUS_OPEN
        return TraceSession(window.session_id, answer.session_token if opened else "")

    async def fail_window(self, request_id: str, session_id: str, window_id: str, reason: str) -> None:
        """Give a window up."""
        await self._stub.FailWindow(
            session_service_pb2.FailWindowRequest(
                request_id=request_id, session_id=session_id, window_id=window_id, reason=reason[:_MAX_REASON]
            )
        )

    async def candidate(self, session_id: str, window_id: str) -> tuple[str, bytes]:
        """Read what a window was committed with."""
        request = session_service_pb2.GetWindowRequest(
            session_id=session_id, window_id=window_id, include_response=True
        )
        answer = await self._stub.GetWindow(request)
        report_id = answer.window.report_id
        found = await self._stub.GetReport(session_service_pb2.GetReportRequest(report_id=report_id))
        return answer.response_text, found.report.SerializeToString(deterministic=True)

    async def append(self, request_id: str, session_id: str, window_id: str, data: Mapping[str, Any]) -> None:
        """Append an event of an operator."""
        await self._stub.AppendEvent(
            session_service_pb2.AppendEventRequest(
                request_id=request_id,
                session_id=session_id,
                event_type=_OPERATOR,
                window_id=window_id,
                data=canonical_json(dict(data)).decode(),
            )
        )

    async def end(self, request_id: str, session_id: str, reason: str) -> None:
        """End the session."""
        await self._stub.TerminateSession(
            session_service_pb2.TerminateSessionRequest(
                request_id=request_id, session_id=session_id, reason=reason[:_MAX_REASON]
            )
        )
