"""Reading outlines: of the present version, one read for each source, and nothing of what is erased."""

from dataclasses import dataclass, replace
from typing import Any

from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.ports.graph import SourceStatus
from services.common.ports.outline import OutlineEntry, OutlineVersion, SourceOutline
from services.envelope.domain.namespaces import Namespaces
from services.envelope.outlines import Outlines
from services.envelope.readable_facts import ErasedSources
from services.envelope.readable_sources import ReadableSources
from tests.contract.records import NOW, fact, source


class CountingGraph(MemoryKnowledgeGraph):
    """Counts how often an outline is read."""

    reads = 0

    async def get_outline(self, tenant_id, source_id, version):
        self.reads += 1
        return await super().get_outline(tenant_id, source_id, version)


async def filled(graph, source_id="s1", version=1, facts="abc"):
    record = source(source_id, version=version)
    await graph.put_source(record)
    about = OutlineVersion(record.tenant_id, source_id, version, "", NOW, len(facts))
    entries = tuple(OutlineEntry(f"{source_id}{name}") for name in facts)
    await graph.put_outline(SourceOutline(about, entries), keep=10)
    return record


def of(source_id, name):
    return replace(fact(f"{source_id}{name}"), source_id=source_id)


async def test_neighbours_of_facts_of_several_sources_with_one_read_for_each():
    graph = CountingGraph()
    for source_id in ("s1", "s2"):
        await filled(graph, source_id)
    outlines = Outlines(graph)
    asked = [of("s1", "a"), of("s1", "b"), of("s2", "c"), of("s2", "z"), of("s3", "a")]
    for _ in range(2):
        found = await outlines.neighbours(asked, 1)
        assert {fact_id: (one.previous, one.next) for fact_id, one in found.items()} == {
            "s1a": ((), ("s1b",)),
            "s1b": (("s1a",), ("s1c",)),
            "s2c": (("s2b",), ()),
        }
    assert graph.reads == 2
    assert [one.fact_id for one in await outlines.in_order("tenant-a", "s1")] == ["s1a", "s1b", "s1c"]
    assert await outlines.in_order("tenant-a", "s3") == ()


async def test_the_version_that_is_being_written_does_not_count_yet():
    graph = CountingGraph()
    await filled(graph)
    outlines = Outlines(graph)
    await outlines.in_order("tenant-a", "s1")
    record = await filled(graph, version=2, facts="xy")
    await graph.put_source(replace(record, status=SourceStatus.INGESTING))
    assert [one.fact_id for one in await outlines.in_order("tenant-a", "s1")] == ["s1a", "s1b", "s1c"]
    await graph.put_source(record)
    assert [one.fact_id for one in await outlines.in_order("tenant-a", "s1")] == ["s1x", "s1y"]


async def test_an_erased_source_has_no_order_although_it_was_read_before():
    graph = CountingGraph()
    record = await filled(graph)
    outlines = Outlines(graph)
    await outlines.in_order("tenant-a", "s1")
    await graph.put_source(replace(record, status=SourceStatus.ERASING))
    outlines.forget("tenant-a", "s1")
    assert await outlines.in_order("tenant-a", "s1") == ()


async def test_only_so_many_facts_are_kept_in_memory():
    graph = CountingGraph()
    for source_id in ("s1", "s2"):
        await filled(graph, source_id)
    outlines = Outlines(graph, capacity=5)
    for source_id in ("s1", "s2", "s2", "s1"):
        assert len(await outlines.in_order("tenant-a", source_id)) == 3
    assert graph.reads == 3


@dataclass
class Packed:
    """What is read of a packed fact."""

    source_id: str
    namespace: str = ""
    is_stored: bool = True


class OneRead(CountingGraph):
    """Lets sources be read together alone."""

    def __init__(self):
        super().__init__()
        self.together = []

    async def get_source(self, tenant_id, source_id):
        raise AssertionError(source_id)

    async def get_sources(self, tenant_id, source_ids):
        self.together.append(len(source_ids))
        return await super().get_sources(tenant_id, source_ids)


async def test_facts_of_many_sources_cost_one_read_of_sources():
    graph = OneRead()
    for number in range(30):
        await filled(graph, f"s{number}")
    facts = [of(f"s{number}", name) for number in range(30) for name in "ab"]
    assert len(await Outlines(graph).neighbours(facts, 1)) == 60
    readable = ReadableSources(graph, Namespaces({}), ErasedSources())
    packed: Any = [Packed(one.source_id) for one in facts]
    assert len(await readable.of_facts("tenant-a", packed)) == 30
    assert graph.together == [30, 30]
