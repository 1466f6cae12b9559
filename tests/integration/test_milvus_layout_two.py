"""Collections that a program of layout 2 left, on a real Milvus: every fact comes over, whatever ends the copy.

Layout 2 did not say when facts hold (ADR 0109), and its tombstones kept the hash of what they were (ADR 0112).
"""

import hashlib
import json

import pytest
from pymilvus import MilvusClient

from services.common.adapters.milvus import MilvusFactStore, fact_rows, schema
from services.common.adapters.milvus.database import Level, MilvusDatabase
from services.common.adapters.milvus.failures import unavailable
from services.common.adapters.milvus.schema import bare, facts_collection
from services.common.errors import UnavailableError
from services.common.ports.facts import ERASED_HASH, FactFilter, FactStatus, TimeFilter
from tests.contract.adapters import DIMENSION, MODEL
from tests.contract.records import LATER, NOW, fact, random_vectors
from tests.integration.milvus_target import milvus_settings
from tools.real_servers import milvus

ALL = FactFilter(statuses=())
PREFIX = "groundtrail_tests_two"
FORMER = f"{PREFIX}_facts_{hashlib.sha256(MODEL.encode()).hexdigest()[:16]}"
TIMES = ("starts_us", "ends_us")
SECRET = hashlib.sha256(b"the PIN is 4711").hexdigest()
VECTORS = random_vectors(1, 450)
"""More than two pieces of a copy."""

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(params=[milvus.VARIABLE, milvus.LITE_VARIABLE], ids=["server", "lite"])
def settings(request):
    found = milvus_settings(request.param, collection_prefix=PREFIX)
    drop_all(found)
    yield found
    drop_all(found)


def drop_all(settings) -> None:
    client = MilvusClient(settings.uri)
    for name in client.list_collections():
        if name.startswith(PREFIX):
            client.drop_collection(name)
    client.close()


def names(settings) -> set[str]:
    client = MilvusClient(settings.uri)
    try:
        return {name for name in client.list_collections() if name.startswith(f"{PREFIX}_facts")}
    finally:
        client.close()


async def opened(settings) -> MilvusFactStore:
    return await MilvusFactStore.open(settings, embedding_model=MODEL, dimension=DIMENSION)


async def leave_layout_two(settings) -> None:
    """Write facts, then bring them into the collection, the bodies and the entries that a program of layout 2 left."""
    store = await opened(settings)
    await store.upsert([fact(f"f{n:03}", content=f"hail {n}", embedding=row) for n, row in enumerate(VECTORS)])
    await store.set_status("tenant-a", ["f001"], FactStatus.STALE, at=LATER)
    await store.set_status("tenant-a", ["f002"], FactStatus.QUARANTINED, at=LATER)
    await store.set_status("tenant-a", ["f003"], FactStatus.DELETED, at=LATER)
    await store.upsert([fact("other", tenant_id="tenant-b", access_count=3, last_accessed_at=LATER)])
    await store.close()
    database, present = await MilvusDatabase.open(settings), facts_collection(settings, MODEL)
    rows = await database.all_rows(present, 'key > ""', fact_rows.WHOLE_FIELDS, Level.STRONG, 200)
    fields = [field for field in schema._facts_fields() if field[0] not in TIMES]
    await schema._create(database, settings, FORMER, fields, DIMENSION)
    await database.insert(FORMER, [of_layout_two(row) for row in rows])
    await database.call(lambda client, timeout: client.drop_collection(present, timeout=timeout))
    meta = f"{PREFIX}_meta"
    (known,) = await database.rows(meta, f'key == "model:{present}"', ("key", "value"), Level.STRONG)
    await database.delete(meta, [known["key"], "tombstones"])
    named = bare({"key": f"model:{FORMER}", "value": known["value"]})
    await database.upsert(meta, [named, bare({"key": "schema", "value": "2"})])
    await database.close()


def of_layout_two(row):
    body = json.loads("".join(row["body"]))
    for time in ("superseded", "valid_from", "valid_to"):
        del body[time]
    kept = {name: value for name, value in row.items() if name not in TIMES}
    if row["status"] == fact_rows.STATUS_CODES[FactStatus.DELETED]:
        body["hash"] = kept["content_hash"] = SECRET
    return kept | {"body": [json.dumps(body)]}


async def check(store) -> None:
    found = {one.fact_id: one for one in await store.page("tenant-a", ALL, after="", limit=999)}
    assert sorted(found) == [f"f{n:03}" for n in range(len(VECTORS))]
    assert await store.count("tenant-a", ALL) == len(VECTORS)
    assert {name: one.superseded_at for name, one in found.items() if one.superseded_at} == {"f001": LATER}
    assert (found["f002"].status, found["f003"].status) == (FactStatus.QUARANTINED, FactStatus.DELETED)
    assert found["f004"] == fact("f004", content="hail 4", embedding=VECTORS[4])
    (other,) = await store.get("tenant-b", ["other"])
    assert (other.access_count, other.last_accessed_at) == (3, LATER)
    now = FactFilter(time=TimeFilter(LATER))
    for where, first in ((now, False), (None, True)):
        (hits,) = await store.search("tenant-a", VECTORS[1][None], limit=1, where=where)
        assert (hits[0].fact.fact_id == "f001") is first
    (hit,) = await store.search_text("tenant-a", "hail 44", limit=1, where=now)
    assert hit.fact.fact_id == "f044"
    assert await store.next_turn("tenant-a", NOW) is None


async def test_facts_come_over_with_their_times_and_tombstones_lose_their_hashes(settings):
    await leave_layout_two(settings)
    assert names(settings) == {FORMER}
    store = await opened(settings)
    try:
        await check(store)
        (buried,) = await store.page("tenant-a", FactFilter(statuses=(FactStatus.DELETED,)), after="", limit=9)
        assert (buried.content_hash, buried.modified_at) == (ERASED_HASH, LATER)
        entries = {entry.fact_id: entry async for entry in store.state_entries("tenant-a")}
        assert entries["f003"].content_hash == ERASED_HASH
    finally:
        await store.close()
    assert names(settings) == {facts_collection(settings, MODEL)}
    client = MilvusClient(settings.uri)
    rows = client.query(
        facts_collection(settings, MODEL), filter="status == 3", output_fields=["body"], consistency_level="Strong"
    )
    client.close()
    assert [SECRET in str(row) for row in rows] == [False]


@pytest.mark.parametrize("after", [False, True], ids=["not done", "done and not heard of"])
async def test_the_copy_goes_on_wherever_it_ended(settings, monkeypatch, after):
    """Each request that changes something fails in turn, before or after Milvus has done it."""
    await leave_layout_two(settings)
    left = 0

    def failing(real):
        async def request(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0 and not after:
                raise unavailable("a test says so", "test")
            await real(*arguments, **options)
            if left == 0:
                raise unavailable("a test says so", "test")

        return request

    for owner, name in ((MilvusDatabase, "insert"), (MilvusDatabase, "upsert"), (MilvusDatabase, "delete")):
        monkeypatch.setattr(owner, name, failing(getattr(owner, name)))
    monkeypatch.setattr(schema, "_drop", failing(schema._drop))
    ended = 0
    while True:
        ended += 1
        left = ended
        try:
            store = await opened(settings)
        except UnavailableError:
            meta = await known_collections(settings)
            assert names(settings) >= {name for name in meta if name != FORMER}
            assert names(settings) <= {*meta, facts_collection(settings, MODEL)}  # no texts that nobody knows
            continue
        break
    left = 0
    try:
        await check(store)
    finally:
        await store.close()
    assert ended > 6
    assert names(settings) == {facts_collection(settings, MODEL)}


async def known_collections(settings) -> set[str]:
    database = await MilvusDatabase.open(settings)
    rows = await database.rows(f"{PREFIX}_meta", 'key > "model:" and key < "model;"', ("key",), Level.STRONG)
    await database.close()
    return {row["key"].removeprefix("model:") for row in rows}
