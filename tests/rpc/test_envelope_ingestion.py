"""Documents looked at before and after ingestion: previews, reports, order, differences, progress (ADR 0113)."""

import asyncio
import uuid

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, ingestion_pb2
from crp.ckf.v1 import knowledge_service_pb2 as pb

from services.envelope import progress_events
from tests.fakes.envelope_world import World, fresh_id, refused
from tests.patience import patient

INTERNAL = ckf_pb2.SOURCE_TYPE_INTERNAL
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
FEES = """# Fees

## Travel

The deductible for travel insurance is 250 EUR per claim and year.

A lost suitcase must be reported to the carrier within 7 days of the flight.

## Home

The premium for home insurance is due on the first day of each quarter.
"""
CHANGED = FEES.replace("250 EUR", "300 EUR").replace(
    "The premium for home insurance is due on the first day of each quarter.",
    "A burst pipe is covered from the first hour, whoever was at home.",
)


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def clients(world):
    async with world.serving() as clients:
        yield clients


@pytest.fixture
def alice(clients):
    return clients()


def kept(world):
    """Return everything that the stores hold, as values that can be compared."""
    return (
        {tenant: dict(facts) for tenant, facts in world.facts._facts.items()},
        dict(world.graph._sources),
        {key: dict(value) for key, value in world.graph._outlines.items()},
        dict(world.graph._receipts._receipts),
    )


async def ordered(alice, source_id):
    """Return the source's facts in reading order, followed from one to the next."""
    facts = {fact.fact_id: fact for fact in await alice.facts(source_ids=[source_id])}
    seen = [await alice.call("GetFact", fact_id=fact_id) for fact_id in facts]
    (first,) = [one for one in seen if not one.previous_fact_id and one.HasField("section")]
    row, by_id = [first], {one.fact.fact_id: one for one in seen}
    while row[-1].next_fact_id:
        row.append(by_id[row[-1].next_fact_id])
    return row


class TestOrder:
    async def test_a_fact_knows_its_neighbours_and_its_section(self, alice):
        source = (await alice.ingest(FEES)).source
        row = await ordered(alice, source.source_id)
        words = ("deductible", "suitcase", "premium")
        assert [[word in one.fact.content for word in words].index(True) for one in row] == [0, 1, 2]
        assert [one.section for one in row] == [0, 0, 1]
        assert [one.previous_fact_id for one in row] == ["", *(one.fact.fact_id for one in row[:-1])]
        assert all(one.kind for one in row)

    async def test_a_new_version_has_its_own_order_and_the_former_ones_are_kept(self, alice):
        source = (await alice.ingest(FEES)).source
        old = await ordered(alice, source.source_id)
        again = (await alice.ingest(CHANGED)).source
        assert (source.version, again.version) == (1, 2)
        found = await alice.call("GetSource", source_id=source.source_id)
        assert [(one.version, one.fact_count) for one in found.versions] == [(2, 3), (1, 3)]
        assert found.versions[1].document_hash == source.document_hash
        replaced = await alice.call("GetFact", fact_id=old[0].fact.fact_id)
        assert (replaced.next_fact_id, replaced.HasField("section")) == ("", False)

    async def test_at_most_ten_versions_are_kept(self, alice):
        for days in range(2, 14):
            source = (await alice.ingest(f"# Rule\n\nA claim is settled within {days} days of the request.")).source
        versions = (await alice.call("GetSource", source_id=source.source_id)).versions
        assert [one.version for one in versions] == list(range(12, 2, -1))

    async def test_facts_that_a_caller_has_cut_stand_in_the_order_in_which_they_came(self, alice):
        def some(*texts):
            return {"facts": [{"content": text} for text in texts], "uri": "u", "source_type": INTERNAL}

        first = await alice.call("IngestFacts", **some("One comes first.", "Two comes second."))
        second = await alice.call("IngestFacts", **some("Three comes third.", "One comes first."))
        ids = [*first.fact_ids, second.fact_ids[0]]
        found = [await alice.call("GetFact", fact_id=fact_id) for fact_id in ids]
        assert [one.next_fact_id for one in found] == [*ids[1:], ""]

    async def test_nothing_of_the_order_is_left_of_an_erased_source(self, alice, world):
        source = (await alice.ingest(FEES)).source
        await ordered(alice, source.source_id)
        await alice.call("EraseSource", source_id=source.source_id)
        found = await alice.call("GetSource", source_id=source.source_id)
        assert (list(found.versions), found.source.version) == ([], 0)
        assert not any(world.graph._outlines.values())

    async def test_a_source_without_an_order_is_read_anew_when_its_bytes_come_again(self, alice, world):
        source = (await alice.ingest(FEES)).source
        key = ("tenant-a", source.source_id)
        world.graph._outlines.pop(key)
        world.graph._sources[key] = world.graph._sources[key].__class__(
            **{
                name: getattr(world.graph._sources[key], name)
                for name in world.graph._sources[key].__slots__
                if name != "version"
            }
        )
        again = await alice.ingest(FEES)
        assert (again.unchanged, again.facts_created, again.facts_unchanged, again.source.version) == (False, 0, 3, 1)
        assert (await alice.ingest(FEES)).unchanged


class TestPreview:
    async def preview(self, client, content=FEES, uri="handbook.md", **fields):
        return await client.call("PreviewIngestion", uri=uri, content=content.encode(), **fields)

    async def test_it_writes_nothing(self, alice, world):
        await alice.ingest(CHANGED, uri="other.md")
        before = kept(world)
        for uri in ("handbook.md", "other.md"):
            await self.preview(alice, uri=uri)
        assert kept(world) == before

    async def test_it_says_what_the_ingestion_then_does(self, alice):
        for content in (FEES, CHANGED, FEES):
            said = await self.preview(alice, content)
            done = await alice.ingest(content)
            for name in ("facts_created", "facts_stale", "facts_unchanged"):
                assert getattr(said, name) == getattr(done, name), name
            assert said.report == done.report
            assert [fact.content for fact in said.facts] == [
                one.fact.content for one in await ordered(alice, done.source.source_id)
            ]
        assert [fact.change for fact in said.facts].count(ingestion_pb2.FACT_CHANGE_RETURNING) == 2
        assert (await self.preview(alice, FEES)).unchanged

    async def test_the_facts_come_in_pages(self, alice):
        whole = await self.preview(alice)
        pages = [await self.preview(alice, page_size=2)]
        pages.append(await self.preview(alice, page_size=2, page_token=pages[0].next_page_token))
        assert [len(page.facts) for page in pages] == [2, 1]
        assert [fact for page in pages for fact in page.facts] == list(whole.facts)
        assert pages[1].next_page_token == ""
        async with refused(INVALID, "PAGE_TOKEN_INVALID"):
            await self.preview(alice, CHANGED, page_size=2, page_token=pages[0].next_page_token)

    async def test_facts_of_other_sources_are_told(self, alice):
        other = (await alice.ingest(FEES, uri="other.md")).source
        report = (await self.preview(alice, CHANGED)).report
        assert report.compared
        assert [(one.exact, one.other_source_id) for one in report.duplicates] == [(True, other.source_id)]
        assert "A lost suitcase" in report.duplicates[0].content
        assert not (await self.preview(alice, CHANGED, skip_comparison=True)).report.compared

    async def test_another_tenants_facts_are_not_compared(self, alice, clients):
        await alice.ingest(FEES, uri="other.md")
        assert (await self.preview(clients("mallory"))).report.duplicate_count == 0

    async def test_what_is_wrong_is_refused_as_by_an_ingestion(self, alice, clients):
        async with refused(INVALID, "INVALID_FIELD", "uri"):
            await self.preview(alice, uri="")
        async with refused(INVALID, "INVALID_FIELD", "content"):
            await self.preview(alice, "")
        async with refused(INVALID, "DOCUMENT_WITHOUT_TEXT"):
            await self.preview(alice, "  \n ")
        async with refused(grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING"):
            await self.preview(clients("reader"))


def stored(source_id, version=0):
    return pb.DiffSide(stored=pb.StoredVersion(source_id=source_id, version=version))


def unstored(content):
    return pb.DiffSide(document=pb.UnstoredDocument(name="x.md", content=content.encode()))


class TestDiff:
    async def diff(self, client, before, after, **fields):
        return await client.call("DiffSources", before=before, after=after, **fields)

    def counts(self, found):
        return (
            found.added_count,
            found.removed_count,
            found.changed_count,
            found.moved_count,
            found.unchanged_count,
        )

    async def test_two_versions_of_a_source(self, alice):
        source_id = (await alice.ingest(FEES)).source.source_id
        await alice.ingest(CHANGED)
        found = await self.diff(alice, stored(source_id, 1), stored(source_id))
        assert self.counts(found) == (1, 1, 1, 0, 1)
        assert "250 EUR" in found.changed[0].before.content
        assert "300 EUR" in found.changed[0].after.content
        assert found.added[0].content.endswith("whoever was at home.")
        assert "The premium" in found.removed[0].content
        back = await self.diff(alice, stored(source_id, 2), stored(source_id, 1))
        assert self.counts(back) == (1, 1, 1, 0, 1)

    async def test_a_source_and_a_file_or_another_source(self, alice):
        source_id = (await alice.ingest(FEES)).source.source_id
        other_id = (await alice.ingest(CHANGED, uri="other.md")).source.source_id
        assert self.counts(await self.diff(alice, stored(source_id), unstored(FEES))) == (0, 0, 0, 0, 3)
        assert self.counts(await self.diff(alice, stored(source_id), unstored(CHANGED))) == (1, 1, 1, 0, 1)
        assert self.counts(await self.diff(alice, stored(source_id), stored(other_id))) == (1, 1, 1, 0, 1)

    async def test_what_stands_elsewhere_has_moved(self, alice):
        source_id = (await alice.ingest(FEES)).source.source_id
        head, travel, home = FEES.partition("## Travel")[0], *FEES.split("## ")[1:]
        turned = f"{head}## {home}\n## {travel}"
        found = await self.diff(alice, stored(source_id), unstored(turned))
        assert self.counts(found) == (0, 0, 0, 1, 2)
        assert found.moved[0].similarity == 1.0

    async def test_lists_are_limited_and_counts_are_not(self, alice):
        found = await self.diff(alice, unstored("One rule stands here."), unstored(FEES), limit=2)
        assert (len(found.added), found.added_count) == (2, 3)

    async def test_what_is_not_there_is_not_found(self, alice, clients):
        source_id = (await alice.ingest(FEES)).source.source_id
        for side in (stored(str(uuid.uuid4())), stored(source_id, 9)):
            async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
                await self.diff(alice, side, unstored(FEES))
        async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
            await self.diff(clients("mallory"), stored(source_id), unstored(FEES))
        async with refused(INVALID, "INVALID_FIELD", "after"):
            await self.diff(alice, stored(source_id), pb.DiffSide())
        async with refused(INVALID, "INVALID_FIELD", "before.stored.source_id"):
            await self.diff(alice, stored("x"), stored(source_id))
        async with refused(INVALID, "INVALID_FIELD", "limit"):
            await self.diff(alice, stored(source_id), stored(source_id), limit=1001)


class Slow:
    """An embedding model that waits before each batch."""

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)

    async def embed(self, texts):
        await asyncio.sleep(0.05)
        return await self._model.embed(texts)


async def streamed(alice, request):
    call = alice._knowledge.IngestSourceStream(
        pb.IngestSourceStreamRequest(source=request), metadata=(("authorization", "alice"),), timeout=patient(20)
    )
    return [event async for event in call]


class TestProgress:
    async def test_the_stream_tells_how_far_it_is_and_ends_with_the_answer(self, world, monkeypatch):
        monkeypatch.setattr(progress_events, "EVERY_S", 0.01)
        world.embedding = Slow(world.embedding)
        world.settings = world.settings.model_copy(update={"embedding_batch": 2})
        text = "# Rooms\n\n" + "\n\n".join(f"Room number {n} of the old house is on floor {n}." for n in range(20))
        request = pb.IngestSourceRequest(request_id=fresh_id(), uri="u.md", content=text.encode(), source_type=INTERNAL)
        async with world.serving() as clients:
            events = await streamed(clients(), request)
            again = await clients().call("IngestSource", **{field.name: value for field, value in request.ListFields()})
        told = [event.progress for event in events[:-1]]
        assert len(told) > 3
        total = told[-1].facts_total
        assert total == events[-1].result.facts_created > 8
        done = [one.facts_done for one in told if one.facts_total]
        assert done == sorted(done)
        assert any(0 < one < total for one in done)
        left = [one.seconds_left for one in told if one.HasField("seconds_left")]
        assert left
        assert left[-1] < left[0]
        assert again == events[-1].result

    async def test_what_is_refused_is_refused_in_the_stream(self, alice):
        request = pb.IngestSourceRequest(request_id=fresh_id(), uri="", content=b"x", source_type=INTERNAL)
        async with refused(INVALID, "INVALID_FIELD", "uri"):
            await streamed(alice, request)


async def test_a_document_keeps_its_type_until_another_is_named(alice):
    async def taken(content, **named):
        source = (
            await alice.ingest(content, uri="law.md", **{"source_type": ckf_pb2.SOURCE_TYPE_UNSPECIFIED} | named)
        ).source
        (fact,) = await alice.facts(source_ids=[source.source_id], statuses=[ckf_pb2.FACT_STATUS_ACTIVE])
        return source.source_type, round(fact.importance_weight, 2)

    law, web, internal = ckf_pb2.SOURCE_TYPE_REGULATION, ckf_pb2.SOURCE_TYPE_WEB, ckf_pb2.SOURCE_TYPE_INTERNAL
    first, second = "Reports are kept for ten years.", "Reports are kept for eight years."
    assert (await taken(first))[0] == internal
    before = await taken(first, source_type=law)
    assert before[0] == law
    assert await taken(second) == before
    after = await taken(second, source_type=web)
    assert after[0] == web
    assert after[1] < before[1]
    assert await taken(second) == after
