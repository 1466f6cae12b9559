"""What an index returns is looked at once more before anybody reads it (SPEC-003 §16.1, §17.2)."""

from dataclasses import replace

import pytest

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.errors import NotFoundError
from services.common.ports.facts import FactFilter, FactStatus
from services.common.taxonomy import RetrievalMode
from services.envelope.domain.namespaces import (
    Namespaces,
    combined_state,
    labels_asked,
    labels_in,
    qualified,
    shown_namespace,
)
from services.envelope.readable_facts import ErasedSources
from tests.contract.adapters import DIMENSION
from tests.fakes.envelope_apps import open_knowledge

TEXTS = ["The deadline of a claim is seven days.", "The deadline of a refund is nine days."]
QUERY = "deadline of a claim"


class LaggingIndex(MemoryFactStore):
    """A store whose searches go on returning, ACTIVE and whole, whatever it ever held, of whatever tenant."""

    def __init__(self, dimension):
        super().__init__(dimension)
        self.indexed = MemoryFactStore(dimension)
        self.confined = True

    async def upsert(self, facts):
        await super().upsert(facts)
        await self.indexed.upsert(facts)
        if not self.confined:
            await self.indexed.upsert([replace(fact, tenant_id="everybody") for fact in facts])

    def _asked(self, tenant_id):
        return tenant_id if self.confined else "everybody"

    async def search(self, tenant_id, queries, *, limit, where=None):
        return await self.indexed.search(self._asked(tenant_id), queries, limit=limit, where=where)

    async def search_text(self, tenant_id, query, *, limit, where=None):
        return await self.indexed.search_text(self._asked(tenant_id), query, limit=limit, where=where)

    async def get(self, tenant_id, fact_ids):
        return await self.indexed.get(self._asked(tenant_id), fact_ids)

    async def page(self, tenant_id, where, *, after, limit):
        return await self.indexed.page(self._asked(tenant_id), where, after=after, limit=limit)


@pytest.mark.parametrize("mode", [RetrievalMode.DENSE, RetrievalMode.TEXT, RetrievalMode.HYBRID])
async def test_an_erased_source_is_never_packed_again_although_the_index_returns_it(mode):
    knowledge = await open_knowledge(LaggingIndex(DIMENSION))
    (erased,) = await knowledge.ingest("a", "u1", TEXTS[:1])
    (kept,) = await knowledge.ingest("a", "u2", TEXTS[1:])
    ids = (erased, kept)
    before = await knowledge.build("a", QUERY, retrieval_mode=mode)
    assert {fact.candidate.fact_id for fact in before.facts} == {erased, kept}
    await knowledge.erase("a", "u1")
    assert await knowledge.everything_read("a", QUERY, FactFilter(), ids) == {(kept, TEXTS[1])}
    for given in ({"deferred_fact_ids": ids}, {"transferred_fact_ids": ids}, {"active_fact_ids": ids}):
        built = await knowledge.build("a", QUERY, retrieval_mode=mode, **given)
        assert [fact.candidate.fact_id for fact in (*built.facts, *built.deferred)] == [kept]


async def test_nothing_of_a_source_that_is_being_erased_is_read_even_if_the_store_fails():
    class Failing(LaggingIndex):
        async def erase_source(self, tenant_id, source_id, *, at):
            raise ConnectionError("the store went away")

    knowledge = await open_knowledge(Failing(DIMENSION))
    (fact_id,) = await knowledge.ingest("a", "u1", TEXTS[:1])
    with pytest.raises(ConnectionError):
        await knowledge.erase("a", "u1")
    assert await knowledge.everything_read("a", QUERY, FactFilter(), [fact_id]) == set()


async def test_an_index_that_mixes_tenants_up_gives_no_tenant_anothers_facts():
    store = LaggingIndex(DIMENSION)
    store.confined = False
    knowledge = await open_knowledge(store)
    ids = [*await knowledge.ingest("a", "u1", TEXTS[:1]), *await knowledge.ingest("b", "u1", TEXTS[1:])]
    for tenant in ("a", "b"):
        assert await knowledge.everything_read(tenant, QUERY, FactFilter(), ids) == set()
        with pytest.raises(NotFoundError):
            await knowledge.apps.knowledge.fact(tenant, ids[0])


async def test_what_was_read_while_a_source_was_erased_is_not_kept_warm():
    knowledge = await open_knowledge()
    await knowledge.ingest("a", "u1", TEXTS)
    assert (await knowledge.build("a", QUERY)).summary.memory_tier_hit == 3
    assert (await knowledge.build("a", QUERY)).summary.memory_tier_hit == 2
    await knowledge.erase("a", "u1")
    built = await knowledge.build("a", QUERY)
    assert (built.summary.memory_tier_hit, built.facts) == (3, ())


def test_erased_sources_are_remembered_by_tenant_and_bounded(monkeypatch):
    monkeypatch.setattr("services.envelope.readable_facts._REMEMBERED", 2)
    erased = ErasedSources()
    for source in ("1", "2", "3"):
        erased.add("a", source)
    assert [("a", source) in erased for source in ("1", "2", "3")] == [False, True, True]
    assert ("b", "3") not in erased


def test_a_namespace_reads_itself_alone_and_a_tenant_its_own_first():
    namespaces = Namespaces({"shared:z": ("*",), "shared:a": ("acme",)})
    assert namespaces.readable("acme") == ("acme", "shared:a", "shared:z")
    assert namespaces.readable("other") == ("other", "shared:z")
    assert namespaces.readable("shared:a") == ("shared:a",)
    assert Namespaces({}).readable("acme") == ("acme",)


def test_communities_are_named_with_their_namespace():
    assert [qualified("acme", "x"), qualified("shared:a", "x"), qualified("shared:a", "")] == ["x", "shared:a/x", ""]
    names = ["x", "shared:a/x", "shared:ab/y"]
    assert [labels_in(tenant, names) for tenant in ("acme", "shared:a", "shared:ab", "shared:b")] == [
        ("x",), ("x",), ("y",), (),
    ]  # fmt: skip
    assert [labels_asked(tenant, names[1:]) for tenant in ("acme", "shared:a")] == [(), ("x",)]
    assert labels_asked("shared:ab", names) == ("x", "y")
    assert [shown_namespace(tenant) for tenant in ("acme", "shared:a")] == ["", "shared:a"]


def test_a_state_without_shared_knowledge_is_the_tenants_own():
    own, shared = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
    assert combined_state(own, {}) == own
    both = combined_state(own, {"shared:b": shared, "shared:a": own})
    assert (
        both == combined_state(own, {"shared:a": own, "shared:b": shared}) != combined_state(own, {"shared:b": shared})
    )


async def test_a_tombstone_is_listed_for_its_tenant_and_holds_nothing():
    knowledge = await open_knowledge()
    await knowledge.ingest("a", "u1", TEXTS)
    await knowledge.erase("a", "u1")
    facts = await knowledge.apps.knowledge.facts("a", FactFilter(statuses=(FactStatus.DELETED,)), "", 10)
    assert [fact.content for fact in facts] == ["", ""]
