"""Which memory tier an envelope was made from; it says what really happened (SPEC-003 §5.2 step 1.4, ADR 0077)."""

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2

from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.envelope_world import World, refused

FACTS = [
    "The deadline for a motor accident is seven days from the event.",
    "The deadline for a burglary at home is seventy-two hours from the discovery.",
    "A replacement car is paid for up to fourteen days under the plus plan.",
]
QUERY = "How long is the deadline for a motor accident?"


class CountedSearches:
    """A store that counts what is asked of its index."""

    def __init__(self, store):
        self._store = store
        self.searches = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def search(self, *args, **options):
        self.searches += 1
        return await self._store.search(*args, **options)

    async def search_text(self, *args, **options):
        self.searches += 1
        return await self._store.search_text(*args, **options)


@pytest.fixture
def world():
    world = World()
    world.facts = CountedSearches(world.facts)
    return world


@pytest.fixture
async def alice(world):
    async with world.serving() as clients:
        await clients().ingest("\n\n".join(FACTS), uri="rules.txt")
        yield clients()


async def tiers(client, query=QUERY, **fields):
    envelope = (await client.build(query, **fields)).envelope
    return envelope.memory_tier_hit, sorted({fact.memory_tier for fact in envelope.facts})


async def test_the_first_search_is_cold_and_the_same_again_is_warm(alice, world):
    assert await tiers(alice) == (3, [3])
    searched = world.facts.searches
    assert await tiers(alice) == (2, [2])
    assert world.facts.searches == searched
    assert await tiers(alice, "Another question about the deadline?") == (3, [3])


@pytest.mark.parametrize(
    "fields",
    [
        {"retrieval_mode": "SEARCH_MODE_DENSE"},
        {"strategy": "DISPATCH_STRATEGY_PULL"},
        {"facts_seen": ["6f0b3b0a-6f8e-5a44-9d0c-3a1c53f3a7b1"]},
        {"cache_directives": ["no-cache"]},
        {"cache_directives": ["no-store"]},
    ],
    ids=str,
)
async def test_another_retrieval_is_not_answered_from_what_is_warm(alice, fields):
    await tiers(alice)
    assert await tiers(alice, **fields) == (3, [3])


async def test_what_leaves_nothing_behind_warms_nothing(alice):
    await tiers(alice, cache_directives=["no-store"])
    assert (await tiers(alice))[0] == 3


async def test_another_budget_or_grounding_mode_is_the_same_retrieval(alice):
    await tiers(alice)
    assert (await tiers(alice, max_envelope_tokens=40))[0] == 2
    assert (await tiers(alice, grounding_mode="GROUNDING_MODE_CONTEXT_STRICT"))[0] == 2


async def test_any_write_makes_the_next_search_cold(alice):
    async def written(rpc, **fields):
        await tiers(alice)
        assert (await tiers(alice))[0] == 2
        await alice.call(rpc, **fields)
        return (await tiers(alice))[0]

    fact = (await alice.facts())[0]
    assert await written("QuarantineFact", fact_id=fact.fact_id) == 3
    assert await written("RestoreFact", fact_id=fact.fact_id) == 3
    assert await written("RebuildCommunities") == 3
    entry = {
        "uri": "new",
        "source_type": ckf_pb2.SOURCE_TYPE_USER,
        "facts": [{"content": "A new fact of some length."}],
    }
    assert await written("IngestFacts", **entry) == 3
    assert await written("EraseSource", source_id=fact.source_id) == 3


async def test_what_is_warm_of_one_tenant_is_not_anothers(world):
    async with world.serving() as clients:
        for subject in ("alice", "mallory"):
            await clients(subject).ingest(f"A fact of {subject} about the deadline of an accident.", uri="a.txt")
            assert await tiers(clients(subject)) == (3, [3])
        envelope = (await clients("mallory").build(QUERY)).envelope
        assert (envelope.memory_tier_hit, [fact.content for fact in envelope.facts]) == (
            2, ["A fact of mallory about the deadline of an accident."],
        )  # fmt: skip


async def test_a_shared_store_that_tells_no_changes_keeps_nothing_warm(world):
    world.settings = EnvelopeSettings(shared_store=True)
    async with world.serving() as clients:
        await clients().ingest("\n\n".join(FACTS), uri="rules.txt")
        assert [(await tiers(clients()))[0] for _ in range(2)] == [3, 3]


async def test_it_can_be_turned_off(world):
    world.settings = EnvelopeSettings(warm_facts=0)
    async with world.serving() as clients:
        await clients().ingest("\n\n".join(FACTS), uri="rules.txt")
        assert [(await tiers(clients()))[0] for _ in range(2)] == [3, 3]


async def test_active_facts_are_tier_0_and_the_sessions_are_tier_1(alice):
    by_content = {fact.content: fact.fact_id for fact in await alice.facts()}
    active, deferred, searched = (by_content[content] for content in FACTS)
    carried = [{"content": "The window before said a lot.", "source_window_id": "w1", "transfer_type": "SUMMARY"}]
    response = await alice.build(
        QUERY, active_fact_ids=[active], deferred_fact_ids=[deferred], carried_facts=carried, facts_seen=[active]
    )
    found = {fact.fact_id: fact.memory_tier for fact in response.envelope.facts}
    assert {found[active], found[deferred], found[searched]} == {0, 1, 3}
    assert (sorted(found.values()), response.envelope.memory_tier_hit) == ([0, 1, 1, 3], 3)


@pytest.mark.parametrize(("highest", "expected"), [(0, [0]), (1, [0, 1, 1])])
async def test_a_build_may_stop_at_the_session(alice, world, highest, expected):
    by_content = {fact.content: fact.fact_id for fact in await alice.facts()}
    searched = world.facts.searches
    response = await alice.build(
        QUERY,
        active_fact_ids=[by_content[FACTS[0]]],
        deferred_fact_ids=[by_content[FACTS[1]]],
        carried_facts=[{"content": "The window before said a lot.", "source_window_id": "w1"}],
        max_memory_tier=highest,
    )
    envelope = response.envelope
    assert (sorted(fact.memory_tier for fact in envelope.facts), envelope.memory_tier_hit) == (expected, highest)
    assert (envelope.ckf_hits, world.facts.searches) == (0, searched)


@pytest.mark.parametrize("tier", [2, 4, 4_000_000_000])
async def test_no_other_tier_can_be_the_highest(alice, tier):
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", "max_memory_tier"):
        await alice.build(QUERY, max_memory_tier=tier)


async def test_too_many_active_facts_are_refused(alice):
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", "active_fact_ids"):
        await alice.build(QUERY, active_fact_ids=[str(number) for number in range(10_001)])


async def test_an_active_fact_that_was_erased_is_not_packed(alice):
    facts = await alice.facts()
    await alice.call("EraseSource", source_id=facts[0].source_id)
    built = await alice.build(QUERY, active_fact_ids=[fact.fact_id for fact in facts], max_memory_tier=0)
    assert list(built.envelope.facts) == []
