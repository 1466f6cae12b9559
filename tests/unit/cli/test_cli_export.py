"""``groundtrail export``: where it may write, and that what was tampered with comes out as it is."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import export as export_command
from services.cli.commands import ocsf as ocsf_command
from services.cli.commands.export import ExportWish, export
from services.cli.commands.ocsf import export_ocsf
from services.cli.commands.replay import replay
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.offline import Verdict, check_export
from services.common.errors import InvalidRequestError
from services.common.settings import Settings
from services.common.signed_note import NoteKey
from tests.fakes.sealed_world import SealedWorld
from tests.patience import patient


@dataclass
class Served:
    """What the command takes for the suite."""

    sessions: pb_grpc.SessionServiceStub

    async def stream(self, method, request):
        async for response in method(request, metadata=(("authorization", "alice"),), timeout=patient(20)):
            yield response


@pytest.fixture
async def world(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with capture_logs():
        world = SealedWorld()
        async with world.serving() as client:

            @asynccontextmanager
            async def connect(_settings, *_parts):
                yield Served(client.stub)

            for module in (export_command, ocsf_command):
                monkeypatch.setattr(module, "connect", connect)
            yield world, client


@pytest.fixture
async def session_id(world):
    return (await world[1].window()).session.session_id


async def write(session_id, target, *, as_json=False, **wish):
    return await export(Settings(), Output(as_json=as_json), ExportWish(session_id, target, **wish))


async def test_a_file_that_is_there_is_replaced_when_that_was_said(session_id, tmp_path):
    target = tmp_path / "session.ndjson"
    target.touch()  # as `mktemp` makes it: there is nothing to lose
    assert await write(session_id, target) is Exit.OK
    before = target.read_bytes()
    for ocsf in (False, True):
        with pytest.raises(InvalidRequestError, match=r"is there already, and is not replaced; .* add --force"):
            await (
                export_ocsf(Settings(), Output(as_json=False), session_id, target, with_content=False)
                if ocsf
                else write(session_id, target, with_content=True)
            )
    assert target.read_bytes() == before
    assert await write(session_id, target, with_content=True, force=True) is Exit.OK
    assert target.read_bytes() != before


@pytest.mark.parametrize("form", ["ndjson", "ocsf"])
async def test_a_dash_is_standard_output_and_nothing_else_goes_there(
    session_id, tmp_path, monkeypatch, capfdbinary, form
):
    monkeypatch.chdir(tmp_path)
    if form == "ocsf":
        named = {"session_id": session_id, "target": Path("-"), "with_content": False}
        await export_ocsf(Settings(), Output(as_json=False), **named)
    else:
        await write(session_id, Path("-"))
    shown = capfdbinary.readouterr()
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert all(isinstance(line, dict) for line in lines)
    assert ("record" in lines[-1]) is (form == "ndjson")
    assert b"event" in shown.err
    assert not list(tmp_path.iterdir())


async def test_standard_output_has_one_document(session_id):
    with pytest.raises(InvalidRequestError, match="--json wants"):
        await write(session_id, Path("-"), as_json=True)


@pytest.mark.parametrize("name", ["folder", "nowhere/x"])
async def test_where_no_file_can_be_written_is_wrong_input(session_id, tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidRequestError, match=r"FILE: .*(is a folder|there is no folder)"):
        await write(session_id, tmp_path / name)


@pytest.mark.parametrize("arguments", [("export", "crp_sess_x", ""), ("checkpoint", ""), ("show", "r", "--html", "")])
def test_an_empty_name_is_no_file(arguments):
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, "must not be empty: name a file" in " ".join(done.output.split())) == (2, True)


@pytest.mark.parametrize("with_content", [False, True])
async def test_a_changed_event_is_written_as_evidence(world, session_id, tmp_path, with_content):
    (held,) = world[0].store._sessions.values()
    held.events[0] = replace(held.events[0], event_type="DPE_COMPLETED")
    target = tmp_path / "session.ndjson"
    assert await write(session_id, target, with_content=with_content) is Exit.OK
    lines = target.read_text(encoding="utf-8").splitlines()
    key = NoteKey.parse(json.loads(lines[-1])["manifest"].split("\nkey ")[1].split("\n")[0])
    assert check_export(lines, key, None).verdict is Verdict.BROKEN


async def test_of_an_erased_session_every_report_is_told_as_erased(world, session_id, tmp_path, capsys):
    await world[1].erase(session_id)
    assert await write(session_id, tmp_path / "erased.ndjson", with_content=True) is Exit.OK
    assert "holds no answers, questions and facts" in " ".join(capsys.readouterr().out.split())
    assert await replay(Settings(), Output(as_json=True), tmp_path / "erased.ndjson") is Exit.FAILURE
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert (report["result"], report["reason"]) == ("NOT_REPLAYABLE", "ANSWER_ERASED")
