"""The check itself: signature, order, content against salted leaves, inclusion, completeness, consistency (ADR 0053).

What cannot be checked without the session's HMAC key is the HMAC of windows and events; what takes its place is the
signed log, which holds the salted hash of each of them. The first thing that does not hold is named, in the order log
line, events, leaves, analyses, what is missing, what the server found broken, the earlier checkpoint, facts.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any

from services.cli.offline.facts import check_facts
from services.cli.offline.knowledge import check_known
from services.cli.offline.lines import BadLineError, Fault, Line, Part, event_record, read_lines
from services.cli.offline.manifest import COUNTED, Manifest
from services.cli.offline.witnesses import WitnessDemand, Witnessed, cosigned_heads, kept_checkpoint, weigh
from services.common.counting import counted
from services.common.encoding import base64_decode, canonical_json, sha256_hex
from services.common.merkle import consistency_holds, inclusion_holds
from services.common.ports.sessions import AuditEventRecord
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.dag.domain.chain import event_id
from services.dag.domain.events import OwnEvent
from services.dag.domain.leaves import (
    SALT_BYTES,
    Loggable,
    committed_node,
    event_loggable,
    logged_records,
    salted_hmac,
    window_loggable,
    with_hash,
)
from services.dag.domain.promises import promise_of
from services.dag.domain.stored_report import read_body
from services.dag.domain.tombstones import leaves_digest


@unique
class Verdict(StrEnum):
    """What a check found."""

    VALID = "VALID"
    TRUNCATED = "TRUNCATED"
    """Everything holds; the content was erased."""
    INCOMPLETE = "INCOMPLETE"
    """Nothing is wrong, but something could not be checked; the notes say what."""
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class Checked:
    """A finished check.

    Attributes:
        fault: set exactly when BROKEN.
        notes: what could not be checked, in sentences.
        origin, tree_size, root: of the signed head; empty, 0 and empty when there is none that holds.
        events, windows, analyses: how many were found in the signed log and hold.
        witnessed_size: of the head that the witnesses asked for cosigned; 0 without one.
        cosigned_by: who of them, and when.
    """

    verdict: Verdict
    fault: Fault | None = None
    notes: tuple[str, ...] = ()
    session_id: str = ""
    origin: str = ""
    tree_size: int = 0
    root: str = ""
    events: int = 0
    windows: int = 0
    analyses: int = 0
    witnessed_size: int = 0
    cosigned_by: tuple[str, ...] = ()


@dataclass(slots=True)
class _Check:
    """One check under way."""

    parts: dict[Part, list[Line]]
    key: NoteKey
    demand: WitnessDemand
    head: Checkpoint = field(default_factory=lambda: Checkpoint("", 0, b""))
    manifest: Manifest = field(default_factory=lambda: Manifest("", dict.fromkeys(COUNTED, 0), ""))
    events: list[AuditEventRecord] = field(default_factory=list)
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reports: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("events", "windows", "analyses"), 0))
    erased: bool = False
    buried: bool = False
    heads: list[Note] = field(default_factory=list)
    """What witnesses may have cosigned: heads that the export's is, or is shown to go on from."""
    witnessed: Witnessed = field(default_factory=Witnessed)


def check_export(
    texts: Sequence[str], key: NoteKey, earlier: str | None, demand: WitnessDemand | None = None
) -> Checked:
    """Check an export.

    Args:
        texts: the file's lines, without line feeds.
        key: of the log that the export says it is in.
        earlier: a checkpoint that was kept, as a signed note; ``None`` = none.
        demand: which witnesses have to have cosigned the log; ``None`` = none.
    """
    check: _Check | None = None
    try:
        check = _Check(read_lines(texts), key, demand or WitnessDemand())
        _check_log(check)
        _check_events(check)
        if check.buried:
            _check_tombstone(check)
        else:
            _check_leaves(check)
        check.heads = cosigned_heads(check.parts[Part.LOG][0], check.head, key, check.demand)
        if not check.buried:
            _check_erasure(check)
        _check_analyses(check)
        _check_whole(check)
        check.notes += check_known(check.parts[Part.EVENT], check.events, check.manifest)
        if earlier is not None:
            _check_growth(check, earlier)
        check.witnessed = weigh(check.heads, check.parts[Part.LEAF], check.demand)
        check.notes += check.witnessed.notes
        every_byte = bool(check.manifest.log_sha256)
        check.notes += check_facts(check.parts[Part.FACT], check.parts[Part.ANALYSIS], every_byte=every_byte)
    except BadLineError as bad:
        return _result(check, bad.fault)
    return _result(check, None)


def _result(check: _Check | None, fault: Fault | None) -> Checked:
    if check is None:
        return Checked(Verdict.BROKEN, fault)
    verdict = Verdict.TRUNCATED if check.erased else Verdict.VALID
    if check.notes:
        verdict = Verdict.INCOMPLETE
    return Checked(
        verdict=Verdict.BROKEN if fault else verdict,
        fault=fault,
        notes=tuple(check.notes),
        session_id=check.manifest.session_id,
        origin=check.head.origin,
        tree_size=check.head.size,
        root=check.head.root.hex(),
        witnessed_size=check.witnessed.size,
        cosigned_by=check.witnessed.names,
        **check.counts,
    )


def _check_log(check: _Check) -> None:
    """Check the signatures of the head and of the export's own note."""
    lines = check.parts[Part.LOG]
    if len(lines) != 1:
        number = lines[1].number if lines else 0
        raise BadLineError(number, "log", "", "must stand in the export exactly once: its line proves all others")
    line = lines[0]
    try:
        checkpoint, manifest = (Note.parse(line.value[name]) for name in ("checkpoint", "manifest"))
        head = Checkpoint.parse(checkpoint.text)
        said = Manifest.parse(manifest.text, str(head))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadLineError(line.number, "log", "", "holds no checkpoint and no note over the export") from None
    signed = {"checkpoint": checkpoint.holds(check.key, head.origin)}
    signed["manifest"] = said.is_signed(manifest, check.key, head.origin)
    for name, holds in signed.items():
        if not holds:
            raise BadLineError(line.number, "log", "", f"has a {name} that the given key did not sign")
    if line.value.get("session_id") != said.session_id:
        raise BadLineError(line.number, "log", "", "names another session than the signed note")
    if not said.covers(line.value):
        raise BadLineError(line.number, "log", "", "is not as it was exported")
    check.head, check.manifest = head, said
    for name in said.unknown:
        check.notes.append(f"the signed note has a member that this version does not know: {name}")


def _check_events(check: _Check) -> None:
    """Check order and gaps of the audit chain, and collect what the events say."""
    lines = check.parts[Part.EVENT]
    first = event_record(lines[0]) if lines else None
    check.buried = first is not None and first.event_type == OwnEvent.SESSION_TOMBSTONED
    start = first.sequence if first is not None and check.buried else 0
    for place, line in enumerate(lines, start):
        event, name = event_record(line), str(place)
        if event.sequence != place:
            text = f"is missing or out of order: event {event.sequence} is here"
            raise BadLineError(line.number, "event", name, text)
        if event.session_id != check.manifest.session_id:
            raise BadLineError(line.number, "event", name, "is of another session")
        if event.event_id != event_id(event.hmac):
            raise BadLineError(line.number, "event", name, "has an event_id that does not follow from its hmac")
        check.events.append(event)
        _note(check, event)
    if len(check.events) < check.manifest.counts["events"]:
        raise BadLineError(0, "event", str(len(check.events)), "is missing at the end of the chain")


def _check_tombstone(check: _Check) -> None:
    """Check the leaves of a session that a tombstone stands for: all are there, and it names them (ADR 0104)."""
    event, at = check.events[0], check.parts[Part.EVENT][0]
    name = str(event.sequence)
    if len(check.events) > 1:
        raise BadLineError(at.number, "event", name, "is not the last, although it stands for the whole session")
    leaves: list[LogLeaf] = []
    for line in check.parts[Part.LEAF]:
        leaf, salt, path = _leaf(line, check.manifest.session_id, _kind(line))
        if leaves and leaf.leaf_index <= leaves[-1].leaf_index:
            raise BadLineError(line.number, "leaf", leaf.record_id, "is out of order")
        if not inclusion_holds(leaf.leaf_hash, leaf.leaf_index, check.head.size, path, check.head.root):
            raise BadLineError(line.number, "leaf", leaf.record_id, "is not in the signed log")
        own = leaf.record_id == event.event_id
        if bool(salt) != own or (own and not _fits(leaf, salt, event_loggable(event))):
            raise BadLineError(line.number, "leaf", leaf.record_id, "does not fit the tombstone")
        if own and line.value.get("line_sha256") != sha256_hex(at.text):
            raise BadLineError(at.number, "event", name, "is not as it was exported")
        leaves.append(leaf)
        check.counts["events" if leaf.record_kind is LeafKind.EVENT else "windows"] += 1
    data = _tombstone_data(event, at)
    if not leaves or leaves[-1].record_id != event.event_id:
        raise BadLineError(at.number, "event", name, "has no leaf here, or not the last one")
    if (data.get("leaves"), data.get("leaves_sha256")) != (len(leaves) - 1, leaves_digest(leaves[:-1])):
        raise BadLineError(at.number, "event", name, "stands for other leaves than those that are here")
    check.erased = True


def _kind(line: Line) -> LeafKind:
    try:
        return LeafKind(str(line.value.get("record_kind")))
    except ValueError:
        raise BadLineError(line.number, "leaf", str(line.value.get("record_id")), "is no leaf") from None


def _tombstone_data(event: AuditEventRecord, line: Line) -> dict[str, Any]:
    try:
        return dict(_parsed(event))
    except (TypeError, ValueError):
        raise BadLineError(line.number, "event", str(event.sequence), "is no tombstone that can be read") from None


def _check_erasure(check: _Check) -> None:
    """Data is missing exactly where a later event says that it was erased."""
    types = [event.event_type for event in check.events]
    erased_at = types.index(OwnEvent.SESSION_ERASED) if OwnEvent.SESSION_ERASED in types else 0
    check.erased = bool(erased_at)
    for line, event in zip(check.parts[Part.EVENT], check.events, strict=True):
        if bool(event.data) == (event.sequence < erased_at) or bool(event.data) == bool(event.data_sha256):
            text = "has data and an erasure that do not fit each other"
            raise BadLineError(line.number, "event", str(event.sequence), text)


def _note(check: _Check, event: AuditEventRecord) -> None:
    try:
        node = committed_node(event)
        if node is not None:
            check.nodes[event.window_id] = node
        if event.event_type == OwnEvent.DPE_COMPLETED and event.data:
            check.reports[event.window_id] = dict(_parsed(event)["report"])
    except (KeyError, TypeError, ValueError):
        return  # its leaf will not fit either, and names it


def _parsed(event: AuditEventRecord) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(event.data)
    return value


def _check_leaves(check: _Check) -> None:
    """Check every record's content against its salted leaf, and the leaf against the signed root."""
    lines = check.parts[Part.LEAF]
    expected = list(logged_records(check.events))
    older = _older(check, len(expected))
    if older > 0:  # the server itself has no leaf of these; what was cut from the file is found by the names below
        check.notes.append(f"of what is older than it the log proves nothing: {counted(older, 'record')}")
        expected = expected[older:]
    by_id = {event.event_id: event for event in check.events}
    lines_of = {event.event_id: line for line, event in zip(check.parts[Part.EVENT], check.events, strict=True)}
    known = {(kind.value, name) for kind, name in expected}
    before = -1
    for place, (kind, name) in enumerate(expected):
        line = lines[place] if place < len(lines) else None
        shown = str(by_id[name].sequence) if kind is LeafKind.EVENT else name
        number = line.number if line else 0
        if line is not None and (line.value.get("record_kind"), line.value.get("record_id")) not in known:
            text = "is of no record here: the log holds one that was taken out or replaced"
            raise BadLineError(number, "leaf", str(line.value.get("record_id")), text)
        if line is None or (line.value.get("record_kind"), line.value.get("record_id")) != (kind.value, name):
            raise BadLineError(number, kind.value, shown, "has no leaf here: its line is missing or out of order")
        leaf, salt, path = _leaf(line, check.manifest.session_id, kind)
        content = _content(check, by_id, kind, name)
        at = lines_of[name].number if kind is LeafKind.EVENT else number
        if kind is LeafKind.EVENT and line.value.get("line_sha256") != sha256_hex(lines_of[name].text):
            raise BadLineError(at, kind.value, shown, "is not as it was exported")
        if not _fits(leaf, salt, content):
            raise BadLineError(at, kind.value, shown, "does not fit its leaf: content, salt or leaf was changed")
        if leaf.leaf_index <= before:
            raise BadLineError(number, kind.value, shown, "has a leaf out of order")
        if not inclusion_holds(leaf.leaf_hash, leaf.leaf_index, check.head.size, path, check.head.root):
            raise BadLineError(number, kind.value, shown, "is not in the signed log")
        before = leaf.leaf_index
        check.counts["events" if kind is LeafKind.EVENT else "windows"] += 1
    if len(lines) > len(expected):
        number = lines[len(expected)].number
        raise BadLineError(number, "leaf", str(lines[len(expected)].value.get("record_id")), "is of no record here")


def _older(check: _Check, records: int) -> int:
    """Return how many records at the beginning are older than the log: none of a session that promises a leaf of each.

    How many leaves the log has of the session is signed, those that are of no record included (ADR 0099).
    """
    promise = promise_of(check.events)
    free = records
    if promise is not None:
        free = sum(1 for _ in logged_records(event for event in check.events if event.sequence < promise.since))
    return min(max(records - check.manifest.counts["leaves"], 0), free)


def _leaf(line: Line, session_id: str, kind: LeafKind) -> tuple[LogLeaf, bytes, list[bytes]]:
    value = line.value
    name = str(value.get("record_id"))
    try:
        leaf = LogLeaf(
            session_id=session_id,
            record_kind=kind,
            record_id=name,
            position=int(value["position"]),
            content_hmac=str(value["content_hmac"]),
            leaf_hash=b"",
            leaf_index=int(value["leaf_index"]),
        )
        path = [base64_decode(part) for part in value["path"]]
        return with_hash(leaf), bytes.fromhex(value["salt"]), path
    except (KeyError, ValueError, TypeError):
        raise BadLineError(line.number, "leaf", name, "is no leaf") from None


def _content(check: _Check, by_id: Mapping[str, AuditEventRecord], kind: LeafKind, name: str) -> Loggable | None:
    """Return the record as the leaf must have it; ``None`` when it was erased or cannot be read."""
    try:
        if kind is LeafKind.EVENT:
            return event_loggable(by_id[name]) if by_id[name].data else None
        node = check.nodes.get(name)
        return None if node is None else window_loggable(check.manifest.session_id, node)
    except (KeyError, ValueError, TypeError):
        return None


def _fits(leaf: LogLeaf, salt: bytes, record: Loggable | None) -> bool:
    if record is None:  # erased: no salt is left either
        return not salt
    if len(salt) != SALT_BYTES or (leaf.position, leaf.record_id) != (record.position, record.record_id):
        return False
    return salted_hmac(record.content, salt) == leaf.content_hmac


def _check_analyses(check: _Check) -> None:
    """Check answers, reports and inputs against the hashes in the events."""
    lines = check.parts[Part.ANALYSIS]
    nodes = sorted(check.nodes.values(), key=lambda node: (int(node["window_number"]), str(node["window_id"])))
    wanted = [str(node["window_id"]) for node in nodes if str(node["window_id"]) in check.reports]
    if check.manifest.counts["analyses"] == 0 and not lines:
        return
    for place, name in enumerate(wanted):
        line = lines[place] if place < len(lines) else None
        if line is None or line.value.get("window_id") != name:
            raise BadLineError(line.number if line else 0, "report", name, "is missing or out of order")
        wrong = _altered(line.value, check.nodes[name], check.reports[name])
        if wrong:
            raise BadLineError(line.number, "report", name, f"holds {wrong} that the audit event does not")
        check.counts["analyses"] += 1
    if len(lines) > len(wanted):
        number = lines[len(wanted)].number
        raise BadLineError(number, "report", str(lines[len(wanted)].value.get("window_id")), "is of no window here")


def _altered(analysis: Mapping[str, Any], node: Mapping[str, Any], sealed: Mapping[str, Any]) -> str:
    """Return what of an analysis is not what was hashed and chained; empty when all of it is."""
    try:
        body = canonical_json(analysis["report"]).decode()
        _, hashed = read_body(body)
        inputs = "" if analysis["inputs"] is None else sha256_hex(canonical_json(analysis["inputs"]))
        if sha256_hex(analysis["response_text"]) != node["response_hash"]:
            return "an answer"
        if hashed != node["report_hash"] or sha256_hex(body) != sealed["body_sha256"]:
            return "a report"
        if inputs != sealed.get("inputs_sha256", ""):
            return "analysis inputs"
        named = (analysis["session_id"], analysis["window_number"])
        return "" if named == (node["session_id"], node["window_number"]) else "ids"
    except (KeyError, ValueError, TypeError, AttributeError):
        return "fields"


def _check_whole(check: _Check) -> None:
    """Check every line before the log's against the signed hash: whatever no record showed is found here."""
    covered = [line for part in (Part.EVENT, Part.ANALYSIS, Part.LEAF) for line in check.parts[part]]
    digest = hashlib.sha256(b"".join(line.text.encode() + b"\n" for line in covered)).hexdigest()
    if digest != check.manifest.sha256:
        text = "a line was changed, moved or left out in a way that no record shows"
        raise BadLineError(0, "line", "", text)


def _check_growth(check: _Check, earlier: str) -> None:
    """Check that the log of the export continues the one of the earlier checkpoint (RFC 9162 §2.1.4)."""
    try:
        note = Note.parse(earlier)
        kept = Checkpoint.parse(note.text)
    except ValueError:
        raise BadLineError(0, "checkpoint", "", "is no signed note with a checkpoint") from None
    name = str(kept.size)
    if kept.origin != check.head.origin or not note.holds(check.key, kept.origin):
        raise BadLineError(0, "checkpoint", name, "is of another log, or the given key did not sign it")
    if kept.size > check.head.size:
        check.notes.append(f"the checkpoint of size {kept.size} is newer than the export: export again")
        return
    path = _growth_proof(check, kept.size)
    if path is None:
        text = f"the export does not prove what became of size {kept.size}: export again with --checkpoint FILE"
        check.notes.append(text)
    elif not consistency_holds((kept.size, kept.root), (check.head.size, check.head.root), path):
        raise BadLineError(0, "checkpoint", name, "was not continued: the log was rewritten, or it was forked")
    else:
        check.heads.append(kept_checkpoint(note, kept.size, check.demand))


def _growth_proof(check: _Check, size: int) -> list[bytes] | None:
    if size in (0, check.head.size):
        return []
    line = check.parts[Part.LOG][0]
    try:
        for proof in line.value["consistency"]:
            if proof["first_tree_size"] == size:
                return [base64_decode(part) for part in proof["path"]]
    except (KeyError, ValueError, TypeError):
        raise BadLineError(line.number, "log", "", "holds a consistency proof that cannot be read") from None
    return None
