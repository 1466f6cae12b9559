"""``groundtrail check``: what it prints, and what its exit code says."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from groundtrail import Level
from typer.testing import CliRunner

from services.allinone.check_result import PolicedResult
from services.cli.app import app
from services.cli.commands import check as command
from services.cli.commands.check import CheckWish, exit_of_result
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.settings import ClientSettings, Settings
from services.common.taxonomy import RiskLevel
from tests.fakes.checks import FEE, checker, memory_models
from tests.fakes.dpe_world import World
from tests.patience import patient

WRONG = "The fee for late reports is 7 euros."


@dataclass
class Served:
    """What the command takes for the suite."""

    provenance: object

    async def call(self, method, request):
        return await method(request, metadata=(("authorization", "reader"),), timeout=patient(20))


LEVELS = {RiskLevel.LOW: 0, RiskLevel.MEDIUM: 10, RiskLevel.HIGH: 11, RiskLevel.CRITICAL: 12}


@pytest.fixture
def run(monkeypatch, tmp_path):
    @asynccontextmanager
    async def opened(_settings):
        yield checker()

    monkeypatch.setattr(command, "open_checker", opened)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("GROUNDTRAIL_CLIENT__SERVER", raising=False)
    (tmp_path / "right.txt").write_text(FEE + "\n", encoding="utf-8")
    (tmp_path / "wrong.txt").write_text(WRONG, encoding="utf-8")
    (tmp_path / "fees.md").write_text(f"# Fees\n\n{FEE} It has been so in every branch since the year began.\n")
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **given):
        return CliRunner().invoke(app, ["check", *arguments], **given)

    return call


def test_a_right_answer_is_0_and_the_first_line_says_so(run):
    done = run("--answer", "right.txt", "--facts", "fees.md", "--question", "What is the fee?")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].startswith("LOW ")
    assert "1 of 1 claim supported" in done.stdout.splitlines()[0]
    assert "Fees" in done.stdout


def test_the_answer_comes_from_standard_input_and_facts_from_the_command_line(run):
    done = run("--answer", "-", "--fact", FEE, "--json", input=WRONG)
    document = json.loads(done.stdout)
    assert document["supported"] is False
    assert document["claims"][0]["verdict"] == "CONTRADICTED"
    assert document["response"]["facts"][0]["content"] == FEE
    assert done.exit_code == LEVELS[RiskLevel(document["level"])]


def test_documents_may_follow_the_options(run):
    done = run("--answer", "right.txt", "--json", "--facts", "fees.md", "wrong.txt")
    assert {fact["title"] for fact in json.loads(done.stdout)["response"]["facts"]} == {"Fees", "wrong.txt"}


def test_a_policy_that_withholds_the_answer_is_3(run):
    done = run("--answer", "wrong.txt", "--fact", FEE, "--policy", "halt-on LOW")
    assert done.exit_code == 3
    assert "withheld: halt-on LOW" in done.stdout


@pytest.mark.parametrize("level", RiskLevel)
@pytest.mark.parametrize("fail_on", RiskLevel)
def test_levels_have_codes_of_their_own_from_fail_on(level, fail_on):
    result = PolicedResult(Level(level), 0.5, (), (), None)
    assert exit_of_result(result, fail_on) == (LEVELS[level] if level.rank >= fail_on.rank else 0)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--answer", "right.txt"], 2, "--fact"),
        (["--answer", "right.txt", "--facts", "none.md"], 2, "--facts: none.md does not exist"),
        (["--answer", "none.txt", "--fact", "a"], 2, "--answer: none.txt cannot be read: No such file or directory"),
        (["--answer", "It is 5 EUR.", "--fact", "a"], 2, "No such file or directory; a text is piped to it with -"),
        (["--answer", "right.txt", "--fact", "a", "--earlier", "none.txt"], 2, "--earlier: none.txt cannot be read"),
        (["--answer", "right.txt", "--fact", "a", "--policy", "halt-at HIGH"], 2, "halt-at"),
        (["--answer", "right.txt", "--fact", "a", "--fail-on", "SEVERE"], 2, "SEVERE"),
        (["--fact", "a"], 2, "--answer"),
    ],
)
def test_wrong_input_is_told_with_its_code(run, arguments, code, words):
    done = run(*arguments)
    assert done.exit_code == code
    assert words in done.stderr
    assert not done.stdout


async def test_a_server_that_the_settings_name_is_asked(monkeypatch, capsys, tmp_path):
    asked = []

    @asynccontextmanager
    async def connect(settings):
        asked.append(settings.client.server)
        async with World(models=memory_models()).serving() as client:
            yield Served(client.stub)

    def opened(_settings):
        raise AssertionError("models were opened beside the server")

    monkeypatch.setattr(command, "connect", connect)
    monkeypatch.setattr(command, "open_checker", opened)
    (tmp_path / "wrong.txt").write_text(WRONG, encoding="utf-8")
    settings = Settings(client=ClientSettings(server="checks.example:443"))
    wish = CheckWish(str(tmp_path / "wrong.txt"), (), (FEE,))
    code = await command.check(settings, Output(as_json=False), wish)
    assert asked == ["checks.example:443"]
    out = capsys.readouterr().out
    assert "5 euros in" in out
    assert "the answer says 7 euros" in out
    assert code in {Exit.RISK_MEDIUM, Exit.RISK_HIGH}


def test_an_answer_that_is_no_text_is_refused(run, tmp_path):
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    done = run("--answer", "bytes.txt", "--fact", "a")
    assert (done.exit_code, "not UTF-8" in done.stderr) == (2, True)
