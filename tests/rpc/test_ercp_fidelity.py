"""ERCP over the real provenance service: what violated constraints cost report, trace and answer (ADR 0078)."""

import json
from pathlib import Path

import pytest
from crp.dpe.v1 import claim_pb2, report_pb2
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc
from google.protobuf.json_format import MessageToDict, ParseDict

from services.common.message_json import json_of
from services.ercp.clients.provenance import analysis_of
from services.ercp.domain.records import Passage
from services.ercp.ports import Knowledge
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.dpe_world import TableEntailment, TableGrounding, models
from tests.fakes.ercp_dpe_world import JudgedErcpWorld
from tests.fakes.ercp_world import BAD, GOOD, PromptedModel, constraint, status

VECTORS = json.loads((Path(__file__).parents[1] / "vectors/ercp/fidelity.json").read_text(encoding="utf-8"))["vectors"]
HANDBOOK = [{"source": "handbook", "text": "The boiling point of water is 100 °C at sea level."}]
AT_100 = {"left": "water.boiling_point", "right": "100", "unit": "degC", "condition": "at sea level"}
NOTHING = {"count": 0, "items": []}


@pytest.fixture
def world():
    return JudgedErcpWorld()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def rule(name="Equal", **args):
    return constraint(name, constraint_id=fresh_uuid(), **(args or AT_100))


def fidelity(event):
    return MessageToDict(event.output_summary)["fidelity"]


def kinds(errors):
    return sorted(pb.ErrorType.Name(each.type).removeprefix("ERROR_TYPE_").lower() for each in errors)


async def verified(client, text, constraints=(), passages=()):
    """Return the answer to Verify and the fidelity in its event."""
    contexts = [rpc.RetrievalPassage(source=f"p{number}", text=each) for number, each in enumerate(passages)]
    request = rpc.VerifyRequest(
        request_id=fresh_uuid(), reasoning_text=text, constraints=constraints, retrieval_context=contexts
    )
    answer = await client.call("Verify", request)
    (event,) = (await client.trace(answer.trace_id)).trace_events
    return answer, fidelity(event)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["test_id"] for vector in VECTORS])
async def test_what_a_constraint_costs_a_text(client, vector):
    form, expected = vector["constraint"], vector["expected"]
    given = rule(form["predicate_name"], **form["args"])
    answer, with_it = await verified(client, vector["text"], [given], vector["passages"])
    _, without = await verified(client, vector["text"], (), vector["passages"])
    assert with_it["score"] == pytest.approx(expected["score"]), vector["rule"]
    assert with_it["score_without_violations"] == pytest.approx(expected["score_without_violations"])
    assert without["score"] == pytest.approx(expected["score_without_violations"])
    assert (without["constraints"], without["score_without_violations"]) == (0, None)
    mine = {"count": 1, "items": [given.constraint_id]}
    assert with_it["violated"] == (mine if expected["state"] == "VIOLATED" else NOTHING)
    assert with_it["not_computed"] == (mine if expected["state"] == "UNKNOWN" else NOTHING)
    assert kinds(answer.errors) == expected["errors"]


async def test_a_violation_is_one_error_and_no_second_one_by_the_report(client):
    for passages in ((), [HANDBOOK[0]["text"]], ["Water is a liquid."]):
        plain, _ = await verified(client, BAD, (), passages)
        denied, _ = await verified(client, BAD, [rule()], passages)
        of_the_constraint = [each for each in denied.errors if "solver" in each.detected_by]
        rest = [each for each in denied.errors if "solver" not in each.detected_by]
        assert len(of_the_constraint) == 1
        assert [(each.type, each.excerpt, each.confidence) for each in rest] == [
            (each.type, each.excerpt, each.confidence) for each in plain.errors
        ]


def made(answer_verdict, *, conflict=None, basis="GROUNDING"):
    """Return a report of one claim with this verdict."""
    claim = claim_pb2.Claim(claim_id="c1", verdict=f"CLAIM_VERDICT_{answer_verdict}")
    claim.span.end = 5
    claim.judgement.basis = claim_pb2.VerdictBasis.Value(f"VERDICT_BASIS_{basis}")
    claim.judgement.support_probability = 0.2
    if conflict is not None:
        claim.judgement.constraint_conflict.constraint_ids.append("r1")
        claim.judgement.constraint_conflict.verdict_without = claim_pb2.ClaimVerdict.Value(f"CLAIM_VERDICT_{conflict}")
    return report_pb2.DpeReport(claims=[claim])


def test_a_report_gives_the_findings_that_it_gives_without_the_constraint():
    knowledge = Knowledge(b"", (Passage("f1", HANDBOOK[0]["text"]),), (1.0,))
    for verdict, basis in (("UNSUPPORTED", "GROUNDING"), ("CONTRADICTED", "CONTRADICTION"), ("SUPPORTED", "GROUNDING")):
        by_fact = verdict == "CONTRADICTED"
        denied = made("CONTRADICTED", conflict=verdict, basis=basis if by_fact else "CONSTRAINT")
        plain = analysis_of(made(verdict, basis=basis), knowledge).findings
        assert analysis_of(denied, knowledge).findings == plain
        assert len(plain) == (verdict != "SUPPORTED")


async def test_each_candidate_of_a_run_is_held_against_what_was_in_force(client, world):
    """The first candidate is free; the second breaks the constraint that it taught, and the third obeys it."""
    world.model._replies = [BAD, BAD.replace("90", "80"), GOOD, GOOD]
    answer = await client.run(retrieval_context=HANDBOOK)
    assert status(answer) == "converged"
    first, second, third, *_ = world.reports()
    assert "constraint_outcomes" not in first
    learned = [each.constraint_id for each in answer.constraints]
    assert [each["verdict"]["constraint_id"] for each in second["constraint_outcomes"]["outcomes"]] == learned[:2]
    assert second["constraint_outcomes"]["violated_count"] == 1
    assert second["fidelity_score"] == pytest.approx(second["constraint_outcomes"]["fidelity_score_without"] - 0.15 / 2)
    assert third["constraint_outcomes"]["violated_count"] == 0
    verifies = [fidelity(each) for each in answer.trace_events if each.operator == pb.OPERATOR_VERIFY]
    assert [each["score"] for each in verifies] == pytest.approx([each["fidelity_score"] for each in world.reports()])
    assert verifies[1]["violated"] == {"count": 1, "items": learned[:1]}
    assert answer.fidelity_score == pytest.approx(world.reports()[-1]["fidelity_score"])


async def test_the_claim_names_the_constraint_and_the_window_keeps_it(client, world):
    world.model._replies = [BAD]
    demanded = rule()
    await client.run(constraints=[demanded], config=rpc.RunConfig(max_iterations=1, run_fact_check=False))
    (report,) = world.reports()
    claim = ParseDict(report, report_pb2.DpeReport()).claims[0]
    assert claim.verdict == claim_pb2.CLAIM_VERDICT_CONTRADICTED
    assert list(claim.judgement.constraint_conflict.constraint_ids) == [demanded.constraint_id]
    assert report["attribution_breakdown"]["CONTEXT_GROUNDED"] == 0
    verdict = await client.chain(world.sessions()[0].session_id)
    assert (verdict.windows_verified, verdict.fault.record_kind) == (1, "")


async def test_the_answer_shows_the_fidelity_as_json_and_after_a_repeat(client, world):
    world.model._replies = [BAD]
    config = rpc.RunConfig(max_iterations=1)
    request = {"request_id": fresh_uuid(), "constraints": [rule()], "config": config}
    answer = await client.run(**request)
    again = await client.run(**request)
    assert json_of(answer)["fidelity_score"] == pytest.approx(answer.fidelity_score)
    assert answer.HasField("fidelity_score")
    assert again == answer


async def test_a_run_without_a_candidate_has_no_fidelity(client):
    rules = [rule(), constraint("Equal", immutable=True, constraint_id=fresh_uuid(), **(AT_100 | {"right": "7"}))]
    rules[0].immutable = True
    answer = await client.run(constraints=rules)
    assert (status(answer), answer.HasField("fidelity_score")) == ("infeasible", False)


async def test_with_every_model_a_supported_claim_can_violate_a_constraint():
    judged = models(entailment=TableEntailment(lambda *_: (0.9, 0.05, 0.05)), grounding=TableGrounding(lambda _: 0.9))
    world = JudgedErcpWorld(model=PromptedModel(GOOD, GOOD), dpe_models=judged)
    demand = rule("Equal", **(AT_100 | {"right": "95"}))
    async with world.serving() as client:
        await client.run(constraints=[demand], retrieval_context=HANDBOOK, config=rpc.RunConfig(max_iterations=1))
    (report,) = world.reports()
    judgement = report["claims"][0]["judgement"]
    assert (judgement["basis"], judgement["constraint_conflict"]["verdict_without"]) == (
        "VERDICT_BASIS_CONSTRAINT",
        "CLAIM_VERDICT_SUPPORTED",
    )
    assert report["claims"][0]["attribution"]["type"] == "ATTRIBUTION_TYPE_CONTEXT_GROUNDED"


def test_a_stored_report_tells_its_fidelity_again():
    report = report_pb2.DpeReport(fidelity_score=0.7)
    report.constraint_outcomes.outcomes.add().verdict.constraint_id = "r1"
    report.constraint_outcomes.outcomes[0].verdict.state = 2
    report.constraint_outcomes.fidelity_score_without = 0.85
    told = analysis_of(report, Knowledge(b"", (), ())).fidelity
    assert (told.score, told.score_without, told.constraints, told.violated) == (0.7, 0.85, 1, ("r1",))
