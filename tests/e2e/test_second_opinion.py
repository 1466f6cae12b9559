"""The second opinion from outside: a judge on loopback, the command, a server, and a replay when the judge is gone."""

import json

import grpc
import pytest
from crp.dpe.v1 import claim_pb2, opinion_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.dpe.v1 import provenance_service_pb2_grpc as pb_grpc

from tests.e2e.processes import command, environment, start
from tests.fakes.opinion_endpoint import Raw, all_of, data_of, serving, votes
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TIMEOUT_S = patient(400)
PAGE = "# Glass\n\nA broken window must be reported within 7 days. The deductible for glass damage is 150 EUR.\n"
FACT = "The caretaker of the house keeps the keys of the cellar in a locked box beside the boiler."
OPEN = "Anyone who wants to get downstairs has to talk to the person in charge of the building first."


def settings_for(endpoint, **more):
    own = {"BASE_URL": endpoint.url, "MODEL": "small-judge", "API_KEY": "sk-of-this-test", "MAX_SECONDS": "60"}
    return {f"GROUNDTRAIL_SECOND_OPINION__{name}": value for name, value in (own | more).items()}


def run(folder, *arguments, expect=0, as_json=True, **settings):
    env = environment(folder / "data", **settings)
    done = command(folder, *arguments, *(["--json"] if as_json else []), env=env, timeout_s=TIMEOUT_S)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout) if as_json else done.stdout


def checked(folder, **settings):
    (folder / "answer.txt").write_text(OPEN, encoding="utf-8")
    found = run(folder, "check", "--answer", "answer.txt", "--fact", FACT, "--fail-on", "CRITICAL", **settings)
    return found["response"]["report"]


@pytest.mark.whole
def test_the_command_shows_what_the_second_opinion_did_and_that_it_failed(tmp_path):
    alone = checked(tmp_path)
    assert alone["claims"][0]["verdict"] == "CLAIM_VERDICT_UNDECIDED"
    assert "second_opinion" not in alone
    with serving(all_of("supported")) as endpoint:
        moved = checked(tmp_path, **settings_for(endpoint))
        shown = run(
            *(tmp_path, "check", "--answer", "answer.txt", "--fact", FACT, "--fail-on", "CRITICAL"),
            as_json=False,
            **settings_for(endpoint),
        )
        endpoint.script = Raw(500)
        failed = checked(tmp_path, **settings_for(endpoint))
    assert moved["claims"][0]["verdict"] == "CLAIM_VERDICT_SUPPORTED"
    assert moved["claims"][0]["judgement"]["basis"] == "VERDICT_BASIS_SECOND_OPINION"
    assert "second opinion: 1 vote, 1 moved a verdict (judge opinion/small-judge, 1 call, 110 tokens)" in " ".join(
        shown.split()
    )
    assert failed["second_opinion"]["calls"][-1]["reason"] == "http_500"
    for name in ("claims", "risk_level", "risk_floors", "stages"):
        assert failed[name] == alone[name]


@pytest.mark.whole
def test_doctor_tells_whether_the_endpoint_answers(tmp_path):
    with serving(all_of("supported")) as endpoint:
        there = run(tmp_path, "doctor", **settings_for(endpoint))["findings"]
        gone = settings_for(endpoint)
    missing = run(tmp_path, "doctor", expect=3, **gone)["findings"]
    found, lost = ({one["check"]: one for one in each}["second opinion"] for each in (there, missing))
    assert found["level"] == "ok"
    assert "judge small-judge answers at 127.0.0.1" in found["detail"]
    assert (lost["level"], "connection" in lost["detail"]) == ("problem", True)
    assert "sk-of-this-test" not in json.dumps([there, missing])


@pytest.mark.whole
async def test_a_server_asks_by_grpc_and_a_request_turns_it_off(tmp_path):
    secret = tmp_path / "key"
    secret.write_text("sk-from-a-file\n", encoding="utf-8")
    secret.chmod(0o600)
    with serving(all_of("supported")) as endpoint:
        given = settings_for(endpoint)
        del given["GROUNDTRAIL_SECOND_OPINION__API_KEY"]
        given["GROUNDTRAIL_SECOND_OPINION__API_KEY_FILE"] = str(secret)
        server = start(tmp_path, "dpe", "dpe", "--insecure-local", env=environment(tmp_path / "data", **given))
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                stub = pb_grpc.ProvenanceServiceStub(channel)
                request = pb.CheckRequest(answer=OPEN, facts=[pb.CheckFact(content=FACT)])
                asked = (await stub.Check(request, timeout=patient(120))).report
                request.opinion_limits.scope = opinion_pb2.OPINION_SCOPE_OFF
                alone = (await stub.Check(request, timeout=patient(120))).report
        finally:
            assert server.stop() == 0
        assert endpoint.authorizations == ["Bearer sk-from-a-file"]
    assert asked.claims[0].verdict == claim_pb2.CLAIM_VERDICT_SUPPORTED
    assert alone.claims[0].verdict == claim_pb2.CLAIM_VERDICT_UNDECIDED
    assert not alone.HasField("second_opinion")
    log = server.log.read_text(encoding="utf-8")
    assert "sk-from-a-file" not in log


@pytest.mark.whole
def test_a_report_is_replayed_from_its_record_when_the_judge_is_gone(tmp_path):
    def either(sent):
        if "response_format" in sent:
            assert OPEN in [one["claim"] for one in data_of(sent)["claims"]]
            return votes(sent, lambda _: "supported")
        return OPEN

    (tmp_path / "cellar.md").write_text(f"# House\n\n{FACT}\n", encoding="utf-8")
    with serving(either) as endpoint:
        model = {"GROUNDTRAIL_LLM__BASE_URL": endpoint.url, "GROUNDTRAIL_LLM__MODEL": "gpt-4o-mini"}
        given = settings_for(endpoint) | model
        run(tmp_path, "ingest", "cellar.md")
        answer = run(tmp_path, "ask", "Who keeps the keys of the cellar?", **given)
        session = answer["answer"]["window"]["session_id"]
        run(tmp_path, "export", session, "export.ndjson", "--with-content")
        before = len(endpoint.sent)
        here = run(tmp_path, "replay", "export.ndjson", **given)["reports"]
        assert len(endpoint.sent) == before, "a replay asks nobody"
    gone = run(tmp_path, "replay", "export.ndjson", **given)["reports"]
    off = run(tmp_path, "replay", "export.ndjson")["reports"]
    for reports in (here, gone, off):
        assert [(one["result"], one["fields"]) for one in reports] == [("SAME", [])]

    lines = [json.loads(line) for line in (tmp_path / "export.ndjson").read_text(encoding="utf-8").splitlines()]
    (record,) = [line for line in lines if line.get("record") == "analysis"]
    assert [vote["moved"] for vote in record["report"]["second_opinion"]["votes"]] == [True]
    record["report"]["second_opinion"]["votes"][0]["vote"] = "OPINION_VOTE_UNSUPPORTED"
    (tmp_path / "altered.ndjson").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (altered,) = run(tmp_path, "replay", "altered.ndjson", expect=3)["reports"]
    assert (altered["result"], altered["reason"]) == ("DIFFERS", "EXPORT_ALTERED")
