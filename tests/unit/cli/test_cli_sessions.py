"""``groundtrail sessions``: what is asked, what is shown, which exit code; over a suite that answers as it is told."""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import retention_service_pb2 as rules
from crp.dag.v1 import session_service_pb2 as pb
from typer.testing import CliRunner

from services.cli import render
from services.cli.app import app
from services.cli.commands import retention, sessions
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import InvalidRequestError
from services.common.settings import Settings


class Stub:
    """Gives a method's own name."""

    def __getattr__(self, name):
        return name


class Suite:
    """Answers each call with the next of the answers, and keeps what was asked."""

    sessions = retention = Stub()

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def call(self, method, request):
        copy = type(request)()
        copy.CopyFrom(request)
        self.asked.append((method, copy))
        return self.answers.pop(0)


@pytest.fixture
def use(monkeypatch):
    def use_(*answers):
        suite = Suite(*answers)

        @asynccontextmanager
        async def connect(_settings, *_parts):
            yield suite

        for module in (sessions, retention):
            monkeypatch.setattr(module, "connect", connect)
        return suite

    return use_


def summary(name, **fields):
    return pb.SessionSummary(session=dag_pb2.Session(session_id=name, status="SESSION_STATUS_OPEN"), **fields)


async def test_pages_are_asked_until_the_limit(use, capsys):
    first = pb.ListSessionsResponse(sessions=[summary("a"), summary("b")], next_page_token="t")
    suite = use(first, pb.ListSessionsResponse(sessions=[summary("c")], next_page_token="u"))
    code = await sessions.list_sessions(Settings(), Output(as_json=True), status="OPEN", parent="p", limit=3)
    assert code is Exit.OK
    shown = json.loads(capsys.readouterr().out)
    assert ([one["session"]["session_id"] for one in shown["sessions"]], shown["more"]) == (["a", "b", "c"], True)
    (_, one), (_, two) = suite.asked
    assert (one.page_size, one.page_token, two.page_size, two.page_token) == (3, "", 1, "t")
    assert (two.status, two.agent_session_parent) == (dag_pb2.SESSION_STATUS_OPEN, "p")


async def test_a_row_that_cannot_be_read_is_shown_as_such(use, capsys):
    use(pb.ListSessionsResponse(sessions=[summary("crp_sess_a", unreadable=True), summary("crp_sess_b")]))
    await sessions.list_sessions(Settings(), Output(as_json=False))
    shown = capsys.readouterr().out
    assert "cannot be read" in shown
    assert "crp_sess_b" in shown


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-24", datetime(2026, 5, 24, tzinfo=UTC)),
        ("2026-05-24T09:00", datetime(2026, 5, 24, 9, tzinfo=UTC)),
        ("2026-05-24T09:00+02:00", datetime(2026, 5, 24, 7, tzinfo=UTC)),
    ],
)
async def test_times_are_utc_without_an_offset(use, text, moment):
    suite = use(pb.ListSessionsResponse())
    await sessions.list_sessions(Settings(), Output(as_json=True), times={"opened_since": text, "opened_until": ""})
    assert suite.asked[0][1].opened_since.ToDatetime(tzinfo=UTC) == moment
    assert not suite.asked[0][1].HasField("opened_until")


@pytest.mark.parametrize("text", ["0001-01-01T00:00+05:00", "9999-12-31T23:00-05:00"])
def test_a_time_that_is_none_in_utc_is_wrong_input(text):
    with pytest.raises(InvalidRequestError, match="--opened-since"):
        sessions.moment_of("opened_since", text)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (100, "there are more; --limit 1000 shows more of them"),
        (20_000, "there are more; --limit 100000 shows more of them"),
        (100_000, "there are more"),
    ],
)
def test_a_limit_that_is_named_is_one_that_is_taken(limit, told):
    assert render.more_text(limit) == told


async def test_one_day_is_told_in_the_singular(use, capsys):
    effective = rules.RetentionRules(idle_expiry_s=0, erase_after_days=1, tombstone_after_days=2)
    use(rules.GetRetentionResponse(effective=effective))
    assert await retention.show_rules(Settings(), Output(as_json=False)) is Exit.OK
    shown = " ".join(capsys.readouterr().out.split())
    assert "erase_after_days 1 day" in shown
    assert "tombstone_after_days 2 days" in shown


def test_what_is_no_time_is_wrong_input():
    with pytest.raises(InvalidRequestError) as caught:
        sessions.moment_of("opened_since", "yesterday")
    assert caught.value.violations[0].field == "--opened-since"


def item(name, outcome):
    return rules.RetentionItem(session_id=name, action="RETENTION_ACTION_ERASE", outcome=f"RETENTION_OUTCOME_{outcome}")


async def test_what_is_due_is_done_call_by_call(use, capsys):
    use(
        rules.ApplyRetentionResponse(items=[item("a", "DONE")], more=True),
        rules.ApplyRetentionResponse(items=[item("b", "DONE")], more=False),
    )
    assert await retention.apply(Settings(), Output(as_json=True), 10) is Exit.OK
    assert [one["session_id"] for one in json.loads(capsys.readouterr().out)["items"]] == ["a", "b"]


async def test_failures_end_the_calls_and_are_exit_code_1(use):
    suite = use(rules.ApplyRetentionResponse(items=[item("a", "FAILED")], more=True))
    assert await retention.apply(Settings(), Output(as_json=True), 10) is Exit.FAILURE
    assert suite.answers == []


async def test_a_dry_run_only_asks(use, capsys):
    suite = use(rules.PreviewRetentionResponse(items=[item("a", "HELD")]))
    assert await retention.preview(Settings(), Output(as_json=False), 10) is Exit.OK
    assert [method for method, _ in suite.asked] == ["PreviewRetention"]
    assert "HELD" in capsys.readouterr().out


async def test_what_is_not_named_goes_back_to_the_deployments(use):
    suite = use(rules.SetRetentionResponse())
    numbers = {"erase_after_days": 0}
    await retention.set_rules(Settings(), Output(as_json=True), numbers, "because", legal_hold=False)
    sent = suite.asked[0][1].rules
    assert (sent.HasField("erase_after_days"), sent.HasField("idle_expiry_s")) == (True, False)


def test_expire_asks_before_it_erases(use):
    suite = use()
    done = CliRunner().invoke(app, ["sessions", "expire"], input="n\n")
    assert done.exit_code != 0
    assert suite.asked == []


async def test_no_word_of_the_list_is_broken_at_80_columns(use, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name = "crp_sess_" + "a" * 32
    one = summary(name, windows_committed=12, legal_hold=True, last_report_id="3acba354-c975-459a-b8d6-2ee5805a107d")
    one.session.status = dag_pb2.SESSION_STATUS_TOMBSTONED
    use(pb.ListSessionsResponse(sessions=[one]))
    await sessions.list_sessions(Settings(), Output(as_json=False))
    lines = capsys.readouterr().out.splitlines()
    words = " ".join(lines).split()
    assert {name, one.last_report_id, "TOMBSTONED", "held", "windows"} <= set(words)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("filters", "said"),
    [({}, "starts one"), ({"status": "OPEN"}, "none of that kind"), ({"parent": "p"}, "none of that kind")],
)
async def test_filters_that_leave_nothing_are_not_told_to_ask(use, capsys, filters, said):
    use(pb.ListSessionsResponse())
    await sessions.list_sessions(Settings(), Output(as_json=False), **filters)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "said"), [(2_592_000, "30 days"), (86_400, "1 day"), (5_400, "90 minutes"), (3_601, "3601 s")]
)
async def test_spans_are_told_as_people_say_them(use, capsys, seconds, said):
    use(rules.GetRetentionResponse(effective=rules.RetentionRules(idle_expiry_s=seconds)))
    await retention.show_rules(Settings(), Output(as_json=False))
    assert said in capsys.readouterr().out
