"""``groundtrail ercp``: what it prints while a run goes on, its exit codes, and checking a trace with no server."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from ercp.v1 import ercp_service_pb2_grpc as pb_grpc
from structlog.testing import capture_logs

from services.cli.commands import ercp as command
from services.cli.commands.ercp import run, trace, verify_trace
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import InvalidRequestError
from services.common.settings import Settings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import BAD, GOOD, NODE_KEY, QUESTION, ErcpWorld, PromptedModel
from tests.fakes.gateway_world import Script

FACT = "The boiling point of water is 100 °C at sea level."


@dataclass
class Served:
    """What commands take for the suite; the credential is a subject's name."""

    ercp: pb_grpc.ErcpServiceStub

    async def call(self, method, request):
        return await method(request, metadata=(("authorization", "alice"),), timeout=20)

    async def stream(self, method, request):
        async for response in method(request, metadata=(("authorization", "alice"),)):
            yield response


@pytest.fixture
async def world(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    world = ErcpWorld(model=PromptedModel(), script=Script(facts=(FACT,)))
    with capture_logs():
        async with world.serving() as client:

            @asynccontextmanager
            async def connect(_settings):
                yield Served(client.stub)

            monkeypatch.setattr(command, "connect", connect)
            yield world


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "node.key"
    path.write_text(NODE_KEY.hex())
    path.chmod(0o600)
    return path


async def test_a_run_shows_each_step_the_constraints_and_the_status(world, capsys):
    assert await run(Settings(), Output(as_json=False), QUESTION, "", 0, "") is Exit.OK
    shown = capsys.readouterr().out
    steps = [line.split()[0] for line in shown.splitlines()[:6]]
    assert steps == ["generate", "verify", "extract", "generate", "verify", "stabilize"]
    assert "Equal(condition=at sea level, left=water.boiling_point, right=100, unit=degC)" in shown
    assert GOOD in shown
    assert "converged (STABLE) after 2 iterations" in shown


async def test_json_is_the_documents_response(world, capsys):
    trace_id = fresh_uuid()
    assert await run(Settings(), Output(as_json=True), QUESTION, trace_id, 5, "") is Exit.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["trace_id"], answer["proto_version"]) == ("converged", trace_id, "ercp-1.0")
    assert answer["utility_score"] is None
    assert answer["trace_events"][0]["operator"] == "generate"


async def test_a_run_that_does_not_converge_has_the_exit_code_of_a_verdict(world, capsys):
    world.model.good = BAD
    assert await run(Settings(), Output(as_json=False), QUESTION, "", 2, "") is Exit.VERDICT
    assert "partial (MAX_ITERATIONS)" in capsys.readouterr().out


class TestOffline:
    @pytest.fixture
    async def exported(self, world, tmp_path, capsys):
        trace_id = fresh_uuid()
        await run(Settings(), Output(as_json=True), QUESTION, trace_id, 0, "")
        target = tmp_path / "trace.json"
        assert await trace(Settings(), Output(as_json=False), trace_id, target) is Exit.OK
        capsys.readouterr()
        return target

    async def test_with_the_key_every_signature_holds(self, exported, key_file, capsys):
        assert await verify_trace(Settings(), Output(as_json=False), exported, key_file, "tenant:tenant-a") is Exit.OK
        assert "VALID: trace.json, 6 events, 7 signatures" in capsys.readouterr().out

    async def test_without_the_key_the_signatures_stay_unchecked(self, exported):
        code = await verify_trace(Settings(), Output(as_json=True), exported, None, "tenant:tenant-a")
        assert code is Exit.FAILURE

    @pytest.mark.parametrize("tenant", ["tenant-b"])
    async def test_another_tenants_trace_does_not_verify(self, exported, key_file, tenant):
        code = await verify_trace(Settings(), Output(as_json=True), exported, key_file, f"tenant:{tenant}")
        assert code is Exit.VERDICT

    @pytest.mark.parametrize(
        "change",
        [
            lambda value: value["trace_events"].pop(1),
            lambda value: value["trace_events"].reverse(),
            lambda value: value["trace_events"][0].update(operator="mutate"),
            lambda value: value["trace_events"][2]["output_summary"].update(constraints=99),
            lambda value: value["trace_events"].append(value["trace_events"][0]),
            lambda value: value["trace_events"][0].update(model_fingerprint="sha256:" + "0" * 64),
            lambda value: value.update(trace_events="none"),
            lambda value: value.update(trace_id=fresh_uuid()),
        ],
        ids=["dropped", "reordered", "renamed", "altered", "doubled", "other model", "no list", "other trace"],
    )
    async def test_whatever_is_changed_is_found(self, exported, key_file, change):
        value = json.loads(exported.read_text())
        change(value)
        exported.write_text(json.dumps(value))
        code = await verify_trace(Settings(), Output(as_json=True), exported, key_file, "tenant:tenant-a")
        assert code is Exit.VERDICT

    async def test_a_file_that_is_none(self, tmp_path, key_file):
        path = tmp_path / "trace.json"
        path.write_text("no JSON")
        with pytest.raises(InvalidRequestError, match="cannot be read"):
            await verify_trace(Settings(), Output(as_json=True), path, key_file, "tenant:t")
