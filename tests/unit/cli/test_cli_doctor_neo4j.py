"""``groundtrail doctor`` where stores are on Neo4j: it asks the server, and looks for no file of theirs."""

import pytest

from services.cli.commands import doctor
from services.cli.commands.doctor import Level
from services.common import answering
from services.common.settings import Settings, StoreSettings
from services.common.settings.neo4j import Neo4jSettings

NOBODY = Neo4jSettings(uri="bolt://127.0.0.1:1", connect_timeout_s=0.3, password="s3cr3t-neo4j")


def settings(folder, sessions="neo4j", graph="sqlite") -> Settings:
    return Settings(store=StoreSettings(data_dir=folder, sessions=sessions, graph=graph), neo4j=NOBODY)


async def test_a_server_that_does_not_answer_is_a_problem(tmp_path):
    (finding,) = await doctor._neo4j(settings(tmp_path))
    assert (finding.check, finding.level) == ("neo4j", Level.PROBLEM)
    assert "cannot be reached" in finding.detail
    assert "GROUNDTRAIL_NEO4J__URI" in finding.advice
    assert "s3cr3t-neo4j" not in finding.detail + finding.advice


async def test_a_driver_that_is_not_installed_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(answering, "find_spec", lambda _: None)
    (finding,) = await doctor._neo4j(settings(tmp_path))
    assert finding.level is Level.PROBLEM
    assert "groundtrail[neo4j]" in finding.detail


@pytest.mark.parametrize("sessions", ["sqlite", "neo4j"])
@pytest.mark.parametrize("graph", ["sqlite", "neo4j"])
async def test_a_file_is_looked_at_where_a_store_is_in_it(tmp_path, sessions, graph):
    checks = {finding.check for finding in await doctor._stores(settings(tmp_path, sessions, graph))}
    assert ("sessions.db" in checks) is (sessions == "sqlite")
    assert ("graph.db" in checks) is (graph == "sqlite")
    assert {"knowledge.db", "gateway.db"} <= checks


async def test_nobody_is_asked_when_nothing_is_there(tmp_path):
    assert await doctor._neo4j(settings(tmp_path, "sqlite")) == []


@pytest.mark.parametrize(
    ("sessions", "graph", "kept"),
    [
        ("neo4j", "sqlite", "the sessions"),
        ("sqlite", "neo4j", "sources and communities"),
        ("neo4j", "neo4j", "the sessions and sources and communities"),
    ],
)
async def test_a_server_that_answers(tmp_path, monkeypatch, sessions, graph, kept):
    async def answers(_settings):
        return None

    monkeypatch.setattr(doctor, "answering_neo4j", answers)
    (finding,) = await doctor._neo4j(settings(tmp_path, sessions, graph))
    assert (finding.level, finding.detail) == (Level.OK, f"bolt://127.0.0.1:1 answers; it keeps {kept}")
