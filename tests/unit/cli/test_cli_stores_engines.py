"""``groundtrail stores copy`` between engines: the real ones of the packages, Pinecone by its stand-in."""

import asyncio

import numpy as np
import pytest
from pydantic import SecretStr

from services.cli.commands.store_sides import sides_of
from services.cli.exits import Exit
from services.cli.forms import UNFINISHED
from services.common.adapters.vector_engines import open_engine
from services.common.errors import InvalidRequestError
from services.common.ports.vector_engine import VectorEngineError
from services.common.settings import Settings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.vectors import VectorSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import fact, random_vectors
from tests.fakes.pinecone_standin import API_KEY, pinecone_standin
from tests.unit.cli.test_cli_stores import copy, fill, light, opened, told

__all__ = ["light"]
LOCAL = ("chroma", "qdrant")


@pytest.fixture
def old(tmp_path):
    asyncio.run(fill(tmp_path / "old"))
    return tmp_path / "old"


def engine_of(name, folder):
    return open_engine(VectorSettings(engine=name), folder, DIMENSION)


def collections(name, folder, change=None):
    """Return what the local engine below a folder holds of both tenants; ``change`` may do something to it first."""
    import sqlite3

    with sqlite3.connect(folder / "knowledge.db") as file:
        (store,) = file.execute("SELECT value FROM store WHERE name = 'store_id'").fetchone()
    engine = engine_of(name, folder)
    try:
        names = [f"groundtrail-{store[:16]}-{number}" for number in (1, 2)]
        if change is not None:
            change(engine, names[0])
        return [engine.numbers(one).tolist() for one in names]
    finally:
        engine.close()


def test_from_one_engine_to_another_by_counts_and_hashes(old, tmp_path):
    code, first = told(old, f"chroma:{tmp_path / 'one'}")
    assert code == Exit.OK
    code, found = told(f"chroma:{tmp_path / 'one'}", f"qdrant:{tmp_path / 'two'}")
    assert (code, found["equal"]) == (Exit.OK, True)
    for one, begun in zip(found["tenants"], first["tenants"], strict=True):
        assert one["state_hash"]["from"] == one["state_hash"]["to"]
        assert one["content_hash"]["from"] == one["content_hash"]["to"]
        vectors = one["vectors"]
        assert vectors["sent"] == 29  # of thirty facts one is a tombstone
        assert (vectors["from"]["engine"], vectors["to"]["engine"]) == LOCAL
        assert [vectors[side][name] for side in ("from", "to") for name in ("facts", "vectors")] == [29] * 4
        assert len({vectors[side][name] for side in ("from", "to") for name in ("facts_hash", "hash")}) == 1
        assert begun["vectors"]["from"] is None
        assert begun["vectors"]["to"] == vectors["from"]
    assert [len(one) for one in collections("qdrant", tmp_path / "two")] == [29, 29]
    assert not (tmp_path / "two" / UNFINISHED).exists()
    again = told(f"chroma:{tmp_path / 'one'}", f"qdrant:{tmp_path / 'two'}")[1]["tenants"][0]
    assert (again["written"]["facts"], again["vectors"]["sent"]) == (0, 0)


def test_the_same_facts_get_another_engine(old):
    assert told(old, f"qdrant:{old}")[1]["tenants"][0]["vectors"]["sent"] == 29
    code, found = told(f"qdrant:{old}", f"chroma:{old}", "--tenant", "b")
    (one,) = found["tenants"]
    assert (code, found["equal"], one["facts"], one["written"]["facts"]) == (Exit.OK, True, 30, 0)
    assert one["vectors"]["from"]["hash"] == one["vectors"]["to"]["hash"]
    assert [len(numbers) for numbers in collections("chroma", old)] == [0, 29]
    assert not (old / UNFINISHED).exists()
    assert "29 of 29 vectors, 0 sent" in copy(f"qdrant:{old}", f"chroma:{old}", "--tenant", "b")[1]


def test_a_dry_run_speaks_to_no_engine(old, tmp_path):
    code, found = told(old, f"chroma:{tmp_path / 'new'}", "--dry-run")
    assert (code, found["tenants"][0]["written"]["facts"]) == (Exit.OK, 30)
    assert told(old, f"chroma:{old}", "--dry-run")[0] == Exit.OK
    assert not (tmp_path / "new").exists()
    assert not (old / "chroma").exists()


@pytest.mark.parametrize("name", LOCAL)
def test_what_is_wrong_in_the_engine_is_put_right(old, name):
    told(old, f"{name}:{old}")

    def spoil(engine, collection):
        engine.remove(collection, np.array([3], dtype=np.int64))
        engine.add(collection, np.array([5, 900], dtype=np.int64), random_vectors(9, 2))

    assert 900 in collections(name, old, spoil)[0]
    first, second = told(old, f"{name}:{old}")[1]["tenants"]
    assert (first["vectors"]["sent"], second["vectors"]["sent"]) == (2, 0)
    assert first["vectors"]["to"]["vectors"] == 29
    assert first["equal"]
    numbers = collections(name, old)[0]
    assert (900 in numbers, 3 in numbers) == (False, True)


def test_vectors_that_an_engine_does_not_keep_are_a_verdict(old, tmp_path, monkeypatch):
    from services.common.adapters.vector_engines.qdrant import QdrantEngine

    original = QdrantEngine.add
    monkeypatch.setattr(QdrantEngine, "add", lambda self, name, n, v: original(self, name, n, np.roll(v, 1, axis=0)))
    where = f"qdrant:{tmp_path / 'new'}"
    code, found = told(old, where, "--tenant", "a")
    (one,) = found["tenants"]
    assert (code, found["equal"], one["vectors"]["to"]["vectors"]) == (Exit.VERDICT, False, 29)
    assert one["content_hash"]["from"] == one["content_hash"]["to"]
    assert (tmp_path / "new" / UNFINISHED).exists()
    assert "differs from" in copy(old, where, "--tenant", "a")[1]
    monkeypatch.setattr(QdrantEngine, "add", original)
    assert told(old, where, "--tenant", "a")[1]["equal"]
    assert not (tmp_path / "new" / UNFINISHED).exists()


def test_an_engine_that_fails_midway_is_gone_on_with(old, tmp_path, monkeypatch):
    from services.common.adapters.sqlite import engine_filling
    from services.common.adapters.vector_engines.qdrant import QdrantEngine

    monkeypatch.setattr(engine_filling, "_BLOCK", 10)
    original, calls = QdrantEngine.add, []

    def add(self, *given):
        calls.append(given)
        if len(calls) == 2:
            raise VectorEngineError("qdrant could not add: ConnectionRefused")
        original(self, *given)

    monkeypatch.setattr(QdrantEngine, "add", add)
    where = f"qdrant:{tmp_path / 'new'}"
    code, found = told(old, where, "--tenant", "a")
    assert (code, found["error"]["reason"]) == (Exit.UNAVAILABLE, "STORE_UNAVAILABLE")
    assert (tmp_path / "new" / UNFINISHED).exists()
    (one,) = told(old, where, "--tenant", "a")[1]["tenants"]
    assert (one["written"]["facts"], one["vectors"]["sent"], one["equal"]) == (0, 19, True)


def test_to_a_server_and_back(old, tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_VECTORS__API_KEY", API_KEY)
    with pinecone_standin(DIMENSION, lag_s=0.05) as server:
        there = f"pinecone:{tmp_path / 'there'}@{server.url}"
        first = told(old, there)[1]["tenants"][0]["vectors"]["to"]
        assert (first["engine"], first["vectors"], first["hash"]) == ("pinecone", 29, first["facts_hash"])
        back = told(there, f"chroma:{tmp_path / 'back'}")[1]["tenants"][0]["vectors"]
        assert back["from"]["hash"] == back["to"]["hash"] == first["hash"]


async def replaced(path):
    facts = await opened(path)
    await facts.upsert([fact("a001", embedding=random_vectors(7, 1)[0], tenant_id="a")])
    await facts.close()


def test_a_fact_that_was_replaced_leaves_nothing_behind(old):
    told(old, f"chroma:{old}")
    asyncio.run(replaced(old))
    first = told(old, f"chroma:{old}")[1]["tenants"][0]["vectors"]
    assert (first["sent"], first["to"]["vectors"], first["to"]["facts"]) == (1, 29, 29)


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("old", "faiss:new", "faiss is no engine; known: chroma, pinecone, qdrant, milvus"),
        ("old", "chroma:", "names no data directory"),
        ("chroma:nowhere", "new", "has no knowledge.db"),
        ("chroma:old", "old", "share a store"),
        ("chroma:old", "chroma:old", "share a store"),
        ("old", "qdrant:new@ftp://there", "not the address of a server"),
        ("old", "milvus:new@there", "not the address of a server"),
        ("milvus:a@http://one:1", "milvus:b@http://one:1", "share a store"),
    ],
)
def test_what_is_no_side_is_refused(old, tmp_path, monkeypatch, source, target, said):
    monkeypatch.chdir(tmp_path)
    code, text = copy(source, target)
    assert code == Exit.USAGE
    assert said in text
    assert not (tmp_path / "new").exists()


class TestSides:
    def test_two_servers_of_milvus_are_two_sides(self):
        found = sides_of(Settings(), "milvus:a@http://one:1", "milvus:b@http://two:1")
        assert [one.milvus.uri for one in (found.source, found.target)] == ["http://one:1", "http://two:1"]
        assert [str(one.store.data_dir) for one in (found.source, found.target)] == ["a", "b"]
        assert not found.vectors_alone

    def test_a_secret_of_the_settings_goes_to_no_other_server(self):
        mine = VectorSettings(url="https://mine", engine="qdrant", api_key=SecretStr("k"))
        milvus = MilvusSettings(uri="http://mine:1", token=SecretStr("t"))
        settings = Settings(vectors=mine, milvus=milvus)
        other = sides_of(settings, "settings", "qdrant:new@https://theirs").target
        assert other.vectors.api_key.get_secret_value() == ""
        own = sides_of(settings, "milvus:a@http://other:1", "qdrant:new@https://mine")
        assert own.target.vectors.api_key.get_secret_value() == "k"
        assert own.source.milvus.token.get_secret_value() == ""
        free = Settings(vectors=VectorSettings(api_key=SecretStr("k")))
        asked = sides_of(free, "settings", "qdrant:new@https://theirs").target
        assert asked.vectors.api_key.get_secret_value() == "k"

    def test_a_folder_with_a_colon_is_named_by_its_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        found = sides_of(Settings(), "settings", "./chroma:mine")
        assert (str(found.target.store.data_dir), found.target.vectors.engine) == ("chroma:mine", "")
        with pytest.raises(InvalidRequestError):
            sides_of(Settings(), "settings", "mine:own")
