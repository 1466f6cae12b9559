"""``groundtrail search``: what it shows, says and refuses, against a served knowledge base."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1 import knowledge_service_pb2_grpc as pb_grpc
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import search as search_command
from services.cli.commands.search import search
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import InvalidRequestError
from services.common.settings import Settings
from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.envelope_world import World, fresh_id
from tests.fakes.rescorers import WordReranker
from tests.patience import patient

FACTS = ("Theft must be reported within 24 hours.", "The cafeteria opens at noon. " * 20)


@dataclass
class Served:
    """What commands take for the suite; the credential is a subject's name."""

    knowledge: pb_grpc.KnowledgeServiceStub

    async def call(self, method, request):
        return await method(request, metadata=(("authorization", "alice"),), timeout=patient(20))


@pytest.fixture
async def serve(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")

    @asynccontextmanager
    async def serving(world):
        with capture_logs():  # the served world's lines go to stdout otherwise
            async with world.serving() as client:
                alice = client()
                facts = [{"content": text} for text in FACTS]
                await alice.call("IngestFacts", uri="rules", source_type="SOURCE_TYPE_INTERNAL", facts=facts)

                @asynccontextmanager
                async def connect(_settings, *_parts):
                    yield Served(alice._knowledge)

                monkeypatch.setattr(search_command, "connect", connect)
                yield

    return serving


async def test_a_table_of_facts_best_first(serve, capsys):
    async with serve(World(reranker=WordReranker())):
        assert await search(Settings(), Output(as_json=False), "report theft", "reranked", 5) is Exit.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].rstrip() == "Facts (reranked)"
    assert "Theft must be reported" in next(line for line in lines if line.strip().startswith("1 "))
    assert any("…" in line for line in lines)


async def test_json_is_the_answer_whole(serve, capsys):
    async with serve(World()):
        await search(Settings(), Output(as_json=True), "cafeteria", "text", 5)
    found = json.loads(capsys.readouterr().out)
    assert [hit["fact"]["content"] for hit in found["hits"]] == [FACTS[1].strip()]
    assert found["mode"] == "SEARCH_MODE_TEXT"


async def test_what_was_missing_is_said(serve, capsys):
    async with serve(World()):
        await search(Settings(), Output(as_json=False), "theft", "late-interaction", 5)
    out = capsys.readouterr().out
    assert out.startswith("Facts (hybrid)")
    assert "LATE_INTERACTION was answered as HYBRID" in out


async def test_a_fall_back_to_words_is_said(serve, capsys):
    async with serve(World(settings=EnvelopeSettings(retrieval_least_cosine=1.0))):
        await search(Settings(), Output(as_json=False), "theft", "dense", 5)
    assert "The vectors returned nothing: found by words." in capsys.readouterr().out


async def test_an_unknown_mode_names_the_known_ones():
    with pytest.raises(InvalidRequestError) as caught:
        await search(Settings(), Output(as_json=False), "theft", "sparse", 5)
    (violation,) = caught.value.violations
    assert violation.field == "--mode"
    assert "dense, text, hybrid, reranked, late-interaction" in violation.description


def test_it_is_a_command():
    shown = CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "late-interaction" in shown.output


async def test_what_does_not_hold_now_is_shown_where_it_is_asked_for_and_marked(serve, capsys, monkeypatch):
    async with serve(World(reranker=WordReranker())):

        @asynccontextmanager
        async def with_validity(settings, *parts):
            async with connect(settings, *parts) as suite:
                over = {"content": "Theft was to be reported within 48 hours.", "metadata": {"valid_to": "2001-01-01"}}
                request = pb.IngestFactsRequest(
                    request_id=fresh_id(), uri="old", source_type="SOURCE_TYPE_INTERNAL", facts=[over]
                )
                await suite.call(suite.knowledge.IngestFacts, request)
                yield suite

        connect = vars(search_command)["connect"]
        monkeypatch.setattr(search_command, "connect", with_validity)
        await search(Settings(), Output(as_json=False), "theft", "text", 3)
        assert "48 hours" not in capsys.readouterr().out
        await search(Settings(), Output(as_json=False), "theft", "text", 3, include_superseded=True)
        assert "[no longer valid] Theft was to be reported within 48 hours." in capsys.readouterr().out
