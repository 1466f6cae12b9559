"""Idle expiry, retention, holds and tombstones end to end, over the service as it is composed (ADR 0104)."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import retention_service_pb2 as rules_pb
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as log_pb

from services.cli.offline import Verdict, check_export
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.encoding import canonical_json
from services.common.merkle import consistency_holds, inclusion_holds
from services.common.settings.retention import RetentionSettings
from services.common.settings.stores import StoreSettings
from services.common.signed_note import NoteKey
from services.dag.domain.register import register_id
from tests.fakes.dag_world import commit_request, fresh_uuid
from tests.fakes.sealed_world import SealedWorld

PLAIN = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")
RULES = RetentionSettings(idle_expiry_s=86_400, erase_after_days=30, tombstone_after_days=60, sweep_interval_s=0)
TRUNCATED, BROKEN = taxonomy.CHAIN_INTEGRITY_TRUNCATED, taxonomy.CHAIN_INTEGRITY_BROKEN
DONE, HELD, DUE = (
    rules_pb.RETENTION_OUTCOME_DONE,
    rules_pb.RETENTION_OUTCOME_HELD,
    rules_pb.RETENTION_OUTCOME_DUE,
)
EXPIRE, ERASE, BURY = (
    rules_pb.RETENTION_ACTION_EXPIRE,
    rules_pb.RETENTION_ACTION_ERASE,
    rules_pb.RETENTION_ACTION_TOMBSTONE,
)


@pytest.fixture(params=["memory", "sqlite"])
async def world(request, tmp_path):
    if request.param == "memory":
        yield SealedWorld(retention=RULES)
        return
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    yield SealedWorld(store=store, retention=RULES)
    await store.close()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def apply(client, **fields):
    request = rules_pb.ApplyRetentionRequest(request_id=fresh_uuid(), **fields)
    answer = await client.keep("ApplyRetention", request)
    return [(one.session_id, one.action, one.outcome) for one in answer.items]


async def preview(client, **fields):
    answer = await client.keep("PreviewRetention", rules_pb.PreviewRetentionRequest(**fields))
    return [(one.session_id, one.action, one.outcome) for one in answer.items]


async def set_rules(client, subject="alice", **rules):
    request = rules_pb.SetRetentionRequest(
        request_id=fresh_uuid(), rules=rules_pb.RetentionRules(**rules), reason="the board decided"
    )
    return await client.keep("SetRetention", request, subject)


async def hold(client, session_id, *, held=True):
    request = rules_pb.SetLegalHoldRequest(
        request_id=fresh_uuid(), session_id=session_id, held=held, reason="case 12/2026"
    )
    return await client.keep("SetLegalHold", request)


async def verify(client, session_id):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


async def events(client, session_id):
    found = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1000))
    return found.events


async def status(client, session_id):
    return (await client.call("GetDag", pb.GetDagRequest(session_id=session_id))).session.status


async def two_windows(client):
    first = await client.window(text="zyxanswer is 500 euros.")
    second = await client.window(first.session_token, text="And zyxanswer again.")
    return first, second


async def end(client, session_id):
    request = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="done")
    await client.call("TerminateSession", request)


async def buried(client, world):
    """A session that went through every stage."""
    first, second = await two_windows(client)
    name = first.session.session_id
    world.clock.advance(days=2)
    assert await apply(client) == [(name, EXPIRE, DONE)]
    world.clock.advance(days=31)
    assert await apply(client) == [(name, ERASE, DONE)]
    world.clock.advance(days=61)
    assert await apply(client) == [(name, BURY, DONE)]
    return first, second


class TestIdleExpiry:
    async def test_an_idle_session_is_ended_with_a_cause_of_its_own(self, client, world):
        first = await client.window()
        name = first.session.session_id
        opened = await client.open(first.session_token)
        world.clock.advance(hours=23)
        assert await preview(client) == []
        world.clock.advance(hours=2)
        assert await preview(client) == [(name, EXPIRE, DUE)]
        assert await status(client, name) == dag_pb2.SESSION_STATUS_OPEN  # a preview writes nothing
        assert await apply(client) == [(name, EXPIRE, DONE)]
        assert await status(client, name) == dag_pb2.SESSION_STATUS_EXPIRED
        last = (await events(client, name))[-1]
        assert last.event_type == dag_pb2.AUDIT_EVENT_TYPE_SESSION_TERMINATED
        data = json.loads(last.data)
        assert (data["cause"], data["session"]["status"]) == ("IDLE_EXPIRED", "EXPIRED")
        pending = pb.GetWindowRequest(session_id=name, window_id=opened.window.window_id)
        assert (await client.call("GetWindow", pending)).window.status == dag_pb2.WINDOW_STATUS_FAILED
        assert (await verify(client, name)).integrity == taxonomy.CHAIN_INTEGRITY_VALID
        assert await apply(client) == []

    @pytest.mark.parametrize("swept", [False, True], ids=["at use", "after the sweep"])
    async def test_going_on_with_it_is_refused_by_a_reason_of_its_own(self, client, world, swept):
        token = SealedWorld().dag.token_lifetime_s
        assert token < 86_400
        first = await client.window()
        name = first.session.session_id
        opened = await client.open(first.session_token)
        world.clock.advance(days=2)
        if swept:
            await apply(client)
        refusal = await client.fails("CommitWindow", commit_request(opened))
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "SESSION_EXPIRED")
        again = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("TerminateSession", again)).reason == "SESSION_EXPIRED"
        child = pb.CreateSessionRequest(request_id=fresh_uuid(), agent_session_parent=name)
        assert (await client.fails("CreateSession", child)).reason == "SESSION_EXPIRED"
        assert await status(client, name) == dag_pb2.SESSION_STATUS_EXPIRED
        causes = [json.loads(event.data).get("cause") for event in await events(client, name)]
        assert causes.count("IDLE_EXPIRED") == 1

    async def test_a_token_that_outlives_the_session_is_refused_too(self, world):
        world.dag = world.dag.model_copy(update={"token_lifetime_s": 86_400})
        world.retention = RetentionSettings(idle_expiry_s=3_600, sweep_interval_s=0)
        async with world.serving() as client:
            first = await client.window()
            world.clock.advance(minutes=59)
            second = await client.window(first.session_token)  # a write begins the time anew
            world.clock.advance(minutes=61)
            request = pb.OpenWindowRequest(
                request_id=fresh_uuid(), session_token=second.session_token, available_budget_tokens=100
            )
            assert (await client.fails("OpenWindow", request)).reason == "SESSION_EXPIRED"

    async def test_no_rule_is_shorter_than_a_window_may_be_answered(self, world):
        world.dag = world.dag.model_copy(update={"pending_lifetime_s": 43_200})
        world.retention = RetentionSettings(idle_expiry_s=3_600, sweep_interval_s=0)
        async with world.serving() as client:
            opened = await client.open()
            world.clock.advance(hours=11)
            assert await apply(client) == []
            await client.commit(opened)
            found = await client.keep("GetRetention", rules_pb.GetRetentionRequest())
            assert found.effective.idle_expiry_s == 43_200
            world.clock.advance(hours=13)
            assert await apply(client) == [(opened.session.session_id, EXPIRE, DONE)]

    async def test_an_appended_event_does_not_bring_it_back(self, client, world):
        first = await client.window()
        name = first.session.session_id
        world.clock.advance(days=2)
        request = pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=name, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        )
        await client.call("AppendEvent", request)
        assert await status(client, name) == dag_pb2.SESSION_STATUS_EXPIRED
        kinds = [event.event_type for event in await events(client, name)][-2:]
        assert kinds == [dag_pb2.AUDIT_EVENT_TYPE_SESSION_TERMINATED, dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL]
        assert (await verify(client, name)).integrity == taxonomy.CHAIN_INTEGRITY_VALID

    async def test_of_a_writer_and_the_sweep_one_wins_and_the_chain_holds(self, client, world):
        names = []
        for _ in range(6):
            first = await client.window()
            names.append((first.session.session_id, await client.open(first.session_token)))
        world.clock.advance(days=2)

        async def commit(opened):
            return (await client.fails("CommitWindow", commit_request(opened))).reason

        *reasons, _, _ = await asyncio.gather(*(commit(opened) for _, opened in names), apply(client), apply(client))
        assert reasons == ["SESSION_EXPIRED"] * 6
        for name, _ in names:
            kinds = [json.loads(event.data).get("cause") for event in await events(client, name)]
            assert kinds.count("IDLE_EXPIRED") == 1
            assert (await verify(client, name)).integrity == taxonomy.CHAIN_INTEGRITY_VALID


class TestRetention:
    async def test_an_ended_session_is_erased_as_erase_session_does(self, client, world):
        first, second = await two_windows(client)
        name = first.session.session_id
        await end(client, name)
        world.clock.advance(days=29)
        assert await apply(client) == []
        world.clock.advance(days=2)
        assert await apply(client) == [(name, ERASE, DONE)]
        verdict = await verify(client, name)
        assert (verdict.integrity, verdict.windows_verified) == (TRUNCATED, 2)
        last = (await events(client, name))[-1]
        data = json.loads(last.data)
        assert last.event_type == dag_pb2.AUDIT_EVENT_TYPE_SESSION_ERASED
        assert (data["erased_by"], data["status_before"]) == ("RETENTION", "TERMINATED")
        window = pb.GetWindowRequest(session_id=name, window_id=second.window.window_id, include_response=True)
        assert (await client.call("GetWindow", window)).response_text == ""
        assert await apply(client) == []

    async def test_events_that_come_later_do_not_keep_it(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await end(client, name)
        world.clock.advance(days=29)
        request = pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=name, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        )
        await client.call("AppendEvent", request)
        world.clock.advance(days=2)
        assert await apply(client) == [(name, ERASE, DONE)]

    async def test_max_sessions_bounds_a_call_and_the_next_goes_on(self, client, world):
        names = [(await client.window()).session.session_id for _ in range(5)]
        world.clock.advance(days=2)
        first = await client.keep(
            "ApplyRetention", rules_pb.ApplyRetentionRequest(request_id=fresh_uuid(), max_sessions=2)
        )
        assert ([one.session_id for one in first.items], first.more) == (names[:2], True)
        assert [name for name, *_ in await apply(client)] == names[2:]

    async def test_pages_of_a_preview_hold_every_session_once(self, client, world):
        ended = [(await client.window()).session.session_id for _ in range(3)]
        for name in ended:
            await end(client, name)
        world.clock.advance(days=31)
        idle = [(await client.window()).session.session_id for _ in range(2)]
        world.clock.advance(days=2)
        found, token = [], ""
        while True:
            request = rules_pb.PreviewRetentionRequest(page_size=1, page_token=token)
            page = await client.keep("PreviewRetention", request)
            found += [one.session_id for one in page.items]
            token = page.next_page_token
            if not token:
                break
        assert found == [*idle, *ended]

    async def test_only_the_callers_tenant(self, client, world):
        await client.window()
        world.clock.advance(days=2)
        request = rules_pb.ApplyRetentionRequest(request_id=fresh_uuid())
        assert (await client.keep("ApplyRetention", request, "mallory")).items == []

    @pytest.mark.parametrize(
        ("rpc", "request_"),
        [
            ("SetRetention", rules_pb.SetRetentionRequest()),
            ("SetLegalHold", rules_pb.SetLegalHoldRequest()),
            ("ApplyRetention", rules_pb.ApplyRetentionRequest()),
        ],
    )
    async def test_readers_change_nothing(self, client, rpc, request_):
        assert (await client.keep_fails(rpc, request_, "reader")).reason == "ROLE_MISSING"


class TestRules:
    async def test_the_deployments_rules_are_in_force_until_a_tenant_sets_its_own(self, client):
        found = await client.keep("GetRetention", rules_pb.GetRetentionRequest())
        assert found.effective == rules_pb.RetentionRules(
            idle_expiry_s=86_400, erase_after_days=30, tombstone_after_days=60
        )
        assert (found.own, found.HasField("set_time")) == (rules_pb.RetentionRules(), False)
        answer = await set_rules(client, erase_after_days=7, tombstone_after_days=0)
        effective = rules_pb.RetentionRules(idle_expiry_s=86_400, erase_after_days=7, tombstone_after_days=0)
        assert answer.effective == effective
        found = await client.keep("GetRetention", rules_pb.GetRetentionRequest())
        assert found.effective == effective
        assert found.own == rules_pb.RetentionRules(erase_after_days=7, tombstone_after_days=0)
        assert found.set_time == answer.event.timestamp

    async def test_they_stand_in_a_chained_trail_that_nobody_else_writes(self, client, world):
        answer = await set_rules(client, legal_hold=True)
        await set_rules(client, idle_expiry_s=0)
        name = answer.register_session_id
        data = json.loads(answer.event.data)
        assert (data["set_by"], data["reason"], data["rules"]["legal_hold"]) == ("alice", "the board decided", True)
        kinds = [dag_pb2.AuditEventType.Name(one.event_type).split("_", 3)[3] for one in await events(client, name)]
        assert kinds == ["SESSION_CREATED", "LEGAL_HOLD_SET", "SESSION_TERMINATED", "RETENTION_SET", "RETENTION_SET"]
        verdict = await verify(client, name)
        assert (verdict.integrity, verdict.events_verified) == (taxonomy.CHAIN_INTEGRITY_UNVERIFIED, 5)
        append = pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=name, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        )
        assert (await client.fails("AppendEvent", append)).reason == "SESSION_CLOSED"
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("EraseSession", erase)).reason == "SESSION_CLOSED"
        end_ = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("TerminateSession", end_)).reason == "SESSION_CLOSED"
        release = rules_pb.SetLegalHoldRequest(request_id=fresh_uuid(), session_id=name, held=False, reason="x")
        assert (await client.keep_fails("SetLegalHold", release)).reason == "SESSION_CLOSED"
        world.clock.advance(days=4000)
        await set_rules(client)
        assert await apply(client) == []

    async def test_setting_them_again_under_one_id_sets_them_once(self, client):
        rules = rules_pb.RetentionRules(erase_after_days=3)
        request = rules_pb.SetRetentionRequest(request_id=fresh_uuid(), rules=rules, reason="x")
        first = await client.keep("SetRetention", request)
        assert await client.keep("SetRetention", request) == first
        request.reason = "y"
        assert (await client.keep_fails("SetRetention", request)).reason == "REQUEST_ID_REUSED"
        assert len(await events(client, first.register_session_id)) == 4

    async def test_two_administrators_at_once_both_stand_in_the_trail(self, client):
        answers = await asyncio.gather(*(set_rules(client, erase_after_days=day) for day in range(1, 9)))
        name = answers[0].register_session_id
        days = [json.loads(one.data)["rules"]["erase_after_days"] for one in (await events(client, name))[3:]]
        assert sorted(days) == list(range(1, 9))
        found = await client.keep("GetRetention", rules_pb.GetRetentionRequest())
        assert found.effective.erase_after_days == days[-1]

    @pytest.mark.parametrize(
        ("rules", "wrong"),
        [
            ({"idle_expiry_s": 3_599}, "rules.idle_expiry_s"),
            ({"idle_expiry_s": 315_360_001}, "rules.idle_expiry_s"),
            ({"erase_after_days": 36_501}, "rules.erase_after_days"),
            ({"tombstone_after_days": 36_501}, "rules.tombstone_after_days"),
        ],
    )
    async def test_a_rule_has_bounds(self, client, rules, wrong):
        request = rules_pb.SetRetentionRequest(
            request_id=fresh_uuid(), rules=rules_pb.RetentionRules(**rules), reason="x"
        )
        assert (await client.keep_fails("SetRetention", request)).fields == (wrong,)

    async def test_without_rules_that_verify_nothing_is_erased(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await end(client, name)
        await set_rules(client, erase_after_days=0)
        world.clock.advance(days=40)
        await forge_rules(world)
        refusal = await client.keep_fails("ApplyRetention", rules_pb.ApplyRetentionRequest(request_id=fresh_uuid()))
        assert (refusal.reason, refusal.metadata["session_id"]) == ("CHAIN_BROKEN", register_id("tenant-a"))
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("EraseSession", erase)).reason == "CHAIN_BROKEN"
        assert await status(client, name) == dag_pb2.SESSION_STATUS_TERMINATED

    async def test_a_register_that_was_taken_away_is_missed(self, client, world):
        await set_rules(client, legal_hold=True)
        world.clock.advance(seconds=11)
        await drop_session(world, register_id("tenant-a"))
        assert (await client.keep_fails("GetRetention", rules_pb.GetRetentionRequest())).reason == "CHAIN_BROKEN"
        again = rules_pb.SetRetentionRequest(request_id=fresh_uuid(), rules={}, reason="x")
        assert (await client.keep_fails("SetRetention", again)).reason == "CHAIN_BROKEN"


async def forge_rules(world):
    """Change the stored rules behind the service's back."""
    name = register_id("tenant-a")
    if isinstance(world.store, SqliteSessionStore):
        statement = "UPDATE events SET timestamp_us = timestamp_us + 1 WHERE session_id = ? AND sequence = 3"
        await world.store._database.write(lambda connection: connection.execute(statement, (name,)))
        return
    held = world.store._sessions["tenant-a", name].events
    held[3] = replace(held[3], timestamp=held[3].timestamp + timedelta(microseconds=1))


async def drop_session(world, name):
    if not isinstance(world.store, SqliteSessionStore):
        del world.store._sessions["tenant-a", name]
        return

    def job(connection):
        for table in ("events", "windows", "edges", "reports", "sessions"):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (name,))

    await world.store._database.write(job)


class TestLegalHold:
    async def test_a_held_session_is_kept_until_the_hold_ends(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await end(client, name)
        placed = await hold(client, name)
        assert placed.event.event_type == dag_pb2.AUDIT_EVENT_TYPE_LEGAL_HOLD_SET
        assert json.loads(placed.event.data) == {"reason": "case 12/2026", "set_by": "alice"}
        (listed,) = (await client.call("ListSessions", pb.ListSessionsRequest())).sessions
        assert listed.legal_hold
        world.clock.advance(days=31)
        assert await preview(client) == [(name, ERASE, HELD)]
        assert await apply(client) == []
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        refusal = await client.fails("EraseSession", erase)
        assert (refusal.code.name, refusal.reason, refusal.metadata["held"]) == (
            "FAILED_PRECONDITION",
            "SESSION_HELD",
            "session",
        )
        assert (await verify(client, name)).integrity == taxonomy.CHAIN_INTEGRITY_VALID
        await hold(client, name, held=False)
        assert await apply(client) == [(name, ERASE, DONE)]

    async def test_a_held_session_still_expires(self, client, world):
        first = await client.window()
        await hold(client, first.session.session_id)
        world.clock.advance(days=2)
        assert await apply(client) == [(first.session.session_id, EXPIRE, DONE)]

    async def test_an_erased_session_can_be_kept_from_becoming_a_tombstone(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await client.erase(name)
        await hold(client, name)
        world.clock.advance(days=61)
        assert await preview(client) == [(name, BURY, HELD)]
        assert (await verify(client, name)).integrity == TRUNCATED
        await hold(client, name, held=False)
        assert await apply(client) == [(name, BURY, DONE)]
        assert (await verify(client, name)).integrity == TRUNCATED
        request = rules_pb.SetLegalHoldRequest(request_id=fresh_uuid(), session_id=name, held=True, reason="x")
        assert (await client.keep_fails("SetLegalHold", request)).reason == "SESSION_CLOSED"

    async def test_a_held_tenant_keeps_everything(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await end(client, name)
        await set_rules(client, legal_hold=True)
        world.clock.advance(days=31)
        assert await preview(client) == [(name, ERASE, HELD)]
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("EraseSession", erase)).metadata["held"] == "tenant"
        await set_rules(client)
        assert await apply(client) == [(name, ERASE, DONE)]


class TestTombstones:
    async def test_its_records_go_and_it_says_why(self, client, world):
        first, second = await buried(client, world)
        name = first.session.session_id
        verdict = await verify(client, name)
        assert verdict.integrity == TRUNCATED
        assert "tombstone" in verdict.partial_reason
        assert (verdict.windows_verified, verdict.windows_total) == (0, 2)
        assert list(verdict.tips) == [second.window.hmac]
        found = await client.call("GetDag", pb.GetDagRequest(session_id=name))
        assert (found.session.status, len(found.windows)) == (dag_pb2.SESSION_STATUS_TOMBSTONED, 0)
        (event,) = await events(client, name)
        assert event.event_type == dag_pb2.AUDIT_EVENT_TYPE_SESSION_TOMBSTONED
        assert event.sequence == verdict.events_total - 1
        data = json.loads(event.data)
        assert (data["windows"], data["events"], data["leaves"]) == (2, 10, 12)  # ADR 0104, worked example
        window = pb.GetWindowRequest(session_id=name, window_id=first.window.window_id)
        assert (await client.fails("GetWindow", window)).reason == "WINDOW_NOT_FOUND"
        report = pb.GetReportRequest(report_id=first.report_id)
        assert (await client.fails("GetReport", report)).reason == "REPORT_NOT_FOUND"
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=name, reason="x")
        assert (await client.fails("EraseSession", erase)).reason == "SESSION_CLOSED"
        append = pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=name, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        )
        assert (await client.fails("AppendEvent", append)).reason == "SESSION_CLOSED"
        world.clock.advance(days=9999)
        assert await apply(client) == []

    async def test_proofs_from_before_hold_after_it(self, client, world):
        first, _ = await two_windows(client)
        name = first.session.session_id
        record = log_pb.GetInclusionProofRequest(session_id=name, window_id=first.window.window_id)
        before = await client.ask_log("GetInclusionProof", record)
        head = (await client.ask_log("GetTreeHead", log_pb.GetTreeHeadRequest())).tree_head
        for days in (2, 31, 61):
            world.clock.advance(days=days)
            await apply(client)
        after = await client.ask_log("GetInclusionProof", record)
        proof, root = after.proof, after.tree_head.root_hash
        assert (after.leaf, proof.leaf_hash) == (before.leaf, before.proof.leaf_hash)
        assert proof.tree_size > head.tree_size
        assert inclusion_holds(proof.leaf_hash, proof.leaf_index, proof.tree_size, list(proof.path_hashes), root)
        grown = log_pb.GetConsistencyProofRequest(first_tree_size=head.tree_size)
        found = (await client.ask_log("GetConsistencyProof", grown)).proof
        trees = (head.tree_size, head.root_hash), (proof.tree_size, root)
        assert consistency_holds(*trees, list(found.path_hashes))

    async def test_an_export_proves_every_leaf_that_it_stands_for(self, client, world):
        first, _ = await two_windows(client)
        name = first.session.session_id
        kept = (await client.ask_log("GetTreeHead", log_pb.GetTreeHeadRequest())).tree_head
        for days in (2, 31, 61):
            world.clock.advance(days=days)
            await apply(client)
        await two_windows(client)  # the log goes on
        lines = await client.export(name, sizes=(kept.tree_size,))
        key = NoteKey(kept.origin, kept.public_key)
        found = check_export(lines, key, kept.checkpoint)
        assert (found.verdict, found.fault) == (Verdict.TRUNCATED, None)
        (event, *leaves, _) = [json.loads(line) for line in lines]
        assert (found.windows, found.events) == (2, int(event["sequence"]) + 1)
        assert [leaf["record_kind"] for leaf in leaves].count("window") == 2
        assert "line_sha256" not in leaves[0]

        def changed(place, **fields):
            line = json.dumps(json.loads(lines[place]) | fields, sort_keys=True, separators=(",", ":"))
            return [*lines[:place], line, *lines[place + 1 :]]

        for forged in (
            changed(0, sequence="3"),
            changed(0, timestamp="2026-01-01T00:00:00Z"),
            changed(0, data=event["data"] | {"leaves": 1}),
            changed(1, record_id="crp_evt_" + "0" * 32),
            changed(1, position=9),
            changed(1, salt="00" * 32),
            [lines[0], *lines[2:]],
            [*lines[:-2], lines[-1]],
            [*lines[:2], *lines[1:]],
            [lines[0], *lines],
            lines[1:],
        ):
            assert check_export(forged, key, None).verdict is Verdict.BROKEN

    async def test_a_broken_session_never_becomes_one(self, client, world):
        first = await client.window()
        name = first.session.session_id
        await client.erase(name)
        if isinstance(world.store, SqliteSessionStore):
            await world.store._database.write(lambda c: c.execute("UPDATE windows SET token_count = 7"))
        else:
            windows = world.store._sessions["tenant-a", name].windows
            for window_id, window in windows.items():
                windows[window_id] = replace(window, token_count=7)
        world.clock.advance(days=61)
        request = rules_pb.ApplyRetentionRequest(request_id=fresh_uuid())
        (item,) = (await client.keep("ApplyRetention", request)).items
        assert item.outcome == rules_pb.RETENTION_OUTCOME_FAILED
        assert item.detail.startswith("CHAIN_BROKEN")
        assert (await verify(client, name)).integrity == BROKEN


class TestOpenTrails:
    """A trail that lost its end, and one that an earlier version left without a trail_mac (ADR 0099)."""

    @pytest.fixture
    def world(self):
        return SealedWorld(retention=RULES)

    async def test_a_session_whose_trail_was_cut_is_held_all_the_same(self, client, world):
        first, _ = await two_windows(client)
        name = first.session.session_id
        world.store._sessions["tenant-a", name].events.pop()
        await hold(client, name)
        assert await status(client, name) == dag_pb2.SESSION_STATUS_BROKEN
        assert (await verify(client, name)).integrity == BROKEN
        kinds = [dag_pb2.AuditEventType.Name(event.event_type) for event in await events(client, name)]
        assert kinds[-2:] == ["AUDIT_EVENT_TYPE_SESSION_TERMINATED", "AUDIT_EVENT_TYPE_LEGAL_HOLD_SET"]
        world.clock.advance(days=100)
        assert await preview(client) == [(name, ERASE, HELD)]

    async def test_a_trail_that_an_earlier_version_left_open_goes_through_every_stage(self, client, world):
        with patch("services.dag.domain.step.promising", tuple):
            first, _ = await two_windows(client)
        name = first.session.session_id
        await end(client, name)
        held = world.store._sessions["tenant-a", name]
        held.record = replace(held.record, trail_mac="")
        world.clock.advance(days=31)
        assert await apply(client) == [(name, ERASE, DONE)]
        assert (await verify(client, name)).integrity == TRUNCATED
        world.clock.advance(days=61)
        assert await apply(client) == [(name, BURY, DONE)]
        assert (await verify(client, name)).integrity == TRUNCATED
        held.record = replace(held.record, trail_mac="")
        assert (await verify(client, name)).integrity == BROKEN


class TestForgedTombstones:
    """With write access to the file and no key."""

    @pytest.fixture
    async def world(self, tmp_path):
        store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
        yield SealedWorld(store=store, retention=RULES)
        await store.close()

    async def tamper(self, world, *statements):
        def job(connection):
            for statement in statements:
                connection.execute(statement)

        await world.store._database.write(job)

    @pytest.mark.parametrize(
        ("change", "kind"),
        [
            ("UPDATE events SET hmac = substr(hmac, 2) || substr(hmac, 1, 1)", "event"),
            ("UPDATE events SET timestamp_us = timestamp_us + 1", "event"),
            ("UPDATE events SET sequence = sequence + 1", "event"),
            ("UPDATE events SET event_id = 'crp_evt_' || substr(hmac, 2, 32)", "event"),
            ("UPDATE events SET window_id = 'crp_win_0000000000000000'", "event"),
            ("UPDATE events SET data = '{}'", "event"),
            ("UPDATE events SET event_type = 'TOOL_CALL'", "event"),
            ("DELETE FROM events", "event"),
            ("UPDATE sessions SET trail_mac = ''", "event"),
            ("UPDATE sessions SET version = version + 1", "event"),
            ("UPDATE sessions SET status = 'ERASED'", "session"),
            ("UPDATE sessions SET status = 'OPEN'", "session"),
            ("UPDATE sessions SET scope = 'x'", "session"),
            ("UPDATE sessions SET created_us = created_us + 1", "session"),
            ("UPDATE sessions SET updated_us = updated_us + 1", "session"),
            ("UPDATE sessions SET status_us = status_us - 1", "session"),
            ("UPDATE sessions SET legal_hold = 1", "session"),
            ("UPDATE leaves SET content_hmac = substr(content_hmac, 2) || 'x' WHERE leaf_index = 2", "leaf"),
            ("UPDATE leaves SET session_id = 'x' WHERE leaf_index = 2", "leaf"),
            ("DELETE FROM leaves WHERE leaf_index = 0", "leaf"),
            ("DELETE FROM leaves WHERE leaf_index = (SELECT max(leaf_index) FROM leaves)", "leaf"),
            ("UPDATE leaves SET subtrees = zeroblob(32) WHERE leaf_index = 0", "leaf"),
            (
                "UPDATE leaves SET position = position + 1 WHERE leaf_index = (SELECT max(leaf_index) FROM leaves)",
                "leaf",
            ),
        ],
    )
    async def test_every_change_is_found(self, client, world, change, kind):
        first, _ = await buried(client, world)
        await self.tamper(world, change)
        verdict = await verify(client, first.session.session_id)
        assert (verdict.integrity, verdict.fault.record_kind) == (BROKEN, kind)

    async def test_one_without_its_salt_is_found(self, client, world):
        """Put there in the clear by somebody without a key: its leaf could not be compared with it."""
        first, _ = await buried(client, world)
        name = first.session.session_id
        (event,) = [json.loads(line) for line in await client.export(name) if "SESSION_TOMBSTONED" in line]
        plain = canonical_json(event["data"]).decode()
        await world.store._database.write(lambda c: c.execute("UPDATE events SET data = ?", (plain,)).rowcount)
        verdict = await verify(client, name)
        assert (verdict.integrity, verdict.fault.record_kind) == (BROKEN, "leaf")
        told = (verdict.fault.record_id, verdict.fault.detail)
        assert told == (event["event_id"], "cannot be checked: the tombstone has no salt")

    async def test_a_live_session_cannot_be_passed_off_as_one(self, client, world):
        first, _ = await two_windows(client)
        name = first.session.session_id
        await self.tamper(
            world,
            "DELETE FROM windows",
            "DELETE FROM edges",
            "DELETE FROM reports",
            "DELETE FROM events WHERE sequence < (SELECT max(sequence) FROM events)",
            "UPDATE events SET event_type = 'SESSION_TOMBSTONED'",
            "UPDATE sessions SET status = 'TOMBSTONED'",
        )
        verdict = await verify(client, name)
        assert (verdict.integrity, verdict.fault.record_kind) == (BROKEN, "event")

    async def test_anothers_tombstone_does_not_fit(self, client, world):
        first, _ = await buried(client, world)
        other, _ = await two_windows(client)
        names = (first.session.session_id, other.session.session_id)
        await self.tamper(
            world,
            *(
                f"DELETE FROM {table} WHERE session_id = '{names[1]}'"
                for table in ("windows", "edges", "reports", "events")
            ),
            f"UPDATE sessions SET status = 'TOMBSTONED' WHERE session_id = '{names[1]}'",
            f"UPDATE events SET session_id = '{names[1]}'",
        )
        for name in names:
            assert (await verify(client, name)).integrity == BROKEN

    async def test_records_that_come_back_are_found(self, client, world):
        first, _ = await two_windows(client)
        name = first.session.session_id
        kept = {}

        def copy(connection):
            for table in ("windows", "edges", "reports", "events"):
                kept[table] = connection.execute(f"SELECT * FROM {table}").fetchall()

        await world.store._database.read(copy)
        for days in (2, 31, 61):
            world.clock.advance(days=days)
            await apply(client)
        for table, kind in (("windows", "window"), ("edges", "edge"), ("reports", "report"), ("events", "event")):
            rows = kept[table]

            def put(connection, rows=rows, table=table):
                marks = ",".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

            def drop(connection, rows=rows, table=table):
                last = "WHERE sequence < (SELECT max(sequence) FROM events)" if table == "events" else ""
                connection.execute(f"DELETE FROM {table} {last}")

            await world.store._database.write(put)
            verdict = await verify(client, name)
            assert (verdict.integrity, verdict.fault.record_kind) == (BROKEN, kind)
            await world.store._database.write(drop)
        assert (await verify(client, name)).integrity == TRUNCATED
