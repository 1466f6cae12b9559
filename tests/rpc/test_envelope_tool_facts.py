"""What tools answered, as facts of one envelope: packed, sourced, never deferred, beside what is carried (ADR 0161)."""

import pytest

from tests.fakes.envelope_world import World, refused
from tests.rpc.test_envelope_build import FACTS, INVALID, QUERY

RATE = "The deadline for a motor accident on an island is 90 days."


@pytest.fixture
async def alice():
    async with World().serving() as clients:
        client = clients()
        await client.ingest("\n\n".join(FACTS), uri="rules.txt")
        yield client


async def test_a_tools_answer_is_a_fact_with_the_tool_as_source_and_is_stored_nowhere(alice):
    before = {fact.fact_id for fact in await alice.facts()}
    told = [{"content": RATE, "tool": "desk"}, {"content": RATE, "tool": "desk"}]
    carried = [{"content": "An island is far away.", "source_window_id": "w1", "transfer_type": "RESULT_ONLY"}]
    built = await alice.build(QUERY, tool_facts=told, carried_facts=carried)
    found = {fact.content: fact for fact in built.envelope.facts}
    fact = found[RATE]
    assert (fact.source.uri, fact.source.title, fact.source.source_id) == ("tool:desk", "desk", fact.source_id)
    assert (fact.memory_tier, fact.importance_weight, fact.carried_from_window_id) == (0, 0.5, "")
    assert found["An island is far away."].carried_from_window_id == "w1"
    assert {fact.fact_id for fact in await alice.facts()} == before
    again = await alice.build(QUERY, tool_facts=told[:1])
    assert fact.fact_id in {each.fact_id for each in again.envelope.facts}
    assert RATE not in {each.content for each in (await alice.build(QUERY)).envelope.facts}


async def test_a_document_goes_before_a_tool_and_before_what_was_said_that_says_the_same(alice):
    said = [{"content": FACTS[0], "source_window_id": "w1", "importance_weight": 1.0}]
    for given in (
        {"tool_facts": [{"content": FACTS[0], "tool": "desk", "importance_weight": 1.0}]},
        {"carried_facts": said},
    ):
        facts = (await alice.build(QUERY, **given)).envelope.facts
        (same,) = [fact for fact in facts if fact.content == FACTS[0]]
        assert (same.carried_from_window_id, same.source.uri) == ("", "rules.txt")


async def test_what_does_not_fit_is_not_deferred(alice):
    many = [{"content": f"On island {number} a motor accident has a deadline.", "tool": "desk"} for number in range(50)]
    built = await alice.build(QUERY, tool_facts=many, max_envelope_tokens=60)
    known = {fact.fact_id for fact in await alice.facts()}
    assert {fact.fact_id for fact in built.deferred_facts} <= known


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ([{"content": " ", "tool": "desk"}], "tool_facts[0].content"),
        ([{"content": "x" * 8_193, "tool": "desk"}], "tool_facts[0].content"),
        ([{"content": "x", "tool": ""}], "tool_facts[0].tool"),
        ([{"content": "x", "tool": "t" * 65}], "tool_facts[0].tool"),
        ([{"content": "x", "tool": "desk", "importance_weight": 1.1}], "tool_facts[0].importance_weight"),
        ([{"content": "x", "tool": "desk"}] * 201, "tool_facts"),
    ],
)
async def test_what_cannot_be_a_tools_answer(alice, told, field):
    async with refused(INVALID, "INVALID_FIELD", field):
        await alice.build(QUERY, tool_facts=told)
