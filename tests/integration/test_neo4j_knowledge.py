"""What ``Neo4jKnowledgeGraph`` promises beyond the port's contract, on the Neo4j that GROUNDTRAIL_TEST_NEO4J_URI names.

Every statement is profiled; a clustering is never seen half replaced; the knowledge service ingests, erases and
recovers over it; ``kill -9`` of a server of the test's own loses nothing that was acknowledged.
"""

import asyncio
import time

import pytest
from pydantic import SecretStr

from services.common.adapters.neo4j import Neo4jKnowledgeGraph, knowledge_statements
from services.common.adapters.neo4j.knowledge import outline_properties, source_properties
from services.common.adapters.neo4j.receipts import receipt_key
from services.common.adapters.neo4j.values import key, micros
from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceStatus
from services.common.ports.outline import OutlineVersion
from services.common.settings.neo4j import Neo4jSettings
from tests.contract.records import NOW, quoting, receipt, source
from tests.integration.neo4j_profile import hits, plan_of, scans
from tests.integration.neo4j_target import neo4j_settings
from tests.patience import patient
from tools.real_servers.neo4j import new_home, start

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.timeout(240)]

TENANT = "tenant-a"
SOURCES, COMMUNITIES = 300, 60
STATEMENTS = {
    name: statement
    for name, statement in vars(knowledge_statements).items()
    if name.isupper() and isinstance(statement, str)
}
HITS = {"REPLACE_COMMUNITIES": 2_000, "PAGE_COMMUNITIES": 150, "PAGE_SOURCES": 250, "QUOTING_RECEIPTS": 3_000}
"""Most records that a statement may touch here; 60 for the others. Replacing touches each of the old communities, an
erasure looks at each receipt of a day."""
ANSWER_S = patient(15.0)
"""Longest until a call is refused when the server is gone: the retries of the settings, and a busy machine."""


@pytest.fixture
async def graph(emptied_neo4j):
    opened = await Neo4jKnowledgeGraph.open(emptied_neo4j)
    yield opened
    await opened.close()


def clustering(epoch: int, tenant: str = TENANT, size: int = 3) -> tuple[ClusteringRecord, list[CommunityRecord]]:
    communities = [CommunityRecord(tenant, f"c{number:03}", 3, epoch) for number in range(size)]
    return ClusteringRecord(tenant, epoch, NOW, 3 * size, "m@1"), communities


async def filled(graph: Neo4jKnowledgeGraph) -> None:
    for tenant in (TENANT, "tenant-b"):
        for start_at in range(0, SOURCES, 50):
            numbers = range(start_at, start_at + 50)
            await asyncio.gather(
                *(
                    graph.put_source(
                        source(f"s{number:03}", tenant_id=tenant, uri=f"u{number}"),
                        receipt(f"q{number}", tenant_id=tenant),
                    )
                    for number in numbers
                )
            )
        await graph.replace_communities(*clustering(1, tenant, COMMUNITIES))
    await graph.put_source(source("s-open", status=SourceStatus.INGESTING))


def parameters() -> dict[str, dict[str, object]]:
    """Return what each statement is profiled with."""
    whose = {"key": key(TENANT, "s007")}
    page = {"key": key(TENANT), "sort_key": "", "after": "", "limit": 10}
    answered = {"key": receipt_key(TENANT, "IngestSource", "q7")}
    about = OutlineVersion(TENANT, "s007", 1, "", NOW, 0)
    outline = outline_properties(about, b"x")
    return {
        "PUT_OUTLINE": {"key": outline["key"], "outline": outline},
        "FORGET_OUTLINES": {"source_key": key(TENANT, "s007"), "last": 1},
        "DELETE_OUTLINE": {"key": outline["key"]},
        "DELETE_OUTLINES": {"source_key": key(TENANT, "s007")},
        "GET_OUTLINE": {"key": outline["key"]},
        "OUTLINE_VERSIONS": {"source_key": key(TENANT, "s007")},
        "PUT_SOURCE": whose | {"source": source_properties(source("s007"))},
        "DELETE_SOURCE": whose,
        "GET_SOURCE": whose,
        "GET_SOURCES": {"keys": [key(TENANT, "s007"), key(TENANT, "s008")]},
        "FIND_SOURCE": {"key": key(TENANT, "u7")},
        "PAGE_SOURCES": page,
        "UNFINISHED_SOURCES": {},
        "REPLACE_COMMUNITIES": {"key": key(TENANT), "clustering": {"key": key(TENANT), "epoch": 2}, "communities": []},
        "PAGE_COMMUNITIES": page | {"tenant_id": TENANT},
        "GET_CLUSTERING": {"key": key(TENANT)},
        "CLUSTERINGS_BEFORE": {"moment_us": micros(NOW) + 1, "limit": 10},
        "REMEMBER": answered | {"receipt": {"created_us": micros(NOW)}, "oldest": 0},
        "GET_RECEIPT": answered,
        "SCRUB_RECEIPTS": {"key": key(TENANT, "s007"), "erasing": "EraseSource", "nothing": b""},
        "LOCK_QUOTED": {"keys": [key(TENANT, "s007")]},
        "QUOTING_RECEIPTS": {"tenant_id": TENANT, "rpc": "IngestSource", "source_id": "s007"},
        "UNQUOTE_RECEIPTS": {"receipts": [answered | {"response": b""}]},
        "FORGET_RECEIPTS": {"oldest": micros(NOW), "limit": 10},
    }


async def test_every_statement_finds_what_it_needs_by_index(graph, neo4j_database):
    await filled(graph)
    await neo4j_database.rows("CALL db.prepareForReplanning(30)")
    values = parameters()
    assert values.keys() == STATEMENTS.keys()
    plans = {name: await plan_of(neo4j_database, statement, values[name]) for name, statement in STATEMENTS.items()}
    assert {name: scans(plan) for name, plan in plans.items() if scans(plan)} == {}
    assert {name: hits(plan) for name, plan in plans.items() if hits(plan) > HITS.get(name, 60)} == {}


async def test_a_clustering_is_never_seen_half_replaced(graph, emptied_neo4j):
    reader = await Neo4jKnowledgeGraph.open(emptied_neo4j)
    done = asyncio.Event()
    await graph.replace_communities(*clustering(0, size=COMMUNITIES))

    async def replacing() -> None:
        for epoch in range(1, 25):
            await graph.replace_communities(*clustering(epoch, size=COMMUNITIES))
        done.set()

    seen: set[int] = set()
    writer = asyncio.ensure_future(replacing())
    while not done.is_set():
        page = await reader.page_communities(TENANT, after="", limit=2 * COMMUNITIES)
        epochs = {one.epoch for one in page}
        assert len(page) == COMMUNITIES
        assert len(epochs) == 1
        seen |= epochs
    await writer
    await reader.close()
    assert len(seen) > 3


async def test_writers_of_one_request_agree_on_one_answer(graph, emptied_neo4j):
    stores = [graph, *[await Neo4jKnowledgeGraph.open(emptied_neo4j) for _ in range(3)]]
    answers = [receipt("q", response=b"%d" % number) for number in range(16)]
    outcomes = await asyncio.gather(
        *(stores[number % 4].put_source(source(f"s{number}"), answer) for number, answer in enumerate(answers)),
        return_exceptions=True,
    )
    (winner,) = [number for number, outcome in enumerate(outcomes) if outcome is None]
    assert {outcome.reason for outcome in outcomes if outcome is not None} == {ErrorReason.COMMIT_RACE}
    assert await graph.get_receipt(TENANT, "IngestSource", "q") == answers[winner]
    assert [one.source_id for one in await graph.page_sources(TENANT, after="", limit=99)] == [f"s{winner}"]
    for store in stores[1:]:
        await store.close()


async def test_answers_of_before_that_may_quote_an_erased_source_are_dropped_when_it_is_opened(
    graph, emptied_neo4j, neo4j_database
):
    await graph.put_source(source("gone"), quoting("q0"))
    await graph.put_source(source("gone", uri="", status=SourceStatus.ERASED), receipt("q1", rpc="EraseSource"))
    await graph.put_source(source("s1"), quoting("q2", "elsewhere"))
    await graph.put_source(source("s1", tenant_id="tenant-b"), quoting("q2", "s2", tenant_id="tenant-b"))
    await neo4j_database.rows("MATCH (n:SchemaVersion {store: 'knowledge'}) SET n.version = 3")
    await (await Neo4jKnowledgeGraph.open(emptied_neo4j)).close()
    assert await graph.get_receipt(TENANT, "IngestSource", "q2") is None
    assert (await graph.get_receipt(TENANT, "IngestSource", "q0")).body_hash == ""
    assert await graph.get_receipt(TENANT, "EraseSource", "q1") == receipt("q1", rpc="EraseSource")
    assert await graph.get_receipt("tenant-b", "IngestSource", "q2") == quoting("q2", "s2", tenant_id="tenant-b")


async def test_what_was_acknowledged_survives_a_kill_and_the_store_finds_the_server_again(tmp_path):
    neo4j_settings()
    home = new_home(tmp_path)
    process = await asyncio.to_thread(start, home)
    try:
        settings = Neo4jSettings(uri=home.uri, password=SecretStr(home.password), retry_s=1.0, timeout_s=60.0)
        graph = await Neo4jKnowledgeGraph.open(settings)
        acknowledged: list[int] = []
        enough = asyncio.Event()

        async def endlessly(worker: int) -> None:
            number = worker
            while True:
                await graph.put_source(source(f"s{number:05}"), receipt(f"q{number}"))
                acknowledged.append(number)
                number += 4
                if len(acknowledged) >= 20:
                    enough.set()

        writers = [asyncio.ensure_future(endlessly(worker)) for worker in range(4)]
        await enough.wait()
        process.kill()
        killed_at = time.monotonic()
        for error in await asyncio.gather(*writers, return_exceptions=True):
            assert isinstance(error, CrpError), error
            assert error.reason is ErrorReason.STORE_UNAVAILABLE
        with pytest.raises(UnavailableError) as caught:
            await graph.clustering(TENANT)
        assert caught.value.retry_after_s
        assert time.monotonic() - killed_at < ANSWER_S
        process = await asyncio.to_thread(start, home)
        for number in acknowledged:
            assert await graph.get_source(TENANT, f"s{number:05}") == source(f"s{number:05}")
            assert await graph.get_receipt(TENANT, "IngestSource", f"q{number}") == receipt(f"q{number}")
        await graph.close()
    finally:
        process.stop()
