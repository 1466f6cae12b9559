"""``stores copy`` to a real Milvus, to another and back: what comes back is what went, tombstones and times too."""

from itertools import pairwise

import pytest

from services.common.adapters.memory import MemoryKnowledgeGraph
from services.common.adapters.milvus import MilvusFactStore
from services.common.adapters.sqlite import SqliteFactStore
from services.common.ports.facts import FactStatus, FactStore
from services.common.ports.graph import SourceStatus
from services.envelope.store_copy import StoreCopy
from services.envelope.store_pictures import Stores, take_picture
from tests.contract.adapters import DIMENSION, MODEL, PLAIN
from tests.contract.records import LATER, NOW, fact, random_vectors, source
from tests.integration.milvus_target import PREFIX, empty_milvus, milvus_settings
from tools.real_servers import milvus

T = "tenant-a"

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(300)]


def nothing(_count):
    pass


async def copied(old, new):
    copying = StoreCopy(old, new, MODEL, nothing)
    plan = await copying.plan(T, merge=False)
    await copying.carry_out(plan)
    return plan, await copying.prove(plan)


@pytest.mark.parametrize("variable", [milvus.VARIABLE, milvus.LITE_VARIABLE])
async def test_there_to_another_and_back(variable, tmp_path):
    sides = [milvus_settings(variable, collection_prefix=f"{PREFIX}{other}") for other in ("", "_other")]
    for one in sides:
        await empty_milvus(one)
    stores = [await SqliteFactStore.open(tmp_path / f"{n}.db", PLAIN, dimension=DIMENSION) for n in range(2)]
    there = [await MilvusFactStore.open(one, embedding_model=MODEL, dimension=DIMENSION) for one in sides]
    order: list[FactStore] = [stores[0], *there, stores[1]]
    places = [Stores(one, MemoryKnowledgeGraph()) for one in order]
    first, last = places[0], places[-1]
    await first.facts.upsert([fact(f"f{n:03}", embedding=row) for n, row in enumerate(random_vectors(1, 600))])
    await first.facts.upsert([fact("timed", valid_from=NOW, valid_to=LATER, access_count=3, last_accessed_at=LATER)])
    await first.facts.supersede(T, ["f001"], ended_at=NOW, at=LATER)
    await first.facts.set_status(T, ["f002", "f003"], FactStatus.DELETED, at=LATER)
    await first.graph.put_source(source("source-1"))
    await first.graph.put_source(source("gone", status=SourceStatus.ERASED, uri="", document_hash=""))
    for old, new in pairwise(places):
        plan, proof = await copied(old, new)
        assert (len(plan.facts), proof.tombstones, proof.equal) == (601, 2, True)
        plan, _ = await copied(old, new)
        assert not plan.facts
    assert (await take_picture(last, T, nothing)).facts == (await take_picture(first, T, nothing)).facts
    for side in places:
        await side.facts.close()
