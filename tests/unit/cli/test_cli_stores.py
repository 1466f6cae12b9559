"""``groundtrail stores copy`` on folders of embedded stores."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import doctor
from services.cli.exits import Exit
from services.cli.forms import UNFINISHED
from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph
from services.common.composition import Adapters
from services.common.ports.facts import FactStatus
from services.common.settings import Settings
from services.common.settings.stores import StoreSettings
from services.envelope.store_copy import StoreCopy
from tests.contract.adapters import DIMENSION, MODEL, PLAIN
from tests.contract.records import LATER, fact, random_vectors, source


@pytest.fixture(autouse=True)
def light(monkeypatch, tmp_path):
    async def embedding(_self):
        return SimpleNamespace(dimension=DIMENSION, fingerprint=MODEL)

    monkeypatch.setattr(Adapters, "embedding", embedding)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("GROUNDTRAIL_STORE__DISK_RESERVE_BYTES", "0")
    monkeypatch.setenv("GROUNDTRAIL_STORE__DATA_DIR", str(tmp_path / "mine"))


async def opened(path):
    path.mkdir(exist_ok=True)
    return await SqliteFactStore.open(path / "knowledge.db", PLAIN, dimension=DIMENSION)


async def fill(path):
    facts = await opened(path)
    for tenant_id in ("a", "b"):
        vectors = random_vectors(1, 30)
        some = [fact(f"{tenant_id}{n:03}", embedding=row, tenant_id=tenant_id) for n, row in enumerate(vectors)]
        await facts.upsert(some)
        await facts.set_status(tenant_id, [f"{tenant_id}007"], FactStatus.DELETED, at=LATER)
    await facts.close()
    graph = await SqliteKnowledgeGraph.open(path / "graph.db", PLAIN)
    await graph.put_source(source("source-1", tenant_id="a"))
    await graph.close()


@pytest.fixture
def old(tmp_path):
    asyncio.run(fill(tmp_path / "old"))
    return tmp_path / "old"


def copy(*arguments):
    found = CliRunner().invoke(app, ["stores", "copy", *map(str, arguments)])
    return found.exit_code, found.output


def told(*arguments):
    code, text = copy(*arguments, "--json")
    return code, json.loads(text)


def test_all_tenants_are_copied_and_proven(old, tmp_path):
    code, found = told(old, tmp_path / "new")
    assert code == Exit.OK
    assert found["equal"] is True
    assert [one["tenant_id"] for one in found["tenants"]] == ["a", "b"]
    first = found["tenants"][0]
    assert (first["facts"], first["tombstones"], first["sources"]) == (30, 1, 1)
    assert first["written"] == {"facts": 30, "sources": 1, "communities": False}
    assert first["state_hash"]["from"] == first["state_hash"]["to"]
    assert first["content_hash"]["from"] == first["content_hash"]["to"]
    assert not (tmp_path / "new" / UNFINISHED).exists()
    assert told(old, tmp_path / "new")[1]["tenants"][0]["written"] == {"facts": 0, "sources": 0, "communities": False}


def test_people_are_told_the_same(old, tmp_path):
    code, text = copy(old, tmp_path / "new")
    assert code == Exit.OK
    assert "a: 30 facts, 30 written; 1 source written." in text
    assert text.count("Both sides have the same.") == 2


def test_one_tenant_alone(old, tmp_path):
    code, found = told(old, tmp_path / "new", "--tenant", "b")
    assert (code, [one["tenant_id"] for one in found["tenants"]]) == (Exit.OK, ["b"])
    assert told(tmp_path / "new", tmp_path / "third")[1]["tenants"][0]["tenant_id"] == "b"


def test_a_dry_run_writes_nothing(old, tmp_path):
    code, found = told(old, tmp_path / "new", "--dry-run")
    assert code == Exit.OK
    assert found["tenants"][0]["written"]["facts"] == 30
    assert "equal" not in found["tenants"][0]
    assert not (tmp_path / "new").exists()


def test_the_stores_of_the_settings_are_a_side(old, tmp_path):
    assert told(old, "settings")[0] == Exit.OK
    assert (tmp_path / "mine" / "knowledge.db").exists()
    assert told("settings", tmp_path / "new")[1]["tenants"][1]["facts"] == 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere", "new"), "has no knowledge.db"),
        (("old", "old"), "share a store"),
        (("old", "old/."), "share a store"),
        (("old", "old/knowledge.db"), "is no folder"),
        (("old", "new", "--tenant", "nobody"), "no facts of nobody"),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_made(old, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    code, text = copy(*arguments)
    assert code == Exit.USAGE
    assert said in text
    assert not (tmp_path / "nowhere").exists()


async def hold_one_of_theirs(path):
    facts = await opened(path)
    await facts.upsert([fact("theirs", tenant_id="a")])
    await facts.close()


def test_other_facts_there_are_refused_without_merge(old, tmp_path):
    asyncio.run(hold_one_of_theirs(tmp_path / "new"))
    code, found = told(old, tmp_path / "new")
    assert code == Exit.USAGE
    assert "1 other facts" in found["error"]["message"]
    code, found = told(old, tmp_path / "new", "--merge")
    assert (code, found["tenants"][0]["others"], found["equal"]) == (Exit.OK, 1, True)


def test_another_embedding_model_is_refused(old, tmp_path, monkeypatch):
    async def embedding(_self):
        return SimpleNamespace(dimension=DIMENSION, fingerprint="other@1+sha256:00")

    monkeypatch.setattr(Adapters, "embedding", embedding)
    code, text = copy(old, tmp_path / "new")
    assert code == Exit.USAGE
    assert "searched with other@1" in text


def test_one_that_was_broken_off_is_told_until_it_is_finished(old, tmp_path, monkeypatch):
    original = StoreCopy.carry_out

    async def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(StoreCopy, "carry_out", broken)
    assert copy(old, tmp_path / "new")[0] == 130
    (note,) = json.loads((tmp_path / "new" / UNFINISHED).read_text())
    assert (note["from"], note["tenant_id"]) == (str(old), "a")
    settings = Settings(store=StoreSettings(data_dir=tmp_path / "new"))
    (finding,) = asyncio.run(doctor._copies(settings))
    assert finding.level is doctor.Level.PROBLEM
    assert "not finished" in finding.detail
    monkeypatch.setattr(StoreCopy, "carry_out", original)
    assert copy(old, tmp_path / "new", "--tenant", "b")[0] == Exit.OK
    assert (tmp_path / "new" / UNFINISHED).exists()  # another tenant's is not finished by that
    assert copy(old, tmp_path / "new", "--tenant", "a")[0] == Exit.OK
    assert not (tmp_path / "new" / UNFINISHED).exists()


def test_sides_that_differ_afterwards_are_a_verdict(old, tmp_path, monkeypatch):
    original = StoreCopy.carry_out

    async def loses(self, plan):
        await original(self, plan)
        await self._target.facts.delete("a", ["a001"])

    monkeypatch.setattr(StoreCopy, "carry_out", loses)
    code, found = told(old, tmp_path / "new", "--tenant", "a")
    assert (code, found["equal"]) == (Exit.VERDICT, False)
    assert (tmp_path / "new" / UNFINISHED).exists()
    assert "The sides differ" in copy(old, tmp_path / "third", "--tenant", "a")[1]
