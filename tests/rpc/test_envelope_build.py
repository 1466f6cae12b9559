"""EnvelopeService over gRPC: the three phases, conditional builds, continuation, and every refusal (SPEC-003)."""

import struct

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.envelope.v1 import envelope_pb2

from services.common.errors import ErrorReason, UnavailableError
from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.envelope_world import MODEL, NOW, World, refused

INVALID = grpc.StatusCode.INVALID_ARGUMENT
QUERY = "How long is the deadline for a motor accident?"
FACTS = [
    "The deadline for a motor accident is seven days from the event.",
    "The deadline for a burglary at home is seventy-two hours from the discovery.",
    "A replacement car is paid for up to fourteen days under the plus plan.",
    "Health invoices must be handed in within twelve months after the treatment.",
    "The annual policy covers any number of trips of up to forty-five days each.",
]


@pytest.fixture
def world():
    return World()


@pytest.fixture
async def clients(world):
    async with world.serving() as clients:
        yield clients


@pytest.fixture
async def alice(clients):
    client = clients()
    await client.ingest("\n\n".join(FACTS), uri="rules.txt")
    return client


def included(response):
    return [fact.content for fact in response.envelope.facts]


async def test_an_envelope_says_everything_about_itself(alice):
    response = await alice.build(QUERY, session_id="crp_sess_1", window_id="crp_win_1", window_number=2)
    envelope = response.envelope
    assert (envelope.session_id, envelope.window_id, envelope.window_number) == ("crp_sess_1", "crp_win_1", 2)
    assert sorted(included(response)) == sorted(FACTS)
    assert (envelope.total_facts_available, envelope.total_facts_included, envelope.ckf_hits) == (5, 5, 5)
    assert envelope.token_count == sum(fact.token_count for fact in envelope.facts)
    assert envelope.saturation == pytest.approx(envelope.token_count / envelope.token_budget)
    assert envelope.token_budget == 128_000 - 2048 - 512 - await tokens(alice, QUERY, response.system_prompt)
    assert [fact.position for fact in envelope.facts] == [1, 2, 3, 4, 5]
    assert (envelope.memory_tier_hit, envelope.strategy) == (3, taxonomy.DISPATCH_STRATEGY_PUSH)
    assert envelope.grounding_mode == taxonomy.GROUNDING_MODE_CONTEXT_PREFERRED
    assert (envelope.quality_tier, response.quality.accepted) == (taxonomy.QUALITY_TIER_D, True)
    assert list(response.quality.rules) == [envelope_pb2.TIER_RULE_SATURATION_LOW]
    assert response.system_prompt.startswith("Prefer the provided context")
    assert (list(response.sub_queries), response.cache_status) == ([QUERY], "PARTIAL; reason=limited-ckf-coverage")
    assert envelope.created_at.ToDatetime(tzinfo=NOW.tzinfo) == NOW
    assert envelope.knowledge_age.ToTimedelta().total_seconds() == 0
    best = max(envelope.facts, key=lambda fact: fact.relevance_score)
    assert best.content == FACTS[0]
    assert best.embedding == b""


async def tokens(client, *texts, model=MODEL):
    return sum((await client.call("CountTokens", model=model, texts=texts)).counts)


async def test_embeddings_are_little_endian_floats_when_asked_for(alice):
    response = await alice.build(QUERY, include_embeddings=True)
    vector = struct.unpack("<384f", response.envelope.facts[0].embedding)
    assert sum(value * value for value in vector) == pytest.approx(1.0, abs=1e-5)


async def test_the_same_query_over_the_same_knowledge_gives_the_same_bytes(alice):
    first, second = await alice.build(QUERY), await alice.build(QUERY)
    assert (first.envelope.memory_tier_hit, second.envelope.memory_tier_hit) == (3, 2)  # where it came from, no more
    for response in (first, second):
        response.envelope.ClearField("memory_tier_hit")
        for fact in response.envelope.facts:
            fact.ClearField("memory_tier")
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


async def test_the_order_of_ingestion_does_not_matter(world):
    orders = []
    for facts in (FACTS, FACTS[::-1]):
        async with World(clock=world.clock).serving() as clients:
            for content in facts:
                await clients().ingest(content, uri=content)
            orders.append(included(await clients().build(QUERY, max_envelope_tokens=60)))
    assert orders[0] == orders[1]


async def test_a_tight_budget_packs_the_best_and_defers_the_rest(alice):
    response = await alice.build(QUERY, max_envelope_tokens=40)
    assert FACTS[0] in included(response)
    assert response.envelope.token_budget == 40
    assert response.envelope.token_count <= 40
    deferred = [fact.fact_id for fact in response.deferred_facts]
    assert len(deferred) == 5 - len(response.envelope.facts)
    scores = [fact.composite_score for fact in response.deferred_facts]
    assert scores == sorted(scores, reverse=True)


async def test_budget_pressure_recommends_a_continuation(alice):
    size = (await alice.build(QUERY, max_envelope_tokens=30)).envelope.token_count
    response = await alice.build(QUERY, max_envelope_tokens=size)
    assert response.envelope.saturation == 1.0
    assert (response.continuation_recommended, response.reuse_ckf_recommended) == (True, True)
    assert response.cache_status == "MISS; reason=not-conditional"
    assert any("did not fit" in warning for warning in response.warnings)


async def test_the_next_window_shows_what_was_deferred_and_repeats_nothing(alice):
    first = await alice.build(QUERY, max_envelope_tokens=40)
    seen = [fact.fact_id for fact in first.envelope.facts]
    second = await alice.build(
        "zzz",
        facts_seen=seen,
        deferred_fact_ids=[fact.fact_id for fact in first.deferred_facts],
        carried_facts=[
            {"content": "The deadline is seven days.", "source_window_id": "crp_win_1", "transfer_type": "SUMMARY"}
        ],
    )
    facts = {fact.content: fact for fact in second.envelope.facts}
    assert set(facts) == {*FACTS, "The deadline is seven days."} - set(included(first))
    carried = facts["The deadline is seven days."]
    assert (carried.importance_weight, carried.carried_from_window_id, carried.transfer_type) == (
        0.95,
        "crp_win_1",
        "SUMMARY",
    )
    assert (carried.memory_tier, carried.freshness_score, carried.source_id) == (1, 1.0, "crp_win_1")
    assert {fact.memory_tier for content, fact in facts.items() if content in FACTS} == {1}


async def test_facts_that_full_context_hands_on_return_from_the_session_tier(alice):
    first = await alice.build(QUERY)
    seen = [fact.fact_id for fact in first.envelope.facts]
    await alice.ingest("A new rule of the insurer says that hail is covered too.", uri="new.txt")
    second = await alice.build(QUERY, facts_seen=seen, transferred_fact_ids=seen[:1])
    tiers = {fact.fact_id: fact.memory_tier for fact in second.envelope.facts}
    assert tiers.pop(seen[0]) == 1
    assert set(tiers.values()) == {3}
    assert set(tiers).isdisjoint(seen)


async def test_an_erased_fact_is_not_handed_on(alice):
    first = await alice.build(QUERY)
    seen = [fact.fact_id for fact in first.envelope.facts]
    sources = {fact.source_id for fact in first.envelope.facts}
    for source_id in sources:
        await alice.call("EraseSource", source_id=source_id)
    second = await alice.build(QUERY, facts_seen=seen, transferred_fact_ids=seen)
    assert list(second.envelope.facts) == []


async def test_seen_facts_do_not_crowd_out_new_ones():
    async with World(settings=EnvelopeSettings(retrieval_k=2)).serving() as clients:
        alice = clients()
        await alice.ingest("\n\n".join(FACTS), uri="rules.txt")
        first = await alice.build(QUERY)
        second = await alice.build(QUERY, facts_seen=[fact.fact_id for fact in first.envelope.facts])
        assert len(second.envelope.facts) == 2
        assert set(included(first)).isdisjoint(included(second))


async def test_a_seen_fact_comes_again_when_its_content_was_updated(alice):
    first = await alice.build(QUERY)
    seen = [fact.fact_id for fact in first.envelope.facts]
    await alice.ingest("\n\n".join([FACTS[0].replace("seven", "ten"), *FACTS[1:]]), uri="rules.txt")
    second = await alice.build(QUERY, facts_seen=seen)
    assert included(second) == [FACTS[0].replace("seven", "ten")]


async def test_pull_retrieves_more():
    settings = EnvelopeSettings(retrieval_k=2, retrieval_k_pull=4, neighbours_of=0)
    async with World(settings=settings).serving() as clients:
        await clients().ingest("\n\n".join(FACTS), uri="rules.txt")
        pushed = await clients().build(QUERY)
        pulled = await clients().build(QUERY, strategy=taxonomy.DISPATCH_STRATEGY_PULL)
        assert (pushed.envelope.ckf_hits, pulled.envelope.ckf_hits) == (2, 4)


async def test_a_thin_community_is_looked_into_again():
    words = "motor accident vehicle driver garage repair collision bumper"
    group = "\n\n".join(f"{words} number{n} case{n} file{n}." for n in range(12))
    settings = EnvelopeSettings(retrieval_k=2, expansion_slack_cosine=1.0, neighbours_of=0)
    async with World(settings=settings).serving() as clients:
        alice = clients()
        await alice.ingest(group, uri="group.txt")
        assert (await alice.build("motor accident number3")).envelope.ckf_hits == 2
        await alice.call("RebuildCommunities")
        expanded = await alice.build("motor accident number3")
        assert expanded.envelope.ckf_hits == 10
        assert list(expanded.envelope.ckf_communities) == ["accident-bumper-collision"]


async def test_strict_mode_instructs_warns_and_weighs_importance(alice):
    response = await alice.build(QUERY, grounding_mode=taxonomy.GROUNDING_MODE_CONTEXT_STRICT)
    assert response.system_prompt.startswith("Answer using ONLY the provided context.")
    assert any(warning.startswith("context-strict") for warning in response.warnings)
    assert envelope_pb2.TIER_RULE_STRICT_SATURATION_LOW in response.quality.rules
    opened = await alice.build(QUERY, grounding_mode=taxonomy.GROUNDING_MODE_OPEN)
    assert opened.system_prompt == ""
    assert opened.envelope.token_budget > response.envelope.token_budget


async def test_a_time_sensitive_query_over_old_knowledge_is_marginal_at_best(alice, world):
    world.clock.advance(days=91)
    response = await alice.build("What is the current deadline for a motor accident?")
    assert envelope_pb2.TIER_RULE_FRESHNESS_FAILED in response.quality.rules
    assert {fact.freshness_score for fact in response.envelope.facts} == {0.0}
    assert response.envelope.knowledge_age.ToTimedelta().days == 91


@pytest.mark.parametrize(
    ("fields", "recommended"),
    [
        ({}, taxonomy.DISPATCH_STRATEGY_UNSPECIFIED),
        ({"upgrade_on_risk": True}, taxonomy.DISPATCH_STRATEGY_PULL),
        ({"upgrade_on_risk": True, "strategy": taxonomy.DISPATCH_STRATEGY_PULL}, 0),
        ({"upgrade_on_risk": True, "accept_quality": []}, 0),
    ],
)
async def test_a_tier_that_is_not_accepted_comes_with_its_gap_and_what_may_close_it(alice, fields, recommended):
    response = await alice.build(QUERY, **{"accept_quality": ["QUALITY_TIER_B"], **fields})
    assert response.recommended_strategy == recommended
    if not fields.get("accept_quality", True):
        assert not response.quality.HasField("gap")
        return
    gap = response.quality.gap
    assert (gap.reached, gap.required) == (response.envelope.quality_tier, taxonomy.QUALITY_TIER_B)
    assert list(gap.capping_rules) == [envelope_pb2.TIER_RULE_SATURATION_LOW]
    signals = {each.signal: each for each in gap.shortfalls}
    saturation = signals[envelope_pb2.QUALITY_SIGNAL_SATURATION]
    assert (saturation.value, saturation.required) == (response.envelope.saturation, 0.85)
    assert saturation.shortfall == pytest.approx(0.85 - saturation.value)
    assert response.quality.saturation_band == envelope_pb2.SATURATION_BAND_SPARSE


async def test_tiers_that_are_not_accepted_are_a_verdict(alice):
    response = await alice.build(QUERY, accept_quality=["QUALITY_TIER_S", "QUALITY_TIER_A"])
    assert (response.quality.accepted, response.quality.quality_tier) == (False, taxonomy.QUALITY_TIER_D)
    assert len(response.envelope.facts) == 5


async def test_an_etag_stands_while_nothing_changes(alice):
    first = (await alice.build(QUERY)).envelope
    for presented in (first.etag, "*"):
        response = await alice.build(QUERY, if_match_etag=presented, session_id="crp_sess_2")
        assert (response.not_modified, response.cache_status) == (True, "HIT")
        held = response.envelope
        assert (held.etag, held.quality_tier, held.token_count) == (first.etag, first.quality_tier, first.token_count)
        assert (held.total_facts_included, len(held.facts), held.session_id) == (5, 0, "crp_sess_2")


async def fact_named(client, content):
    return next(fact.fact_id for fact in await client.facts() if fact.content == content)


async def change_by_ingesting(alice):
    await alice.ingest("Something else entirely was decided by the board today.", uri="new.txt")


async def change_by_quarantine(alice):
    await alice.call("QuarantineFact", fact_id=await fact_named(alice, FACTS[4]))


async def change_by_clustering(alice):
    await alice.call("RebuildCommunities")


async def change_by_erasing(alice):
    source = (await alice.call("ListSources")).sources[0]
    await alice.call("EraseSource", source_id=source.source_id)


@pytest.mark.parametrize(
    "change",
    [change_by_ingesting, change_by_quarantine, change_by_clustering, change_by_erasing],
    ids=lambda f: f.__name__,
)
async def test_an_etag_falls_with_every_change_of_the_knowledge(alice, change):
    etag = (await alice.build(QUERY)).envelope.etag
    await change(alice)
    response = await alice.build(QUERY, if_match_etag=etag, max_envelope_tokens=None)
    assert not response.not_modified
    assert response.cache_status in {"MISS; reason=facts-updated", "PARTIAL; reason=limited-ckf-coverage"}


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "Another question about a motor accident?"},
        {"model": "gpt-4o-mini", "system_prompt": "x"},
        {"grounding_mode": taxonomy.GROUNDING_MODE_OPEN},
        {"max_envelope_tokens": 50},
        {"facts_seen": ["f"]},
        {"strategy": taxonomy.DISPATCH_STRATEGY_PULL},
        {"cache_directives": ["no-cache"]},
        {"if_match_etag": "sha256:" + "0" * 64},
    ],
)
async def test_an_etag_is_bound_to_everything_that_built_the_envelope(alice, fields):
    etag = (await alice.build(QUERY)).envelope.etag
    response = await alice.build(**{"query": QUERY, "if_match_etag": etag, **fields})
    assert not response.not_modified


async def test_max_age_and_no_store_bound_what_is_remembered(alice, world):
    etag = (await alice.build(QUERY)).envelope.etag
    world.clock.advance(seconds=10)
    assert not (await alice.build(QUERY, if_match_etag=etag, cache_directives=["max-age=9"])).not_modified
    other = (await alice.build("burglary at home", cache_directives=["no-store"])).envelope.etag
    assert not (await alice.build("burglary at home", if_match_etag=other)).not_modified


async def test_an_etag_falls_when_a_fact_outlives_its_time(world, alice):
    await alice.call(
        "IngestFacts",
        uri="short.txt",
        title="short",
        source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
        facts=[{"content": "Until Friday the deadline for a motor accident is nine days.", "ttl": {"seconds": 3600}}],
    )
    etag = (await alice.build(QUERY)).envelope.etag
    world.clock.advance(minutes=59)
    assert (await alice.build(QUERY, if_match_etag=etag)).not_modified
    world.clock.advance(minutes=2)
    later = await alice.build(QUERY, if_match_etag=etag)
    assert not later.not_modified
    assert [fact.status for fact in later.envelope.facts].count(ckf_pb2.FACT_STATUS_STALE) == 1


async def test_an_etag_of_a_time_sensitive_query_falls_when_the_knowledge_is_no_longer_new(world, alice):
    query = f"Current: {QUERY}"
    etag = (await alice.build(query)).envelope.etag
    world.clock.advance(days=90)
    assert (await alice.build(query, if_match_etag=etag)).not_modified
    world.clock.advance(seconds=1)
    later = await alice.build(query, if_match_etag=etag)
    assert not later.not_modified
    assert envelope_pb2.TIER_RULE_FRESHNESS_FAILED in later.quality.rules
    assert (await alice.build(query, if_match_etag=etag)).not_modified


async def test_layout_of_a_query_does_not_matter_for_its_etag(alice):
    etag = (await alice.build(QUERY)).envelope.etag
    assert (await alice.build(QUERY.replace(" is ", "  is\n"), if_match_etag=etag)).not_modified is (
        await tokens(alice, QUERY) == await tokens(alice, QUERY.replace(" is ", "  is\n"))
    )


async def test_salted_etags_differ_between_sessions():
    async with World(settings=EnvelopeSettings(etag_salt=True)).serving() as clients:
        alice = clients()
        await alice.ingest(FACTS[0], uri="a.txt")
        one = (await alice.build(QUERY, session_id="s1")).envelope.etag
        two = (await alice.build(QUERY, session_id="s2")).envelope.etag
        assert one != two
        assert not (await alice.build(QUERY, session_id="s2", if_match_etag=one)).not_modified
        assert (await alice.build(QUERY, session_id="s2", if_match_etag=two)).not_modified


async def test_with_salted_etags_nothing_matches_outside_of_a_session():
    async with World(settings=EnvelopeSettings(etag_salt=True)).serving() as clients:
        alice = clients()
        await alice.ingest(FACTS[0], uri="a.txt")
        etag = (await alice.build(QUERY)).envelope.etag
        for presented in (etag, "*"):
            assert not (await alice.build(QUERY, if_match_etag=presented)).not_modified


async def test_an_etag_is_the_tenants_own(clients, alice):
    etag = (await alice.build(QUERY)).envelope.etag
    response = await clients("mallory").build(QUERY, if_match_etag=etag)
    assert (response.not_modified, len(response.envelope.facts)) == (False, 0)


async def test_accesses_are_counted_and_change_no_state(alice):
    before = (await alice.call("GetState")).state_hash
    await alice.build(QUERY)
    assert {fact.access_count for fact in await alice.facts()} == {1}
    await alice.call("PreviewEnvelope", query=QUERY, model=MODEL)
    assert {fact.access_count for fact in await alice.facts()} == {1}
    assert (await alice.call("GetState")).state_hash == before


async def test_a_preview_foretells_the_envelope(alice):
    preview = (await alice.call("PreviewEnvelope", query=QUERY, model=MODEL, max_envelope_tokens=40)).preview
    envelope = (await alice.build(QUERY, max_envelope_tokens=40)).envelope
    assert (preview.facts_available, preview.facts_included) == (5, envelope.total_facts_included)
    assert (preview.estimated_tokens, preview.token_budget) == (envelope.token_count, 40)
    assert (preview.quality_tier, preview.saturation, preview.etag) == (
        envelope.quality_tier,
        envelope.saturation,
        envelope.etag,
    )


async def test_tokens_are_counted_as_the_model_does(alice):
    found = await alice.call("CountTokens", model="gpt-4o", texts=["hello world", "", "a" * 150_000])
    assert (list(found.counts[:2]), found.tokenizer, found.approximate) == ([2, 0], "o200k_base", False)
    assert (found.counts[2] > 0, found.context_window_tokens) == (True, 128_000)


async def test_only_if_ckf_asks_for_a_relevant_fact(alice):
    assert (await alice.build(FACTS[0], cache_directives=["only-if-ckf"])).envelope.facts
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "NO_RELEVANT_FACTS"):
        await alice.build("zebra quantum", cache_directives=["only-if-ckf"])


async def test_a_prompt_that_leaves_no_room_is_refused(alice):
    async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "BUDGET_TOO_SMALL", "query"):
        await alice.build(QUERY, expected_response_tokens=127_900)


@pytest.mark.parametrize("rpc", ["BuildEnvelope", "PreviewEnvelope", "CountTokens"])
async def test_an_unknown_model_is_refused(alice, rpc):
    fields = {"texts": ["x"]} if rpc == "CountTokens" else {"query": QUERY}
    async with refused(INVALID, "UNKNOWN_MODEL", "model"):
        await alice.call(rpc, model="no-such-model", **fields)


CARRIED = {"content": "text", "source_window_id": "w"}


@pytest.mark.parametrize(
    ("rpc", "fields", "field"),
    [
        ("BuildEnvelope", {"query": ""}, "query"),
        ("BuildEnvelope", {"query": " \n"}, "query"),
        ("BuildEnvelope", {"query": "q" * 32_769}, "query"),
        ("BuildEnvelope", {"model": ""}, "model"),
        ("BuildEnvelope", {"grounding_mode": 9}, "grounding_mode"),
        ("BuildEnvelope", {"strategy": 99}, "strategy"),
        ("BuildEnvelope", {"expected_response_tokens": 0}, "expected_response_tokens"),
        ("BuildEnvelope", {"max_envelope_tokens": 0}, "max_envelope_tokens"),
        ("BuildEnvelope", {"if_match_etag": "abc"}, "if_match_etag"),
        ("BuildEnvelope", {"cache_directives": ["no-cache", "private"]}, "cache_directives[1]"),
        ("BuildEnvelope", {"accept_quality": [0]}, "accept_quality"),
        ("BuildEnvelope", {"session_id": "s" * 129}, "session_id"),
        ("BuildEnvelope", {"facts_seen": ["f"] * 10_001}, "facts_seen"),
        ("BuildEnvelope", {"deferred_fact_ids": ["f"] * 10_001}, "deferred_fact_ids"),
        ("BuildEnvelope", {"transferred_fact_ids": ["f"] * 10_001}, "transferred_fact_ids"),
        ("BuildEnvelope", {"carried_facts": [CARRIED] * 65}, "carried_facts"),
        ("BuildEnvelope", {"carried_facts": [{**CARRIED, "content": " "}]}, "carried_facts[0].content"),
        ("BuildEnvelope", {"carried_facts": [{"content": "x"}]}, "carried_facts[0].source_window_id"),
        (
            "BuildEnvelope",
            {"carried_facts": [CARRIED, {**CARRIED, "importance_weight": 2}]},
            "carried_facts[1].importance_weight",
        ),
        ("PreviewEnvelope", {"query": ""}, "query"),
        ("CountTokens", {"texts": []}, "texts"),
        ("CountTokens", {"texts": ["x"], "model": ""}, "model"),
    ],
)
async def test_malformed_requests_name_the_field(alice, rpc, fields, field):
    base = {"model": MODEL} if rpc == "CountTokens" else {"model": MODEL, "query": QUERY}
    async with refused(INVALID, "INVALID_FIELD", field):
        await alice.call(rpc, **{**base, **fields})


async def test_all_violations_are_named_at_once(alice):
    async with refused(INVALID, "INVALID_FIELD", "query"):
        await alice.build("", if_match_etag="x")
    async with refused(INVALID, "INVALID_FIELD", "if_match_etag"):
        await alice.build("", if_match_etag="x")


async def test_a_model_that_is_down_is_unavailable_and_writes_nothing(world, alice):
    async def broken(texts):
        raise UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "the embedder is down")

    world.embedding.embed = broken
    for call in (alice.build(QUERY), alice.ingest("Text that cannot be embedded now.", uri="x.txt")):
        async with refused(grpc.StatusCode.UNAVAILABLE, "MODEL_UNAVAILABLE"):
            await call
    assert [source.uri for source in (await alice.call("ListSources")).sources] == ["rules.txt"]
