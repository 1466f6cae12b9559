"""``groundtrail doctor`` on the vector engine."""

import pytest
from pydantic import SecretStr

from services.cli.commands import doctor
from services.cli.commands.doctor import Level
from services.common.adapters import vector_engines
from services.common.settings import Settings
from services.common.settings.stores import StoreSettings
from services.common.settings.vectors import VectorSettings
from tests.fakes.pinecone_standin import API_KEY, pinecone_standin


async def found(tmp_path, **vectors):
    settings = Settings(store=StoreSettings(data_dir=tmp_path), vectors=VectorSettings(**vectors))
    return await doctor._vector_engine(settings)


async def test_without_one_nothing_is_said(tmp_path):
    assert await found(tmp_path) == []
    settings = Settings(store=StoreSettings(facts="milvus"), vectors=VectorSettings(engine="qdrant"))
    assert await doctor._vector_engine(settings) == []


async def test_one_in_the_process_is_looked_for_and_not_opened(tmp_path):
    pytest.importorskip("qdrant_client")
    (finding,) = await found(tmp_path, engine="qdrant")
    assert finding.level is Level.OK
    assert list(tmp_path.iterdir()) == []


async def test_one_that_is_not_installed_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_engines, "find_spec", lambda _: None)
    (finding,) = await found(tmp_path, engine="chroma")
    assert finding.level is Level.PROBLEM
    assert "groundtrail[chroma]" in finding.detail


async def test_one_that_answers_is_said_so_and_a_wrong_key_is_a_problem(tmp_path):
    pytest.importorskip("pinecone")
    with pinecone_standin(384) as server:
        (finding,) = await found(tmp_path, engine="pinecone", url=server.url, api_key=SecretStr(API_KEY))
        assert finding.level is Level.OK
        assert server.url in finding.detail
        (finding,) = await found(tmp_path, engine="pinecone", url=server.url, api_key=SecretStr("another-secret"))
        assert finding.level is Level.PROBLEM
        assert "another-secret" not in finding.detail + finding.advice


async def test_an_index_of_other_dimensions_is_a_problem(tmp_path):
    pytest.importorskip("pinecone")
    with pinecone_standin(16) as server:
        (finding,) = await found(tmp_path, engine="pinecone", url=server.url, api_key=SecretStr(API_KEY))
    assert finding.level is Level.PROBLEM
    assert "16 dimensions, the embedding model 384" in finding.detail
