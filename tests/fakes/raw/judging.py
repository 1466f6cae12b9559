"""What becomes of a change: who finds it and names what, and how everything beside it goes on."""

import contextlib
import shutil
import sqlite3
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.cli.offline import Verdict, check_export
from services.common.adapters.sqlite.sessions import SqliteSessionStore
from services.common.errors import UnavailableError
from services.common.signed_note import NoteKey
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.raw.changes import BOOKKEEPING, KEYS, LOG, Change, difference, meanings, rows_in
from tests.fakes.raw.pages import reads_of
from tests.fakes.raw.template import FILE, PLAIN, TENANT, Template, world_of

JUDGED = ("victim", "other", "erased", "buried")
STRICT = {f"a value of {table}" for table in ("sessions", "windows", "events", "reports")}
"""Kinds of which one record is altered, and that one is named; what hangs on it may be named with the others."""
HOLDS = {
    taxonomy.CHAIN_INTEGRITY_VALID,
    taxonomy.CHAIN_INTEGRITY_TRUNCATED,
}
ANSWERS = {grpc.StatusCode.DATA_LOSS, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE}
"""What a plain read may answer beside OK: the record, that there is none, that its key or file is not to be had."""
SAME = "the same value in another spelling"
UNREAD = "nothing that a record is read from"


@dataclass
class Judged:
    """The outcome of one change.

    Attributes:
        found_by: by role of the session that it altered: verify, export, start; empty where nobody found it.
        unaltered: why nothing was to be found; empty when something was.
        wrong: whatever else is not as it shall be.
    """

    found_by: dict = field(default_factory=dict)
    unaltered: str = ""
    wrong: list = field(default_factory=list)

    @property
    def missed(self):
        return sorted(role for role, who in self.found_by.items() if not who)


@dataclass
class Case:
    """One change under judgement: the server over the changed file, and what the change altered."""

    template: Template
    change: Change
    client: Any = None
    altered: Any = None
    unread: dict = field(default_factory=dict)
    sessions: dict = field(default_factory=dict)
    outcome: Judged = field(default_factory=Judged)

    def wrong(self, what):
        self.outcome.wrong.append(f"{self.change.kind}/{self.change.name}: {what}")

    async def ask(self, rpc, request, subject="alice", allowed=ANSWERS):
        """Call; ``None`` and the refusal when it fails in a way that it may."""
        try:
            return await self.client.call(rpc, request, subject), None
        except grpc.aio.AioRpcError as error:
            refused = Refusal.of(error)
            if refused.code not in allowed:
                self.wrong(f"{rpc} answered {refused}")
            return None, refused


async def judge(template: Template, change: Change, folder: Path) -> Judged:
    """Make the change to a copy of the file and look at it from all sides."""
    path = _fresh_copy(template, folder)
    case = Case(template, change)
    if change.restarts:
        change.make(path, template.older)
    try:
        store = await SqliteSessionStore.open(path, PLAIN)
    except UnavailableError:
        case.outcome.found_by = dict.fromkeys(JUDGED, "start")
        return case.outcome
    try:
        async with world_of(store, prefix="y", after=timedelta(minutes=12)).serving() as case.client:
            if not change.restarts:
                change.make(path, template.older)
            _compare(case, path)
            if change.written_after:
                await _go_on(case)
            await _judge_sessions(case)
            await _beside(case)
    finally:
        await store.close()
    return case.outcome


def _fresh_copy(template, folder):
    for old in folder.glob(f"{FILE}*"):
        old.unlink()
    return Path(shutil.copyfile(template.now, folder / FILE))


def _compare(case, path):
    """Find out, without the product, what the change altered and what plain SQLite reads of each session."""
    template = case.template
    for role, before in template.reads.items():
        after = reads_of(path, template.owner(role))
        case.unread[role] = {table for table in before if after[table] != before[table]}
    with contextlib.suppress(sqlite3.Error):
        case.altered = difference(template.says, meanings(rows_in(path)))
    case.sessions = {role: template.sessions[role] for role in JUDGED}
    if case.altered is not None and case.altered.tables == {"sessions"}:
        added = case.altered.sessions - set(template.sessions.values())
        if added and not case.altered.sessions & set(case.sessions.values()):
            case.sessions["added"] = min(added)


def _altered_roles(case):
    """Return the judged sessions of which the change altered something; one of them for the log's end."""
    altered = case.altered
    if case.change.edit is not None:
        return [role for role in JUDGED if case.unread[role]]
    roles = [role for role, name in case.sessions.items() if name in altered.sessions]
    return roles or (["victim"] if altered.tables else [])


async def _go_on(case):
    """Let an honest client go on with the session, as if nothing had been."""
    sessions, tokens = case.template.sessions, case.template.tokens
    event = pb.AppendEventRequest(request_id=fresh_uuid(), session_id=sessions["victim"], data='{"tool":"later"}')
    event.event_type = dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
    refusals = ANSWERS | {
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
    await case.ask("AppendEvent", event, allowed=refusals)
    for token in ("victim", "victim-older", "other"):
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=tokens[token], available_budget_tokens=1000
        )
        opened, _ = await case.ask("OpenWindow", request, allowed=refusals)
        if opened is not None:
            with contextlib.suppress(grpc.aio.AioRpcError):
                await case.client.commit(opened, "A nicer answer.")


async def _judge_sessions(case):
    roles = _altered_roles(case)
    for role, session_id in case.sessions.items():
        found, refused = await case.ask("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
        broken = found is not None and found.integrity == taxonomy.CHAIN_INTEGRITY_BROKEN
        if role in roles:
            case.outcome.found_by[role] = _named(case, role, found, refused) or await _by_export(case, session_id)
        elif broken and _untouched(case, role):
            case.wrong(f"{role} was not altered and is BROKEN: {found.fault}")
    if not roles:
        reasons = [BOOKKEEPING[table] for table in sorted(case.altered.bookkeeping)] if case.altered else []
        case.outcome.unaltered = UNREAD if case.change.edit else "; ".join(reasons) or SAME
    for role in roles if case.change.number % 4 else case.sessions:
        await _read(case, case.sessions[role])


def _untouched(case, role):
    if case.change.edit is not None and case.change.written_after:
        return False  # what was written into a damaged file may lie wherever the damage leads
    if case.altered is None or case.unread[role] or case.altered.tables & set(LOG):
        return False
    return case.sessions[role] not in case.altered.sessions


def _log_altered(case):
    return case.altered is None or bool(case.altered.tables & set(LOG))


def _named(case, role, found, refused):
    """Return ``verify`` when verification found it; what it names is looked at."""
    session_id = case.sessions[role]
    if found is not None:
        if found.integrity != taxonomy.CHAIN_INTEGRITY_BROKEN:
            return ""
        fault = (found.fault.record_kind, found.fault.record_id)
        if not all((*fault, found.fault.detail)):
            case.wrong(f"a fault that names nothing: {found.fault}")
        if case.change.edit is None and fault not in _may_be_named(case, session_id):
            case.wrong(f"named {found.fault}, altered {sorted(case.altered.named)[:6]}")
        return "verify"
    if refused.reason == "SESSION_NOT_FOUND":
        if case.change.edit is None and ("session", session_id) not in case.altered.named:
            case.wrong("the session is not found, and its row was not altered")
        return "verify: no such session"
    named = (refused.metadata.get("record_kind", ""), refused.metadata.get("record_id", ""))
    if case.change.edit is None and named not in case.altered.named:
        case.wrong(f"verification failed without the record: {refused}")
    return "verify: no such key"


def _may_be_named(case, session_id):
    """Return what was altered, and what that leaves behind: edges without a window, the place of a missing event."""
    altered, rows = case.altered, case.template.rows
    may = set(altered.named)
    if altered.tables & {"sessions", "events"}:  # the session's seal is compared with the place behind the last event
        count = sum(row["session_id"] == session_id for row in rows["events"])
        may |= {("event", str(count + n)) for n in range(12)}
    if case.change.kind not in STRICT:
        may |= {("window", window) for window in altered.windows}
        may |= {("report", row["report_id"]) for row in rows["reports"] if row["window_id"] in altered.windows}
        may |= {
            ("edge", f"{row['source_id']} -> {row['target_id']}")
            for row in rows["edges"]
            if altered.windows & {row["source_id"], row["target_id"]}
        }
    if session_id == case.template.sessions["buried"]:
        # What a tombstone stands for is gone: whether a leaf is missing says the digest of them all, and where the
        # tombstone stood says nothing.
        may |= {("leaf", session_id)} if "leaves" in altered.tables else set()
        may |= {("event", "0")} if "events" in altered.tables else set()
        may |= {("leaf", row["record_id"]) for row in rows["leaves"] if row["record_id"] in _ids(rows, session_id)}
    if "status" in case.change.name and case.change.kind == "a tombstone feigned":
        may |= {("event", str(row["sequence"])) for row in rows["events"] if row["session_id"] == session_id}
    if session_id == case.template.sessions["erased"] and "events" in altered.tables:
        may.add(("event", "0"))  # an erasure's event that does not follow its predecessor erases nothing
    return may


def _ids(rows, session_id):
    return {row["event_id"] for row in rows["events"] if row["session_id"] == session_id}


async def _by_export(case, session_id):
    """Return ``export`` when an export against the kept checkpoint finds it."""
    kept = case.template.kept
    try:
        lines = await case.client.export(session_id, with_content=True, sizes=(kept.tree_size,))
    except grpc.aio.AioRpcError as error:
        refused = Refusal.of(error)
        if refused.code not in ANSWERS | {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION}:
            case.wrong(f"ExportAudit answered {refused}")
        return "export"
    checked = check_export(lines, NoteKey(kept.origin, kept.public_key), kept.checkpoint)
    return "export" if checked.verdict is Verdict.BROKEN else ""


async def _read(case, session_id):
    """Read the session in every plain way: an answer, or an error that says what of it cannot be read."""
    for rpc, request in (
        ("GetDag", pb.GetDagRequest(session_id=session_id)),
        ("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=100)),
        ("ListReports", pb.ListReportsRequest(session_id=session_id)),
    ):
        _, refused = await case.ask(rpc, request)
        if refused is not None and refused.code is grpc.StatusCode.DATA_LOSS and not refused.metadata["record_kind"]:
            case.wrong(f"{rpc} names no record: {refused}")
    reports = [row for row in case.template.rows["reports"] if row["session_id"] == session_id]
    for row in reports[:2]:
        await case.ask("GetReport", pb.GetReportRequest(report_id=row["report_id"]))
    with contextlib.suppress(grpc.aio.AioRpcError):
        await case.client.export(session_id, with_content=True)


async def _beside(case):
    """Look after the session that works beside the changed one, after the other tenant, and after lists."""
    sessions, tokens = case.template.sessions, case.template.tokens
    damaged = case.change.edit is not None
    for role, subject in (("beside", "alice"), ("foreign", "mallory")):
        if case.unread[role]:
            if not damaged and "copy" not in case.change.kind and not _log_altered(case):
                case.wrong(f"{role} was altered too: the change was not confined")
            continue
        request = pb.VerifyChainRequest(session_id=sessions[role])
        found, refused = await case.ask("VerifyChain", request, subject)
        if refused or found.integrity not in HOLDS:
            case.wrong(f"{role} does not verify: {found} {refused}")
        if damaged or (role == "beside" and _log_altered(case)) or (role == "foreign" and case.change.number % 4):
            continue
        try:
            opened = await case.client.open(tokens[role], subject=subject)
            await case.client.commit(opened, "Work goes on.", subject=subject)
        except grpc.aio.AioRpcError as error:
            case.wrong(f"{role} cannot go on: {Refusal.of(error)}")
    _, refused = await case.ask("ListReports", pb.ListReportsRequest(page_size=100))
    if refused and not damaged:
        case.wrong(f"the tenant's reports are not listed: {refused}")


def tables_of(rows, session_ids):
    """Return the rows of some sessions, by table; the tenant's own tables whole."""
    found = {}
    for table in KEYS:
        every = [row for row in rows[table] if row.get("tenant_id", TENANT) == TENANT]
        found[table] = [row for row in every if "session_id" not in row or row["session_id"] in session_ids]
    return found
