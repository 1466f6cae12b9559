"""Communities that are partly represented are looked into again, by one search (SPEC-003 §5.2 step 1.3, ADR 0077)."""

import numpy as np
import pytest

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.envelope_request import EnvelopeRequest
from services.common.ports.facts import FactFilter, FactStatus, TimeFilter
from services.envelope.domain.expansion import expanded, nearest_by_community
from tests.contract.adapters import DIMENSION
from tests.fakes.envelope_apps import open_knowledge
from tests.fakes.envelope_world import NOW

QUERY = "deadline"
SLACK = 0.5


class RecordedSearches(MemoryFactStore):
    """A store that remembers the filters of its searches."""

    def __init__(self, dimension):
        super().__init__(dimension)
        self.filters = []

    async def search(self, tenant_id, queries, *, limit, where=None):
        self.filters.append((where or FactFilter()).communities)
        return await super().search(tenant_id, queries, limit=limit, where=where)


async def knowledge_of(communities, **settings):
    """Open knowledge in which fact ``x3`` of community x is the fourth nearest of it to the query."""
    store = RecordedSearches(DIMENSION)
    knowledge = await open_knowledge(store, expansion_slack_cosine=SLACK, warm_facts=0, neighbours_of=0, **settings)
    names = {}
    for label, cosines in communities.items():
        ids = await knowledge.ingest("t", label, [f"{label}{place} {label}" for place in range(len(cosines))])
        names |= {fact_id: f"{label}{place}" for place, fact_id in enumerate(ids)}
        facts = await store.get("t", ids)
        direction = (await knowledge.apps.knowledge._embedding.embed([QUERY]))[0]
        other = np.roll(np.eye(1, DIMENSION, dtype=np.float32)[0], 1 + int(np.argmax(np.abs(direction))))
        for fact, cosine in zip(facts, cosines, strict=True):
            object.__setattr__(
                fact, "embedding", (cosine * direction + (1 - cosine**2) ** 0.5 * other).astype(np.float32)
            )
        await store.upsert(facts)
        await store.set_communities("t", dict.fromkeys(ids, label))
    return knowledge, names


async def selected(knowledge, names):
    """Return the names of the candidates: phase 2 would drop what is alike."""
    selector = knowledge.apps.envelopes._selector
    selection = await selector.select("t", EnvelopeRequest(QUERY, "gpt-4o"), (QUERY,), TimeFilter(NOW))
    return sorted(names[fact.fact_id] for fact in selection.candidates)


NEAR = [0.9, 0.85] + [0.6] * 3
"""What fills K = 5."""


@pytest.mark.parametrize(
    ("islands", "added"),
    [
        ([0.88] + [0.5] * 9, 9),  # one of ten within distance: an island, and the others come with it
        ([0.88] + [0.5] * 8, 0),  # nine are too few
        ([0.88] + [0.5] * 8 + [0.01], 0),  # ten, of which one is too far
        ([0.88, 0.87] + [0.5] * 8, 8),
        ([0.88, 0.87, 0.86] + [0.5] * 9, 0),  # three hits: not partially represented
    ],
)
async def test_a_community_is_added_when_it_is_thin_and_near(islands, added):
    knowledge, names = await knowledge_of({"main": NEAR, "isle": islands})
    found = await selected(knowledge, names)
    assert len([name for name in found if name.startswith("isle")]) == added + sum(cosine > 0.8 for cosine in islands)


async def test_all_thin_communities_are_looked_into_by_one_search():
    knowledge, names = await knowledge_of({label: [0.9] + [0.5] * 9 for label in "abcd"} | {"e": [0.95] * 2})
    knowledge.store.filters.clear()
    found = [name[0] for name in await selected(knowledge, names)]
    assert knowledge.store.filters[0] == ()
    assert [len(labels) for labels in knowledge.store.filters[1:]] == [4]  # e and three of a to d made the five hits
    assert sorted(found.count(label) for label in "abcde") == [0, 2, 10, 10, 10]


async def test_expansion_can_be_turned_off():
    knowledge, names = await knowledge_of({"main": NEAR, "isle": [0.88] + [0.5] * 9}, expansion_communities=0)
    assert len(await selected(knowledge, names)) == 5


async def test_what_is_withheld_or_erased_does_not_come_with_its_community():
    knowledge, names = await knowledge_of({"main": NEAR, "isle": [0.88] + [0.5] * 10})
    withheld = next(fact_id for fact_id, name in names.items() if name == "isle4")
    await knowledge.quarantine("t", withheld)
    found = await selected(knowledge, names)
    assert ("isle4" in found, "isle5" in found) == (False, True)
    await knowledge.erase("t", "isle")
    assert not [name for name in await selected(knowledge, names) if name.startswith("isle")]


async def test_stale_facts_are_candidates_and_keep_their_status():
    knowledge, names = await knowledge_of({"main": NEAR})
    first = next(iter(names))
    await knowledge.store.set_status(
        "t", [first], FactStatus.STALE, at=(await knowledge.store.get("t", [first]))[0].ingested_at
    )
    built = await knowledge.build("t", QUERY)
    found = {fact.candidate.fact_id: (fact.candidate.status, fact.freshness_score) for fact in built.facts}
    assert found[first] == (FactStatus.STALE, 0.0)


def test_ten_facts_of_each_community_count_for_each_sub_query():
    rows = [[(f"f{n}", "x", 0.9 - n / 100) for n in range(12)], [("f11", "x", 0.95), ("g", "y", 0.1)]]
    nearest = nearest_by_community(rows)
    assert (len(nearest["x"]), nearest["x"]["f11"], "f10" in nearest["x"], nearest["y"]) == (
        11,
        0.95,
        False,
        {"g": 0.1},
    )
    assert len(expanded(nearest["x"], 0.8)) == 11
    assert expanded(nearest["y"], 0.0) == ()
