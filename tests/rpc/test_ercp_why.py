"""The document's canonical question asks why: an answer without a reason does not converge (ERCP 1.0 §12; ADR 0118)."""

import pytest
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.message_json import json_of
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import GOOD, ErcpWorld, operators, status
from tests.fakes.sentence_heads import OPEN, TableHeads

BARE = "The boiling point of water is 100 °C at sea level. It is 90 °C on a high mountain."
FIRST, SECOND = "The boiling point of water is 100 °C at sea level.", "It is 90 °C on a high mountain."
PLAIN = "How high is the boiling point of water?"
MENDED = f"{BARE} The air is thinner up there."


async def run(*replies, heads=None, question=None, **config):
    world = ErcpWorld(replies=replies, heads=heads)
    fields = {} if question is None else {"problem": {"id": "p1", "description": question}}
    async with world.serving() as client:
        return await client.run(config=rpc.RunConfig(**config), **fields)


def verified(answer):
    events = [json_of(each) for each in answer.trace_events]
    return [each for each in events if each["operator"] == "verify"]


async def test_without_a_reason_it_does_not_converge_whatever_the_thresholds():
    for config in ({}, {"verify_threshold": 0.99, "candidate_threshold": 0.6}, {"allow_undecided": True}):
        answer = await run(BARE, heads=TableHeads(), **config)
        assert (status(answer), answer.status_reason) == ("partial", "NO_PROGRESS")
        told = verified(answer)[0]["output_summary"]
        assert (told["question"]["asks"], told["question"]["state"]) == ("why", "broken")
        (error,) = told["errors"]["items"]
        assert (error["type"], error["detected_by"]) == ("missing_justification", ["heads"])


async def test_the_error_demands_a_reason_and_an_answer_that_gives_one_converges():
    answer = await run(BARE, GOOD, heads=TableHeads())
    assert (status(answer), answer.status_reason) == ("converged", "STABLE")
    asked = 'Give the reason that the question asks for: "water boil at different temperatures at different altitudes"'
    assert asked in [each.nl_text for each in answer.constraints]
    assert verified(answer)[-1]["output_summary"]["question"]["state"] == "kept"


async def test_a_reason_without_a_marker_is_seen_by_the_heads():
    heads = TableHeads(relations={(SECOND, "The air is thinner up there."): ["justifies"]})
    answer = await run(MENDED, heads=heads)
    assert (status(answer), answer.status_reason) == ("converged", "STABLE")
    relations = verified(answer)[0]["output_summary"]["units"]["relations"]["items"]
    assert relations == [{"first": 1, "second": 2, "relation": "justifies", "confidence": 0.97}]


@pytest.mark.parametrize("heads", [None, TableHeads(otherwise=OPEN)])
async def test_what_nobody_knows_is_no_convergence_unless_it_is_allowed(heads):
    answer = await run(BARE, heads=heads)
    assert (status(answer), answer.status_reason) == ("partial", "UNDECIDED")
    assert verified(answer)[0]["output_summary"]["question"]["undecided_reason"] == "LEFT_OPEN"
    allowed = await run(BARE, heads=heads, allow_undecided=True)
    assert (status(allowed), allowed.status_reason) == ("converged", "STABLE")


async def test_other_questions_are_answered_without_a_reason():
    heads = TableHeads()
    answer = await run(BARE, heads=heads, question=PLAIN)
    assert (status(answer), answer.status_reason) == ("converged", "STABLE")
    assert "question" not in verified(answer)[0]["output_summary"]
    assert {len(pairs) for _, pairs in heads.batches} == {0}  # what neighbours are to each other is not asked


async def test_the_heads_are_part_of_what_verified_and_read_a_draft_in_one_batch():
    heads = TableHeads(kinds={SECOND: ["condition"]})
    answer = await run(MENDED, heads=heads)
    told = verified(answer)[0]
    assert told["input_summary"]["sentence_heads"] == TableHeads.fingerprint
    assert TableHeads.fingerprint in told["model_identity"]["version"]
    assert told["output_summary"]["units"]["kinds"] == {"condition": 1}
    sentences, pairs = heads.batches[0]
    assert len(sentences) == 3
    assert pairs == [(0, 1), (1, 0), (1, 2), (2, 1)]
    without = await run(MENDED)
    assert verified(without)[0]["input_summary"]["sentence_heads"] == "off"
    assert verified(without)[0]["model_fingerprint"] != told["model_fingerprint"]


async def test_a_run_that_was_broken_off_ends_as_it_would_have():
    world = ErcpWorld(replies=(BARE, GOOD), heads=TableHeads())
    asked = {"request_id": fresh_uuid()}
    async with world.serving() as client:
        first = await client.run(**asked)
        again = await client.run(**asked)
    assert operators(first.trace_events) == operators(again.trace_events)
    assert [each.node_signature for each in first.trace_events] == [each.node_signature for each in again.trace_events]
    assert (status(again), again.status_reason) == (status(first), first.status_reason)
