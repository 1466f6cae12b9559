"""``groundtrail erase``: what it erases, says and asks, against a served session."""

import json
from contextlib import asynccontextmanager

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import audit
from services.cli.commands import erase as erase_command
from services.cli.commands.erase import erase
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import PreconditionError
from services.common.rpc.status import from_wire
from services.common.settings import Settings
from tests.fakes.sealed_world import SealedWorld
from tests.rpc.test_dag_erasure import verify
from tests.unit.cli.test_cli_dag import Served

SESSION = "crp_sess_" + "a" * 32


@pytest.fixture
async def client(monkeypatch):
    with capture_logs():  # the served world's lines go to stdout otherwise
        async with SealedWorld().serving() as client:

            @asynccontextmanager
            async def connect(_settings, *_parts):
                yield Served(client.stub)

            monkeypatch.setattr(erase_command, "connect", connect)
            yield client


async def test_content_goes_and_the_chain_says_truncated(client, capsys):
    window = await client.window(text="It is 500 euros.")
    session_id = window.session.session_id
    assert await erase(Settings(), Output(as_json=False), session_id, "a request of the person") is Exit.OK
    assert "Answers: 1," in capsys.readouterr().out
    verified = await verify(client, session_id)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_TRUNCATED


async def test_a_report_that_was_erased_is_said_to_be(client, capsys, monkeypatch):
    monkeypatch.setattr(audit, "connect", vars(erase_command)["connect"])
    window = await client.window(text="It is 500 euros.")
    session_id, report_id = window.session.session_id, window.window.report_id
    await erase(Settings(), Output(as_json=False), session_id, "a request of the person")
    capsys.readouterr()
    assert await audit.show(Settings(), Output(as_json=False), report_id) is Exit.OK
    told = " ".join(capsys.readouterr().out.split())
    assert f"The report {report_id} was erased with the content of {session_id}." in told
    assert "Stages" not in told


async def test_json_holds_the_event(client, capsys):
    window = await client.window(text="It is 500 euros.")
    await erase(Settings(), Output(as_json=True), window.session.session_id, "a request of the person")
    found = json.loads(capsys.readouterr().out)
    assert found["windows_erased"] == 1
    assert found["event"]["event_type"] == "AUDIT_EVENT_TYPE_SESSION_ERASED"


@pytest.mark.parametrize(
    ("arguments", "answer", "code", "said"),
    [
        (("--json",), "n\n", Exit.USAGE, "--json does not ask; add --yes"),
        ((), "n\n", Exit.FAILURE, "Aborted"),
        ((), "", Exit.USAGE, "there is nobody to ask on stdin; add --yes"),
    ],
    ids=["json asks nothing", "refused", "no terminal"],
)
def test_nothing_is_erased_without_a_yes(arguments, answer, code, said, monkeypatch):
    monkeypatch.setattr("services.cli.app.run", lambda *_, **__: pytest.fail("it was erased"))
    done = CliRunner().invoke(app, ["erase", SESSION, "--reason", "because", *arguments], input=answer)
    assert done.exit_code == code
    assert said in done.output


def test_yes_erases_without_asking(monkeypatch):
    called = []
    monkeypatch.setattr("services.cli.app.run", lambda command, **_: called.append(command.keywords))
    done = CliRunner().invoke(app, ["erase", SESSION, "--reason", "because", "--yes"])
    assert (done.exit_code, called) == (0, [{"session_id": SESSION, "reason": "because"}])


async def test_what_was_erased_before_is_said_to_be(client, monkeypatch):
    window = await client.window(text="It is 500 euros.")
    session_id = window.session.session_id
    await erase(Settings(), Output(as_json=True), session_id, "a request of the person")

    class Refusing(Served):
        async def call(self, method, request):
            try:
                return await super().call(method, request)
            except grpc.aio.AioRpcError as error:
                details = dict(error.trailing_metadata())["grpc-status-details-bin"]
                raise from_wire(error.code(), error.details(), details, "") from None

    @asynccontextmanager
    async def connect(_settings, *_parts):
        yield Refusing(client.stub)

    monkeypatch.setattr(erase_command, "connect", connect)
    with pytest.raises(PreconditionError, match="was erased before; there is nothing left to erase"):
        await erase(Settings(), Output(as_json=True), session_id, "a request of the person")


@pytest.mark.parametrize(
    ("report_id", "said"), [("", "must be a report's id"), (SESSION, "is a session, and not a report")]
)
@pytest.mark.parametrize("page", [(), ("--html", "page.html")], ids=["screen", "page"])
def test_what_is_no_report_is_told_where_reports_are_listed(report_id, said, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["show", report_id, *page, "--json"])
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["fields"][0]["field"]) == (2, "REPORT")
    assert said in error["message"]
    assert "`groundtrail sessions`" in error["message"]
    assert not list(tmp_path.iterdir())
