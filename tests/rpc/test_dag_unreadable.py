"""Rows that do not parse, over gRPC: BROKEN and named, DATA_LOSS for plain reads, and everything else goes on."""

import sqlite3
from contextlib import closing

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as log_pb

from services.common.adapters.sqlite import SqliteSessionStore
from services.common.ports.event_feed import FedEvent
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.sink.batching import Batches
from tests.contract.adapters import PLAIN
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.sealed_world import SECRET, SealedWorld

VALID, BROKEN = taxonomy.CHAIN_INTEGRITY_VALID, taxonomy.CHAIN_INTEGRITY_BROKEN


@pytest.fixture
async def store(tmp_path):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", PLAIN)
    yield store
    await store.close()


@pytest.fixture
async def client(store):
    async with SealedWorld(store=store).serving() as client:
        yield client


@pytest.fixture
def alter(tmp_path):
    def change(statement, *values):
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as connection:
            assert connection.execute(statement, values).rowcount == 1

    return change


async def verify(client, session_id):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


DAMAGE = {
    "a word that is none": ("windows", "pattern", "LINEAa"),
    "another type": ("windows", "token_count", "many"),
    "half of a list": ("windows", "facts_included", "["),
    "a moment out of range": ("windows", "timestamp_us", 2**62),
    "a blob": ("windows", "hmac", b"\x00"),
    "the session's status": ("sessions", "status", "HALF_OPEN"),
}


@pytest.mark.parametrize("case", DAMAGE)
async def test_a_row_that_does_not_parse_is_a_fault_of_that_record(client, alter, case):
    table, column, value = DAMAGE[case]
    first = await client.window()
    beside = await client.window()
    session_id = first.session.session_id
    named = ("window", first.window.window_id) if table == "windows" else ("session", session_id)
    with_condition = f"UPDATE {table} SET {column} = ? WHERE session_id = ?"
    alter(with_condition, value, session_id)

    found = await verify(client, session_id)
    assert (found.integrity, found.fault.record_kind, found.fault.record_id) == (BROKEN, *named)
    assert column in found.fault.detail
    assert str(value) not in found.fault.detail

    for rpc, request in (
        ("GetDag", pb.GetDagRequest(session_id=session_id)),
        ("GetWindow", pb.GetWindowRequest(session_id=session_id, window_id=first.window.window_id)),
        ("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id)),
    ):
        refused = await client.fails(rpc, request)
        assert (refused.code, refused.reason) == (grpc.StatusCode.DATA_LOSS, "RECORD_UNREADABLE")
        assert (refused.metadata["record_kind"], refused.metadata["record_id"]) == named
        assert (refused.metadata["field"], refused.metadata["session_id"]) == (column, session_id)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.export(session_id)
    assert caught.value.code() is grpc.StatusCode.DATA_LOSS

    going_on = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=9
    )
    refused = await client.fails("OpenWindow", going_on)
    assert (refused.code, refused.reason) == (grpc.StatusCode.DATA_LOSS, "CHAIN_BROKEN")
    assert (refused.metadata["record_kind"], refused.metadata["record_id"]) == named
    event = pb.AppendEventRequest(request_id=fresh_uuid(), session_id=session_id, data="{}")
    event.event_type = dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
    assert (await client.fails("AppendEvent", event)).reason == "CHAIN_BROKEN"

    size = (await client.ask_log("GetTreeHead", log_pb.GetTreeHeadRequest())).tree_head.tree_size
    second = await client.window(beside.session_token)
    assert second.chain_integrity == VALID
    fresh = await client.window()
    assert (await verify(client, fresh.session.session_id)).integrity == VALID
    grown = (await client.ask_log("GetTreeHead", log_pb.GetTreeHeadRequest())).tree_head.tree_size
    assert (size, grown) == (10, 20)  # five leaves to a window, whatever became of the other session


async def test_a_session_is_not_closed_over_what_cannot_be_read(client, alter):
    first = await client.window()
    session_id = first.session.session_id
    alter("UPDATE windows SET status = 'DONE' WHERE session_id = ?", session_id)
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=9
    )
    assert (await client.fails("OpenWindow", request)).reason == "CHAIN_BROKEN"
    alter("UPDATE windows SET status = 'COMMITTED' WHERE session_id = ?", session_id)
    assert (await verify(client, session_id)).integrity == VALID
    assert (await client.window(first.session_token)).chain_integrity == VALID


async def test_a_report_that_does_not_parse_has_its_place_in_the_list(client, alter):
    first = await client.window()
    second = await client.window()
    alter("UPDATE reports SET created_us = 'x' WHERE report_id = ?", first.report_id)
    listed = (await client.call("ListReports", pb.ListReportsRequest())).reports
    assert {one.report_id: one.unreadable for one in listed} == {first.report_id: "created_us", second.report_id: ""}
    one_by_one = []
    token = ""
    while not one_by_one or token:
        page = await client.call("ListReports", pb.ListReportsRequest(page_size=1, page_token=token))
        one_by_one += [report.report_id for report in page.reports]
        token = page.next_page_token
    assert sorted(one_by_one) == sorted([first.report_id, second.report_id])
    refused = await client.fails("GetReport", pb.GetReportRequest(report_id=first.report_id))
    assert (refused.reason, refused.metadata["record_id"]) == ("RECORD_UNREADABLE", first.report_id)
    assert (await verify(client, first.session.session_id)).fault.record_kind == "report"


async def test_a_word_that_no_message_knows_is_data_loss_and_no_fault_of_ours(client, alter):
    first = await client.window()
    session_id = first.session.session_id
    alter("UPDATE windows SET quality_tier = 'Z' WHERE session_id = ?", session_id)
    refused = await client.fails("GetDag", pb.GetDagRequest(session_id=session_id))
    assert (refused.reason, refused.metadata["record_kind"]) == ("RECORD_UNREADABLE", "window")
    assert (await verify(client, session_id)).integrity == BROKEN


async def test_a_sealed_text_under_a_version_that_was_altered_is_broken_and_not_unavailable(client, alter):
    first = await client.window()
    session_id = first.session.session_id
    # The version is the first four bytes: AAAAA... becomes AAAAB..., version 5.
    alter(
        "UPDATE windows SET response_text = 'gtseal1.AAAAB' || substr(response_text, 14) WHERE session_id = ?",
        session_id,
    )
    found = await verify(client, session_id)
    assert (found.integrity, found.fault.record_kind) == (BROKEN, "window")


@pytest.mark.parametrize("version", [0, 7])
async def test_a_session_that_names_another_master_key_is_broken_and_not_unavailable(client, alter, version):
    first = await client.window()
    session_id = first.session.session_id
    alter("UPDATE sessions SET key_version = ? WHERE session_id = ?", version, session_id)
    found = await verify(client, session_id)
    assert (found.integrity, found.fault.record_kind, found.fault.record_id) == (BROKEN, "session", session_id)
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=9
    )
    refused = await client.fails("OpenWindow", request)
    assert (refused.code, refused.reason) == (grpc.StatusCode.DATA_LOSS, "CHAIN_BROKEN")


async def test_the_event_sink_sends_the_events_around_one_that_does_not_parse(client, store, alter):
    first = await client.window()
    session_id = first.session.session_id
    alter("UPDATE events SET timestamp_us = 'x' WHERE session_id = ? AND sequence = 2", session_id)
    alter(
        "UPDATE leaves SET position = 'x' WHERE session_id = ? AND record_kind = 'event' AND position = 3", session_id
    )
    await client.window()
    keys = FixedMasterKeys({1: MasterKey(1, bytes.fromhex(SECRET))})
    sealed = SealedSessionStore(store, Sealer(keys))
    batches = Batches(store.event_feed(), sealed, lambda _, event: str(event.sequence), "text/plain", 10_000)
    filled = await batches.fill("tenant-a", after=-1, limit=100)
    assert filled.batch.body.split() == [b"0", b"1", b"0", b"1", b"2", b"3"]
    assert [(place.session_id, place.sequence) for place in filled.missing] == [(session_id, 2), ("", -1)]
    assert filled.missing[0] == FedEvent(session_id, 2, filled.missing[0].leaf_index)
    assert filled.through == 9
