"""What is warm never changes an envelope: the facts of a cold search, whatever was written between (§4, ADR 0077)."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.ports.facts import FactFilter, FactStatus
from tests.fakes.envelope_apps import open_knowledge
from tests.tenth import examples

SHARED = "shared:rules"
TENANTS = ["a", "b", SHARED]
TOPICS = [f"{word} {other}" for word in ("deadline", "premium", "court") for other in ("claim", "refund", "appeal")]
QUERIES = ["deadline for a claim", "premium refund", "Compare the court appeal and the deadline", "nothing known"]
OPTIONS = {"shared_namespaces": {SHARED: ("a",)}, "retrieval_k": 4}


def writes():
    tenants, uris = st.sampled_from(TENANTS), st.sampled_from(["u1", "u2"])
    return st.one_of(
        st.tuples(st.just("ingest"), tenants, uris, st.lists(st.sampled_from(TOPICS), min_size=1, max_size=6)),
        st.tuples(st.just("erase"), tenants, uris),
        st.tuples(st.just("quarantine"), tenants, st.integers(0, 9)),
        st.tuples(st.just("restore"), tenants, st.integers(0, 9)),
        st.tuples(st.just("cluster"), tenants),
    )


def chosen(built):
    """Return everything that an envelope holds and says but where its facts came from."""
    facts = [
        (each.candidate.fact_id, each.candidate.content, each.composite_score, each.candidate.community)
        for each in (*built.facts, *built.deferred)
    ]
    summary = built.summary
    return facts, summary.etag, summary.state_hash, summary.ckf_hits, summary.communities, summary.verdict


class Run:
    """Writes on a deployment; after each, envelopes of a deployment that remembers and of one that does not."""

    def __init__(self, warm):
        self.warm = warm
        self.tiers = []

    async def write(self, number, name, tenant, *values):
        warm = self.warm
        shown = FactFilter(statuses=(FactStatus.QUARANTINED,) if name == "restore" else FactFilter().statuses)
        own = [fact for fact in await warm.apps.knowledge.facts(tenant, shown, "", 100) if fact.tenant_id == tenant]
        if name == "ingest":
            await warm.ingest(tenant, values[0], [f"{text} {number}.{place}" for place, text in enumerate(values[1])])
        elif name == "erase" and (tenant, values[0]) in warm.sources:
            await warm.erase(tenant, values[0])
        elif name in {"quarantine", "restore"} and own:
            await getattr(warm, name)(tenant, own[values[0] % len(own)].fact_id)
        elif name == "cluster":
            await warm.cluster(tenant)

    async def compare(self, query):
        cold = await open_knowledge(self.warm.store, self.warm.graph, **{**OPTIONS, "warm_facts": 0})
        for tenant in TENANTS[:2]:
            listed = await self.warm.apps.knowledge.facts(tenant, FactFilter(), "", 100)
            for seen in (frozenset(), frozenset(fact.fact_id for fact in listed[:3])):
                expected = chosen(await cold.build(tenant, query, facts_seen=seen))
                for _ in range(2):
                    built = await self.warm.build(tenant, query, facts_seen=seen)
                    self.tiers.append(built.summary.memory_tier_hit)
                    assert chosen(built) == expected


async def _tiers(steps, query, capacity):
    run = Run(await open_knowledge(**{**OPTIONS, "warm_facts": capacity}))
    for tenant in TENANTS:
        await run.write("0", "ingest", tenant, "u0", TOPICS)
    for number, step in enumerate(steps, start=1):
        await run.compare(query)
        await run.write(number, *step)
    await run.compare(query)
    return run.tiers


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(writes(), min_size=1, max_size=5), st.sampled_from(QUERIES), st.sampled_from([0, 24, 1_000]))
def test_a_warm_envelope_is_the_cold_one(steps, query, capacity):
    tiers = asyncio.run(_tiers(steps, query, capacity))
    assert set(tiers) <= ({3} if capacity == 0 else {2, 3})
    assert all(second == 2 for second in tiers[1::2]) or capacity < 1_000
