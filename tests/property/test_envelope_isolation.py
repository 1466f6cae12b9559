"""No fact of another tenant, none erased and none withheld, under any query (SPEC-003 §16.1, §17.2)."""

import asyncio
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.errors import CrpError
from services.common.ports.facts import FactFilter, FactStatus
from tests.contract.adapters import FACT_STORES
from tests.fakes.envelope_apps import open_knowledge
from tests.tenth import examples

SHARED = "shared:rules"
TENANTS = ["a", "A", "a' OR '1'='1", 'b" || true', "a%", "b/c", SHARED, "shared:rulesx"]
GRANTS = {SHARED: ("a", "b/c")}
URIS = ["u1", "u2"]
TOPICS = ["deadline claim", "premium refund", "refund deadline", "court appeal"]
HOSTILE = [
    "' OR 1=1 --", '"', "*", "%", "_", "NEAR(deadline refund)", "content:deadline", "deadline AND NOT refund",
    "deadline OR refund", "deadline*", '"deadline" ^ refund', "tenant_id != ''", 'tenant == "b" || 1 == 1', "{}", "[]",
    "') or tenant_no in (1,2,3) --", "\\", "\x00", "\U0001f600", f"{SHARED}/", SHARED, "../a", "${tenant}", "null",
    *TENANTS, *TOPICS,
]  # fmt: skip
EXAMPLES = {"memory": 25, "sqlite": 8, "sqlite-indexed": 5}


def operations():
    tenants, uris = st.sampled_from(TENANTS), st.sampled_from(URIS)
    texts = st.one_of(
        st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map(" ".join)
    )
    return st.one_of(
        st.tuples(st.just("ingest"), tenants, uris, st.lists(st.sampled_from(TOPICS), min_size=1, max_size=4)),
        st.tuples(st.just("erase"), tenants, uris),
        st.tuples(st.just("quarantine"), tenants, st.integers(0, 20)),
        st.tuples(st.just("restore"), tenants, st.integers(0, 20)),
        st.tuples(st.just("label"), tenants, st.sampled_from(["", "refund-deadline", *HOSTILE[:4]])),
        st.tuples(
            st.just("trespass"), tenants, st.integers(0, 20), st.sampled_from(["quarantine", "restore", "erase"])
        ),
        st.tuples(st.just("read"), tenants, texts, st.lists(texts, max_size=2), st.lists(texts, max_size=2)),
    )


class Truth:
    """What every tenant may read, kept beside the deployment in the most naive way."""

    def __init__(self):
        self.facts = {}  # fact id -> [tenant, uri, content, visible]
        self.gone = set()

    def of(self, tenant):
        return sorted(fact_id for fact_id, fact in self.facts.items() if fact[0] == tenant)

    def pick(self, tenant, number):
        own = self.of(tenant)
        return own[number % len(own)] if own else None

    def readable(self, tenant):
        own = {tenant, SHARED} if tenant in GRANTS[SHARED] else {tenant}
        return {
            (fact_id, content)
            for fact_id, (owner, _, content, visible) in self.facts.items()
            if owner in own and (visible or owner == tenant)
        }

    def withheld(self, tenant):
        return {fact_id for fact_id, fact in self.facts.items() if fact[0] == tenant and not fact[3]}


class Run:
    """Operations on a deployment and on the truth; a read compares the two."""

    def __init__(self, knowledge):
        self.knowledge = knowledge
        self.truth = Truth()
        self._serial = itertools.count()

    async def ingest(self, tenant, uri, topics):
        contents = [f"{topic} number {next(self._serial)} of {tenant} only" for topic in topics]
        ids = await self.knowledge.ingest(tenant, uri, contents)
        for fact_id, content in zip(ids, contents, strict=True):
            self.truth.facts[fact_id] = [tenant, uri, content, True]

    async def erase(self, tenant, uri):
        if (tenant, uri) in self.knowledge.sources:
            await self.knowledge.erase(tenant, uri)
            erased = [fact_id for fact_id, fact in self.truth.facts.items() if fact[:2] == [tenant, uri]]
            self.truth.gone.update(erased)
            for fact_id in erased:
                del self.truth.facts[fact_id]

    async def quarantine(self, tenant, number):
        if fact_id := self.truth.pick(tenant, number):
            await self.knowledge.quarantine(tenant, fact_id)
            self.truth.facts[fact_id][3] = False

    async def restore(self, tenant, number):
        if fact_id := self.truth.pick(tenant, number):
            await self.knowledge.restore(tenant, fact_id)
            self.truth.facts[fact_id][3] = True

    async def label(self, tenant, label):
        await self.knowledge.store.set_communities(tenant, dict.fromkeys(self.truth.of(tenant), label))
        await self.knowledge.cluster("nobody")

    async def trespass(self, tenant, number, act):
        """Try to write what belongs to somebody else; it is always refused, and nothing changes."""
        others = sorted(fact_id for fact_id, fact in self.truth.facts.items() if fact[0] != tenant)
        if not others:
            return
        fact_id = others[number % len(others)]
        owner, uri = self.truth.facts[fact_id][:2]
        named = self.knowledge.sources[owner, uri] if act == "erase" else fact_id
        write = self.knowledge.erase_id if act == "erase" else getattr(self.knowledge, act)
        with pytest.raises(CrpError) as caught:
            await write(tenant, named)
        shared = owner == SHARED and tenant in GRANTS[SHARED] and (act == "erase" or self.truth.facts[fact_id][3])
        assert (caught.value.reason == "NAMESPACE_READ_ONLY") == shared

    async def read(self, tenant, query, sources, communities):
        truth, ids = self.truth, (*self.truth.facts, *self.truth.gone)
        readable, withheld = truth.readable(tenant), truth.withheld(tenant)
        filters = (FactFilter(), FactFilter(tuple(sources), tuple(communities)), FactFilter(statuses=()))
        for where in dict.fromkeys(filters):
            read = await self.knowledge.everything_read(tenant, query, where, ids if where is filters[0] else ())
            read = {(fact_id, content) for fact_id, content in read if content}  # tombstones hold none
            assert read <= readable
            built = await self.knowledge.build(tenant, query, active_fact_ids=ids, deferred_fact_ids=ids)
            assert withheld.isdisjoint(fact.candidate.fact_id for fact in (*built.facts, *built.deferred))
        listed = await self.knowledge.apps.knowledge.facts(tenant, FactFilter(), "", 1_000)
        visible = {(fact_id, content) for fact_id, content in readable if fact_id not in withheld}
        assert {(fact.fact_id, fact.content) for fact in listed} == visible  # and nothing is hidden either
        assert all(fact.status is not FactStatus.QUARANTINED for fact in listed)


async def _run(adapter, steps):
    with tempfile.TemporaryDirectory() as directory:
        store = await adapter.open(Path(directory))
        try:
            run = Run(await open_knowledge(store, shared_namespaces=GRANTS))
            for tenant, uri in itertools.product(TENANTS, URIS):
                await run.ingest(tenant, uri, TOPICS[:2])
            for name, *values in steps:
                await getattr(run, name)(*values)
            for tenant in TENANTS:
                await run.read(tenant, "deadline refund premium", [], [])
        finally:
            await store.close()


@pytest.mark.parametrize(
    "adapter", [pytest.param(adapter, marks=adapter.marks, id=adapter.name) for adapter in FACT_STORES]
)
@pytest.mark.timeout(600)
def test_no_read_gives_what_is_not_the_tenants_to_read(adapter):
    @settings(
        max_examples=examples(EXAMPLES.get(adapter.name, 2), least=4),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.lists(operations(), min_size=1, max_size=14))
    def check(steps):
        asyncio.run(_run(adapter, steps))

    check()
