"""What the command line does with what goes wrong around it: files, ports, terminals, half-written state."""

import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import pytest
import typer
from crp.dag.v1 import session_service_pb2 as sessions
from pydantic import ValidationError

from services.cli import app as app_module
from services.cli.__main__ import main
from services.cli.commands import doctor
from services.cli.commands import serve as serve_command
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.local_state import HeldSession, LocalState
from services.cli.runner import _run, hint_of, run
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError, StartupError
from services.common.rpc.main import _parser, _settings, serve
from services.common.rpc.status import from_wire
from services.common.settings import ClientSettings, ServerSettings, Settings, SettingsError, StoreSettings
from services.gateway.domain.policy import KNOWN_DIRECTIVES
from tests.patience import patient

SESSION = "crp_sess_" + "a" * 32
OF_ASK = (
    *("--session", "--continue", "--merge-agent", "--agent-of", "--model", "--policy"),
    *("--system", "--retrieval-mode", "--active-fact"),
)
"""Options whose empty value would count as none: a variable that was not set begins no session."""


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


async def test_one_violation_is_said_once(capsys):
    async def command(settings, output):
        raise InvalidRequestError.of(FieldViolation("query", "must not be empty"))

    assert await _run(command, Settings(), Output(as_json=False)) is Exit.USAGE
    assert capsys.readouterr().err == "error: query: must not be empty\n"


async def test_a_file_that_cannot_be_read_is_one_line(capsys, tmp_path):
    async def command(settings, output):
        (tmp_path / "absent.pem").read_bytes()

    assert await _run(command, Settings(), Output(as_json=True)) is Exit.FAILURE
    shown = capsys.readouterr().out
    assert "FILE_UNUSABLE" in shown
    assert "absent.pem: No such file or directory" in shown


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (grpc.StatusCode.UNIMPLEMENTED, "name the process that serves it"),
        (grpc.StatusCode.UNAVAILABLE, "is `groundtrail serve` running"),
    ],
)
async def test_an_address_that_serves_something_else_is_told_from_one_that_is_down(capsys, code, hint):
    async def command(settings, output):
        raise from_wire(code, "", None, "127.0.0.1:50051")

    assert await _run(command, Settings(), Output(as_json=False)) is Exit.UNAVAILABLE
    assert hint in capsys.readouterr().err


async def test_a_port_that_speaks_http_is_no_server_to_wait_for(monkeypatch):
    class Http(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Http) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        settings = Settings(client=ClientSettings(server=f"127.0.0.1:{server.server_port}"))
        try:
            async with connect(settings) as suite:
                with pytest.raises(InvalidRequestError, match=r"GROUNDTRAIL_CLIENT__SERVER: .* does not speak gRPC"):
                    await suite.call(suite.sessions.ListSessions, sessions.ListSessionsRequest())
        finally:
            server.shutdown()
            thread.join()


def test_what_people_copy_is_never_folded(capsys):
    wide = "crp_sess_" + "a" * 32
    Output(as_json=False).table("T", ("id", "text"), [(wide, "word " * 40)], whole="id")
    shown = capsys.readouterr().out
    assert wide in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


@pytest.mark.parametrize("key", ["crp_gw_dev_…", "crp_gw_dev_a b", "crp_gw_dev_a\n"], ids=["ellipsis", "space", "line"])
def test_a_key_that_no_header_can_carry_is_refused(key):
    with pytest.raises(ValidationError, match="copy it whole"):
        ClientSettings(server="127.0.0.1:50051", api_key=key)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"session_id": "x"}'])
def test_state_that_was_cut_short_counts_as_none(tmp_path, text):
    state = LocalState(tmp_path)
    state.keep_session(HeldSession(SESSION, "token", "crp_cont_1"))
    assert state.session(SESSION) == HeldSession(SESSION, "token", "crp_cont_1", {"crp_cont_1": "token"})
    (tmp_path / "cli" / f"{SESSION}.json").write_text(text, encoding="utf-8")
    assert state.session(SESSION) is None


async def test_doctor_sees_a_taken_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(server=ServerSettings(host="127.0.0.1", port=taken.getsockname()[1]))
        (finding,) = await doctor._ports(settings)
    assert finding.level is doctor.Level.WARNING


@pytest.mark.parametrize("host", ["::1", "[::1]"])
async def test_doctor_looks_at_a_port_of_either_family(host):
    (finding,) = await doctor._ports(Settings(server=ServerSettings(host=host, port=1)))
    assert finding.check == "port"


async def test_doctor_names_a_host_that_is_none(monkeypatch):
    def no_such_host(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_host)
    (finding,) = await doctor._ports(Settings(server=ServerSettings(host="nowhere.example", port=1)))
    assert finding.level is doctor.Level.PROBLEM
    assert "nowhere.example" in finding.detail


async def test_doctor_names_a_data_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    (finding,) = await doctor._data_dir(Settings(store=StoreSettings(data_dir=tmp_path / "file" / "data")))
    assert finding.level is doctor.Level.PROBLEM
    assert str(tmp_path / "file") in finding.detail


async def test_a_data_directory_that_cannot_be_made_stops_the_start_in_one_line(tmp_path):
    async def build(settings, adapters):
        (tmp_path / "file" / "data").mkdir()

    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match="file/data: Not a directory"):
        await serve("dag", build, Settings())


def test_an_option_out_of_range_is_named():
    with pytest.raises(SettingsError) as caught:
        _settings(_parser("dag").parse_args(["--port", "99999"]))
    assert caught.value.problems == ("the command line: --port: Input should be less than or equal to 65535",)


def test_the_ports_of_http_and_of_metrics_are_two():
    settings = _settings(_parser("allinone").parse_args(["--http-port", "8080", "--telemetry-port", "9464"]))
    assert (settings.http.port, settings.telemetry.http_port) == (8080, 9464)
    with pytest.raises(ValueError, match=r"dag, dpe: --http-port is the gateway's; /metrics.* --telemetry-port"):
        serve_command.serve(["dag", "dpe"], ["--http-port", "8080"])


def test_ctrl_c_while_modules_load_is_quiet(monkeypatch, capsys):
    class Interrupted:
        registered_commands = registered_groups = ()

        def __call__(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(app_module, "app", Interrupted())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


def test_ctrl_c_during_a_command_is_one_line(capsys):
    async def command(settings, output):
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as ended:
        run(command, as_json=False)
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "error: stopped; what was acknowledged stays\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ercp", "run", "q", "--max-iterations", "201"], "--max-iterations"),
        (["erase", SESSION, "--reason", "r"], "--yes"),
        (["verify", "--offline", ".", "--public-key", "k"], "is a directory"),
        (["nosuch"], "nosuch"),
        (["search"], "query"),
        (["search", "q", "--limit", "0"], "--limit"),
        (["policy", "set", ""], "--none in its place takes the tenant's policy away"),
        (["policy", "set"], "must name a directive"),
        (["policy", "set", "halt-on HIGH", "--none"], "leave POLICY out"),
        *((["ask", "fee?", name, ""], f"{name}: must not be empty") for name in OF_ASK),
    ],
    ids=["range", "yes", "folder", "command", "missing", "limit", "no policy", "none", "both", *OF_ASK],
)
def test_a_wrong_command_line_is_json_where_json_was_asked_for(monkeypatch, capsys, arguments, said):
    monkeypatch.setattr("sys.argv", ["groundtrail", *arguments, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == Exit.USAGE
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert error["reason"] == "COMMAND_LINE_INVALID"
    assert said in error["message"]
    assert shown.err == ""


def test_behind_two_dashes_json_is_text(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["groundtrail", "search", "--limit", "many", "--", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().out) == (Exit.USAGE, "")


@pytest.mark.parametrize("as_json", [True, False])
def test_a_terminal_without_a_character_gets_its_escape(as_json):
    code = (
        "import sys; sys.argv = ['groundtrail', '--nosuch-é', *sys.argv[1:]]\n"
        "from services.cli import __main__, console\n"
        "try: __main__.main()\n"
        "except SystemExit: pass\n"
        "console.Output(as_json='--json' in sys.argv).say('100 °C')\n"
        "console.Output(as_json='--json' in sys.argv).result({'said': '100 °C'})\n"
    )
    arguments = [sys.executable, "-c", code, *(["--json"] if as_json else [])]
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(arguments, capture_output=True, text=True, env=env, timeout=patient(60), check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    if as_json:
        assert json.loads(done.stdout[done.stdout.rindex('{\n  "said"') :]) == {"said": "100 °C"}
    else:
        assert "100 \\xb0C" in done.stdout


def test_nothing_that_is_shown_speaks_to_the_terminal(capsys):
    hostile = "5 EUR\x1b[2J\x1b]0;title\x07 \x9b31m \u202eRUE 9\u202c\r\b\tend\nnext"
    output = Output(as_json=False)
    output.say(hostile)
    output.table("T\x1b[31m", ("text",), [(hostile,)])
    output.drawn([(hostile, "red")])
    output.error(hostile, hint=hostile, fields=[{"field": "f", "description": hostile}])
    shown = "".join(capsys.readouterr())
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u202c\r\b")
    assert "5 EUR<U+001B>[2J" in shown
    assert "<U+202E>RUE 9<U+202C>" in shown


def test_version_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["groundtrail", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {None, 0}
    assert capsys.readouterr().out.startswith("groundtrail ")


def test_an_unknown_directive_comes_with_those_that_there_are_in_lines_that_fit():
    known = ", ".join(KNOWN_DIRECTIVES)
    told = InvalidRequestError(ErrorReason.UNKNOWN_DIRECTIVE, "'foo' is no directive", known=known)
    lines = hint_of(told).splitlines()
    assert " ".join(line.strip() for line in lines) == f"there are {known}"
    assert max(len(line) for line in lines) <= 120
    assert not hint_of(InvalidRequestError(ErrorReason.UNKNOWN_DIRECTIVE, f"none; there are {known}", known=known))


@pytest.mark.parametrize(
    ("error", "command"),
    [
        (InvalidRequestError.of(FieldViolation("session_id", "must be")), "groundtrail sessions"),
        (InvalidRequestError.of(FieldViolation("source_id", "must be")), "groundtrail sources"),
        (InvalidRequestError.of(FieldViolation("key_id", "must be")), "groundtrail keys list"),
        (NotFoundError(ErrorReason.AI_SYSTEM_NOT_FOUND, "none"), "groundtrail systems register"),
        (NotFoundError(ErrorReason.PROVIDER_NOT_FOUND, "none"), "groundtrail providers list"),
    ],
)
def test_an_id_that_is_none_comes_with_the_command_that_lists_them(error, command):
    assert command in hint_of(error)


@pytest.mark.parametrize("arguments", [["models", "check", ""], ["log", "monitor", "--state", "", "--once"]])
def test_an_empty_argument_is_not_all(arguments, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["groundtrail", *arguments, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, "must not be empty" in capsys.readouterr().out) == (Exit.USAGE, True)
