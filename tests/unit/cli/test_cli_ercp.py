"""``groundtrail ercp``: what it prints while a run goes on, its exit codes, and checking a trace with no server."""

import json
import math
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from ercp.v1 import ercp_pb2
from ercp.v1 import ercp_service_pb2_grpc as pb_grpc
from ercp.v1.ercp_service_pb2 import RunConfig
from structlog.testing import capture_logs
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import ercp as command
from services.cli.commands import ercp_outcomes
from services.cli.commands.ercp import run, trace, verify_trace
from services.cli.commands.ercp_outcomes import read_constraints, verify
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.offline.traces import TraceVerdict, check_trace
from services.common.errors import ErrorReason, InvalidRequestError, UnavailableError
from services.common.settings import Settings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import BAD, GOOD, NODE_KEY, QUESTION, ErcpWorld, PromptedModel
from tests.fakes.gateway_world import Script
from tests.patience import patient
from tests.tenth import tenth

FACT = "The boiling point of water is 100 °C at sea level."


@dataclass
class Served:
    """What commands take for the suite; the credential is a subject's name."""

    ercp: pb_grpc.ErcpServiceStub

    async def call(self, method, request):
        return await method(request, metadata=(("authorization", "alice"),), timeout=patient(20))

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
            async def connect(_settings, *_parts):
                yield Served(client.stub)

            monkeypatch.setattr(command, "connect", connect)
            monkeypatch.setattr(ercp_outcomes, "connect", connect)
            yield world


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "node.key"
    path.write_text(NODE_KEY.hex())
    path.chmod(0o600)
    return path


async def test_a_run_shows_each_step_the_constraints_and_the_status(world, capsys):
    assert await run(Settings(), Output(as_json=False), QUESTION, "", RunConfig()) is Exit.OK
    shown = capsys.readouterr().out
    steps = [line.split()[0] for line in shown.splitlines()[:6]]
    assert steps == ["generate", "verify", "extract", "generate", "verify", "stabilize"]
    assert "Equal(condition=at sea level, left=water.boiling_point, right=100, unit=degC)" in shown
    assert GOOD in shown
    assert "converged (STABLE) after 2 iterations" in shown
    assert ", answered by sha256:" in shown
    assert "no facts" not in shown
    assert "on the answerer's word alone: 1 of its statements" in shown


@pytest.mark.parametrize(("config", "told"), [(RunConfig(), True), (RunConfig(run_fact_check=False), False)])
async def test_a_run_without_knowledge_says_so(world, capsys, config, told):
    world.script.facts = ()
    await run(Settings(), Output(as_json=False), QUESTION, "", config)
    assert ("! the envelope holds no facts" in capsys.readouterr().out) is told
    await run(Settings(), Output(as_json=True), QUESTION, "", config)
    answer = json.loads(capsys.readouterr().out)
    assert [text.split(":")[0] for text in answer.get("warnings", [])] == ["the envelope holds no facts"] * told


async def test_a_run_whose_model_fails_tells_why_and_not_that_facts_are_missing(world, capsys):
    async def fails(_request):
        raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, "the language model is down; check its address")

    world.model.complete = fails
    assert await run(Settings(), Output(as_json=False), QUESTION, "", RunConfig()) is Exit.FAILURE
    shown = capsys.readouterr().out
    assert "! the language model is down; check its address" in shown
    assert "no facts" not in shown


async def test_json_is_the_documents_response(world, capsys):
    trace_id = fresh_uuid()
    assert await run(Settings(), Output(as_json=True), QUESTION, trace_id, RunConfig(max_iterations=5)) is Exit.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["trace_id"], answer["proto_version"]) == ("converged", trace_id, "ercp-1.0")
    assert answer["utility_score"] is None
    assert "warnings" not in answer
    assert answer["trace_events"][0]["operator"] == "generate"


def test_what_has_no_ground_is_named_and_what_was_confirmed_is_counted(capsys):
    def ground(sentence, *, is_confirmed):
        return ercp_pb2.OpenGround(places=[ercp_pb2.DraftPlace(sentence=sentence)], is_confirmed=is_confirmed)

    ercp_outcomes.show_grounds(
        [ground("It is red.", is_confirmed=False), ground("It is old.", is_confirmed=True)], Output(as_json=False)
    )
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["without a ground: It is red.", "on the answerer's word alone: 1 of its statements"]


async def test_a_run_that_does_not_converge_has_the_exit_code_of_a_verdict(world, capsys):
    world.model.good = BAD
    assert await run(Settings(), Output(as_json=False), QUESTION, "", RunConfig(max_iterations=2)) is Exit.VERDICT
    assert "partial (MAX_ITERATIONS)" in capsys.readouterr().out


TANK = [
    {
        "constraint_id": "8d7f0f0e-6f53-4d86-9a5c-0f3f0b9f7a01",
        "type": "predicate",
        "nl_text": "The tank holds at least 5 litres.",
        "immutable": True,
        "predicate": {
            "predicate_name": "GreaterThan",
            "args": {"left": "tank.volume", "right": "5", "unit": "l", "inclusive": True},
        },
    }
]


@pytest.fixture
def tank(tmp_path):
    path = tmp_path / "constraints.json"
    path.write_text(json.dumps(TANK))
    return path


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("draft", "code", "said"),
    [
        ("The tank holds 6 litres.", Exit.OK, "kept"),
        ("The tank holds 3 litres.", Exit.VERDICT, "broken"),
        ("The tank is green.", Exit.VERDICT, "undecided: NOT_STATED"),
    ],
)
async def test_verify_says_of_each_constraint_whether_it_is_kept(tank, capsys, draft, code, said):
    path = tank.with_name("draft.txt")
    path.write_text(draft)
    assert await verify(Settings(), Output(as_json=False), str(path), tank, fact_check=False) is code
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "The tank holds at least 5 litres" in line)
    assert row.split("The tank")[0].strip() in {said, "conflict", "in force"}
    assert (f"0-{len(draft) - 1}" in shown) == (said != "undecided: NOT_STATED")


async def test_verify_prints_the_documents_response(world, tmp_path, tank, capsys):
    path = tmp_path / "draft.txt"
    path.write_text("The tank holds 3 litres.")
    assert await verify(Settings(), Output(as_json=True), str(path), tank, fact_check=False) is Exit.VERDICT
    (outcome,) = json.loads(capsys.readouterr().out)["constraint_outcomes"]
    assert (outcome["constraint_id"], outcome["state"]) == (TANK[0]["constraint_id"], "broken")
    assert outcome["places"][0]["sentence"] == "The tank holds 3 litres."


async def test_a_run_shows_what_the_draft_makes_of_the_constraints(world, tank, capsys):
    code = await run(Settings(), Output(as_json=False), QUESTION, "", RunConfig(), tank)
    shown = capsys.readouterr().out
    assert code is Exit.VERDICT
    assert "constraints 1 undecided" in shown
    assert "undecided: NOT_STATED" in shown
    assert "partial (UNDECIDED)" in shown
    allowed = RunConfig(allow_undecided=True)
    assert await run(Settings(), Output(as_json=False), QUESTION, "", allowed, tank) is Exit.OK
    assert "converged (STABLE)" in capsys.readouterr().out


def test_a_file_of_constraints_is_refused_with_its_field(tmp_path):
    path = tmp_path / "constraints.json"
    path.write_text('[{"type": "predicate", "priority": "urgent", "nl_text": "x"}]')
    with pytest.raises(InvalidRequestError) as refused:
        read_constraints(path)
    assert refused.value.violations[0].field == "constraints[0].priority"
    with pytest.raises(InvalidRequestError, match="No such file"):
        read_constraints(tmp_path / "none.json")


def test_a_text_file_holds_a_constraint_on_each_line(tmp_path):
    path = tmp_path / "constraints.txt"
    path.write_text(
        "\ufeff# what the tank must do\n- The tank holds at least 5 litres.\n\nThe pump must sound like a cat.\n",
        "utf-8",
    )
    assert [(each.nl_text, each.immutable, each.predicate.predicate_name) for each in read_constraints(path)] == [
        ("The tank holds at least 5 litres.", True, ""),
        ("The pump must sound like a cat.", True, "InWords"),
    ]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidRequestError, match="neither a JSON list"):
        read_constraints(path)
    path.write_text("")
    assert read_constraints(path) == []


class TestOffline:
    @pytest.fixture
    async def exported(self, world, tmp_path, capsys):
        trace_id = fresh_uuid()
        await run(Settings(), Output(as_json=True), QUESTION, trace_id, RunConfig())
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

    async def test_of_another_tenants_trace_the_key_is_said_to_be_another(self, exported, key_file, capsys):
        code = await verify_trace(Settings(), Output(as_json=True), exported, key_file, "tenant:tenant-b")
        assert code is Exit.VERDICT
        told = json.loads(capsys.readouterr().out)
        named = json.loads(exported.read_text())["trace_key_id"]
        assert told["verdict"] == "OTHER_KEY"
        assert told["faults"][0].startswith(f"the key of the trace is another: {named} signed it")
        assert "--tenant" in told["faults"][0]

    async def test_of_another_node_key_too(self, exported):
        found = check_trace(json.loads(exported.read_text()), bytes(32), "tenant:tenant-a")
        assert found.verdict is TraceVerdict.OTHER_KEY
        assert "another node key" in found.faults[0]

    async def test_an_older_trace_that_names_no_key_is_broken_as_before(self, exported):
        value = json.loads(exported.read_text())
        del value["node_key_id"], value["trace_key_id"]
        found = check_trace(value, NODE_KEY, "tenant:tenant-b")
        assert (found.verdict, found.signatures) == (TraceVerdict.BROKEN, 0)

    async def test_a_forged_key_id_does_not_make_an_altered_trace_another_keys(self, exported):
        value = json.loads(exported.read_text())
        value["trace_key_id"] = "0" * 16
        found = check_trace(value, NODE_KEY, "tenant:tenant-a")
        assert (found.verdict, found.signatures) == (TraceVerdict.BROKEN, len(value["trace_events"]))

    @pytest.mark.tenth
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

    @pytest.mark.tenth
    async def test_every_value_that_is_changed_is_found_and_its_event_named(self, exported):
        value = json.loads(exported.read_text())
        assert check_trace(value, NODE_KEY, "tenant:tenant-a").verdict is TraceVerdict.VALID
        places = list(leaves(value))
        assert len(places) > 150
        for place in tenth("values of a trace", places):
            for other in others(at(value, place)):
                found = check_trace(changed(value, place, other), NODE_KEY, "tenant:tenant-a")
                assert found.verdict is TraceVerdict.BROKEN, (place, other)
                named = f"event {place[1]}:" if place[0] == "trace_events" else "the trace:"
                assert any(fault.startswith(named) for fault in found.faults), (place, other, found.faults)

    async def test_a_trace_of_its_owner_alone(self, exported):
        assert exported.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is no JSON in UTF-8"),
            (b"no JSON", "is no JSON in UTF-8"),
            (b"\xff\xfe\x00", "is no JSON in UTF-8"),
            (b"[" * 100_000, "nested too deeply"),
            (b'{"trace_id": "a", "trace_id": "b"}', "names a field twice"),
            (None, "Is a directory"),
        ],
        ids=["empty", "no json", "binary", "nested", "twice", "folder"],
    )
    async def test_a_file_that_is_none_is_named_with_what_is_wrong(self, tmp_path, key_file, content, said):
        path = tmp_path if content is None else tmp_path / "trace.json"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InvalidRequestError, match=said) as caught:
            await verify_trace(Settings(), Output(as_json=True), path, key_file, "tenant:t")
        assert caught.value.violations[0].field == "FILE"
        assert str(path) in caught.value.violations[0].description

    @pytest.mark.parametrize(
        ("mode", "said"), [(0o644, "^--node-key: .*chmod 600"), (0o600, "^--node-key: a key has 64 lower-case hex")]
    )
    async def test_a_key_file_that_is_none_is_named_as_the_option(self, exported, tmp_path, mode, said):
        path = tmp_path / "other.key"
        path.write_text("no key")
        path.chmod(mode)
        with pytest.raises(InvalidRequestError, match=said):
            await verify_trace(Settings(), Output(as_json=True), exported, path, "tenant:tenant-a")


def leaves(value, place=()):
    """Yield the place of everything in a document that holds nothing further."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [one for key, each in items for one in leaves(each, (*place, key))]
    yield from inner or [place]


def at(value, place):
    for key in place:
        value = value[key]
    return value


def changed(value, place, other):
    copied = json.loads(json.dumps(value))
    at(copied, place[:-1])[place[-1]] = other
    return copied


def others(value):
    """Return what a value could be changed into, hostile things that JSON readers let through included."""
    near = []
    match value:
        case bool():
            near = [not value]
        case str():
            near = [value[:-1] + chr(ord(value[-1]) ^ 1) if value else " ", value + " "]
        case int() | float():
            near = [value + 1, -value if value else -1]
    return [*near, "\ud800", math.nan, math.inf, 2**70, 10**400, ["x"], {"x": 1}, "\x00"]


def test_what_a_constraint_becomes_is_one_line_of_json(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    found = CliRunner().invoke(app, ["ercp", "constraint", "Say why the flu vaccine is given in winter"])
    assert found.exit_code == 0
    assert json.loads(found.stdout.rstrip().rsplit("\n", 1)[-1])["predicate_name"] == "Contains"
