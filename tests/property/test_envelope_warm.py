"""What is warm never changes an envelope: the facts of a cold search, whatever was written between (§4, ADR 0077)."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.ports.facts import FactFilter
from tests.fakes.envelope_apps import open_knowledge

SHARED = "shared:rules"
TENANTS = ["a", "b", SHARED]
TOPICS = [f"{word} {other}" for word in ("deadline", "premium", "court") for other in ("claim", "refund", "appeal")]
QUERIES = ["deadline for a claim", "premium refund", "Compare the court appeal and the deadline", "nothing known"]
GRANTS = {SHARED: ("a",)}


def operations():
    tenants, readers = st.sampled_from(TENANTS), st.sampled_from(TENANTS[:2])
    return st.one_of(
        st.tuples(
            st.just("ingest"), tenants, st.sampled_from(["u1", "u2"]), st.lists(st.sampled_from(TOPICS), max_size=6)
        ),
        st.tuples(st.just("erase"), tenants, st.sampled_from(["u1", "u2"])),
        st.tuples(st.just("quarantine"), tenants, st.integers(0, 9)),
        st.tuples(st.just("cluster"), tenants),
        st.tuples(st.just("build"), readers, st.sampled_from(QUERIES), st.integers(0, 3)),
        st.tuples(st.just("build"), readers, st.sampled_from(QUERIES), st.just(0)),
    )


def chosen(built):
    """Return everything that an envelope holds and says but where its facts came from."""
    facts = [
        (each.candidate.fact_id, each.candidate.content, each.composite_score, each.candidate.community)
        for each in (*built.facts, *built.deferred)
    ]
    summary = built.summary
    return facts, summary.etag, summary.state_hash, summary.ckf_hits, summary.communities, summary.verdict


async def _run(steps, capacity):
    warm = await open_knowledge(shared_namespaces=GRANTS, warm_facts=capacity, retrieval_k=4)
    tiers = []
    for number, (name, tenant, *values) in enumerate(steps):
        listed = await warm.apps.knowledge.facts(tenant, FactFilter(), "", 100)
        own = [fact for fact in listed if fact.tenant_id == tenant]
        if name == "ingest" and values[1]:
            await warm.ingest(tenant, values[0], [f"{text} {number}.{place}" for place, text in enumerate(values[1])])
        elif name == "erase" and (tenant, values[0]) in warm.sources:
            await warm.erase(tenant, values[0])
        elif name == "quarantine" and own:
            await warm.quarantine(tenant, own[values[0] % len(own)].fact_id)
        elif name == "cluster":
            await warm.cluster(tenant)
        elif name == "build":
            seen = frozenset(fact.fact_id for fact in listed[: values[1]])
            cold = await open_knowledge(warm.store, warm.graph, shared_namespaces=GRANTS, warm_facts=0, retrieval_k=4)
            for _ in range(2):
                built = await warm.build(tenant, values[0], facts_seen=seen)
                tiers.append(built.summary.memory_tier_hit)
                assert chosen(built) == chosen(await cold.build(tenant, values[0], facts_seen=seen))
    return tiers


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(operations(), min_size=1, max_size=16), st.sampled_from([0, 12, 1_000]))
def test_a_warm_envelope_is_the_cold_one(steps, capacity):
    tiers = asyncio.run(_run(steps, capacity))
    assert all(second == (2 if capacity == 1_000 else second) for second in tiers[1::2])
    assert set(tiers) <= ({3} if capacity == 0 else {2, 3})
