"""``MilvusFactStore`` on a real Milvus, beyond the port's contract: its graph, bounds, several processes, layouts."""

import asyncio
import random
from typing import Any

import numpy as np
import pytest
from pymilvus import MilvusClient

from services.common.adapters.memory import MemoryFactStore, bm25
from services.common.adapters.milvus import MilvusFactStore, fact_rows, reindexing, schema
from services.common.adapters.milvus.database import MilvusDatabase
from services.common.adapters.milvus.failures import unavailable
from services.common.adapters.milvus.schema import bare, facts_collection
from services.common.errors import ErrorReason, UnavailableError
from services.common.keywords import Stemming
from services.common.ports.facts import FactFilter, FactStatus
from tests.contract.adapters import DIMENSION, MODEL
from tests.contract.records import LATER, fact, random_vectors, vector
from tests.integration.milvus_target import empty_milvus, milvus_settings

ALL = FactFilter(statuses=())
NEW = "groundtrail_tests_new"

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(300)]


async def opened(settings, **changes) -> MilvusFactStore:
    values: dict[str, Any] = {"embedding_model": MODEL, "dimension": DIMENSION} | changes
    return await MilvusFactStore.open(settings, **values)


@pytest.fixture
async def settings():
    found = milvus_settings()
    await empty_milvus(found)
    return found


@pytest.fixture
async def store(settings):
    found = await opened(settings)
    yield found
    await found.close()


@pytest.fixture
def fresh(settings):
    """Settings of collections that are not there yet, and are dropped."""
    client = MilvusClient(settings.uri)

    def drop() -> None:
        for name in client.list_collections():
            if name.startswith(NEW):
                client.drop_collection(name)

    drop()
    yield settings.model_copy(update={"collection_prefix": NEW})
    drop()
    client.close()


async def former_layout(settings) -> None:
    """Leave the collections as a program of before stemming did: layout 1, nothing said of the words."""
    database = await MilvusDatabase.open(settings)
    await database.delete(f"{NEW}_meta", ["words"])
    await database.upsert(f"{NEW}_meta", [bare({"key": "schema", "value": "1"})])
    await database.close()


def hit_ids(hits) -> list[str]:
    return [hit.fact.fact_id for hit in hits]


class TestSealedSegments:
    async def test_what_the_graph_finds_is_exact_filtered_and_in_order(self, settings, store):
        vectors = random_vectors(11, 3_000)
        facts = [fact(f"f{n:04}", embedding=row, source_id=f"s{n % 30}") for n, row in enumerate(vectors)]
        await store.upsert(facts[:2_000])
        client = MilvusClient(settings.uri)
        name = facts_collection(settings, MODEL)
        await asyncio.to_thread(client.flush, name)
        await store.upsert(facts[2_000:])  # these are in a growing segment still
        client.close()
        await store.set_status("tenant-a", ["f0007", "f2007"], FactStatus.QUARANTINED, at=LATER)
        alive = np.array([n for n in range(3_000) if n not in (7, 2_007)])
        for query in random_vectors(12, 8):
            scores = np.sum(vectors[alive].astype(np.float64) * query.astype(np.float64), axis=1)
            order = [f"f{alive[at]:04}" for at in np.argsort(-scores)[:20]]
            (hits,) = await store.search("tenant-a", query[None], limit=20)
            assert hit_ids(hits) == order
            where = FactFilter(source_ids=("s7", "s8"))
            (hits,) = await store.search("tenant-a", query[None], limit=20, where=where)
            chosen = [n for n in np.argsort(-scores) if alive[n] % 30 in (7, 8)][:20]
            assert hit_ids(hits) == [f"f{alive[n]:04}" for n in chosen]
        found = await store.page("tenant-a", ALL, after="f0990", limit=1_500)
        assert [one.fact_id for one in found] == [f"f{n:04}" for n in range(991, 2_491)]
        np.testing.assert_array_equal(found[0].embedding, vectors[991])
        assert await store.erase_source("tenant-a", "s8", at=LATER) == 100
        assert await store.count("tenant-a") == 3_000 - 2 - 100

    async def test_more_equal_vectors_than_are_proposed(self, store):
        await store.upsert([fact(f"f{n:04}", embedding=vector(1.0, 2.0)) for n in reversed(range(700))])
        (hits,) = await store.search("tenant-a", vector(1.0)[None], limit=7)
        assert hit_ids(hits) == [f"f{n:04}" for n in range(7)]


class TestKeywordBound:
    """ADR 0060: exact up to ``text_candidates`` rows, and beyond where the rare words decide."""

    @pytest.fixture
    async def stores(self, settings):
        """A store that fetches at most 20 rows, and the reference."""
        bounded = await opened(settings.model_copy(update={"text_candidates": 20}))
        reference = MemoryFactStore(DIMENSION)
        texts = [f"hail {'storm ' * (n % 3)}claim {'rare' if n % 10 == 0 else 'usual'} number{n}" for n in range(60)]
        for one in (bounded, reference):
            await one.upsert([fact(f"f{n:02}", content=text) for n, text in enumerate(texts)])
        yield bounded, reference
        await bounded.close()

    @pytest.mark.parametrize("query", ["rare", "number7 number9 unknown", "rare number11"])
    async def test_within_the_bound_the_result_is_exact(self, stores, query):
        bounded, reference = stores
        expected = await reference.search_text("tenant-a", query, limit=5)
        found = await bounded.search_text("tenant-a", query, limit=5)
        assert [(hit.fact, pytest.approx(hit.score, rel=1e-9)) for hit in found] == [
            (hit.fact, hit.score) for hit in expected
        ]

    @pytest.mark.parametrize("query", ["hail rare", "rare claim hail number20"])
    async def test_beyond_it_too_where_rare_words_decide(self, stores, query):
        bounded, reference = stores
        expected = await reference.search_text("tenant-a", query, limit=5)
        found = await bounded.search_text("tenant-a", query, limit=5)
        assert [(hit.fact, pytest.approx(hit.score, rel=1e-9)) for hit in found] == [
            (hit.fact, hit.score) for hit in expected
        ]

    async def test_common_words_alone_find_facts_that_hold_them_all_and_are_bounded(self, stores):
        bounded, _ = stores
        found = await bounded.search_text("tenant-a", "hail storm", limit=30)
        assert 0 < len(found) <= 20
        assert all("storm" in hit.fact.content for hit in found)
        assert found == await bounded.search_text("tenant-a", "hail storm", limit=30)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)

    async def test_a_fact_of_more_words_than_a_row_is_found_by_is_found(self, store):
        long = " ".join(f"word{n}" for n in range(5_000))
        await store.upsert([fact("long", content=long), fact("other", content="word4999")])
        assert hit_ids(await store.search_text("tenant-a", "word4999", limit=5)) == ["other", "long"]
        assert hit_ids(await store.search_text("tenant-a", "word4998", limit=5)) == ["long"]
        assert (await store.get("tenant-a", ["long"]))[0].content == long


class TestHalfWrites:
    """Every request of a write fails in turn, before or after Milvus has done it: all of the write is seen, or none."""

    @pytest.mark.parametrize("after", [False, True], ids=["not done", "done and not heard of"])
    async def test_each_request_fails_in_turn(self, settings, store, monkeypatch, after):
        ids = [f"f{n}" for n in range(6)]
        written, failed_at, kept = 0, 0, "version 0"
        await store.upsert([fact(name, content=kept) for name in ids])
        faults = Faults(monkeypatch)
        while faults.reached:
            written, failed_at = written + 1, failed_at + 1
            new = f"version {written}"
            faults.arm(failed_at, after=after)
            try:
                await store.upsert([fact(name, content=new, source_id=new) for name in ids[:5]])
            except UnavailableError:
                pass
            else:
                kept = new
            faults.disarm()
            found = await store.get("tenant-a", ids)
            (seen,) = {one.content for one in found[:5]}
            assert len(found) == 6
            assert seen in ((kept,) if kept == new else (kept, new)), failed_at
            assert await store.count("tenant-a", ALL) == 6
            other = await opened(settings)
            assert {one.content for one in (await other.get("tenant-a", ids))[:5]} == {seen}
            assert [hit.fact.content for hit in await other.search_text("tenant-a", str(written), limit=9)] == (
                [seen] * 5 if seen == new else []
            )
            await other.close()
            kept = seen
        assert failed_at > 4

    async def test_what_is_not_complete_is_seen_by_nobody(self, settings, store, monkeypatch):
        await store.upsert([fact("a", content="before")])
        faults = Faults(monkeypatch)
        faults.arm(3)  # the third request says that the batch is done
        with pytest.raises(UnavailableError):
            await store.upsert([fact("a", content="after"), fact("b")])
        client = MilvusClient(settings.uri)
        name = facts_collection(settings, MODEL)
        rows = client.query(name, filter="status < 4", output_fields=["key"], consistency_level="Strong")
        client.close()
        assert len(rows) == 3  # so that the two new ones are really there
        faults.arm(1)  # nor can they be removed
        with pytest.raises(UnavailableError):
            await store.get("tenant-a", ["a"])
        faults.disarm()
        assert [one.content for one in await store.get("tenant-a", ["a", "b"])] == ["before"]
        assert await store.count("tenant-a", ALL) == 1

    async def test_a_read_in_the_middle_of_a_write_sees_what_was_before(self, store, monkeypatch):
        await store.upsert([fact("a", content="before")])
        written, go_on, real = asyncio.Event(), asyncio.Event(), MilvusDatabase.insert

        async def held(database, collection, rows):
            await real(database, collection, rows)
            written.set()
            await go_on.wait()

        monkeypatch.setattr(MilvusDatabase, "insert", held)
        writing = asyncio.ensure_future(store.upsert([fact("a", content="after"), fact("b", content="after")]))
        await written.wait()
        assert [one.content for one in await store.get("tenant-a", ["a", "b"])] == ["before"]
        assert await store.count("tenant-a", ALL) == 1
        assert [hit.fact.content for hit in await store.search_text("tenant-a", "before after", limit=9)] == ["before"]
        (hits,) = await store.search("tenant-a", vector(1.0)[None], limit=9)
        assert [hit.fact.content for hit in hits] == ["before"]
        go_on.set()
        await writing
        assert [one.content for one in await store.get("tenant-a", ["a", "b"])] == ["after", "after"]


class Faults:
    """Fails a chosen one of the requests that write."""

    def __init__(self, monkeypatch) -> None:
        self.reached, self._left, self._after = True, 0, False
        for name in ("insert", "upsert", "delete"):
            monkeypatch.setattr(MilvusDatabase, name, self._failing(getattr(MilvusDatabase, name)))

    def arm(self, number: int, *, after: bool = False) -> None:
        self.reached, self._left, self._after = False, number, after

    def disarm(self) -> None:
        self._left = 0

    def _failing(self, real):
        async def request(database, collection, some):
            self._left -= 1
            failing = self._left == 0
            self.reached = self.reached or failing
            if failing and not self._after:
                raise unavailable("a test says so", "test")
            await real(database, collection, some)
            if failing:
                raise unavailable("a test says so", "test")

        return request


class TestSeveralProcesses:
    async def test_writers_of_one_tenant_take_turns_and_lose_nothing(self, settings):
        strong = settings.model_copy(update={"consistency": "strong", "timeout_s": 120.0})
        stores = [await opened(strong) for _ in range(3)]

        async def write(number: int) -> None:
            for n in range(4):
                same = [fact(f"same{part}", content=f"by {number} at {n}") for part in range(5)]
                await stores[number].upsert([*same, fact(f"own{number}-{n}")])

        await asyncio.gather(*(write(number) for number in range(3)))
        for one in stores:
            assert await one.count("tenant-a") == 5 + 12
            same = await one.get("tenant-a", [f"same{part}" for part in range(5)])
            assert len({each.content for each in same}) == 1  # the whole of one write
        for one in stores:
            await one.close()

    async def test_a_reader_beside_a_writer_sees_whole_batches(self, settings):
        strong = settings.model_copy(update={"consistency": "strong", "timeout_s": 120.0})
        writer, reader = await opened(strong), await opened(strong)

        async def write() -> None:
            for n in range(6):
                await writer.upsert([fact(f"f{part}", content=f"version {n}") for part in range(10)])

        writing = asyncio.ensure_future(write())
        while not writing.done():
            found = await reader.page("tenant-a", ALL, after="", limit=99)
            assert len(found) in (0, 10)
            assert len({one.content for one in found}) <= 1
        await writing
        await writer.close()
        await reader.close()


class TestLayouts:
    async def test_several_that_start_at_once_make_one_layout(self, fresh):
        stores = await asyncio.gather(*(opened(fresh) for _ in range(3)))
        await stores[0].upsert([fact("a")])
        assert [one.fact_id for one in await stores[0].get("tenant-a", ["a"])] == ["a"]
        for one in stores:
            await one.close()

    async def test_a_later_layout_is_refused(self, fresh):
        await (await opened(fresh)).close()
        database = await MilvusDatabase.open(fresh)
        known = len(schema.MIGRATIONS)
        later = str(known + 1)
        await database.upsert(f"{NEW}_meta", [bare({"key": "schema", "value": later})])
        await database.close()
        with pytest.raises(UnavailableError, match=f"layout {later}, this program knows {known}; upgrade") as caught:
            await opened(fresh)
        assert caught.value.reason is ErrorReason.STORE_UNAVAILABLE

    async def test_rows_of_before_stemming_are_written_anew(self, fresh):
        texts = {"a": "Claims are reported.", "b": "The form KH-4419.", "c": "A claim on hail."}
        before = await opened(fresh, stemming=Stemming.NONE)  # a row of layout 1 has the words as they are written
        await before.upsert([fact(name, content=text, access_count=3) for name, text in texts.items()])
        await before.upsert([fact("x", tenant_id="tenant-b", content="claims"), fact("y", content="claims of nobody")])
        await before.set_status("tenant-a", ["b"], FactStatus.QUARANTINED, at=LATER)
        await before.set_status("tenant-a", ["y"], FactStatus.DELETED, at=LATER)
        known = await before.get("tenant-a", list(texts))
        assert hit_ids(await before.search_text("tenant-a", "claim", limit=9)) == ["c"]
        await before.close()
        await former_layout(fresh)
        after = await opened(fresh)
        try:
            for query in ("claiming", "reports", "KH-4419"):
                hits = await after.search_text("tenant-a", query, limit=9)
                expected = {name: score for name, score in bm25.rank(texts, query).items() if name != "b"}
                assert {hit.fact.fact_id: pytest.approx(hit.score) for hit in hits} == expected
            assert hit_ids(await after.search_text("tenant-b", "claim", limit=9)) == ["x"]
            assert await after.get("tenant-a", list(texts)) == known
            assert await after.count("tenant-a", ALL) == 4
        finally:
            await after.close()

    async def test_writing_anew_goes_on_where_it_ended(self, fresh, monkeypatch):
        monkeypatch.setattr(reindexing, "_FACTS_PER_WRITE", 2)
        before = await opened(fresh, stemming=Stemming.NONE)
        await before.upsert([fact(f"f{n}", content=f"claims of {n}") for n in range(7)])
        await before.close()
        await former_layout(fresh)
        written = []

        def ends_there(row, stemming):
            written.append(fact_rows.fact_id_of(row["key"]))
            if len(written) > 4:
                raise unavailable("gone", "test")
            return fact_rows.reworded(row, stemming)

        with monkeypatch.context() as patch:
            patch.setattr(reindexing, "reworded", ends_there)
            with pytest.raises(UnavailableError):
                await opened(fresh)
        again = []

        def counted(row, stemming):
            found = fact_rows.reworded(row, stemming)
            again.extend([] if found is None else [fact_rows.fact_id_of(row["key"])])
            return found

        monkeypatch.setattr(reindexing, "reworded", counted)
        after = await opened(fresh)
        try:
            assert again == ["f4", "f5", "f6"]
            assert len(await after.search_text("tenant-a", "claim", limit=9)) == 7
        finally:
            await after.close()

    async def test_vectors_of_another_length_are_refused(self, fresh):
        await (await opened(fresh)).close()
        with pytest.raises(UnavailableError, match="vectors of 16 dimensions, the embedding model makes 8"):
            await opened(fresh, dimension=8)

    async def test_each_embedding_model_has_its_own_collection_and_no_method_forgets_the_others(self, fresh):
        before = await opened(fresh)
        await before.upsert([fact("old"), fact("both", content="first model")])
        await before.close()
        after = await opened(fresh, embedding_model="other@2")
        await after.upsert([fact("both", content="second model", embedding_model="other@2")])
        assert [one.content for one in await after.page("tenant-a", ALL, after="", limit=9)] == [
            "second model",
            "content of old",
        ]
        (hits,) = await after.search("tenant-a", vector(1.0)[None], limit=9)
        assert hit_ids(hits) == ["both"]  # the other model's vectors mean something else
        assert [ids async for ids, _ in after.embeddings("tenant-a")] == [["both"]]
        assert await after.count("tenant-a") == 2
        assert await after.erase_source("tenant-a", "source-1", at=LATER) == 2
        assert await after.get("tenant-a", ["old", "both"]) == []
        await after.close()


async def test_no_text_of_a_caller_reaches_an_expression(store, monkeypatch):
    """Random hostile tenants, sources, communities and queries: nobody sees what is not theirs."""
    rng, seen = random.Random(5), []
    pieces = [
        '" or "1"=="1',
        "\\",
        '\\"',
        "'",
        '"',
        "%",
        "]",
        " or tenant != ",
        "status",
        "ü",
        "日本",
        "\x00",
        "{x}",
        "#",
    ]

    def hostile() -> str:
        return "".join(rng.choices(pieces, k=rng.randrange(1, 6)))

    real = MilvusDatabase.rows

    async def watched(self, collection, where, *rest):
        seen.append(where)
        return await real(self, collection, where, *rest)

    monkeypatch.setattr(MilvusDatabase, "rows", watched)
    tenants = list({hostile() for _ in range(12)})
    for n, tenant in enumerate(tenants):
        text = hostile()
        await store.upsert(
            [
                fact(
                    text,
                    tenant_id=tenant,
                    content=f"secret {n}",
                    source_id=text,
                    community_label=text,
                    metadata={text: text},
                )
            ]
        )
    for n, tenant in enumerate(tenants):
        where = FactFilter(source_ids=(hostile(), hostile()), communities=(hostile(),))
        assert {one.content for one in await store.page(tenant, where, after="", limit=99)} <= {f"secret {n}"}
        assert [one.content for one in await store.page(tenant, ALL, after="", limit=99)] == [f"secret {n}"]
        assert [one.fact.content for one in await store.search_text(tenant, hostile() + " secret", limit=99)] == [
            f"secret {n}"
        ]
        (hits,) = await store.search(tenant, vector(1.0)[None], limit=99)
        assert [hit.fact.content for hit in hits] == [f"secret {n}"]
    allowed = set('abcdefghijklmnopqrstuvwxyz0123456789_"[](),.<>=!- /')
    assert seen
    assert all(set(where) <= allowed for where in seen), [where for where in seen if not set(where) <= allowed][:1]
