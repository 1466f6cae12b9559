"""Edges that were opened as SUMMARY and what is said to have flowed along them (SPEC-004 §8, §12; ADR 0050)."""

import json

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.encoding import sha256_hex
from tests.fakes.dag_world import World, commit_request, fresh_uuid

LONG = "The first part.\n\nThe conclusion."
SUMMARY = {
    "transfer_type": dag_pb2.TRANSFER_TYPE_SUMMARY,
    "transferred_tokens": 180,
    "summary_text": "Kurz: 500 €.",
    "fidelity_score": 0.80,
    "model_fingerprint": "model@1",
}
RESULT = {
    "transfer_type": dag_pb2.TRANSFER_TYPE_RESULT_ONLY,
    "transferred_tokens": 9,
    "fidelity_score": 0.79,
    "model_fingerprint": "model@1",
    "reason": "fidelity below 0.80",
}


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def long_window(client, token="", tokens=700, **fields):
    return await client.commit(await client.open(token, **fields), LONG, response_tokens=tokens)


async def summarised(client, **fields):
    first = await long_window(client)
    opened = await client.open(first.session_token, summariser_available=True, **fields)
    return first, opened


async def edges(client, opened):
    ids = {"session_id": opened.session.session_id, "window_id": opened.window.window_id}
    return list((await client.call("GetWindow", pb.GetWindowRequest(**ids))).parent_edges)


async def summarisations(client, session_id):
    listed = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1000))
    return [e for e in listed.events if e.event_type == dag_pb2.AUDIT_EVENT_TYPE_SUMMARISATION]


async def test_a_parent_that_does_not_fit_is_to_be_summarised(client):
    first, opened = await summarised(client)
    assert list(opened.parents) == [
        pb.ParentContext(
            window_id=first.window.window_id,
            window_number=1,
            response_text=LONG,
            transfer_type=dag_pb2.TRANSFER_TYPE_SUMMARY,
            transferred_tokens=175 + 12,
            deferred_fact_ids=["f-3"],
            skipped=["FULL_CONTEXT: 712 tokens are over 60% of 1000"],
            summary_tokens=175,
            fallback_text="The conclusion.",
        )
    ]


async def test_what_flowed_stands_on_the_edge_and_in_the_trail(client):
    first, opened = await summarised(client)
    transfer = {**SUMMARY, "source_window_id": first.window.window_id}
    second = await client.commit(opened, transfers=[transfer])
    (edge,) = await edges(client, opened)
    assert edge == dag_pb2.WindowEdge(
        source_id=first.window.window_id,
        target_id=second.window.window_id,
        transfer_type=dag_pb2.TRANSFER_TYPE_SUMMARY,
        transferred_tokens=180,
        summary_hash=sha256_hex("Kurz: 500 €."),
    )
    (event,) = await summarisations(client, first.session.session_id)
    assert event.window_id == second.window.window_id
    assert json.loads(event.data) == {
        "source_id": first.window.window_id,
        "summary_tokens": 175,
        "transferred_tokens": 180,
        "summary_hash": edge.summary_hash,
        "fidelity_score": 0.8,
        "model_fingerprint": "model@1",
        "outcome": "SUMMARY",
        "reason": "",
    }
    assert second.safety_budget == 1.0
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_a_summary_that_does_not_pass_falls_back(client):
    first, opened = await summarised(client)
    await client.commit(opened, transfers=[{**RESULT, "source_window_id": first.window.window_id}])
    (edge,) = await edges(client, opened)
    assert (edge.transfer_type, edge.transferred_tokens, edge.summary_hash) == (
        dag_pb2.TRANSFER_TYPE_RESULT_ONLY,
        9,
        "",
    )
    (event,) = await summarisations(client, first.session.session_id)
    data = json.loads(event.data)
    assert (data["outcome"], data["reason"], data["fidelity_score"]) == ("RESULT_ONLY", "fidelity below 0.80", 0.79)


async def test_a_fallback_without_a_summary_has_no_score(client):
    first, opened = await summarised(client)
    transfer = pb.ParentTransfer(
        source_window_id=first.window.window_id,
        transfer_type=dag_pb2.TRANSFER_TYPE_RESULT_ONLY,
        reason="LLM_UNAVAILABLE",
    )
    await client.commit(opened, transfers=[transfer])
    (event,) = await summarisations(client, first.session.session_id)
    assert "fidelity_score" not in json.loads(event.data)


async def test_a_changed_summary_hash_is_found(world, client):
    first, opened = await summarised(client)
    await client.commit(opened, transfers=[{**SUMMARY, "source_window_id": first.window.window_id}])
    held = world.held(first.session.session_id)
    (ends,) = held.edges
    from dataclasses import replace

    held.edges[ends] = replace(held.edges[ends], summary_hash="0" * 64)
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
    assert (verified.integrity, verified.fault.record_kind) == (taxonomy.CHAIN_INTEGRITY_BROKEN, "edge")


NO_WINDOW = "crp_win_" + "n" * 16


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param(None, "transfers", id="nothing said"),
        pytest.param({"source_window_id": NO_WINDOW}, "transfers[0].source_window_id", id="of another window"),
        pytest.param({"source_window_id": "w"}, "transfers[0].source_window_id", id="of no window"),
        pytest.param({"fidelity_score": 0.7999}, "transfers[0].fidelity_score", id="not faithful"),
        pytest.param({"fidelity_score": None}, "transfers[0].fidelity_score", id="not verified"),
        pytest.param({"fidelity_score": 1.01}, "transfers[0].fidelity_score", id="no fraction"),
        pytest.param({"summary_text": ""}, "transfers[0].summary_text", id="empty"),
        pytest.param({"summary_text": "x" * 1_000_001}, "transfers[0].summary_text", id="too long"),
        pytest.param({"model_fingerprint": ""}, "transfers[0].model_fingerprint", id="of nobody"),
        pytest.param({"model_fingerprint": "m" * 201}, "transfers[0].model_fingerprint", id="a long name"),
        pytest.param({"reason": "because"}, "transfers[0].reason", id="with a reason"),
        pytest.param({"transfer_type": 1}, "transfers[0].transfer_type", id="of another type"),
        pytest.param({"transfer_type": 99}, "transfers[0].transfer_type", id="of an unknown type"),
        pytest.param({"transfer_type": 4}, "transfers[0].summary_text", id="a result with a summary"),
        pytest.param({**RESULT, "summary_text": "", "reason": ""}, "transfers[0].reason", id="a result without reason"),
    ],
)
async def test_what_may_be_said_of_a_summary(world, client, changes, field):
    first, opened = await summarised(client)
    transfers = []
    if changes is not None:
        values = {**SUMMARY, "source_window_id": first.window.window_id, **changes}
        transfers = [pb.ParentTransfer(**{name: value for name, value in values.items() if value is not None})]
    refusal = await client.fails("CommitWindow", commit_request(opened, transfers=transfers))
    assert (refusal.code.name, refusal.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert field in refusal.fields
    assert world.held(first.session.session_id).windows[opened.window.window_id].status.value == "PENDING"


async def test_one_parent_is_not_named_twice(client):
    first, opened = await summarised(client)
    transfers = [{**SUMMARY, "source_window_id": first.window.window_id}] * 2
    refusal = await client.fails("CommitWindow", commit_request(opened, transfers=transfers))
    assert refusal.fields == ("transfers",)


async def test_nothing_is_said_of_edges_that_were_opened_otherwise(client):
    first = await client.window()
    opened = await client.open(first.session_token, summariser_available=True)
    transfers = [{**SUMMARY, "source_window_id": first.window.window_id}]
    refusal = await client.fails("CommitWindow", commit_request(opened, transfers=transfers))
    assert refusal.fields == ("transfers[0].source_window_id",)
    await client.commit(opened)


async def test_a_caller_cannot_append_the_events_of_the_service(client):
    first = await client.window()
    for name in ("SUMMARISATION", "FAN_OUT_CREATED", "FAN_IN_MERGED"):
        request = pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=first.session.session_id,
            data="{}",
            event_type=dag_pb2.AuditEventType.Value(f"AUDIT_EVENT_TYPE_{name}"),
        )
        assert (await client.fails("AppendEvent", request)).fields == ("event_type",)


async def test_a_fan_in_shares_the_budget_among_its_parents(client):
    """ADR 0050's worked example: 1,000 tokens for two parents of 700 and 4,000."""
    root = await client.window()
    opened = [await client.open(root.session_token, strategy=taxonomy.DISPATCH_STRATEGY_FAN_OUT) for _ in range(2)]
    a = await client.commit(opened[0], LONG, response_tokens=700)
    b = await client.commit(opened[1], LONG, response_tokens=4000)
    synthesis = await client.open(
        a.session_token,
        continuation_ids=[b.continuation_id, a.continuation_id],
        strategy=taxonomy.DISPATCH_STRATEGY_FAN_IN,
        summariser_available=True,
    )
    found = {parent.window_id: (parent.transfer_type, parent.summary_tokens) for parent in synthesis.parents}
    assert found == {
        a.window.window_id: (dag_pb2.TRANSFER_TYPE_SUMMARY, 150),
        b.window.window_id: (dag_pb2.TRANSFER_TYPE_SUMMARY, 150),
    }
    transfers = [
        {**RESULT, "source_window_id": b.window.window_id},
        {**SUMMARY, "source_window_id": a.window.window_id},
    ]
    await client.commit(synthesis, transfers=transfers)
    kinds = {edge.source_id: edge.transfer_type for edge in await edges(client, synthesis)}
    assert kinds == {
        a.window.window_id: dag_pb2.TRANSFER_TYPE_SUMMARY,
        b.window.window_id: dag_pb2.TRANSFER_TYPE_RESULT_ONLY,
    }
    events = await summarisations(client, root.session.session_id)
    assert [json.loads(event.data)["source_id"] for event in events] == sorted(kinds)
