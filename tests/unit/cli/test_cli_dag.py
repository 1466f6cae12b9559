"""``groundtrail dag`` and ``groundtrail export --format``: what they print and write, against a served session."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import dag as dag_command
from services.cli.commands import ocsf as ocsf_command
from services.cli.commands.dag import DagForm, dag
from services.cli.commands.ocsf import export_ocsf
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.settings import Settings
from tests.fakes.dag_world import World
from tests.patience import patient
from tests.rpc.test_dag_exports import fanned_session


@dataclass
class Served:
    """What commands take for the suite; the credential is a subject's name."""

    sessions: pb_grpc.SessionServiceStub

    async def call(self, method, request):
        return await method(request, metadata=(("authorization", "alice"),), timeout=patient(20))

    async def stream(self, method, request):
        async for response in method(request, metadata=(("authorization", "alice"),)):
            yield response


@pytest.fixture
async def session_id(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with capture_logs():  # the served world's lines go to stdout otherwise
        async with World().serving() as client:

            @asynccontextmanager
            async def connect(_settings, *_parts):
                yield Served(client.stub)

            for module in (dag_command, ocsf_command):
                monkeypatch.setattr(module, "connect", connect)
            yield await fanned_session(client)


async def test_the_tree_is_the_default_and_is_never_folded(session_id, capsys):
    assert await dag(Settings(), Output(as_json=False), session_id, DagForm.TREE) is Exit.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Session: {session_id} (OPEN)"
    assert lines[2].startswith("Window 1 [root, LINEAR, Quality=A, Risk=LOW, Budget=1.00] crp_win_")
    assert [line[:22] for line in lines if line.startswith(("├", "└"))] == [
        "├──► Window 2a [FAN_OU",
        "└──► Window 2b [FAN_OU",
    ]
    assert any(line.startswith("Window 2a ──┬──► Window 3 [FAN_IN, ") for line in lines)
    assert lines[-1].startswith("Window Lineage (for crp_win_")
    assert " -> [" in lines[-1]
    assert max(map(len, lines)) > 80


@pytest.mark.parametrize(
    ("form", "begins"), [(DagForm.DOT, "digraph "), (DagForm.MERMAID, "flowchart TD"), (DagForm.JSON, '{\n  "graph"')]
)
async def test_documents_go_to_stdout_as_they_are(session_id, capsys, form, begins):
    assert await dag(Settings(), Output(as_json=False), session_id, form) is Exit.OK
    shown = capsys.readouterr().out
    assert shown.startswith(begins)
    assert shown.endswith("\n")
    assert "[/]" not in shown
    if form is DagForm.JSON:
        assert json.loads(shown)["graph"]["id"] == session_id


async def test_json_is_one_document(session_id, capsys):
    await dag(Settings(), Output(as_json=True), session_id, DagForm.TREE)
    found = json.loads(capsys.readouterr().out)
    assert found["session"]["session_id"] == session_id
    assert len(found["windows"]) == 4
    await dag(Settings(), Output(as_json=True), session_id, DagForm.DOT)
    assert json.loads(capsys.readouterr().out)["rendered"].startswith("digraph ")


async def test_ocsf_is_written_for_the_owner_alone(session_id, capsys, tmp_path):
    target = tmp_path / "events.ocsf"
    assert await export_ocsf(Settings(), Output(as_json=True), session_id, target, with_content=False) is Exit.OK
    said = json.loads(capsys.readouterr().out)
    events = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert said == {"session_id": session_id, "format": "ocsf", "events": len(events)}
    assert {event["class_uid"] for event in events} == {6003}
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "arguments", [["dag", "crp_sess_x", "--format", "svg"], ["export", "s", "f", "--format", "csv"]]
)
def test_an_unknown_form_is_wrong_input(arguments):
    assert CliRunner().invoke(app, arguments).exit_code == Exit.USAGE
