"""Every field of every stored record of a session with every pattern, changed in every way: found, and named.

The list of mutations is generated from the records' dataclasses, so that a field which is added is mutated too.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import Enum

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    SessionSnapshot,
    TransferType,
    WindowPattern,
    WindowRecord,
)
from services.common.ports.transparency_log import LogLeaf
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.domain.keys import session_hmac_key
from services.dag.domain.verification import StoredChain
from services.dag.domain.verify import verify_chain
from tests.fakes.dag_world import MASTER, World, fresh_uuid
from tests.tenth import tenth

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE
LONG = "A first part.\n\nThe conclusion."
RECORDS = (SessionRecord, WindowRecord, EdgeRecord, AuditEventRecord, ReportRecord, LogLeaf)
UNCHAINED = {(WindowRecord, "salt"), (AuditEventRecord, "salt"), (LogLeaf, "leaf_index")}
"""Salts of the transparency log: they stand inside the sealed content, whose AES-GCM tag and whose leaf cover them
(ADR 0053, 0054); no store has a column for them. A leaf's place is the log's: it is found where the log is computed
anew (``test_dag_log_compared``); here it gives the order alone."""


async def merge(client, parents, **changes):
    return await client.open(
        parents[0].session_token,
        continuation_ids=[parent.continuation_id for parent in parents],
        strategy=FAN_IN,
        **changes,
    )


def settled(opened):
    """What flowed of every parent that was opened as SUMMARY: a summary of the first, the conclusion of the others."""
    flows = []
    for parent in opened.parents:
        if parent.transfer_type == dag_pb2.TRANSFER_TYPE_SUMMARY:
            flow = {"source_window_id": parent.window_id, "transfer_type": dag_pb2.TRANSFER_TYPE_SUMMARY}
            flows.append(flow | {"transferred_tokens": 20, "summary_text": "Short.", "fidelity_score": 0.9})
            flows[-1]["model_fingerprint"] = "model@1"
    return flows


async def fail(client, opened):
    ids = {"session_id": opened.session.session_id, "window_id": opened.window.window_id}
    await client.call("FailWindow", pb.FailWindowRequest(request_id=fresh_uuid(), reason="LLM_UNAVAILABLE", **ids))


async def append(client, session_id, window_id=""):
    request = pb.AppendEventRequest(request_id=fresh_uuid(), session_id=session_id, window_id=window_id)
    request.event_type, request.data = dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL, '{"tool":"search","took_ms":12}'
    await client.call("AppendEvent", request)


async def build():
    """A session with every pattern, status and transfer; its last event is a caller's."""
    world = World(settings=DagSettings(max_windows=12))
    async with world.serving() as client:
        root = await client.commit(await client.open(), LONG, response_tokens=700)
        session_id = root.session.session_id
        a, b, c = [await client.open(root.session_token, strategy=FAN_OUT) for _ in range(3)]
        await fail(client, c)
        b = await client.commit(b, "The second branch.", tier="B", risk="MEDIUM")
        a = await client.commit(a, LONG, response_tokens=700, facts_included=["f-5", "f-6", "f-7"])
        longer = await client.open(a.session_token, summariser_available=True)
        a = await client.commit(longer, LONG, response_tokens=700, transfers=settled(longer))
        opened = await merge(client, [a, b], fan_in_policy=pb.FAN_IN_POLICY_PARTIAL, summariser_available=True)
        deferred = [{"fact_id": "f-8", "token_count": 3}, {"fact_id": "f-9", "token_count": 4}]
        merged = await client.commit(opened, "Merged.", transfers=settled(opened), deferred_facts=deferred)
        checked = await client.open(merged.session_token, strategy=REFLEXIVE)
        refined = await client.open(merged.session_token, strategy=REFLEXIVE, branch=True)
        inputs = {"analysis_inputs": {"request_sha256": "a" * 64}}
        branches = [await client.commit(checked, "Checked."), await client.commit(refined, "Refined.", **inputs)]
        last = await client.commit(await merge(client, branches), "The end.")
        await append(client, session_id, last.window.window_id)
        await client.open(last.session_token)
        await append(client, session_id)
    return await world.app.chains.load("tenant-a", session_id), session_hmac_key(MASTER, session_id)


@pytest.fixture(scope="module")
def chain():
    return asyncio.run(build())


def held(stored):
    """The records by type, in the order in which stores give them back."""
    snapshot = stored.snapshot
    return {
        SessionRecord: [snapshot.session],
        WindowRecord: list(snapshot.windows),
        EdgeRecord: list(snapshot.edges),
        AuditEventRecord: list(stored.events),
        ReportRecord: list(stored.reports),
        LogLeaf: list(stored.leaves),
    }


def read_back(records):
    """What a store would give back that holds these records."""
    windows = sorted(records[WindowRecord], key=lambda w: (w.window_number, w.window_id))
    edges = sorted(records[EdgeRecord], key=lambda e: (e.target_id, e.source_id))
    events = tuple(records[AuditEventRecord])
    snapshot = SessionSnapshot(records[SessionRecord][0], tuple(windows), tuple(edges), events[-1] if events else None)
    return StoredChain(snapshot, events, tuple(records[ReportRecord]), tuple(records[LogLeaf]))


@dataclass(frozen=True)
class Mutation:
    """One change: records of a type in place of the stored ones, and the records that may be named for it."""

    label: str
    record_type: type
    records: tuple
    named: frozenset


def name_of(record, position):
    if isinstance(record, WindowRecord):
        return "window", record.window_id
    if isinstance(record, EdgeRecord):
        return "edge", f"{record.source_id} -> {record.target_id}"
    if isinstance(record, AuditEventRecord):
        return "event", str(position)
    if isinstance(record, ReportRecord):
        return "report", record.report_id
    if isinstance(record, LogLeaf):  # without an id it is named by its place in the log
        return "leaf", record.record_id or str(record.leaf_index)
    return "session", record.session_id


def flipped(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, Enum):
        return [member for member in type(value) if member is not value]
    if isinstance(value, datetime):
        return [value + timedelta(microseconds=1), value - timedelta(days=1)]
    if isinstance(value, int | float):
        return [value + 1, value / 2 if isinstance(value, float) else value + 256]
    return flipped_text(value)


def flipped_text(value):
    if isinstance(value, bytes):
        return [bytes([value[0] ^ 1]) + value[1:]]
    if isinstance(value, str):
        turned = [
            text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]
            for text in [value]
            if text
            for at in (0, -1 % len(text))
        ]
        return turned or ["x"]
    if isinstance(value, tuple):
        return [(*value, value[-1] if value else "x")]
    raise AssertionError(f"no mutation for {type(value)}")


def dropped(value):
    if isinstance(value, Enum):
        return []
    if isinstance(value, str | tuple | bytes):
        return [type(value)()]
    return [type(value)(0)] if isinstance(value, int | float) and not isinstance(value, bool) else []


def truncated(value):
    if isinstance(value, Enum) or not isinstance(value, str | tuple | bytes):
        return []
    return [value[:-1], value[: len(value) // 2], value[1:]]


def reordered(value):
    if isinstance(value, tuple):
        return [value[::-1], tuple(sorted(value, key=repr)), value[1:] + value[:1]]
    if isinstance(value, str) and value[:1] == "{":  # JSON with its members in another order says the same
        return [json.dumps(dict(reversed(json.loads(value).items())), separators=(",", ":"))]
    return []


WAYS = {"flipped": flipped, "dropped": dropped, "truncated": truncated, "reordered": reordered}


def field_mutations(stored, way):
    """Change one field of one record."""
    for record_type, records in held(stored).items():
        for position, record in enumerate(records):
            for field in fields(record_type):
                if (record_type, field.name) in UNCHAINED:
                    continue
                value = getattr(record, field.name)
                for number, changed in enumerate(way(value)):
                    if changed == value and type(changed) is type(value):
                        continue
                    other = replace(record, **{field.name: changed})
                    yield Mutation(
                        f"{name_of(record, position)} {field.name} {number}",
                        record_type,
                        (*records[:position], other, *records[position + 1 :]),
                        frozenset({name_of(record, position), name_of(other, position)}),
                    )


def swaps(stored):
    """Swap one field between a record and the next one that has another value."""
    for record_type, records in held(stored).items():
        for position, record in enumerate(records):
            for field in fields(record_type):
                if (record_type, field.name) in UNCHAINED:
                    continue
                value = getattr(record, field.name)
                others = [at for at in range(position + 1, len(records)) if getattr(records[at], field.name) != value]
                for at in others[:1]:
                    changed = list(records)
                    changed[position] = replace(record, **{field.name: getattr(records[at], field.name)})
                    changed[at] = replace(records[at], **{field.name: value})
                    pair = [(records[n], n) for n in (position, at)] + [(changed[n], n) for n in (position, at)]
                    label = f"{name_of(record, position)} {field.name} with {name_of(records[at], at)}"
                    if set(changed) == set(records):
                        continue  # two edges of one parent that differ in their target alone
                    yield Mutation(label, record_type, tuple(changed), frozenset(name_of(*one) for one in pair))


def whole_records(stored):
    """Drop, repeat, move and cut off whole records."""
    for record_type, records in held(stored).items():
        if record_type is SessionRecord:
            continue
        for position, record in enumerate(records):
            named = name_of(record, position)
            without = (*records[:position], *records[position + 1 :])
            yield Mutation(f"{named} dropped", record_type, without, frozenset({named}))
            if record_type is AuditEventRecord:
                cut = tuple(records[:position])
                yield Mutation(f"{named} and all that follow cut off", record_type, cut, frozenset({named}))
                twice = (*records[: position + 1], *records[position:])
                yield Mutation(f"{named} twice", record_type, twice, frozenset({("event", str(position + 1))}))
                if position:
                    moved = (*records[: position - 1], record, records[position - 1], *records[position + 1 :])
                    first = frozenset({("event", str(position - 1))})
                    yield Mutation(f"{named} moved up", record_type, moved, first)


def extra_records(stored):
    """Records that nobody wrote."""
    records = held(stored)
    for position, window in enumerate(records[WindowRecord]):
        added = replace(window, window_id="crp_win_" + "z" * 16)
        yield Mutation(
            f"{position} copied", WindowRecord, (*records[WindowRecord], added), frozenset({name_of(added, 0)})
        )
    for source in records[WindowRecord]:
        for target in records[WindowRecord]:
            added = EdgeRecord(source.session_id, source.window_id, target.window_id, TransferType.FULL_CONTEXT, 1)
            if name_of(added, 0) not in {name_of(edge, 0) for edge in records[EdgeRecord]}:
                yield Mutation(
                    f"{name_of(added, 0)}", EdgeRecord, (*records[EdgeRecord], added), frozenset({name_of(added, 0)})
                )
    for report in records[ReportRecord]:
        added = replace(report, report_id="another")
        yield Mutation("a report copied", ReportRecord, (*records[ReportRecord], added), frozenset({name_of(added, 0)}))


END_OF_TRAIL = {"session_id", "version", "trail_mac"}


def judged(chain, mutation):
    """Return what is wrong with the verdict on the mutated session; empty when the mutation is found and named."""
    stored, key = chain
    records = held(stored) | {mutation.record_type: list(mutation.records)}
    found = verify_chain(read_back(records), key, 1000)
    if found.integrity is not ChainIntegrity.BROKEN or found.fault is None:
        return f"{mutation.label}: {found.integrity}"
    named = (found.fault.record_kind, found.fault.record_id)
    if mutation.record_type is SessionRecord and any(f" {name} " in mutation.label for name in END_OF_TRAIL):
        return "" if named[0] == "event" else f"{mutation.label}: named {named}"
    return "" if named in mutation.named else f"{mutation.label}: named {named}, {found.fault.detail}"


def wrongly_judged(chain, mutations, label):
    chosen = tenth(label, mutations, name=lambda mutation: mutation.label)
    return [wrong for mutation in chosen if (wrong := judged(chain, mutation))]


@pytest.mark.parametrize("lost", [1, 2])
def test_a_trail_without_its_end_is_not_valid_when_its_seal_is_gone_too(chain, lost):
    stored, key = chain
    records = held(stored)
    records[AuditEventRecord] = records[AuditEventRecord][:-lost]
    for trail_mac in ("", "0" * 64, stored.snapshot.session.trail_mac):
        records[SessionRecord] = [replace(stored.snapshot.session, trail_mac=trail_mac)]
        assert verify_chain(read_back(records), key, 1000).integrity is not ChainIntegrity.VALID


def test_the_session_has_every_pattern_status_and_transfer(chain):
    stored = chain[0]
    assert verify_chain(*chain, 1000).integrity is ChainIntegrity.VALID
    windows = stored.snapshot.windows
    assert {window.pattern for window in windows} == set(WindowPattern)
    assert {window.status for window in windows} == set(WindowStatus)
    assert {edge.transfer_type for edge in stored.snapshot.edges} >= {TransferType.SUMMARY, TransferType.FULL_CONTEXT}
    types = {event.event_type for event in stored.events}
    assert types >= {
        "FAN_OUT_CREATED",
        "FAN_IN_MERGED",
        "SUMMARISATION",
        "DPE_COMPLETED",
        "DISPATCH_FAILED",
        "TOOL_CALL",
    }
    assert stored.events[-1].event_type == "TOOL_CALL"
    assert {record_type for record_type, records in held(stored).items() if records} == set(RECORDS)
    assert any(report.inputs for report in stored.reports)
    for field in fields(WindowRecord):
        if field.name != "salt":
            assert len({getattr(window, field.name) for window in windows}) > 1 or field.name == "session_id", (
                field.name
            )


@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("way", WAYS)
def test_every_field_that_is_changed_is_found_and_named(chain, way):
    mutations = list(field_mutations(chain[0], WAYS[way]))
    kinds = Counter(mutation.record_type for mutation in mutations)
    assert set(kinds) == (set(RECORDS) if way != "reordered" else {WindowRecord, AuditEventRecord, ReportRecord})
    assert wrongly_judged(chain, mutations, f"fields {way}") == []


@pytest.mark.tenth(inside=True)
def test_every_field_that_is_swapped_is_found_and_named(chain):
    mutations = list(swaps(chain[0]))
    assert len(mutations) > 200
    assert wrongly_judged(chain, mutations, "fields swapped") == []


@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("way", [whole_records, extra_records])
def test_every_record_that_is_missing_moved_or_added_is_found_and_named(chain, way):
    mutations = list(way(chain[0]))
    assert len(mutations) > 50
    assert wrongly_judged(chain, mutations, f"records: {way.__name__}") == []
