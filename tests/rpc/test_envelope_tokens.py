"""Counting for known, stood-in and unknown models, and budgets that do not work out (SPEC-003 §7.2, §10.1)."""

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tests.fakes.envelope_world import MODEL, World, refused

INVALID = grpc.StatusCode.INVALID_ARGUMENT
QUERY = "How long is the deadline for a motor accident?"
FACT = "The deadline for a motor accident is seven days from the event."
UNKNOWN = "acme-7b"
CLAUDE = "claude-sonnet-4-20250514"


@pytest.fixture
async def alice():
    async with World().serving() as clients:
        client = clients()
        await client.ingest(FACT, uri="rules.txt")
        yield client


async def ingest_facts(client, *contents):
    kind = ckf_pb2.SOURCE_TYPE_INTERNAL
    facts = [{"content": content} for content in contents]
    return await client.call("IngestFacts", uri="cut.txt", title="cut", source_type=kind, facts=facts)


async def failure(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    info = error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(info) for detail in rpc_status.from_call(caught.value).details)
    return caught.value, info


async def test_an_unknown_model_is_refused_with_the_known_ones_and_what_to_do(alice):
    error, info = await failure(alice.call("CountTokens", model=UNKNOWN, texts=[FACT]))
    assert (error.code(), info.reason) == (INVALID, "UNKNOWN_MODEL")
    known = info.metadata["known_models"].split(", ")
    assert {"gpt-4o", "gpt-4", "o3-mini", "groundtrail-extractive"} <= set(known)
    assert known == sorted(known)
    assert "approximate_tokens" in error.details()


async def test_a_model_of_a_known_family_is_refused_by_its_provider(alice):
    error, _ = await failure(alice.build(QUERY, model=CLAUDE))
    assert "Anthropic" in error.details()


async def test_approximate_counts_are_asked_for_and_named_with_their_margin(alice):
    exact = await alice.call("CountTokens", model=MODEL, texts=[FACT])
    response = await alice.call(
        "CountTokens", model=UNKNOWN, texts=[FACT, ""], approximate_tokens=True, context_window_tokens=4096
    )
    assert list(response.counts) == [-(-exact.counts[0] * 5 // 4), 0]
    assert (response.tokenizer, response.approximate, response.safety_margin_ratio) == ("o200k_base", True, 0.25)
    assert response.context_window_tokens == 4096


async def test_a_known_model_is_counted_exactly_whatever_the_request_allows(alice):
    response = await alice.call("CountTokens", model=MODEL, texts=[FACT], approximate_tokens=True)
    assert (response.approximate, response.safety_margin_ratio) == (False, 0.0)


@pytest.mark.parametrize("rpc", ["BuildEnvelope", "PreviewEnvelope", "CountTokens"])
async def test_a_stand_in_needs_a_window_where_no_table_has_one(alice, rpc):
    fields = {"texts": [FACT]} if rpc == "CountTokens" else {"query": QUERY}
    async with refused(INVALID, "INVALID_FIELD", "context_window_tokens"):
        await alice.call(rpc, model=UNKNOWN, approximate_tokens=True, **fields)


@pytest.mark.parametrize("rpc", ["BuildEnvelope", "PreviewEnvelope", "CountTokens"])
@pytest.mark.parametrize("window", [0, 100_000_001])
async def test_a_window_out_of_range_is_refused(alice, rpc, window):
    fields = {"texts": [FACT]} if rpc == "CountTokens" else {"query": QUERY}
    async with refused(INVALID, "INVALID_FIELD", "context_window_tokens"):
        await alice.call(rpc, model=UNKNOWN, approximate_tokens=True, context_window_tokens=window, **fields)


async def test_an_envelope_says_how_it_was_counted(alice):
    exact = (await alice.build(QUERY)).envelope
    assert (exact.token_counting.tokenizer, exact.token_counting.approximate) == ("o200k_base", False)
    found = (await alice.build(QUERY, model=UNKNOWN, approximate_tokens=True, context_window_tokens=4096)).envelope
    counting = found.token_counting
    assert (counting.approximate, counting.safety_margin_ratio, counting.context_window_tokens) == (True, 0.25, 4096)
    assert found.model == UNKNOWN
    assert exact.token_count < found.token_count <= exact.token_count * 1.25 + 1
    assert found.token_budget < 4096 - 2048 - 512


async def test_a_family_brings_its_own_window(alice):
    response = await alice.call("PreviewEnvelope", query=QUERY, model=CLAUDE, approximate_tokens=True)
    assert response.token_counting.context_window_tokens == 200_000
    assert 190_000 < response.preview.token_budget < 200_000


@pytest.mark.parametrize("rpc", ["BuildEnvelope", "PreviewEnvelope"])
@pytest.mark.parametrize(
    "fields",
    [
        {"model": "gpt-4", "expected_response_tokens": 8192},
        {"model": "gpt-4", "system_prompt": "rule " * 9000},
        {"model": UNKNOWN, "approximate_tokens": True, "context_window_tokens": 2560},
    ],
    ids=["reply fills the window", "prompt exceeds the window", "tiny window"],
)
async def test_a_budget_below_zero_is_a_refusal_that_says_the_number(alice, rpc, fields):
    error, info = await failure(alice.call(rpc, query=QUERY, **fields))
    assert (error.code(), info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "BUDGET_TOO_SMALL")
    assert int(info.metadata["token_budget"]) <= 0
    assert int(info.metadata["context_window_tokens"]) in {8192, 2560}


async def test_a_fact_of_ten_thousand_tokens_is_refused_by_its_place_and_nothing_is_stored(alice):
    before = await alice.facts()
    huge = " ".join(["day"] * 10_000)
    assert list((await alice.call("CountTokens", model=MODEL, texts=[huge])).counts) == [10_000]
    async with refused(INVALID, "INVALID_FIELD", "facts[1].content"):
        await ingest_facts(alice, FACT, huge)
    assert await alice.facts() == before


async def test_a_document_of_ten_thousand_tokens_becomes_facts_that_fit(alice):
    await alice.ingest(" ".join(f"Rule {n} sets the deadline for case {n}." for n in range(1200)), uri="long.txt")
    response = await alice.build(QUERY, max_envelope_tokens=3000)
    assert response.envelope.facts
    assert max(fact.token_count for fact in response.envelope.facts) <= 2048 + 4
    assert response.envelope.token_count <= 3000


async def test_a_fact_larger_than_the_budget_is_deferred_and_smaller_ones_are_packed(alice):
    words = " ".join(f"word{n}" for n in range(600))
    await ingest_facts(alice, f"The deadline for a motor accident: {words}")
    response = await alice.build(QUERY, max_envelope_tokens=100)
    assert [fact.content for fact in response.envelope.facts] == [FACT]
    assert [fact.token_count > 1000 for fact in response.deferred_facts] == [True]
