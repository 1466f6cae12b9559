"""Erasing a session end to end: what goes, what stays verifiable, who may, what becomes of the session (ADR 0055)."""

import asyncio
import json
from dataclasses import fields, replace
from enum import Enum

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as transparency
from crp.dpe.v1 import inputs_pb2

from services.cli.offline import Verdict, check_export
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.merkle import inclusion_holds
from services.common.ports.sessions import AuditEventRecord, DeferredFact, EdgeRecord, ReportRecord, WindowRecord
from services.common.ports.transparency_log import LogLeaf
from services.common.settings.stores import StoreSettings
from services.common.signed_note import NoteKey
from services.common.taxonomy import ChainIntegrity
from services.dag.chains import Chains
from services.dag.domain.keys import MasterKey, session_hmac_key
from services.dag.domain.verify import verify_chain
from services.dag.master_keys import FixedMasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SECRET, SealedWorld
from tests.unit.stores.test_erased_bytes import bytes_on_disk, settled

ANSWER, TOOL, INPUT, CLAIM = "zyxanswer", "zyxtool", "zyxinput", "zyxmodel"
TRUNCATED = taxonomy.CHAIN_INTEGRITY_TRUNCATED


@pytest.fixture
def world():
    return SealedWorld()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def rich_session(client):
    """Two windows, a pending third, an appended event, content in every place that holds any."""
    first = await client.window(text=f"{ANSWER} is 500 euros.")
    opened = await client.open(first.session_token)
    inputs = inputs_pb2.AnalysisInputs()
    inputs.request.query = INPUT
    second = await client.commit(opened, f"And {ANSWER} again.", analysis_inputs=inputs)
    event = pb.AppendEventRequest(
        request_id=fresh_uuid(),
        session_id=first.session.session_id,
        event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        data=json.dumps({"tool": TOOL}),
    )
    await client.call("AppendEvent", event)
    pending = await client.open(second.session_token)
    return first, second, pending


async def verify(client, session_id):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


class TestWhatGoes:
    async def test_content_is_gone_from_every_answer(self, client):
        first, second, _ = await rich_session(client)
        session_id = first.session.session_id
        erased = await client.erase(session_id)
        assert (erased.windows_erased, erased.reports_erased, erased.events_erased) == (2, 2, 11)
        for window_id in (first.window.window_id, second.window.window_id):
            request = pb.GetWindowRequest(session_id=session_id, window_id=window_id, include_response=True)
            found = await client.call("GetWindow", request)
            assert found.response_text == ""
            assert found.window.response_hash
        for report_id in (first.report_id, second.report_id):
            found = await client.call("GetReport", pb.GetReportRequest(report_id=report_id))
            assert (found.canonical_json, found.report.report_id) == ("", "")
            assert found.summary.report_hash in (first.window.report_hash, second.window.report_hash)
        events = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id))
        assert [bool(event.data) for event in events.events] == [False] * 11 + [True]
        assert [len(event.data_sha256) for event in events.events] == [64] * 11 + [0]
        lines = "\n".join(await client.export(session_id, with_content=True))
        assert not [word for word in (ANSWER, TOOL, INPUT) if word in lines]

    async def test_nothing_is_left_in_the_file(self, tmp_path):
        path = tmp_path / "sessions.db"
        store = await SqliteSessionStore.open(path, StoreSettings(disk_reserve_bytes=0))
        world = SealedWorld(store=store)
        async with world.serving() as client:
            first, _, _ = await rich_session(client)
            session_id = first.session.session_id
            await client.window()
            rows = await store._select("windows", "response_text", "WHERE session_id = ?", session_id)
            rows += await store._select("events", "data", "WHERE session_id = ?", session_id)
            rows += await store._select("reports", "body || inputs", "WHERE session_id = ?", session_id)
            rows += await store._select("receipts", "CAST(response AS TEXT)", "WHERE session_id = ?", session_id)
            sealed = [text.encode() for (text,) in rows if text]
            assert len(sealed) == 2 + 11 + 2 + 6
            before = bytes_on_disk(tmp_path)
            assert not any(word.encode() in before for word in (ANSWER, TOOL, INPUT))
            # A page splits long texts: the wrapped keys, at their beginnings, are looked for.
            assert all(text[:100] in before for text in sealed)
            await client.erase(session_id)
            after = await settled(tmp_path)
            assert not [text[:40] for text in sealed if text[:100] in after or text[-60:] in after]
            assert (await verify(client, session_id)).integrity == TRUNCATED
        await store.close()

    async def test_a_repeated_request_of_the_session_finds_no_remembered_answer(self, client):
        opened = await client.open()
        again = pb.OpenWindowRequest(request_id=fresh_uuid())
        first, repeated = [await client.call("OpenWindow", again) for _ in range(2)]
        assert (first.fresh, repeated.fresh) == (True, False)
        repeated.fresh = True  # all else is the same
        assert repeated == first
        await client.erase(first.session.session_id)
        assert (await client.call("OpenWindow", again)).session.session_id != first.session.session_id
        assert opened.session.session_id


class TestWhatStays:
    async def test_hashes_and_hmacs_still_verify_and_the_chain_is_truncated(self, client):
        first, second, pending = await rich_session(client)
        session_id = first.session.session_id
        before = await verify(client, session_id)
        await client.erase(session_id)
        found = await verify(client, session_id)
        assert (found.integrity, found.HasField("fault")) == (TRUNCATED, False)
        assert (found.windows_verified, found.events_verified, found.events_total) == (2, 12, 12)
        assert found.tips == before.tips
        dag = await client.call("GetDag", pb.GetDagRequest(session_id=session_id))
        assert dag.session.status == dag_pb2.SESSION_STATUS_ERASED
        hmacs = {window.window_id: window.hmac for window in dag.windows}
        assert hmacs[first.window.window_id] == first.window.hmac
        assert hmacs[second.window.window_id] == second.window.hmac
        failed = next(window for window in dag.windows if window.window_id == pending.window.window_id)
        assert (failed.status, failed.failure_reason) == (dag_pb2.WINDOW_STATUS_FAILED, "SESSION_ERASED")

    async def test_proofs_from_before_and_after_hold(self, client):
        first, _, _ = await rich_session(client)
        session_id = first.session.session_id
        request = transparency.GetInclusionProofRequest(session_id=session_id, window_id=first.window.window_id)
        before = await client.ask_log("GetInclusionProof", request)
        kept = before.tree_head
        await client.erase(session_id)
        after = await client.ask_log("GetInclusionProof", request)
        assert (after.leaf, after.proof.leaf_hash) == (before.leaf, before.proof.leaf_hash)
        proof = after.proof
        path = list(proof.path_hashes)
        assert inclusion_holds(proof.leaf_hash, proof.leaf_index, proof.tree_size, path, after.tree_head.root_hash)
        lines = await client.export(session_id, sizes=(kept.tree_size,))
        found = check_export(lines, NoteKey(kept.origin, kept.public_key), kept.checkpoint)
        assert (found.verdict, found.fault) == (Verdict.TRUNCATED, None)
        assert (found.events, found.windows) == (12, 2)
        salts = [json.loads(line)["salt"] for line in lines if '"record":"leaf"' in line]
        assert [bool(salt) for salt in salts] == [False] * 13 + [True]

    async def test_the_event_says_who_why_and_what_was(self, client):
        first, _, _ = await rich_session(client)
        erased = await client.erase(first.session.session_id, "GDPR request 17", "alice-2")
        assert erased.event.event_type == dag_pb2.AUDIT_EVENT_TYPE_SESSION_ERASED
        data = json.loads(erased.event.data)
        told = {name: data[name] for name in ("reason", "erased_by", "status_before", "integrity_before", "events")}
        assert told == {
            "reason": "GDPR request 17",
            "erased_by": "alice-2",
            "status_before": "OPEN",
            "integrity_before": "VALID",
            "events": 11,
        }
        assert data["session"]["status"] == "ERASED"
        assert (len(data["windows"]), len(data["reports"])) == (3, 2)


class TestWhoAndWhen:
    @pytest.mark.parametrize("subject", ["reader", "writer"])
    async def test_only_an_admin_may(self, client, subject, monkeypatch):
        from services.common.context import Caller, Role
        from tests.fakes import dag_world

        writer = Caller("tenant-a", "crp_gw_test_writer12", frozenset({Role.WRITER}), "writer")
        monkeypatch.setitem(dag_world.CALLERS, "writer", writer)
        first = await client.window()
        request = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=first.session.session_id, reason="r")
        assert (await client.fails("EraseSession", request, subject)).reason == "ROLE_MISSING"
        assert (await verify(client, first.session.session_id)).integrity == taxonomy.CHAIN_INTEGRITY_VALID

    async def test_of_another_tenant_there_is_no_session(self, client):
        first = await client.window()
        request = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=first.session.session_id, reason="r")
        assert (await client.fails("EraseSession", request, "mallory")).reason == "SESSION_NOT_FOUND"

    async def test_what_is_malformed_is_refused_whole(self, client):
        refusal = await client.fails("EraseSession", pb.EraseSessionRequest())
        assert (refusal.reason, refusal.fields) == ("INVALID_FIELD", ("request_id", "session_id", "reason"))

    async def test_it_is_done_once(self, client):
        first = await client.window()
        session_id, request_id = first.session.session_id, fresh_uuid()
        erased = await client.erase(session_id, request_id=request_id)
        assert await client.erase(session_id, request_id=request_id) == erased
        again = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="r")
        refusal = await client.fails("EraseSession", again)
        assert (refusal.reason, refusal.metadata["status"]) == ("SESSION_CLOSED", "ERASED")

    async def test_an_erased_session_takes_nothing_more(self, client):
        first, second, pending = await rich_session(client)
        session_id = first.session.session_id
        await client.erase(session_id)
        ids = {"request_id": fresh_uuid(), "session_id": session_id}
        event = dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        refusals = [
            await client.fails(
                "OpenWindow",
                pb.OpenWindowRequest(
                    request_id=fresh_uuid(), session_token=second.session_token, available_budget_tokens=9
                ),
            ),
            await client.fails("AppendEvent", pb.AppendEventRequest(**ids, event_type=event, data="{}")),
            await client.fails("TerminateSession", pb.TerminateSessionRequest(**ids, reason="r")),
        ]
        assert [refusal.reason for refusal in refusals] == ["SESSION_CLOSED"] * 3
        late = pb.FailWindowRequest(**ids, window_id=pending.window.window_id, reason="r")
        assert (await client.fails("FailWindow", late)).reason in ("WINDOW_NOT_PENDING", "SESSION_CLOSED")
        assert (await verify(client, session_id)).integrity == TRUNCATED

    @pytest.mark.parametrize("end", ["completed", "terminated", "fresh"])
    async def test_any_session_can_be_erased(self, client, end):
        if end == "fresh":
            created = await client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
            session_id = created.session.session_id
        else:
            first = await client.window()
            session_id, token = first.session.session_id, first.session_token
        if end == "completed":
            for _ in range(4):
                token = (await client.window(token)).session_token
        if end == "terminated":
            request = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="done")
            await client.call("TerminateSession", request)
        await client.erase(session_id)
        assert (await verify(client, session_id)).integrity == TRUNCATED

    async def test_commits_beside_an_erasure_come_before_it_or_not_at_all(self, client):
        first = await client.window()
        session_id = first.session.session_id
        opened = await client.open(first.session_token)
        await asyncio.gather(client.erase(session_id), client.commit(opened, ANSWER), return_exceptions=True)
        assert (await verify(client, session_id)).integrity == TRUNCATED
        request = pb.GetWindowRequest(session_id=session_id, window_id=opened.window.window_id, include_response=True)
        assert (await client.call("GetWindow", request)).response_text == ""


class TestTampering:
    async def test_an_erasure_hides_no_broken_chain(self, world, client):
        first, _, _ = await rich_session(client)
        session_id = first.session.session_id
        held = world.store._sessions["tenant-a", session_id]
        name = first.window.window_id
        held.windows[name] = replace(held.windows[name], response_text=held.windows[name].response_text[:-2])
        before = await verify(client, session_id)
        assert (before.integrity, before.fault.record_id) == (taxonomy.CHAIN_INTEGRITY_BROKEN, name)
        erased = await client.erase(session_id)
        data = json.loads(erased.event.data)
        assert data["fault_before"] == {"record_kind": "window", "record_id": name}
        after = await verify(client, session_id)
        assert (after.integrity, after.fault.record_kind, after.fault.record_id) == (before.integrity, "window", name)

    async def test_data_that_comes_back_is_found(self, world, client):
        first, _, _ = await rich_session(client)
        name = first.session.session_id
        kept = list(world.store._sessions["tenant-a", name].events)
        await client.erase(name)
        for place, event in enumerate(kept):
            events = world.store._sessions["tenant-a", name].events
            erased, events[place] = events[place], event
            found = await verify(client, name)
            assert (found.integrity, found.fault.record_kind) == (taxonomy.CHAIN_INTEGRITY_BROKEN, "event")
            assert found.fault.record_id == str(place)
            assert found.fault.detail == "holds data although the session was erased"
            events[place] = erased
        assert (await verify(client, name)).integrity == TRUNCATED

    async def test_swapped_ciphertexts_are_found_even_of_the_same_text(self, world, client):
        first = await client.window(text=ANSWER)
        second = await client.window(first.session_token, text=ANSWER)
        session_id = first.session.session_id
        windows = world.store._sessions["tenant-a", session_id].windows
        one, two = first.window.window_id, second.window.window_id
        texts = windows[one].response_text, windows[two].response_text
        windows[one] = replace(windows[one], response_text=texts[1])
        windows[two] = replace(windows[two], response_text=texts[0])
        found = await verify(client, session_id)
        assert (found.integrity, found.fault.record_id) == (taxonomy.CHAIN_INTEGRITY_BROKEN, one)

    async def test_every_field_that_is_left_is_still_covered(self, world, client):
        """A generated list: each field of each record of an erased session changed, each record taken out."""
        first, _, _ = await rich_session(client)
        session_id = first.session.session_id
        await client.erase(session_id)
        master = MasterKey(1, bytes.fromhex(SECRET))
        keys = FixedMasterKeys({1: master})
        chains = Chains(SealedSessionStore(world.store, Sealer(keys)), keys, world.clock, 99)
        stored = await chains.load("tenant-a", session_id)
        key = session_hmac_key(master, session_id)
        assert verify_chain(stored, key, 99).integrity is ChainIntegrity.TRUNCATED
        count = 0
        for changed in mutated(stored):
            found = verify_chain(changed, key, 99)
            assert found.integrity is ChainIntegrity.BROKEN, count
            assert found.fault is not None
            count += 1
        assert count > 240


def mutated(stored):
    """Yield the chain with one thing changed."""
    snapshot = stored.snapshot
    for name in (field.name for field in fields(snapshot.session) if field.name != "version"):
        yield replace(stored, snapshot=replace(snapshot, session=changed_field(snapshot.session, name)))
    for part, kind in (("windows", WindowRecord), ("edges", EdgeRecord)):
        records = getattr(snapshot, part)
        for place, record in enumerate(records):
            yield replace(stored, snapshot=replace(snapshot, **{part: records[:place] + records[place + 1 :]}))
            for name in compared(kind):
                other = (*records[:place], changed_field(record, name), *records[place + 1 :])
                yield replace(stored, snapshot=replace(snapshot, **{part: other}))
    for part, kind in (("events", AuditEventRecord), ("reports", ReportRecord), ("leaves", LogLeaf)):
        records = getattr(stored, part)
        for place, record in enumerate(records):
            yield replace(stored, **{part: records[:place] + records[place + 1 :]})
            for name in compared(kind):
                yield replace(stored, **{part: (*records[:place], changed_field(record, name), *records[place + 1 :])})


def compared(kind):
    return [field.name for field in fields(kind) if field.compare and field.name != "leaf_index"]


def changed_field(record, name):
    value = getattr(record, name)
    if name == "facts_deferred":
        new = () if value else (DeferredFact("f", 1),)
    elif isinstance(value, tuple):
        new = (*value, "x")
    elif hasattr(value, "year"):
        new = value.replace(microsecond=(value.microsecond + 1) % 1_000_000)
    elif isinstance(value, Enum):
        new = next(one for one in type(value) if one is not value)
    elif isinstance(value, bytes):
        new = bytes(32)
    elif isinstance(value, str):
        new = ("1" if value[:1] != "1" else "2") + value[1:]
    else:
        new = value + 1
    return replace(record, **{name: new})
