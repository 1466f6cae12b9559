"""``groundtrail sources`` and ``groundtrail facts`` against a served knowledge base."""

import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import sources
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.settings import Settings
from tests.fakes.envelope_world import World
from tests.patience import patient

FACTS = ("Theft must be reported within 24 hours.", "The cafeteria opens at noon.")


@pytest.fixture
async def alice(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    with capture_logs():  # the served world's lines go to stdout otherwise
        world = World()
        async with world.serving() as client:
            caller = client()
            caller.world = world
            facts = [{"content": text} for text in FACTS]
            await caller.call("IngestFacts", uri="rules", source_type="SOURCE_TYPE_INTERNAL", facts=facts)

            async def call(method, request):
                return await method(request, metadata=(("authorization", "alice"),), timeout=patient(20))

            @asynccontextmanager
            async def connect(_settings, *_parts):
                yield SimpleNamespace(knowledge=caller._knowledge, call=call)

            monkeypatch.setattr(sources, "connect", connect)
            yield caller


async def listed(capsys):
    assert await sources.list_sources(Settings(), Output(as_json=True)) is Exit.OK
    return json.loads(capsys.readouterr().out)["sources"]


async def found(caller, query):
    return [hit.fact for hit in (await caller.call("SearchFacts", query=query, limit=5)).hits]


async def test_a_source_is_listed_with_its_facts_and_after_its_erasure_without(alice, capsys):
    await sources.list_sources(Settings(), Output(as_json=False))
    table = capsys.readouterr().out
    assert "rules" in table
    assert "internal" in table
    (source,) = await listed(capsys)
    assert (source["fact_count"], source["status"]) == (2, "SOURCE_STATUS_ACTIVE")
    assert await sources.erase_source(Settings(), Output(as_json=False), source["source_id"]) is Exit.OK
    assert "erased, with 2 facts" in capsys.readouterr().out
    assert [each["status"] for each in await listed(capsys)] == ["SOURCE_STATUS_ERASED"]
    assert await found(alice, FACTS[0]) == []


async def test_a_source_is_shown_with_its_versions_and_the_latest_stands_first(alice, capsys):
    alice.world.clock.advance(seconds=60)
    for content in (b"The fee is 10 EUR for members.", b"The fee is 12 EUR for members."):
        await alice.call("IngestSource", uri="file:fees.txt", source_type="SOURCE_TYPE_INTERNAL", content=content)
    assert [each["uri"] for each in await listed(capsys)] == ["file:fees.txt", "rules"]
    source_id = (await listed(capsys))[0]["source_id"]
    assert await sources.show_source(Settings(), Output(as_json=False), source_id) is Exit.OK
    shown = capsys.readouterr().out
    assert all(f"file:fees.txt@{version}" in shown for version in (1, 2))
    assert await sources.show_source(Settings(), Output(as_json=True), source_id) is Exit.OK
    assert [each["version"] for each in json.loads(capsys.readouterr().out)["versions"]] == [2, 1]


async def test_a_withheld_fact_is_not_found_until_it_is_restored(alice, capsys):
    before = await found(alice, FACTS[0])
    fact_id = before[0].fact_id
    assert await sources.quarantine_fact(Settings(), Output(as_json=False), fact_id) is Exit.OK
    assert f"facts restore {fact_id}" in capsys.readouterr().out
    assert fact_id not in [fact.fact_id for fact in await found(alice, FACTS[0])]
    assert await sources.restore_fact(Settings(), Output(as_json=False), fact_id) is Exit.OK
    assert "ACTIVE" in capsys.readouterr().out
    assert fact_id in [fact.fact_id for fact in await found(alice, FACTS[0])]


def test_an_erasure_in_json_is_not_asked_for_but_said():
    refused = CliRunner().invoke(app, ["sources", "erase", "s-1", "--json"])
    assert refused.exit_code == Exit.USAGE
    assert "--yes" in refused.output
