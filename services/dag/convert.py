"""Between the rules' types and the messages of ``crp.dag.v1``; no decisions."""

import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final, cast

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dpe.v1 import quality_pb2, report_pb2
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.encoding import canonical_json
from services.common.errors import UnreadableRecordError
from services.common.ports.sessions import (
    AuditEventRecord,
    DeferredFact,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    TransferType,
    WindowRecord,
)
from services.common.provenance import kept_report
from services.common.rpc import enums
from services.common.rpc.canonical import message_json
from services.common.rpc.report_views import in_view
from services.common.taxonomy import ChainIntegrity, Degradation, QualityTier
from services.dag.app import AppendCommand
from services.dag.beginning import CreateCommand
from services.dag.domain.agents import MergedEnd
from services.dag.domain.breaker import breaker
from services.dag.domain.budget import budget_left
from services.dag.domain.committing import CommitCommand
from services.dag.domain.opening import OpenCommand
from services.dag.domain.quality import ADVICE
from services.dag.domain.summaries import FlowedTransfer
from services.dag.domain.transfer import Transfer
from services.dag.domain.verification import Verification
from services.dag.domain.view import DagView
from services.dag.exports.ocsf import ocsf_line

_EVENT_PREFIX: Final = "AUDIT_EVENT_TYPE_"
_RISK_PREFIX: Final = "RISK_LEVEL_"
_TIER_PREFIX: Final = "QUALITY_TIER_"
_TRANSFER_PREFIX: Final = "TRANSFER_TYPE_"
_UNSET: Final = "UNSPECIFIED"
DEFAULT_STRATEGY: Final = "push"
_PRODUCT_VERSION: Final = version("groundtrail")


def create_command(request: pb.CreateSessionRequest) -> CreateCommand:
    """Return what a CreateSessionRequest asks."""
    return CreateCommand(
        policy_hash=request.policy_hash,
        loop_depth=request.loop_depth if request.HasField("loop_depth") else None,
        parent_session_id=request.agent_session_parent,
        budget_ceiling=request.safety_budget_ceiling if request.HasField("safety_budget_ceiling") else None,
        policy_tightened=request.policy_tightened,
        trace_id=request.trace_id,
    )


def open_command(request: pb.OpenWindowRequest) -> OpenCommand:
    """Return what an OpenWindowRequest asks."""
    return OpenCommand(
        strategy=strategy_name(request.strategy) or DEFAULT_STRATEGY,
        request_id=request.request_id,
        continuation_ids=tuple(request.continuation_ids),
        policy_hash=request.policy_hash,
        policy_tightened=request.policy_tightened,
        loop_depth=request.loop_depth if request.HasField("loop_depth") else None,
        budget_ceiling=request.safety_budget_ceiling if request.HasField("safety_budget_ceiling") else None,
        parent_session_id=request.agent_session_parent,
        available_budget_tokens=(
            request.available_budget_tokens if request.HasField("available_budget_tokens") else None
        ),
        partial=request.fan_in_policy == pb.FAN_IN_POLICY_PARTIAL,
        summariser=request.summariser_available,
        branch=request.branch,
        policy=request.policy,
        compared=tuple(request.compared_policy_hashes),
        agent_sessions=tuple(request.agent_sessions),
    )


def commit_command(request: pb.CommitWindowRequest) -> CommitCommand:
    """Return what a CommitWindowRequest hands over."""
    return CommitCommand(
        session_id=request.session_id,
        window_id=request.window_id,
        response_text=request.response_text,
        report=kept_report(message_json(request.report)),
        risk_level=taxonomy.RiskLevel.Name(request.report.risk_level).removeprefix(_RISK_PREFIX),
        quality_tier=taxonomy.QualityTier.Name(request.quality_tier).removeprefix(_TIER_PREFIX),
        envelope_etag=request.envelope_etag,
        token_count=request.token_count,
        response_tokens=request.response_tokens,
        facts_included=tuple(request.facts_included),
        facts_deferred=tuple(DeferredFact(fact.fact_id, fact.token_count) for fact in request.deferred_facts),
        strategy=strategy_name(request.strategy),
        model_fingerprint=request.model_fingerprint,
        ckf_state_hash=request.ckf_state_hash,
        inputs=_inputs(request),
        transfers=tuple(_flowed(transfer) for transfer in request.transfers),
        refusal=request.report.relevance.status == quality_pb2.RELEVANCE_STATUS_REFUSAL,
    )


def _flowed(transfer: pb.ParentTransfer) -> FlowedTransfer:
    name = dag_pb2.TransferType.Name(transfer.transfer_type).removeprefix(_TRANSFER_PREFIX)
    return FlowedTransfer(
        source_id=transfer.source_window_id,
        transfer_type=TransferType(name),
        tokens=transfer.transferred_tokens,
        summary_text=transfer.summary_text,
        fidelity_score=transfer.fidelity_score if transfer.HasField("fidelity_score") else None,
        model_fingerprint=transfer.model_fingerprint,
        reason=transfer.reason,
    )


def _inputs(request: pb.CommitWindowRequest) -> str:
    if not request.HasField("analysis_inputs"):
        return ""
    return canonical_json(message_json(request.analysis_inputs)).decode()


def append_command(request: pb.AppendEventRequest) -> AppendCommand:
    """Return what an AppendEventRequest appends."""
    kind = dag_pb2.AuditEventType.Name(request.event_type).removeprefix(_EVENT_PREFIX)
    return AppendCommand(request.session_id, kind, request.window_id, request.data)


def strategy_name(strategy: taxonomy.DispatchStrategy) -> str:
    """Return the header's spelling, ``fan-out``; empty for UNSPECIFIED."""
    if strategy == taxonomy.DISPATCH_STRATEGY_UNSPECIFIED:
        return ""
    return enums.STRATEGIES[strategy].value


def timestamp(moment: datetime) -> Timestamp:
    """Return the moment with microseconds."""
    message = Timestamp()
    message.FromDatetime(moment.astimezone(UTC))
    return message


def moment(text: str) -> datetime:
    """Read an ISO 8601 moment with an offset; ValueError for anything else."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("a moment needs an offset")
    return found


@contextlib.contextmanager
def _fits(record_kind: str, record_id: str, session_id: str) -> Iterator[None]:
    """Take what no message can hold - a word that no enum has, a number out of range - for a fault of the record.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    try:
        yield
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, ParseError):
        detail = "cannot be told: it holds a value that its message cannot"
        raise UnreadableRecordError(record_kind, record_id, detail, session_id=session_id) from None


def session(record: SessionRecord, dag: DagView | None) -> dag_pb2.Session:
    """Return the session; ``dag`` is ``None`` while it has no window.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("session", record.session_id, record.session_id):
        left = record.budget_ceiling if dag is None else budget_left(record, dag)
        return dag_pb2.Session(
            session_id=record.session_id,
            status=f"SESSION_STATUS_{record.status.value}",
            created_time=timestamp(record.created_at),
            version=record.version,
            audit_trail_id=record.audit_trail_id,
            policy_hash=record.policy_hash,
            limits=dag_pb2.SessionLimits(
                max_windows=record.max_windows,
                max_fan_out=record.max_fan_out,
                max_dag_nodes=record.max_dag_nodes,
                max_loop_depth=record.max_loop_depth,
            ),
            parent_session_id=record.parent_session_id,
            loop_depth=record.loop_depth,
            key_version=record.key_version,
            window_count=dag.highest_number() if dag else 0,
            safety_budget=left,
            circuit_breaker=breaker_state(left),
        )


def window(record: WindowRecord, dag: DagView) -> dag_pb2.WindowNode:
    """Return the node with its children.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("window", record.window_id, record.session_id):
        return dag_pb2.WindowNode(
            window_id=record.window_id,
            session_id=record.session_id,
            window_number=record.window_number,
            parent_ids=sorted(record.parent_ids),
            child_ids=dag.child_ids(record.window_id),
            continuation_id=record.continuation_id,
            pattern=f"WINDOW_PATTERN_{record.pattern.value}",
            strategy=record.strategy,
            envelope_etag=record.envelope_etag,
            quality_tier=_TIER_PREFIX + (record.quality_tier or _UNSET),
            risk_level=_RISK_PREFIX + (record.risk_level or _UNSET),
            safety_budget=record.safety_budget,
            hmac=record.hmac,
            hmac_chain_tip=record.hmac,
            timestamp=timestamp(record.timestamp),
            token_count=record.token_count,
            response_hash=record.response_hash,
            status=f"WINDOW_STATUS_{record.status.value}",
            window_hmac=record.window_hmac,
            report_id=record.report_id,
            report_hash=record.report_hash,
            response_tokens=record.response_tokens,
            model_fingerprint=record.model_fingerprint,
            facts_included=record.facts_included,
            facts_deferred=[
                dag_pb2.DeferredFactRef(fact_id=fact.fact_id, token_count=fact.token_count)
                for fact in record.facts_deferred
            ],
            failure_reason=record.failure_reason,
        )


def edge(record: EdgeRecord) -> dag_pb2.WindowEdge:
    """Return the edge.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("edge", f"{record.source_id} -> {record.target_id}", record.session_id):
        return dag_pb2.WindowEdge(
            source_id=record.source_id,
            target_id=record.target_id,
            transfer_type=f"TRANSFER_TYPE_{record.transfer_type.value}",
            transferred_tokens=record.transferred_tokens,
            summary_hash=record.summary_hash,
        )


def parent(record: WindowRecord, transfer: Transfer) -> pb.ParentContext:
    """Return what flows from one parent, or from a window of an agent's session, into a window."""
    return pb.ParentContext(
        window_id=record.window_id,
        window_number=record.window_number,
        response_text=transfer.text,
        transfer_type=f"TRANSFER_TYPE_{transfer.transfer_type.value}",
        transferred_tokens=transfer.tokens,
        deferred_fact_ids=transfer.deferred_fact_ids,
        transferred_fact_ids=transfer.transferred_fact_ids,
        skipped=transfer.skipped,
        summary_tokens=transfer.summary_tokens,
        fallback_text=transfer.fallback_text,
    )


def merged_agent(end: MergedEnd) -> pb.MergedAgent:
    """Return an answer of an agent's session that a window merged."""
    return pb.MergedAgent(
        target_id=end.target_id,
        session_id=end.session_id,
        window_id=end.window_id,
        hmac=end.hmac,
        safety_budget=end.safety_budget,
    )


def tier_value(tier: str) -> taxonomy.QualityTier:
    """Return the enum value of a short tier name."""
    return cast("taxonomy.QualityTier", enums.QUALITY_TIERS.number(QualityTier(tier)))


def integrity(value: str) -> taxonomy.ChainIntegrity:
    """Return the enum value of a short integrity name."""
    return cast("taxonomy.ChainIntegrity", enums.CHAIN_INTEGRITIES.number(ChainIntegrity(value)))


def breaker_state(budget: float) -> taxonomy.BreakerState:
    """Return the circuit breaker's state at a budget."""
    return cast("taxonomy.BreakerState", enums.BREAKER_STATES.number(breaker(budget)))


def degradation(level: Degradation) -> dag_pb2.QualityDegradation:
    """Return the trend and its advice."""
    return dag_pb2.QualityDegradation(level=f"DEGRADATION_LEVEL_{level.value}", advice=ADVICE[level])


def verification(found: Verification) -> pb.VerifyChainResponse:
    """Return what a verification found."""
    fault = found.fault
    return pb.VerifyChainResponse(
        integrity=integrity(found.integrity.value),
        windows_verified=found.windows_verified,
        windows_total=found.windows_total,
        events_verified=found.events_verified,
        events_total=found.events_total,
        fault=(
            pb.ChainFault(record_kind=fault.record_kind, record_id=fault.record_id, detail=fault.detail)
            if fault
            else None
        ),
        tips=found.tips,
        partial_reason=found.partial_reason,
    )


def event(record: AuditEventRecord) -> dag_pb2.AuditEvent:
    """Return the event.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("event", str(record.sequence), record.session_id):
        return dag_pb2.AuditEvent(
            event_id=record.event_id,
            sequence=record.sequence,
            event_type=_EVENT_PREFIX + record.event_type,
            timestamp=timestamp(record.timestamp),
            window_id=record.window_id,
            data=record.data,
            hmac=record.hmac,
            session_id=record.session_id,
            data_sha256=record.data_sha256,
        )


def export_line(record: AuditEventRecord) -> pb.ExportAuditResponse:
    """Return the event as one line of NDJSON: this contract's fields, ``data`` as JSON and not text; null if erased.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("event", str(record.sequence), record.session_id):
        fields = message_json(event(record))
        data = json.loads(record.data) if record.data else None
        return pb.ExportAuditResponse(line=canonical_json({**fields, "data": data}).decode())


def ocsf_export_line(record: AuditEventRecord, tenant_id: str) -> pb.ExportAuditResponse:
    """Return the event as one line of OCSF (ADR 0057).

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("event", str(record.sequence), record.session_id):
        return pb.ExportAuditResponse(line=ocsf_line(record, tenant_id, _PRODUCT_VERSION))


def analysis_line(record: WindowRecord, stored: ReportRecord) -> pb.ExportAuditResponse:
    """Return a window's answer, report and analysis inputs as one line of NDJSON (ADR 0043).

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("report", stored.report_id, record.session_id):
        fields = {
            "record": "analysis",
            "session_id": record.session_id,
            "window_id": record.window_id,
            "window_number": record.window_number,
            "response_text": record.response_text,
            "report": json.loads(stored.body),
            "inputs": json.loads(stored.inputs) if stored.inputs else None,
        }
        return pb.ExportAuditResponse(line=canonical_json(fields).decode())


def report_summary(
    record: ReportRecord | UnreadableRecordError, signals: report_pb2.DpeReport | None = None
) -> pb.ReportSummary:
    """Return the report in brief; of one that does not parse its ids, and the column (ADR 0101)."""
    if isinstance(record, UnreadableRecordError):
        known = record.metadata
        return pb.ReportSummary(
            report_id=record.record_id, session_id=known["session_id"], unreadable=known["field"] or record.detail
        )
    return pb.ReportSummary(
        report_id=record.report_id,
        session_id=record.session_id,
        window_id=record.window_id,
        report_hash=record.report_hash,
        created_time=timestamp(record.created_at),
        signals=signals,
    )


def listed_id(record: ReportRecord | UnreadableRecordError) -> str:
    """Return the id that the next page goes on from."""
    return record.record_id if isinstance(record, UnreadableRecordError) else record.report_id


def report(record: ReportRecord, view: int = report_pb2.REPORT_VIEW_FULL) -> pb.GetReportResponse:
    """Return the report with its stored bytes; fields of an older contract are left to the bytes, all when erased.

    In another view than FULL it comes without them.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    with _fits("report", record.report_id, record.session_id):
        message = ParseDict(json.loads(record.body or "{}"), report_pb2.DpeReport(), ignore_unknown_fields=True)
        whole = view in {report_pb2.REPORT_VIEW_UNSPECIFIED, report_pb2.REPORT_VIEW_FULL}
        return pb.GetReportResponse(
            report=in_view(message, view), canonical_json=record.body if whole else "", summary=report_summary(record)
        )
