"""Committing a window: the report is checked, the chain extended, the budget taken, the next pointer issued or not.

SPEC-004 §9.1 (HMAC), §10.1 (what the token will carry), §11.4 (no pointer at the last window), §4.3 (end of session).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, PreconditionError
from services.common.ids import is_trace_session
from services.common.ports.sessions import (
    DeferredFact,
    ReportRecord,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    WindowPattern,
    WindowRecord,
)
from services.common.provenance import report_hash
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.domain.budget import BudgetProfile, after_window, starting_budget
from services.dag.domain.chain import WindowMaterial, chained_hmac, same, window_hmac
from services.dag.domain.ending import SESSION_ENDED, check_open, check_pending, fail, find_window, session_ended
from services.dag.domain.events import BUDGET_DEPLETED, OwnEvent, PendingEvent, report_data, window_data
from services.dag.domain.groups import Groups
from services.dag.domain.opening_note import OpeningNote
from services.dag.domain.step import Step
from services.dag.domain.summaries import FlowedTransfer, settle
from services.dag.domain.view import DagView

LAST_WINDOW: Final = "MAX_WINDOWS"
INTEGRITY_PREFIX: Final = "CHAIN_INTEGRITY_"


@dataclass(frozen=True, slots=True)
class CommitCommand:
    """What the window produced.

    Attributes:
        report: the protobuf JSON mapping of the report (``services.common.rpc.canonical.message_json``).
        risk_level, quality_tier: short names, LOW and A.
        strategy: the header's spelling; empty keeps the one it was opened with.
        ckf_state_hash: for the token.
        inputs: canonical JSON of the analysis inputs; empty = not kept.
        transfers: what flowed from each parent that was opened as SUMMARY.
        refusal: the report found that the answer says that there is none (ADR 0096).
    """

    session_id: str
    window_id: str
    response_text: str
    report: Mapping[str, Any]
    risk_level: str
    quality_tier: str
    envelope_etag: str = ""
    token_count: int = 0
    response_tokens: int = 0
    facts_included: tuple[str, ...] = ()
    facts_deferred: tuple[DeferredFact, ...] = ()
    strategy: str = ""
    model_fingerprint: str = ""
    ckf_state_hash: str = ""
    inputs: str = ""
    transfers: tuple[FlowedTransfer, ...] = ()
    refusal: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """The step, window and session as they shall be, and why session or branch ends here (empty = it goes on)."""

    step: Step
    session: SessionRecord
    window: WindowRecord
    integrity: ChainIntegrity
    end_cause: str


@dataclass(frozen=True, slots=True)
class CommitTerms:
    """What the rules need beside the request.

    Attributes:
        key: the session's HMAC key.
        now: the moment of the commit.
        continuation_id: a fresh pointer, used unless the session ends.
        verified: result of verifying the stored chain.
        profile: where the budget ends a session.
        note: what was decided when the window was opened.
    """

    key: bytes
    now: datetime
    continuation_id: str
    verified: ChainIntegrity
    profile: BudgetProfile
    note: OpeningNote


def commit_window(before: SessionSnapshot, ask: CommitCommand, terms: CommitTerms) -> Commit:
    """Commit a pending window of a verified session.

    Raises:
        NotFoundError: WINDOW_NOT_FOUND.
        PreconditionError: WINDOW_NOT_PENDING, SESSION_CLOSED, REPORT_MISMATCH.
        InvalidRequestError: INVALID_FIELD: ``transfers`` are not those of the edges that were opened as SUMMARY.
    """
    dag = DagView.of(before)
    window = find_window(dag, ask.window_id)
    check_pending(window)
    check_open(before.session)
    response_hash = sha256_hex(ask.response_text)
    hashed = _checked_report_hash(ask, window, response_hash)
    edges, summaries = settle(dag.edges_into(window.window_id), ask.transfers, terms.note.summary_tokens)
    # ADR 0073: the iterations of a trace are drafts that nobody is given; like remedies (SPEC-005 §19.3) they are free.
    drafted = is_trace_session(window.session_id)
    # SPEC-004 §15.2: what agents have spent since the window was opened counts as well.
    start = starting_budget((window.safety_budget, before.session.budget_ceiling), None)
    budget = start if drafted else after_window(start, ask.risk_level, refusal=ask.refusal)
    end_cause = _end_cause(before.session, window, budget, terms.profile)
    material = WindowMaterial(window.session_id, window.window_number, window.timestamp, response_hash, hashed)
    committed = replace(
        window,
        status=WindowStatus.COMMITTED,
        strategy=ask.strategy or window.strategy,
        # SPEC-004 §11.4: at the last window no pointer is issued.
        continuation_id="" if end_cause else terms.continuation_id,
        envelope_etag=ask.envelope_etag,
        quality_tier=ask.quality_tier,
        risk_level=ask.risk_level,
        safety_budget=budget,
        hmac=chained_hmac(material, [dag.by_id[parent].hmac for parent in window.parent_ids], terms.key),
        window_hmac=window_hmac(material, terms.key),
        token_count=ask.token_count,
        response_hash=response_hash,
        response_text=ask.response_text,
        response_tokens=ask.response_tokens,
        report_id=str(ask.report["report_id"]),
        report_hash=hashed,
        model_fingerprint=ask.model_fingerprint,
        facts_included=ask.facts_included,
        facts_deferred=ask.facts_deferred,
    )
    # SPEC-004 §4.1: the first window has nothing before it to verify.
    integrity = ChainIntegrity.UNVERIFIED if window.window_number == 1 else terms.verified
    # SPEC-004 §16.3: in a fan-out the branch ends and the siblings go on, in whatever order they finish.
    session_ends = bool(end_cause) and not Groups.of(dag).is_parallel(window.window_id)
    session = replace(before.session, status=SessionStatus.COMPLETED) if session_ends else before.session
    report = _report_record(ask, committed, integrity, terms.now)
    after = DagView.of(before, (committed,), edges)
    own = (*summaries, *_own_drafts(committed, after, report, end_cause, terms.note))
    others = [w for w in dag.windows if w.status is WindowStatus.PENDING and w is not window] if session_ends else []
    failed = [fail(dag, other, SESSION_ENDED) for other in others]
    ended = (session_ended(session, end_cause),) if session_ends else ()
    step = Step(
        session,
        windows=(committed, *(other for other, _ in failed)),
        edges=edges,
        reports=(report,),
        drafts=(*own, *(draft for _, draft in failed), *ended),
    )
    return Commit(step, session, committed, integrity, end_cause)


def _checked_report_hash(ask: CommitCommand, window: WindowRecord, response_hash: str) -> str:
    """Return the recomputed report hash; the report must be this window's and this response's.

    Raises:
        PreconditionError: REPORT_MISMATCH; metadata names the field.
    """
    expected = {
        "session_id": window.session_id,
        "window_id": window.window_id,
        "window_number": window.window_number,
        "response_content_hash": response_hash,
        "report_hash": report_hash(ask.report),
    }
    for name, value in expected.items():
        if not same(str(ask.report.get(name, "")), str(value)):
            text = f"the report's {name} is not that of the window and response it is committed with"
            raise PreconditionError(ErrorReason.REPORT_MISMATCH, text, field=f"report.{name}")
    return str(expected["report_hash"])


def _end_cause(session: SessionRecord, window: WindowRecord, budget: float, profile: BudgetProfile) -> str:
    """Return why the session, or in a fan-out the branch, ends with this window (SPEC-004 §4.3, §11.4), or nothing."""
    if profile.depleted(budget):
        return BUDGET_DEPLETED
    return LAST_WINDOW if window.window_number >= session.max_windows else ""


def _report_record(ask: CommitCommand, window: WindowRecord, integrity: ChainIntegrity, now: datetime) -> ReportRecord:
    """Return the report with hmac and chain_integrity filled in; neither is under its hash."""
    filled = {**ask.report, "hmac": window.hmac, "chain_integrity": INTEGRITY_PREFIX + integrity.value}
    return ReportRecord(
        session_id=window.session_id,
        window_id=window.window_id,
        report_id=window.report_id,
        report_hash=window.report_hash,
        created_at=now,
        body=canonical_json(filled).decode(),
        inputs=ask.inputs,
    )


def _own_drafts(
    window: WindowRecord, dag: DagView, report: ReportRecord, end_cause: str, note: OpeningNote
) -> tuple[PendingEvent, ...]:
    """Return the events of the window itself; ``dag`` holds it as committed."""
    drafts = [
        PendingEvent(OwnEvent.DPE_COMPLETED, window.window_id, {"report": report_data(report)}),
        PendingEvent(
            OwnEvent.DISPATCH_COMPLETED, window.window_id, window_data(window, dag.edges_into(window.window_id))
        ),
    ]
    if window.pattern is WindowPattern.FAN_IN or note.agents:
        drafts.append(_merged(window, dag, note))
    if end_cause == BUDGET_DEPLETED:
        data = {"safety_budget": window.safety_budget, "risk_level": window.risk_level}
        drafts.append(PendingEvent(BUDGET_DEPLETED, window.window_id, data))
    return tuple(drafts)


def _merged(window: WindowRecord, dag: DagView, note: OpeningNote) -> PendingEvent:
    parents = [dag.by_id[parent] for parent in sorted(window.parent_ids)]
    data: dict[str, Any] = {
        "parents": {
            parent.window_id: {"hmac": parent.hmac, "safety_budget": parent.safety_budget} for parent in parents
        },
        "fan_in_policy": note.fan_in_policy,
        "left_out": list(note.left_out),
    }
    if note.agents:  # SPEC-004 §15.1: what binds the agents' sessions to this one
        data |= {"agents": dict(note.agents), "agents_left_out": list(note.agents_left_out)}
    return PendingEvent(OwnEvent.FAN_IN_MERGED, window.window_id, data)
