"""What every ``FactStore`` promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from services.common.adapters.memory import bm25
from services.common.ports.facts import ERASED_HASH, FactFilter, FactStatus, StateEntry
from services.common.ports.recognition import Entity, EntityKind
from tests.contract.adapters import DIMENSION, FACT_STORES, durable, parameters, shared
from tests.contract.records import HOSTILE, LATER, NOW, digest, fact, random_vectors, vector

ALL = FactFilter(statuses=())
OPERATORS = (
    "hail OR",
    "NEAR(hail)",
    'hail"',
    "hail*",
    "content:hail",
    "NOT hail",
    "hail\x00storm",
    "(hail",
    "hail; DROP TABLE",
)


@pytest.fixture(params=parameters(FACT_STORES))
def adapter(request):
    return request.param


@pytest.fixture(params=parameters(durable(FACT_STORES)))
def durable_adapter(request):
    return request.param


@pytest.fixture(params=parameters(shared(FACT_STORES)))
def shared_adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


def full_fact(fact_id: str):
    return fact(
        fact_id,
        content="On 3 May 2024 Nordhaven paid €1,200.",
        community_label="claims/3",
        access_count=7,
        last_accessed_at=LATER,
        ttl=timedelta(days=30, microseconds=1),
        entities=(Entity(EntityKind.DATE, "3 May 2024", 3, 13), Entity(EntityKind.ORGANISATION, "Nordhaven", 14, 23)),
        metadata={"page": "3", "": "empty key", "quote": '"'},
        embedding=vector(0.3, -0.4, 0.1),
        importance_weight=0.1,
    )


def ids(facts) -> list[str]:
    return [one.fact_id for one in facts]


def hit_ids(hits) -> list[str]:
    return [hit.fact.fact_id for hit in hits]


class TestRecords:
    async def test_every_field_comes_back(self, store):
        await store.upsert([full_fact("f1")])
        (found,) = await store.get("tenant-a", ["f1"])
        assert found == full_fact("f1")
        np.testing.assert_array_equal(found.embedding, full_fact("f1").embedding)
        assert found.embedding.dtype == np.float32

    async def test_any_text_is_kept_and_found_by_its_id(self, store):
        for text in HOSTILE:
            hostile = fact(text, content=text, source_id=text, source_location=text, metadata={text: text})
            await store.upsert([hostile, fact("other")])
            assert await store.get("tenant-a", [text]) == [hostile]
            assert await store.fact_ids_of_source("tenant-a", text) == [text]
            assert await store.count("tenant-a", FactFilter(source_ids=(text,))) == 1

    async def test_hostile_ids_stay_apart_and_ordered(self, store):
        await store.upsert([fact(text) for text in HOSTILE])
        assert ids(await store.page("tenant-a", ALL, after="", limit=100)) == sorted(HOSTILE)

    async def test_get_keeps_the_given_order_and_skips_unknown_ids(self, store):
        await store.upsert([fact("a"), fact("b"), fact("c")])
        assert ids(await store.get("tenant-a", ["c", "nope", "a"])) == ["c", "a"]

    async def test_upsert_replaces_the_whole_record(self, store):
        await store.upsert([full_fact("f1"), fact("f2")])
        await store.upsert([fact("f1", content="new words", embedding=vector(0.0, 1.0))])
        assert await store.get("tenant-a", ["f1"]) == [fact("f1", content="new words")]
        assert hit_ids(await store.search_text("tenant-a", "Nordhaven", limit=5)) == []
        assert hit_ids(await store.search_text("tenant-a", "new", limit=5)) == ["f1"]
        (hits,) = await store.search("tenant-a", vector(0.0, 1.0)[None], limit=1)
        assert hit_ids(hits) == ["f1"]

    async def test_upsert_is_idempotent(self, store):
        for _ in range(2):
            await store.upsert([fact("a"), fact("b")])
        assert await store.count("tenant-a") == 2
        assert hit_ids(await store.search_text("tenant-a", "content", limit=9)) == ["a", "b"]

    async def test_the_last_of_two_facts_with_one_id_wins(self, store):
        await store.upsert([fact("a", content="first"), fact("a", content="second")])
        assert [one.content for one in await store.get("tenant-a", ["a"])] == ["second"]

    async def test_a_wrong_vector_writes_nothing_of_the_batch(self, store):
        with pytest.raises(ValueError, match="shape"):
            await store.upsert([fact("a"), fact("b", embedding=np.ones(3, dtype=np.float32))])
        assert await store.count("tenant-a", ALL) == 0

    @pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
    async def test_a_vector_that_cannot_be_compared_writes_nothing_of_the_batch(self, store, number):
        spoilt = vector(1.0)
        spoilt[3] = number
        with pytest.raises(ValueError, match=r"fact b: embedding\[3\] is -?(nan|inf)"):
            await store.upsert([fact("a"), fact("b", embedding=spoilt)])
        assert await store.count("tenant-a", ALL) == 0

    @pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("full", [True, False], ids=["with facts", "empty"])
    async def test_a_query_that_cannot_be_compared_is_refused(self, store, number, full):
        if full:
            await store.upsert([fact("a")])
        queries = np.stack([vector(1.0), vector(1.0)])
        queries[1, 3] = number
        with pytest.raises(ValueError, match=r"queries\[1\]\[3\] is -?(nan|inf); it must be a finite number"):
            await store.search("tenant-a", queries, limit=5)

    @pytest.mark.parametrize("shape", [(1, DIMENSION - 1), (DIMENSION,), (0, 3)])
    async def test_a_query_of_another_size_is_refused(self, store, shape):
        with pytest.raises(ValueError, match="queries of shape"):
            await store.search("tenant-a", np.ones(shape, dtype=np.float32), limit=5)

    async def test_a_call_that_is_given_up_writes_all_or_nothing(self, store):
        for n in range(6):
            task = asyncio.ensure_future(store.upsert([fact(f"g{n}-{part}") for part in range(10)]))
            for _ in range(n):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await store.upsert([fact("last")])
        assert (await store.count("tenant-a") - 1) % 10 == 0

    async def test_nothing_is_a_valid_write(self, store):
        await store.upsert([])
        await store.set_communities("tenant-a", {})
        await store.touch("tenant-a", [], at=NOW)
        await store.delete("tenant-a", [])
        assert await store.set_status("tenant-a", [], FactStatus.STALE, at=NOW) == 0
        assert await store.count("tenant-a") == 0

    async def test_pages_follow_the_id_and_the_filter(self, store):
        await store.upsert([fact(f"f{n:02}", source_id=f"s{n % 2}", community_label=f"c{n % 3}") for n in range(12)])
        where = FactFilter(source_ids=("s1",), communities=("c0", "c1"))
        first = await store.page("tenant-a", where, after="", limit=2)
        second = await store.page("tenant-a", where, after=first[-1].fact_id, limit=9)
        assert ids(first) == ["f01", "f03"]
        assert ids(second) == ["f07", "f09"]
        assert await store.count("tenant-a", where) == 4

    async def test_a_tombstone_is_deleted_too(self, store):
        await store.upsert([fact("a"), fact("b", status=FactStatus.DELETED)])
        await store.erase_source("tenant-a", "source-1", at=LATER)
        assert ids(await store.page("tenant-a", ALL, after="", limit=9)) == ["a", "b"]
        await store.delete("tenant-a", ["a", "b"])
        assert await store.count("tenant-a", ALL) == 0
        assert [entry async for entry in store.state_entries("tenant-a")] == []

    async def test_the_next_page_is_found_whatever_is_in_the_last_id(self, store):
        await store.upsert([fact(name) for name in ("a", "a\x00", "a.", "a/", "ab", "b", "")])
        found, after = [], ""
        while some := await store.page("tenant-a", ALL, after=after, limit=1):
            found += ids(some)
            after = found[-1]
        assert found == ["a", "a\x00", "a.", "a/", "ab", "b"]

    async def test_delete_leaves_no_trace(self, store):
        await store.upsert([fact("a"), fact("b")])
        await store.delete("tenant-a", ["a", "unknown"])
        assert ids(await store.page("tenant-a", ALL, after="", limit=9)) == ["b"]
        assert hit_ids(await store.search_text("tenant-a", "content", limit=9)) == ["b"]
        assert hit_ids((await store.search("tenant-a", vector(1.0)[None], limit=9))[0]) == ["b"]


class TestTenants:
    async def test_a_tenant_sees_only_its_own(self, store):
        for tenant in HOSTILE[1:]:
            await store.upsert([fact("same"), fact("same", tenant_id=tenant, content="secret elsewhere")])
            assert [one.content for one in await store.get("tenant-a", ["same"])] == ["content of same"]
            assert [one.content for one in await store.get(tenant, ["same"])] == ["secret elsewhere"]
            assert await store.search_text("tenant-a", "secret", limit=9) == []
            assert [len(hits) for hits in await store.search("tenant-a", vector(1.0)[None], limit=9)] == [1]

    async def test_writes_do_not_reach_another_tenant(self, store):
        await store.upsert([fact("a"), fact("a", tenant_id="tenant-b")])
        assert await store.erase_source("tenant-b", "source-1", at=LATER) == 1
        await store.set_communities("tenant-b", {"a": "x"})
        await store.touch("tenant-b", ["a"], at=LATER)
        await store.delete("tenant-b", ["a"])
        assert await store.get("tenant-a", ["a"]) == [fact("a")]
        assert await store.get("tenant-b", ["a"]) == []

    async def test_an_unknown_tenant_has_nothing(self, store):
        assert await store.get("nobody", ["a"]) == []
        assert await store.page("nobody", ALL, after="", limit=9) == []
        assert await store.search("nobody", vector(1.0)[None], limit=9) == [[]]
        assert await store.search_text("nobody", "content", limit=9) == []
        assert await store.erase_source("nobody", "s", at=NOW) == 0
        assert await store.count("nobody", ALL) == 0
        assert [entry async for entry in store.state_entries("nobody")] == []
        assert [block async for block in store.embeddings("nobody")] == []

    async def test_another_tenants_texts_do_not_weigh_in_the_ranking(self, store):
        mine = [fact("a", content="premium refund"), fact("b", content="refund form"), fact("c", content="nothing")]
        await store.upsert(mine)
        alone = await store.search_text("tenant-a", "premium refund", limit=9)
        await store.upsert([fact(f"x{n}", tenant_id="tenant-b", content="premium") for n in range(50)])
        assert await store.search_text("tenant-a", "premium refund", limit=9) == alone


class TestSearch:
    async def test_it_equals_brute_force(self, store):
        vectors = random_vectors(7, 300)
        await store.upsert([fact(f"f{n:03}", embedding=row) for n, row in enumerate(vectors)])
        queries = random_vectors(8, 5)
        for _ in range(3):  # an index may be built meanwhile: the answer stays the same
            results = await store.search("tenant-a", queries, limit=10)
            for query, hits in zip(queries, results, strict=True):
                order = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)))[:10]
                assert hit_ids(hits) == [f"f{n:03}" for n in order]
                scores = vectors[order].astype(np.float64) @ query.astype(np.float64)
                np.testing.assert_allclose([hit.score for hit in hits], scores, atol=1e-6)
            await asyncio.sleep(0.05)

    async def test_scores_are_cosines_whatever_the_length_of_the_query(self, store):
        await store.upsert(
            [fact("same"), fact("across", embedding=vector(0, 1)), fact("against", embedding=vector(-1))]
        )
        (hits,) = await store.search("tenant-a", 5 * vector(1.0)[None], limit=9)
        assert [(hit.fact.fact_id, round(hit.score, 6)) for hit in hits] == [
            ("same", 1.0),
            ("across", 0.0),
            ("against", -1.0),
        ]

    async def test_ties_are_broken_by_id_also_at_the_limit(self, store):
        await store.upsert([fact(f"f{n:02}", embedding=vector(1.0, 1.0)) for n in reversed(range(40))])
        for _ in range(3):  # an index may be built meanwhile
            (hits,) = await store.search("tenant-a", vector(1.0)[None], limit=5)
            assert hit_ids(hits) == ["f00", "f01", "f02", "f03", "f04"]
            assert len({hit.score for hit in hits}) == 1
            await asyncio.sleep(0.05)

    async def test_a_vector_without_direction_is_as_far_from_everything(self, store):
        await store.upsert([fact(f"f{n:02}", embedding=row) for n, row in enumerate(random_vectors(2, 30))])
        (hits,) = await store.search("tenant-a", np.zeros((1, DIMENSION), dtype=np.float32), limit=3)
        assert [(hit.fact.fact_id, hit.score) for hit in hits] == [("f00", 0.0), ("f01", 0.0), ("f02", 0.0)]

    @pytest.mark.parametrize("limit", [0, 1])
    async def test_no_more_than_the_limit_is_found(self, store, limit):
        await store.upsert([fact("a"), fact("b")])
        assert [len(hits) for hits in await store.search("tenant-a", vector(1.0)[None], limit=limit)] == [limit]
        assert len(await store.search_text("tenant-a", "content", limit=limit)) == limit
        assert len(await store.page("tenant-a", ALL, after="", limit=limit)) == limit

    async def test_every_query_has_its_own_answer_and_none_has_none(self, store):
        await store.upsert([fact("x"), fact("y", embedding=vector(0, 1))])
        results = await store.search("tenant-a", np.stack([vector(0, 1), vector(1.0)]), limit=1)
        assert [hit_ids(hits) for hits in results] == [["y"], ["x"]]
        assert await store.search("tenant-a", np.empty((0, DIMENSION), dtype=np.float32), limit=1) == []

    async def test_filters_are_exact_and_fill_the_limit(self, store):
        vectors = random_vectors(9, 200)
        await store.upsert(
            [
                fact(f"f{n:03}", embedding=row, source_id=f"s{n % 50}", community_label=f"c{n % 4}")
                for n, row in enumerate(vectors)
            ]
        )
        query = random_vectors(10, 1)
        for where, allowed in (
            (FactFilter(source_ids=("s7",)), [n for n in range(200) if n % 50 == 7]),
            (FactFilter(communities=("c1", "c3")), [n for n in range(200) if n % 4 in (1, 3)]),
            (FactFilter(source_ids=("s7", "s8"), communities=("c3",)), [7, 107]),
            (FactFilter(source_ids=("unknown",)), []),
        ):
            (hits,) = await store.search("tenant-a", query, limit=20, where=where)
            order = sorted(allowed, key=lambda n: -float(vectors[n].astype(np.float64) @ query[0].astype(np.float64)))
            assert hit_ids(hits) == [f"f{n:03}" for n in order[:20]]

    async def test_status_decides_what_is_found(self, store):
        names = {"active": FactStatus.ACTIVE, "stale": FactStatus.STALE, "quarantined": FactStatus.QUARANTINED}
        await store.upsert([fact(name, status=status) for name, status in names.items()])
        await store.upsert([fact("deleted", status=FactStatus.DELETED)])
        everything = FactFilter(statuses=tuple(FactStatus))
        for where, found in (
            (None, ["active", "stale"]),
            (everything, ["active", "stale"]),
            (ALL, ["active", "stale"]),
            (FactFilter(statuses=(FactStatus.STALE,)), ["stale"]),
            (FactFilter(statuses=(FactStatus.QUARANTINED,)), []),
        ):
            (hits,) = await store.search("tenant-a", vector(1.0)[None], limit=9, where=where)
            assert hit_ids(hits) == found
            assert sorted(hit_ids(await store.search_text("tenant-a", "content", limit=9, where=where))) == found

    async def test_what_was_just_written_is_found_and_what_was_just_deleted_is_not(self, store):
        await store.upsert([fact(f"f{n:02}", embedding=row) for n, row in enumerate(random_vectors(1, 30))])
        for n in range(30):
            target = vector(*([0.0] * (n % DIMENSION)), 1.0)
            await store.upsert([fact("new", embedding=target)])
            assert hit_ids((await store.search("tenant-a", target[None], limit=1))[0]) == ["new"]
            await store.set_status("tenant-a", ["new"], FactStatus.QUARANTINED, at=LATER)
            assert "new" not in hit_ids((await store.search("tenant-a", target[None], limit=50))[0])
            await store.delete("tenant-a", ["new"])

    async def test_a_query_of_another_dimension_is_refused(self, store):
        await store.upsert([fact("a")])
        with pytest.raises(ValueError):  # noqa: PT011 - each store words it differently
            await store.search("tenant-a", np.ones((1, 3), dtype=np.float32), limit=1)


class TestTextSearch:
    async def test_rare_words_and_short_texts_rank_higher(self, store):
        await store.upsert(
            [
                fact("both", content="The hail deductible is 250."),
                fact("long", content="The hail season is long and the days are long and the nights are short too."),
                fact("other", content="The claim form is blue."),
                fact("none", content="Nothing here."),
            ]
        )
        hits = await store.search_text("tenant-a", "hail deductible", limit=9)
        assert hit_ids(hits) == ["both", "long"]
        assert hits[0].score > hits[1].score > 0

    async def test_a_fact_is_found_by_the_headings_over_it(self, store):
        """ADR 0110: headings are words of the facts below them; pages and other places are not."""
        place = "p. 7, # Insurance > ## Glass breakage"
        await store.upsert([fact("below", content="The excess is 250.", source_location=place), fact("other")])
        assert hit_ids(await store.search_text("tenant-a", "glass breakage", limit=9)) == ["below"]
        assert await store.search_text("tenant-a", "p", limit=9) == []
        expected = bm25.rank(
            {"below": "The excess is 250.\nInsurance\nGlass breakage", "other": fact("other").content}, "glass"
        )
        (hit,) = await store.search_text("tenant-a", "glass", limit=9)
        assert hit.score == pytest.approx(expected["below"], rel=1e-9)
        await store.upsert([fact("below", content="The excess is 250.", source_location="p. 7")])
        assert await store.search_text("tenant-a", "glass", limit=9) == []
        await store.upsert([fact("below", content="The excess is 250.", source_location=place)])
        await store.set_status("tenant-a", ["below"], FactStatus.DELETED, at=LATER)
        assert await store.search_text("tenant-a", "glass", limit=9) == []

    async def test_scores_are_those_of_the_formula(self, store):
        texts = {"a": "hail hail storm", "b": "storm", "c": "hail on the long road to the sea", "d": "sun", "e": "rain"}
        await store.upsert([fact(name, content=text) for name, text in texts.items()])
        await store.upsert([fact("q", content="hail", status=FactStatus.QUARANTINED), fact("x", content="hail")])
        await store.set_status(
            "tenant-a", ["x"], FactStatus.DELETED, at=LATER
        )  # weighs in no more; what is hidden does
        expected = bm25.rank(texts | {"q": "hail"}, "hail storm")
        hits = await store.search_text("tenant-a", "hail storm", limit=9)
        assert {hit.fact.fact_id: pytest.approx(hit.score, rel=1e-9) for hit in hits} == {
            name: score for name, score in expected.items() if name != "q"
        }

    async def test_case_and_diacritics_do_not_matter(self, store):
        await store.upsert([fact("a", content="Élan VITAL"), fact("b", content="elan"), fact("c", content="x")])
        assert sorted(hit_ids(await store.search_text("tenant-a", "ÉLAN", limit=9))) == ["a", "b"]

    async def test_forms_of_a_word_find_one_another(self, store):
        texts = {
            "a": "Claims are reported within 30 days.",
            "b": "The dying man reported nothing; the skies were grey.",
            "c": "News of universities, generically.",
            "d": "A policy of the insured.",
        }
        await store.upsert([fact(name, content=text) for name, text in texts.items()])
        for query, found in [
            ("reporting a claim", ["a", "b", "d"]),  # "a" is a word as any other
            ("died", ["b"]),  # the stemmers called Porter differ in these words
            ("sky", ["b"]),
            ("new", []),
            ("university", ["c"]),
            ("generous", []),
            ("policies", ["d"]),
            ("insurer", ["d"]),
        ]:
            hits = await store.search_text("tenant-a", query, limit=9)
            assert sorted(hit_ids(hits)) == found, query
            expected = bm25.rank(texts, query)
            assert {hit.fact.fact_id: pytest.approx(hit.score, rel=1e-9) for hit in hits} == expected

    async def test_codes_are_found_as_they_are_written(self, store):
        codes = ("KH-4419", "KH-4419S", "KHS-4419", "ABS 4419", "AB 4419", "NDTS-4419", "NDT-4419")
        await store.upsert([fact(code, content=f"Use form {code} for it.") for code in codes])
        for code in codes:
            hits = await store.search_text("tenant-a", code, limit=9)
            assert hits[0].fact.fact_id == code
            assert hits[0].score > hits[1].score

    @pytest.mark.parametrize(
        ("content", "query"),
        [
            ("Die Häuser der Versicherten", "HÄUSER"),
            ("les dommages couverts par l'assurance", "dommages couverts"),
            ("हिन्दी में बीमा", "हिन्दी"),
            ("שָׁלוֹם לכולם", "שלום"),
            ("5 \u00b5m", "\u03bcm"),
            ("STRASSE", "straße"),
        ],
    )
    async def test_words_of_other_languages_are_found(self, store, content, query):
        await store.upsert([fact("a", content=content), fact("b", content="हिसाब の maisons haus 7")])
        hits = await store.search_text("tenant-a", query, limit=9)
        assert {hit.fact.fact_id: pytest.approx(hit.score, rel=1e-9) for hit in hits} == bm25.rank(
            {"a": content, "b": "हिसाब の maisons haus 7"}, query
        )
        assert hit_ids(hits) == ["a"]

    async def test_a_query_without_words_finds_nothing(self, store):
        for query in ("", " ", "\x00", "🧾", "***", '"', "()", "^", "-", "\ud800"):
            await store.upsert([fact("a", content="🧾 () * - words")])
            assert await store.search_text("tenant-a", query, limit=9) == []

    async def test_operators_are_only_words(self, store):
        for query in OPERATORS:
            await store.upsert([fact("a", content="hail on Monday"), fact("b", content="sun on Tuesday")])
            assert hit_ids(await store.search_text("tenant-a", query, limit=9)) == ["a"]

    async def test_any_text_is_a_valid_query(self, store):
        for text in HOSTILE:
            await store.upsert([fact("a", content=text), fact("b", content="unrelated")])
            assert set(hit_ids(await store.search_text("tenant-a", text, limit=9))) <= {"a"}

    async def test_thousands_of_words_are_a_valid_query(self, store):
        await store.upsert([fact("a", content="needle in the hay")])
        query = " ".join(f"w{n}" for n in range(3_000)) + " needle"
        assert hit_ids(await store.search_text("tenant-a", query, limit=9)) == ["a"]

    async def test_ties_are_broken_by_id_and_the_limit_holds(self, store):
        await store.upsert([fact(name, content="same words") for name in "dbca"])
        assert hit_ids(await store.search_text("tenant-a", "words", limit=3)) == ["a", "b", "c"]


class TestStatusAndState:
    async def test_set_status_changes_status_and_time_once(self, store):
        await store.upsert([fact("a"), fact("b", status=FactStatus.STALE)])
        assert await store.set_status("tenant-a", ["a", "b", "a", "nope"], FactStatus.STALE, at=LATER) == 1
        assert await store.get("tenant-a", ["a", "b"]) == [
            fact("a", status=FactStatus.STALE, modified_at=LATER),
            fact("b", status=FactStatus.STALE),
        ]

    async def test_deleted_is_final(self, store):
        await store.upsert([fact("a")])
        assert await store.set_status("tenant-a", ["a"], FactStatus.DELETED, at=LATER) == 1
        assert await store.set_status("tenant-a", ["a"], FactStatus.ACTIVE, at=LATER) == 0
        assert await store.get("tenant-a", ["a"]) == []

    async def test_communities_do_not_touch_the_modification_time(self, store):
        await store.upsert([fact("a"), fact("b")])
        await store.set_communities("tenant-a", {"a": "claims", "nope": "x"})
        assert await store.get("tenant-a", ["a", "b"]) == [fact("a", community_label="claims"), fact("b")]
        where = FactFilter(communities=("claims",))
        assert hit_ids((await store.search("tenant-a", vector(1.0)[None], limit=9, where=where))[0]) == ["a"]

    async def test_touch_counts_and_changes_nothing_else(self, store):
        await store.upsert([fact("a")])
        before = [entry async for entry in store.state_entries("tenant-a")]
        await store.touch("tenant-a", ["a", "a", "nope"], at=LATER)
        await store.touch("tenant-a", ["a"], at=LATER)
        assert await store.get("tenant-a", ["a"]) == [fact("a", access_count=2, last_accessed_at=LATER)]
        assert [entry async for entry in store.state_entries("tenant-a")] == before

    async def test_what_is_inserted_again_counts_anew(self, store):
        await store.upsert([fact("a", access_count=3)])
        await store.touch("tenant-a", ["a"], at=LATER)
        await store.set_status("tenant-a", ["a"], FactStatus.STALE, at=LATER)
        assert (await store.get("tenant-a", ["a"]))[0].access_count == 4
        await store.upsert([fact("a")])
        assert await store.get("tenant-a", ["a"]) == [fact("a")]

    async def test_tombstones_are_not_counted_as_accessed(self, store):
        await store.upsert([fact("a", status=FactStatus.DELETED)])
        await store.touch("tenant-a", ["a"], at=LATER)
        (tombstone,) = await store.page("tenant-a", ALL, after="", limit=9)
        assert (tombstone.access_count, tombstone.last_accessed_at) == (0, None)

    async def test_state_entries_are_ordered_and_hold_tombstones(self, store):
        await store.upsert([fact("b", community_label="x"), fact("a", source_id="gone", community_label="y")])
        await store.erase_source("tenant-a", "gone", at=LATER)
        tombstone = StateEntry("a", ERASED_HASH, LATER, FactStatus.DELETED)
        alive = StateEntry("b", digest("content of b"), NOW, FactStatus.ACTIVE)
        assert [entry async for entry in store.state_entries("tenant-a")] == [tombstone, alive]
        assert [entry async for entry in store.state_entries("tenant-a", ["y", "z"])] == [tombstone]

    async def test_embeddings_are_those_of_retrievable_facts_in_order(self, store):
        vectors = random_vectors(3, 20)
        statuses = [FactStatus.ACTIVE, FactStatus.STALE, FactStatus.QUARANTINED, FactStatus.DELETED]
        await store.upsert([fact(f"f{n:02}", embedding=vectors[n], status=statuses[n % 4]) for n in range(20)])
        blocks = [block async for block in store.embeddings("tenant-a")]
        kept = [n for n in range(20) if n % 4 < 2]
        assert [fact_id for block, _ in blocks for fact_id in block] == [f"f{n:02}" for n in kept]
        np.testing.assert_array_equal(np.concatenate([matrix for _, matrix in blocks]), vectors[kept])


class TestErasure:
    async def test_nothing_gives_the_content_again(self, store):
        vectors = random_vectors(4, 40)
        await store.upsert(
            [replace(full_fact(f"f{n:02}"), embedding=vectors[n], source_id=f"s{n % 2}") for n in range(40)]
        )
        await store.search("tenant-a", vectors[:1], limit=5)
        assert await store.erase_source("tenant-a", "s1", at=LATER) == 20
        gone = {f"f{n:02}" for n in range(1, 40, 2)}
        assert await store.get("tenant-a", sorted(gone)) == []
        assert not gone & set(hit_ids((await store.search("tenant-a", vectors[1:2], limit=40))[0]))
        assert not gone & set(hit_ids(await store.search_text("tenant-a", "Nordhaven", limit=40)))
        assert not gone & {fact_id async for block, _ in store.embeddings("tenant-a") for fact_id in block}
        assert await store.fact_ids_of_source("tenant-a", "s1") == []

    async def test_a_tombstone_keeps_only_what_the_state_needs(self, store):
        await store.upsert([full_fact("f1")])
        await store.erase_source("tenant-a", "source-1", at=LATER)
        (tombstone,) = await store.page("tenant-a", FactFilter(statuses=(FactStatus.DELETED,)), after="", limit=9)
        expected = replace(
            full_fact("f1"),
            status=FactStatus.DELETED,
            modified_at=LATER,
            content="",
            content_hash=ERASED_HASH,
            source_location="",
            entities=(),
            metadata={},
        )
        assert tombstone == expected
        assert not tombstone.embedding.any()
        assert tombstone.embedding.shape == (DIMENSION,)

    async def test_it_can_be_repeated(self, store):
        await store.upsert([fact("a")])
        assert await store.erase_source("tenant-a", "source-1", at=LATER) == 1
        assert await store.erase_source("tenant-a", "source-1", at=LATER + timedelta(1)) == 0
        assert [entry.modified_at async for entry in store.state_entries("tenant-a")] == [LATER]

    async def test_the_same_document_may_come_back(self, store):
        await store.upsert([fact("a")])
        await store.erase_source("tenant-a", "source-1", at=LATER)
        await store.upsert([fact("a")])
        assert await store.get("tenant-a", ["a"]) == [fact("a")]
        assert hit_ids(await store.search_text("tenant-a", "content", limit=9)) == ["a"]


class TestConcurrency:
    async def test_many_writers_lose_nothing(self, store):
        async def write(writer: int) -> None:
            for n in range(5):
                await store.upsert([fact(f"w{writer:02}-{n}", content=f"writer{writer} entry{n}")])

        await asyncio.gather(*(write(writer) for writer in range(12)))
        assert await store.count("tenant-a") == 60
        assert hit_ids(await store.search_text("tenant-a", "writer7", limit=9)) == [f"w07-{n}" for n in range(5)]

    async def test_a_batch_appears_whole(self, store):
        async def write() -> None:
            for n in range(20):
                await store.upsert([fact(f"b{n}-{part}") for part in range(10)])

        async def read() -> None:
            while not writer.done():
                assert await store.count("tenant-a") % 10 == 0
                await asyncio.sleep(0)

        writer = asyncio.create_task(write())
        await asyncio.gather(writer, read())


class TestLife:
    async def test_what_was_written_is_there_after_reopening(self, durable_adapter, tmp_path):
        vectors = random_vectors(5, 50)
        first = await durable_adapter.open(tmp_path)
        await first.upsert([fact(f"f{n:02}", embedding=row) for n, row in enumerate(vectors)])
        await first.search("tenant-a", vectors[:1], limit=3)
        await first.close()
        second = await durable_adapter.open(tmp_path)
        assert await second.count("tenant-a") == 50
        assert [hits[0].fact.fact_id for hits in await second.search("tenant-a", vectors, limit=1)] == [
            f"f{n:02}" for n in range(50)
        ]
        await second.close()

    async def test_two_stores_over_one_place_see_each_others_writes(self, shared_adapter, tmp_path):
        first, second = await shared_adapter.open(tmp_path), await shared_adapter.open(tmp_path)
        await first.upsert([fact(f"f{n:02}", embedding=row) for n, row in enumerate(random_vectors(6, 30))])
        for n in range(8):
            target = vector(*([0.0] * n), 1.0)
            await first.upsert([fact("moved", embedding=target)])
            assert hit_ids((await second.search("tenant-a", target[None], limit=1))[0]) == ["moved"]
        await first.erase_source("tenant-a", "source-1", at=LATER)
        assert await second.search("tenant-a", vector(1.0)[None], limit=9) == [[]]
        await first.close()
        await second.close()

    async def test_check_and_close_can_be_repeated(self, store):
        await store.check()
        await store.close()
        await store.close()
