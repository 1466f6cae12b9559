"""A long linear session for the benchmark of dag: built from the domain's own formulas, without the cost of deciding.

Sizes are those of ADR 0010's worked example: a response of 8 KiB and a report of 24 KiB for every window.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from services.common.encoding import iso_micros, sha256_hex
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionChange,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    TransferType,
    WindowPattern,
    WindowRecord,
)
from services.common.provenance import UNHASHED_REPORT_FIELDS
from services.common.taxonomy import WindowStatus
from services.dag.domain import chain
from services.dag.domain.events import OwnEvent, PendingEvent, chain_events, report_data, session_data, window_data
from services.dag.domain.keys import MasterKey, session_hmac_key
from services.dag.domain.leaves import committed_node, event_loggable, leaf_bytes, window_loggable
from services.dag.domain.promises import Promise
from services.dag.domain.repeated import told
from services.dag.domain.verification import StoredChain
from services.dag.sealed_store import logged_change

TENANT: Final = "tenant-bench"
MASTER: Final = MasterKey(1, bytes(range(32)))
RESPONSE_BYTES: Final = 8 * 1024
REPORT_BYTES: Final = 24 * 1024
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_CLAIM: Final = {
    "attribution": "ATTRIBUTION_TYPE_CONTEXTUAL",
    "claim_id": "c-000",
    "fact_ids": ["f-1", "f-2"],
    "text": "A motor accident must be reported within 7 days, in writing, to the office that issued the policy. " * 2,
    "verdict": "SUPPORTED",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A session's windows as the changes that write them, one for each window, and the key of their HMACs."""

    session_id: str
    key: bytes
    changes: tuple[SessionChange, ...]

    def stored(self) -> StoredChain:
        """Return the session as a store would give it back, with its leaves."""
        changes = [logged_change(change) for change in self.changes]
        windows = tuple(window for change in changes for window in change.windows)
        edges = tuple(edge for change in changes for edge in change.edges)
        events = tuple(event for change in changes for event in change.events)
        reports = tuple(report for change in changes for report in change.reports)
        leaves = (leaf for change in changes for leaf in change.leaves)
        indexed = tuple(replace(leaf, leaf_index=index) for index, leaf in enumerate(leaves))
        snapshot = SessionSnapshot(changes[-1].session, windows, edges, events[-1])
        return StoredChain(snapshot, events, reports, indexed)


def plain_json(value: Any) -> str:
    """Return RFC 8785 text of a value without fractions and of ASCII names, the fast way."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def write_session(name: str, count: int) -> Written:
    """Return a linear session of ``count`` committed windows; ``name`` makes its ids."""
    session_id = "crp_sess_" + name.rjust(32, "0")
    key = session_hmac_key(MASTER, session_id)
    session = SessionRecord(
        TENANT,
        session_id,
        "crp_gw_bench_abcdefgh",
        SessionStatus.OPEN,
        _START,
        0,
        "trail",
        1,
        "",
        10_000,
        10,
        20_000,
        5,
    )
    changes: list[SessionChange] = []
    parent: WindowRecord | None = None
    last: AuditEventRecord | None = None
    for number in range(1, count + 1):
        change = _committed(replace(session, version=number), number, parent, last, key)
        changes.append(change)
        parent, last = change.windows[0], change.events[-1]
    return Written(session_id, key, tuple(changes))


def _committed(
    session: SessionRecord, number: int, parent: WindowRecord | None, last: AuditEventRecord | None, key: bytes
) -> SessionChange:
    now = _START + timedelta(milliseconds=number)
    pending = WindowRecord(
        session_id=session.session_id,
        window_id=f"crp_win_{session.session_id[-6:]}{number:010}",
        window_number=number,
        parent_ids=(parent.window_id,) if parent else (),
        pattern=WindowPattern.LINEAR,
        status=WindowStatus.PENDING,
        strategy="push",
        timestamp=now,
        opened_by_request="00000000-0000-4000-8000-000000000000",
    )
    window, report = _with_report(pending, parent, key)
    edge = (
        EdgeRecord(session.session_id, parent.window_id, window.window_id, TransferType.FACTS_ONLY, 420)
        if parent
        else None
    )
    edges = (edge,) if edge else ()
    begin = OwnEvent.SESSION_CONTINUED if parent else OwnEvent.SESSION_CREATED
    promise = {} if parent else Promise().data()
    drafts = (
        PendingEvent(begin, "", {"session": session_data(session), **promise}),
        PendingEvent(OwnEvent.DISPATCH_STARTED, window.window_id, window_data(pending, edges)),
        PendingEvent(OwnEvent.DPE_COMPLETED, window.window_id, {"report": report_data(report)}),
        PendingEvent(OwnEvent.DISPATCH_COMPLETED, window.window_id, window_data(window, edges)),
    )
    events = chain_events(drafts, session.session_id, last, now, key)
    session = told(session, events)
    seal = chain.Macs(key).trail(session.version, events[-1].sequence + 1, events[-1].hmac)
    receipt = Receipt(TENANT, "CommitWindow", f"{session.session_id}-{number}", "0" * 64, b"a" * 1_500, now)
    return SessionChange(replace(session, trail_mac=seal), (window,), edges, events, (report,), receipt)


def _with_report(pending: WindowRecord, parent: WindowRecord | None, key: bytes) -> tuple[WindowRecord, ReportRecord]:
    text = f"Answer {pending.window_number}. ".ljust(RESPONSE_BYTES, "x")
    fields: dict[str, Any] = {
        "claims": [{**_CLAIM, "claim_id": f"c-{n:03}"} for n in range(REPORT_BYTES // len(plain_json(_CLAIM)))],
        "response_content_hash": sha256_hex(text),
        "session_id": pending.session_id,
        "stages": [{"stage": number, "status": "COMPLETED"} for number in range(1, 14)],
        "window_id": pending.window_id,
        "window_number": pending.window_number,
    }
    hashed = sha256_hex(plain_json(fields))
    material = chain.WindowMaterial(
        pending.session_id, pending.window_number, pending.timestamp, fields["response_content_hash"], hashed
    )
    mac = chain.chained_hmac(material, [parent.hmac] if parent else [], key)
    fields |= {"chain_integrity": "CHAIN_INTEGRITY_VALID", "hmac": mac, "report_hash": hashed}
    fields["timings"] = {"stages": [{"duration": "0.001s", "stage": n} for n in range(1, 14)], "total": "0.013s"}
    window = replace(
        pending,
        status=WindowStatus.COMMITTED,
        continuation_id=f"crp_cont_{pending.session_id[-16:]}{pending.window_number:016}",
        quality_tier="A",
        risk_level="LOW",
        safety_budget=0.85,
        hmac=mac,
        window_hmac=chain.window_hmac(material, key),
        response_hash=fields["response_content_hash"],
        response_text=text,
        response_tokens=2_000,
        report_id=f"{pending.session_id}-r{pending.window_number:06}",
        report_hash=hashed,
        facts_included=tuple(f"fact-{number}" for number in range(20)),
    )
    report = ReportRecord(
        window.session_id, window.window_id, window.report_id, hashed, pending.timestamp, plain_json(fields)
    )
    return window, report


def bare_windows(stored: StoredChain) -> list[bytes]:
    """Return the exact bytes that the chained and the single HMAC of every window cover, made beforehand."""
    found = []
    hmacs = {window.window_id: window.hmac for window in stored.snapshot.windows}
    for window in stored.snapshot.windows:
        alone = (
            f"{window.session_id}{window.window_number}{iso_micros(window.timestamp)}"
            f"{window.response_hash}{window.report_hash}"
        )
        chained = alone + "|".join(sorted(hmacs[parent] for parent in window.parent_ids))
        found += [chained.encode(), alone.encode()]
    return found


def bare_events(events: Iterable[AuditEventRecord]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the data of every event and the bytes of its HMAC, made beforehand."""
    previous = ""
    for event in events:
        digest = hashlib.sha256(event.data.encode()).hexdigest()
        text = f"{event.event_type}{iso_micros(event.timestamp)}{digest}{event.window_id}{previous}"
        yield event.data.encode(), text.encode()
        previous = event.hmac


def bare_content(stored: StoredChain) -> list[bytes]:
    """Return what is hashed without a key: responses, reports whole, and reports without what dag fills in."""
    whole = [window.response_text.encode() for window in stored.snapshot.windows]
    for report in stored.reports:
        kept = {name: value for name, value in json.loads(report.body).items() if name not in UNHASHED_REPORT_FIELDS}
        whole += [report.body.encode(), plain_json(kept).encode()]
    return whole


def bare_leaves(stored: StoredChain) -> tuple[list[tuple[bytes, bytes]], list[bytes]]:
    """Return what the leaves are made of, made beforehand: salts and contents, and the bytes that are hashed."""
    salts = {window.window_id: window.salt for window in stored.snapshot.windows}
    salted: list[tuple[bytes, bytes]] = []
    for event in stored.events:
        node = committed_node(event)
        if node is not None:
            salted.append((salts[event.window_id], window_loggable(event.session_id, node).content))
        salted.append((event.salt, event_loggable(event).content))
    return salted, [b"\x00" + leaf_bytes(leaf) for leaf in stored.leaves]


def salted_all(pairs: Iterable[tuple[bytes, bytes]]) -> None:
    """The baseline for leaves: one HMAC after the other, each under its own salt."""
    for salt, content in pairs:
        hmac.digest(salt, content, "sha256").hex()


def hmac_all(texts: Iterable[bytes], key: bytes) -> None:
    """The baseline: one HMAC after the other over bytes that lie ready."""
    for text in texts:
        hmac.new(key, text, hashlib.sha256).hexdigest()


def hash_all(texts: Iterable[bytes]) -> None:
    """The baseline for what needs no key."""
    for text in texts:
        hashlib.sha256(text).hexdigest()
