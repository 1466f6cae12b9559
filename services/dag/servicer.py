"""``crp.dag.v1.SessionService``: validate, convert, call, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import grpc
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from services.common.computing import compute, compute_unless_small
from services.common.context import current_call
from services.common.rpc.idempotency import body_hash
from services.common.rpc.paging import after_number, decode_page, encode_page_token
from services.dag import answers, convert, list_convert, validate
from services.dag.app import SessionApp
from services.dag.domain.committing import CommitCommand
from services.dag.erasing import Erasures
from services.dag.exports.drawings import draw
from services.dag.reading import SessionReads
from services.dag.report_signals import MOST_SIGNALS, summaries_with_signals
from services.dag.results import Committed, Opened
from services.dag.transparency import ExportProofs
from services.dag.writing import RequestKey

ResultT = TypeVar("ResultT")
Context = grpc.aio.ServicerContext[Any, Any]


class SessionServicer(pb_grpc.SessionServiceServicer):
    """Serves sessions."""

    def __init__(self, app: SessionApp, reads: SessionReads, erasures: Erasures, proofs: ExportProofs) -> None:
        self._app = app
        self._reads = reads
        self._erasures = erasures
        self._proofs = proofs

    async def CreateSession(self, request: pb.CreateSessionRequest, context: Context) -> pb.CreateSessionResponse:
        """Begin a session."""
        validate.create_session(request)
        key = _key("CreateSession", request, answers.created)
        answer = await self._app.create_session(current_call().caller, convert.create_command(request), key)
        return pb.CreateSessionResponse.FromString(answer)

    async def OpenWindow(self, request: pb.OpenWindowRequest, context: Context) -> pb.OpenWindowResponse:
        """Open a window."""
        validate.open_window(request)
        made: list[bytes] = []

        def encode(result: Opened) -> bytes:
            made.append(answers.opened(result))
            return made[-1]

        key = _key("OpenWindow", request, encode)
        ask = convert.open_command(request)
        answer = await self._app.open_window(current_call().caller, request.session_token, ask, key)
        response = pb.OpenWindowResponse.FromString(answer)
        response.fresh = bool(made) and answer is made[-1]  # else a receipt of before, or of a twin that came first
        return response

    async def CommitWindow(self, request: pb.CommitWindowRequest, context: Context) -> pb.CommitWindowResponse:
        """Commit a window."""
        ask, key = await compute_unless_small(request.ByteSize(), _commit_of, request)
        answer = await self._app.commit_window(current_call().caller, ask, key)
        return pb.CommitWindowResponse.FromString(answer)

    async def FailWindow(self, request: pb.FailWindowRequest, context: Context) -> pb.FailWindowResponse:
        """Give a window up."""
        validate.fail_window(request)
        key = _key("FailWindow", request, answers.failed)
        ids = (request.session_id, request.window_id)
        answer = await self._app.fail_window(current_call().caller, ids, request.reason, key)
        return pb.FailWindowResponse.FromString(answer)

    async def GetWindow(self, request: pb.GetWindowRequest, context: Context) -> pb.GetWindowResponse:
        """Return a window."""
        validate.of_session(request, with_window=True)
        found = await self._reads.window(_tenant(), request.session_id, request.window_id)
        return pb.GetWindowResponse(
            window=convert.window(found.window, found.dag),
            response_text=found.window.response_text if request.include_response else None,
            parent_edges=[convert.edge(edge) for edge in found.edges],
        )

    async def GetHoldingKey(self, request: pb.GetHoldingKeyRequest, context: Context) -> pb.GetHoldingKeyResponse:
        """Return the key of a held answer."""
        validate.of_session(request, with_window=True)
        key = await self._reads.holding_key(_tenant(), request.session_id, request.window_id)
        return pb.GetHoldingKeyResponse(holding_key=key)

    async def GetProviderKey(self, request: pb.GetProviderKeyRequest, context: Context) -> pb.GetProviderKeyResponse:
        """Return the key of the credentials of the tenant's own providers."""
        validate.get_provider_key(request)
        version, key = await self._reads.provider_key(_tenant(), request.key_version)
        return pb.GetProviderKeyResponse(provider_key=key, key_version=version)

    async def GetDag(self, request: pb.GetDagRequest, context: Context) -> pb.GetDagResponse:
        """Return the DAG."""
        validate.get_dag(request)
        session, dag, merged = await self._reads.dag(_tenant(), request.session_id)
        response = pb.GetDagResponse(
            session=convert.session(session, dag),
            windows=[convert.window(window, dag) for window in dag.windows],
            edges=[convert.edge(edge) for edge in dag.edges],
            agents=[convert.merged_agent(end) for end in merged],
        )
        response.rendered = draw(response, request.format)
        return response

    async def GetLineage(self, request: pb.GetLineageRequest, context: Context) -> pb.GetLineageResponse:
        """Return a lineage."""
        validate.of_session(request, with_window=True)
        lineage, ids = await self._reads.lineage(_tenant(), request.session_id, request.window_id)
        return pb.GetLineageResponse(lineage=lineage, window_ids=ids)

    async def VerifyChain(self, request: pb.VerifyChainRequest, context: Context) -> pb.VerifyChainResponse:
        """Verify a chain."""
        validate.of_session(request)
        return convert.verification(await self._reads.verify(_tenant(), request.session_id))

    async def AppendEvent(self, request: pb.AppendEventRequest, context: Context) -> pb.AppendEventResponse:
        """Append an event."""
        validate.append_event(request)
        key = _key("AppendEvent", request, answers.appended)
        answer = await self._app.append_event(current_call().caller, convert.append_command(request), key)
        return pb.AppendEventResponse.FromString(answer)

    async def ListAuditEvents(self, request: pb.ListAuditEventsRequest, context: Context) -> pb.ListAuditEventsResponse:
        """List events."""
        validate.of_session(request)
        bound = ("ListAuditEvents", _tenant(), request.session_id)
        page = decode_page(request.page_size, request.page_token, bound)
        events = await self._reads.events(_tenant(), request.session_id, after=after_number(page), limit=page.limit + 1)
        more = encode_page_token(str(events[page.limit - 1].sequence), bound) if len(events) > page.limit else ""
        return pb.ListAuditEventsResponse(
            events=[convert.event(event) for event in events[: page.limit]], next_page_token=more
        )

    async def ExportAudit(
        self, request: pb.ExportAuditRequest, context: Context
    ) -> AsyncIterator[pb.ExportAuditResponse]:
        """Stream the audit trail."""
        validate.export_audit(request)
        lines = self._ocsf(request) if request.format == pb.AUDIT_EXPORT_FORMAT_OCSF else self._ndjson(request)
        async for line in lines:
            yield pb.ExportAuditResponse(line=line)

    async def _ocsf(self, request: pb.ExportAuditRequest) -> AsyncIterator[str]:
        async for event in self._reads.every_event(_tenant(), request.session_id):
            yield convert.ocsf_export_line(event, tenant_id=_tenant()).line

    async def _ndjson(self, request: pb.ExportAuditRequest) -> AsyncIterator[str]:
        """Yield events, on request analyses, and what proves them (ADR 0053)."""
        snapshot, leaves = await self._reads.logged(_tenant(), request.session_id)
        export = await self._proofs.begin(_tenant(), snapshot, leaves, tuple(request.consistency_from_sizes))
        async for event in self._reads.every_event(_tenant(), request.session_id, snapshot.last_event):
            yield export.event(event, convert.export_line(event).line)
        if request.with_content:
            async for window, report in self._reads.every_analysis(_tenant(), snapshot):
                size = len(report.body) + len(report.inputs)
                told = await compute_unless_small(size, convert.analysis_line, window, report)
                yield export.analysis(told.line)
        found = await self._reads.verify(_tenant(), request.session_id)
        async for line in self._proofs.closing(export, found):
            yield line

    async def GetReport(self, request: pb.GetReportRequest, context: Context) -> pb.GetReportResponse:
        """Return a report."""
        validate.get_report(request)
        record = await self._reads.report(_tenant(), request.report_id)
        return await compute_unless_small(len(record.body), convert.report, record, request.view)

    async def ListReports(self, request: pb.ListReportsRequest, context: Context) -> pb.ListReportsResponse:
        """List reports."""
        validate.list_reports(request)
        bound = ("ListReports", _tenant(), request.session_id)
        page = decode_page(request.page_size, request.page_token, bound)
        limit = min(page.limit, MOST_SIGNALS) if request.with_signals else page.limit
        reports = await self._reads.reports(
            _tenant(), request.session_id, after=page.after, limit=limit + 1, with_inputs=not request.with_signals
        )
        more = encode_page_token(convert.listed_id(reports[limit - 1]), bound) if len(reports) > limit else ""
        told = await compute(summaries_with_signals, reports[:limit]) if request.with_signals else None
        return pb.ListReportsResponse(
            reports=told or [convert.report_summary(report) for report in reports[:limit]], next_page_token=more
        )

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Context) -> pb.ListSessionsResponse:
        """List sessions."""
        validate.list_sessions(request)
        bound = ("ListSessions", _tenant(), list_convert.filter_text(request))
        page = decode_page(request.page_size, request.page_token, bound)
        wanted = list_convert.session_filter(request)
        listed = await self._reads.sessions(_tenant(), wanted, after=page.after, limit=page.limit + 1)
        more = encode_page_token(listed[page.limit - 1].session_id, bound) if len(listed) > page.limit else ""
        return pb.ListSessionsResponse(
            sessions=[list_convert.summary(one) for one in listed[: page.limit]], next_page_token=more
        )

    async def TerminateSession(
        self, request: pb.TerminateSessionRequest, context: Context
    ) -> pb.TerminateSessionResponse:
        """End a session."""
        validate.terminate_session(request)
        key = _key("TerminateSession", request, answers.terminated)
        answer = await self._app.terminate_session(current_call().caller, request.session_id, request.reason, key)
        return pb.TerminateSessionResponse.FromString(answer)

    async def EraseSession(self, request: pb.EraseSessionRequest, context: Context) -> pb.EraseSessionResponse:
        """Erase a session's content."""
        validate.terminate_session(request)
        key = _key("EraseSession", request, answers.erased)
        answer = await self._erasures.erase(current_call().caller, request.session_id, request.reason, key)
        return pb.EraseSessionResponse.FromString(answer)


def _commit_of(request: pb.CommitWindowRequest) -> tuple[CommitCommand, RequestKey[Committed]]:
    validate.commit_window(request)
    return convert.commit_command(request), _key("CommitWindow", request, answers.committed)


def _tenant() -> str:
    return current_call().caller.tenant_id


def _key(rpc: str, request: Any, encode: Callable[[ResultT], bytes]) -> RequestKey[ResultT]:
    return RequestKey(rpc, request.request_id, body_hash(request), encode)
