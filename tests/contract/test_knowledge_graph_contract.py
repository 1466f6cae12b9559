"""What every ``KnowledgeGraph`` promises."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from crp.ckf.v1.knowledge_service_pb2 import IngestSourceResponse

from services.common.documents.document import NOWHERE, Place
from services.common.errors import ConflictError, ErrorReason
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceStatus
from services.common.ports.outline import OutlineEntry, OutlineVersion, SourceOutline
from services.common.ports.receipts import Receipt
from tests.contract.adapters import KNOWLEDGE_GRAPHS, durable, parameters
from tests.contract.records import HOSTILE, LATER, NOW, quoting, receipt, source


@pytest.fixture(params=parameters(KNOWLEDGE_GRAPHS))
def adapter(request):
    return request.param


@pytest.fixture(params=parameters(durable(KNOWLEDGE_GRAPHS)))
def durable_adapter(request):
    return request.param


@pytest.fixture
async def graph(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


def full_source(source_id: str):
    return source(
        source_id,
        status=SourceStatus.INGESTING,
        fact_ids_pending=("f1", "f2"),
        stale_on_activation=("f0",),
        metadata={"author": 'O\'Neill "x"'},
        version=7,
    )


def clustering(epoch: int, **changes):
    values: dict[str, Any] = {
        "tenant_id": "tenant-a",
        "clustered_at": NOW,
        "facts_at_clustering": 90,
        "embedding_model": "m@1",
    }
    return ClusteringRecord(epoch=epoch, **(values | changes))


class TestSources:
    async def test_every_field_comes_back(self, graph):
        await graph.put_source(full_source("s1"))
        assert await graph.get_source("tenant-a", "s1") == full_source("s1")

    async def test_put_replaces_and_delete_removes(self, graph):
        await graph.put_source(full_source("s1"))
        await graph.put_source(source("s1"))
        assert await graph.get_source("tenant-a", "s1") == source("s1")
        await graph.delete_source("tenant-a", "s1")
        await graph.delete_source("tenant-a", "s1")
        assert await graph.get_source("tenant-a", "s1") is None

    async def test_many_sources_come_in_one_read(self, graph):
        for number in range(3):
            await graph.put_source(source(f"s{number}"))
        await graph.put_source(source("s0", tenant_id="tenant-b"))
        names = ["s2", "absent", "s0", "s2", *(f"none{number}" for number in range(1_200))]
        found = await graph.get_sources("tenant-a", names)
        assert {one.source_id: one for one in found} == {name: source(name) for name in ("s0", "s2")}
        assert len(found) == 2
        assert await graph.get_sources("tenant-a", []) == []

    async def test_any_text_is_kept_and_found(self, graph):
        for text in HOSTILE:
            hostile = source(text, uri=text, title=text, metadata={text: text}, fact_ids_pending=(text,))
            await graph.put_source(hostile)
            await graph.put_source(source("other"))
            assert await graph.get_source("tenant-a", text) == hostile
            assert await graph.get_sources("tenant-a", [text]) == [hostile]
            assert await graph.find_source("tenant-a", text) == hostile

    async def test_pages_follow_the_id(self, graph):
        for name in ("c", "a", "b", "d"):
            await graph.put_source(source(name))
        assert [one.source_id for one in await graph.page_sources("tenant-a", after="a", limit=2)] == ["b", "c"]
        assert [one.source_id for one in await graph.page_sources("tenant-a", after="", limit=9)] == list("abcd")

    async def test_one_source_that_is_not_erased_has_a_uri(self, graph):
        await graph.put_source(source("old", uri="u"))
        with pytest.raises(ConflictError):
            await graph.put_source(source("new", uri="u", ingested_at=LATER))
        assert (await graph.find_source("tenant-a", "u")).source_id == "old"
        await graph.put_source(source("old", uri="u", status=SourceStatus.ERASED))
        assert await graph.find_source("tenant-a", "u") is None
        await graph.put_source(source("new", uri="u", ingested_at=LATER))
        assert (await graph.find_source("tenant-a", "u")).source_id == "new"
        assert await graph.find_source("tenant-a", "unknown") is None

    async def test_answers_about_a_source_are_emptied_when_it_is_erased(self, graph):
        answers = {
            rpc: Receipt("tenant-a", rpc, f"{rpc}-1", "a" * 64, b"told", NOW) for rpc in ("IngestSource", "EraseSource")
        }
        await graph.put_source(source("s1", uri="u"), answers["IngestSource"])
        await graph.put_source(source("s2", uri="v"), replace(answers["IngestSource"], request_id="other"))
        await graph.put_source(source("s1", uri="", status=SourceStatus.ERASED), answers["EraseSource"])
        emptied = await graph.get_receipt("tenant-a", "IngestSource", "IngestSource-1")
        assert (emptied.body_hash, emptied.response) == ("", b"")
        assert (await graph.get_receipt("tenant-a", "IngestSource", "other")).response == b"told"
        assert await graph.get_receipt("tenant-a", "EraseSource", "EraseSource-1") == answers["EraseSource"]

    async def test_tenants_are_apart(self, graph):
        for tenant in HOSTILE:
            await graph.put_source(source("same", tenant_id=tenant, title=f"of {tenant}", uri="u"))
        for tenant in HOSTILE:
            assert (await graph.get_source(tenant, "same")).title == f"of {tenant}"
            assert (await graph.find_source(tenant, "u")).tenant_id == tenant
            assert len(await graph.page_sources(tenant, after="", limit=9)) == 1
        await graph.delete_source(HOSTILE[1], "same")
        assert await graph.get_source(HOSTILE[2], "same") is not None
        assert await graph.get_source("nobody", "same") is None

    async def test_unfinished_sources_are_those_of_all_tenants(self, graph):
        for number, status in enumerate(SourceStatus):
            await graph.put_source(source("s", tenant_id=f"t{number}", status=status))
        found = [(one.tenant_id, one.status) for one in await graph.unfinished_sources()]
        assert found == [("t0", SourceStatus.INGESTING), ("t2", SourceStatus.ERASING)]


def outline(version: int, source_id: str = "s1", **changes):
    places = (
        NOWHERE,
        Place(3, (0.1, 0.25, 0.5, 1.0), "sheet Rätes", 2, (2, 3), (1, 1)),
        Place(path="$.items[2]"),
    )
    entries = tuple(
        OutlineEntry(f"{version}-{number}", kind, number // 2, place)
        for number, (kind, place) in enumerate(zip(("STATEMENT", "TABLE_ROW", ""), places, strict=True))
    )
    values: dict[str, Any] = {"tenant_id": "tenant-a", "source_id": source_id, "document_hash": "0" * 64}
    about = OutlineVersion(version=version, ingested_at=NOW, fact_count=len(entries), **(values | changes))
    return SourceOutline(about, entries)


class TestOutlines:
    async def test_every_field_comes_back(self, graph):
        await graph.put_outline(outline(1), keep=10)
        assert await graph.get_outline("tenant-a", "s1", 1) == outline(1)
        assert await graph.get_outline("tenant-a", "s1", 2) is None
        assert await graph.get_outline("tenant-b", "s1", 1) is None

    async def test_the_latest_versions_are_kept_the_latest_first(self, graph):
        for version in range(1, 6):
            await graph.put_outline(outline(version), keep=3)
        await graph.put_outline(outline(1, "s2"), keep=3)
        assert [one.version for one in await graph.outline_versions("tenant-a", "s1")] == [5, 4, 3]
        assert await graph.outline_versions("tenant-a", "s2") == [outline(1, "s2").about]
        assert await graph.outline_versions("tenant-b", "s1") == []

    async def test_put_replaces_and_delete_removes_one(self, graph):
        for source_id in ("other", "s1"):
            await graph.put_outline(outline(1, source_id), keep=3)
            await graph.put_outline(outline(2, source_id), keep=3)
        changed = SourceOutline(outline(2, document_hash="1" * 64).about, outline(2).entries)
        await graph.put_outline(changed, keep=3)
        assert await graph.get_outline("tenant-a", "s1", 2) == changed
        for _ in range(2):
            await graph.delete_outline("tenant-a", "s1", 2)
        assert [one.version for one in await graph.outline_versions("tenant-a", "s1")] == [1]
        assert [one.version for one in await graph.outline_versions("tenant-a", "other")] == [2, 1]

    async def test_any_text_is_kept(self, graph):
        for text in HOSTILE:
            entry = OutlineEntry(text, "STATEMENT", 0, Place(path=text))
            about = OutlineVersion(text, text, 1, "", NOW, 1)
            await graph.put_outline(SourceOutline(about, (entry,)), keep=1)
            assert await graph.get_outline(text, text, 1) == SourceOutline(about, (entry,))

    @pytest.mark.parametrize("status", [SourceStatus.ERASING, SourceStatus.ERASED])
    async def test_an_erased_source_has_none(self, graph, status):
        for source_id in ("s1", "other"):
            await graph.put_source(source(source_id))
            await graph.put_outline(outline(1, source_id), keep=3)
        await graph.put_source(source("s1", status=status))
        assert await graph.outline_versions("tenant-a", "s1") == []
        assert await graph.get_outline("tenant-a", "s1", 1) is None
        assert await graph.get_outline("tenant-a", "other", 1) == outline(1, "other")

    async def test_a_source_that_is_removed_takes_them_along(self, graph):
        await graph.put_source(source("s1"))
        await graph.put_outline(outline(1), keep=3)
        await graph.delete_source("tenant-a", "s1")
        assert await graph.outline_versions("tenant-a", "s1") == []


class TestCommunities:
    async def test_a_tenant_that_was_never_clustered_has_epoch_0(self, graph):
        assert await graph.clustering("tenant-a") == ClusteringRecord("tenant-a", 0, None, 0, "")

    async def test_replacing_leaves_nothing_of_the_old_ones(self, graph):
        old = [CommunityRecord("tenant-a", label, 3, 1) for label in ("x", "y", "z")]
        await graph.replace_communities(clustering(1), old)
        new = [CommunityRecord("tenant-a", label, 4, 2) for label in ("z", "w")]
        await graph.replace_communities(clustering(2), new)
        assert await graph.page_communities("tenant-a", after="", limit=9) == [new[1], new[0]]
        assert await graph.page_communities("tenant-a", after="w", limit=1) == [new[0]]
        assert await graph.clustering("tenant-a") == clustering(2)

    async def test_tenants_are_apart(self, graph):
        await graph.replace_communities(clustering(1), [CommunityRecord("tenant-a", "x", 3, 1)])
        await graph.replace_communities(clustering(7, tenant_id="tenant-b"), [CommunityRecord("tenant-b", "x", 9, 7)])
        await graph.replace_communities(clustering(2), [])
        assert await graph.page_communities("tenant-b", after="", limit=9) == [CommunityRecord("tenant-b", "x", 9, 7)]
        assert await graph.page_communities("tenant-a", after="", limit=9) == []

    async def test_a_community_of_another_tenant_is_refused_and_nothing_changes(self, graph):
        await graph.replace_communities(clustering(1), [CommunityRecord("tenant-a", "x", 3, 1)])
        with pytest.raises(ValueError, match="another tenant"):
            await graph.replace_communities(clustering(2), [CommunityRecord("tenant-b", "x", 3, 2)])
        assert await graph.clustering("tenant-a") == clustering(1)

    async def test_clusterings_of_long_ago_are_found_oldest_first_whoever_has_them(self, graph):
        for number, tenant in enumerate(("c", "a", "b", "d")):
            moment = None if tenant == "d" else NOW + timedelta(microseconds=number // 2)
            await graph.replace_communities(clustering(number + 1, tenant_id=tenant, clustered_at=moment), [])
        last = NOW + timedelta(microseconds=2)
        assert [one.tenant_id for one in await graph.clusterings_before(last, 9)] == ["a", "c", "b"]
        assert [one.tenant_id for one in await graph.clusterings_before(NOW + timedelta(microseconds=1), 9)] == [
            "a",
            "c",
        ]
        assert await graph.clusterings_before(last, 1) == [clustering(2, tenant_id="a", clustered_at=NOW)]
        assert await graph.clusterings_before(NOW, 9) == []


class TestReceipts:
    async def test_it_comes_back_as_it_was(self, graph):
        await graph.put_source(source("s1"), receipt("r1"))
        assert await graph.get_receipt("tenant-a", "IngestSource", "r1") == receipt("r1")
        for other in (("tenant-b", "IngestSource", "r1"), ("tenant-a", "EraseSource", "r1"), ("tenant-a", "", "")):
            assert await graph.get_receipt(*other) is None

    async def test_the_same_answer_may_be_stored_again(self, graph):
        for _ in range(2):
            await graph.put_source(source("s1"), receipt("r1"))
        assert await graph.get_receipt("tenant-a", "IngestSource", "r1") == receipt("r1")

    async def test_another_answer_to_the_same_request_is_a_race_and_writes_nothing(self, graph):
        await graph.put_source(source("s1"), receipt("r1"))
        with pytest.raises(ConflictError) as caught:
            await graph.put_source(source("s2"), receipt("r1", response=b"other"))
        assert caught.value.reason is ErrorReason.COMMIT_RACE
        with pytest.raises(ConflictError):
            await graph.replace_communities(clustering(1), [], receipt("r1", body_hash="0" * 64))
        assert await graph.get_source("tenant-a", "s2") is None
        assert (await graph.clustering("tenant-a")).epoch == 0
        assert await graph.get_receipt("tenant-a", "IngestSource", "r1") == receipt("r1")

    async def test_it_is_kept_for_24_hours(self, graph):
        await graph.put_source(source("s1"), receipt("r1"))
        await graph.put_source(source("s2"), receipt("r2", created_at=NOW + timedelta(hours=24)))
        assert await graph.get_receipt("tenant-a", "IngestSource", "r1") == receipt("r1")
        await graph.put_source(source("s3"), receipt("r3", created_at=NOW + timedelta(hours=24, microseconds=1)))
        assert await graph.get_receipt("tenant-a", "IngestSource", "r1") is None
        await graph.put_source(source("s1"), receipt("r1", response=b"new", created_at=NOW + timedelta(hours=25)))
        assert (await graph.get_receipt("tenant-a", "IngestSource", "r1")).response == b"new"


class TestQuotations:
    """What an answer quotes of another source goes when that is erased (ADR 0112)."""

    async def test_an_erasure_takes_its_words_out_of_the_answers_about_others(self, graph):
        for name in ("s1", "s2", "s3"):
            await graph.put_source(source(name))
        before = quoting("r2", "s1", "s3")
        await graph.put_source(source("s2"), before)
        await graph.put_source(source("s3"), quoting("r3", "s2"))
        await graph.put_source(source("s2", tenant_id="tenant-b"), quoting("r2", "s1", tenant_id="tenant-b"))
        await graph.put_source(source("s1", uri="", status=SourceStatus.ERASED))
        after = await graph.get_receipt("tenant-a", "IngestSource", "r2")
        assert after.body_hash == before.body_hash  # a repeated request is answered still
        answer = IngestSourceResponse.FromString(after.response)
        assert answer.facts_created == 2
        for gone, kept in (answer.report.duplicates, answer.report.disagreements):
            assert (gone.other_source_id, gone.other_content) == ("s1", "")
            assert (kept.other_source_id, kept.other_content) == ("s3", "words of s3")
        assert [one.other_value for one in answer.report.disagreements] == ["", "value of s3"]
        assert [one.content for one in answer.report.duplicates] == ["own", "own"]
        assert await graph.get_receipt("tenant-a", "IngestSource", "r3") == quoting("r3", "s2")
        elsewhere = await graph.get_receipt("tenant-b", "IngestSource", "r2")
        assert elsewhere == quoting("r2", "s1", tenant_id="tenant-b")

    async def test_what_was_compared_before_an_erasure_is_not_quoted_after_it(self, graph):
        for name, status in (("s1", SourceStatus.ERASING), ("s3", SourceStatus.ERASED), ("s4", SourceStatus.ACTIVE)):
            await graph.put_source(source(name, status=status))
        for _ in range(2):  # the same answer may be stored again
            await graph.put_source(source("s2"), quoting("r2", "s1", "s3", "s4"))
        kept = (await graph.get_receipt("tenant-a", "IngestSource", "r2")).response
        assert [name for name in ("s1", "s3", "s4") if f"of {name}".encode() in kept] == ["s4"]


class TestLife:
    async def test_what_was_written_is_there_after_reopening(self, durable_adapter, tmp_path):
        first = await durable_adapter.open(tmp_path)
        await first.put_source(full_source("s1"), receipt("r1"))
        await first.put_outline(outline(7), keep=3)
        await first.close()
        second = await durable_adapter.open(tmp_path)
        assert await second.unfinished_sources() == [full_source("s1")]
        assert await second.get_receipt("tenant-a", "IngestSource", "r1") == receipt("r1")
        assert await second.get_outline("tenant-a", "s1", 7) == outline(7)
        await second.close()

    async def test_check_and_close_can_be_repeated(self, graph):
        await graph.check()
        await graph.close()
        await graph.close()
