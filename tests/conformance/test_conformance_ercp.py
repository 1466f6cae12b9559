"""ERCP 1.0 over the wire alone: every endpoint answers with the audit metadata of §2, and the loop of §9 runs."""

import re
import uuid

import pytest
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc
from ercp.v1 import ercp_service_pb2_grpc

from tests.conformance.wire import QUESTION

PROBLEM = pb.Problem(id="p1", description=QUESTION)
TEXT = "A broken lighthouse lamp must be reported to the harbour office within 5 days of the night on which it failed."
ERROR = pb.Error(
    type="ERROR_TYPE_MISSING_JUSTIFICATION", excerpt="The lamp must be reported.", confidence=0.9, detected_by=["rule"]
)
REQUESTS = {
    "Generate": rpc.GenerateRequest(problem=PROBLEM),
    "Verify": rpc.VerifyRequest(reasoning_text=TEXT),
    "ExtractConstraints": rpc.ExtractConstraintsRequest(reasoning_text=TEXT, errors=[ERROR]),
    "Stabilize": rpc.StabilizeRequest(reasoning_prev=TEXT, reasoning_curr=TEXT),
    "Mutate": rpc.MutateRequest(problem=PROBLEM, mutation_strategy="MUTATION_STRATEGY_DECOMPOSE"),
}


@pytest.fixture(scope="module")
def ercp(client):
    return ercp_service_pb2_grpc.ErcpServiceStub(client.channel)


def audited(answer):
    """§2: what every answer carries."""
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", answer.trace_id)
    assert answer.timestamp.seconds > 0
    assert answer.proto_version == "ercp-1.0"
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", answer.model_fingerprint)
    assert re.fullmatch(r"hmac:[0-9a-f]{64}", answer.node_signature)
    return answer


@pytest.fixture(scope="module")
def run(client, ercp):
    return client.call(ercp.Run, rpc.RunRequest(request_id=str(uuid.uuid4()), problem=PROBLEM))


def test_a_run_converges_and_returns_its_whole_trace(client, ercp, run):
    audited(run)
    assert run.status == pb.RUN_STATUS_CONVERGED
    assert run.final_reasoning.reasoning_text
    trace = audited(client.call(ercp.GetTrace, rpc.GetTraceRequest(trace_id=run.trace_id)))
    assert list(trace.trace_events) == list(run.trace_events)
    kinds = [pb.Operator.Name(event.operator) for event in run.trace_events]
    assert kinds[:2] == ["OPERATOR_GENERATE", "OPERATOR_VERIFY"]
    assert kinds[-1] == "OPERATOR_STABILIZE"


def test_every_event_is_signed_and_says_how_text_was_decoded(run):
    for event in run.trace_events:
        assert event.trace_id == run.trace_id
        assert re.fullmatch(r"hmac:[0-9a-f]{64}", event.node_signature)
        assert event.HasField("decoding_parameters") == (event.operator == pb.OPERATOR_GENERATE)
    assert len({event.node_signature for event in run.trace_events}) == len(run.trace_events)


@pytest.mark.parametrize("name", REQUESTS)
def test_every_operator_answers_alone(client, ercp, name):
    request = type(REQUESTS[name])()
    request.CopyFrom(REQUESTS[name])
    request.request_id = str(uuid.uuid4())
    answer = audited(client.call(getattr(ercp, name), request))
    assert client.call(getattr(ercp, name), request) == answer, "a repeat gets the first answer"


def test_the_stream_ends_with_the_result(client, ercp):
    request = rpc.RunStreamRequest(request_id=str(uuid.uuid4()), problem=PROBLEM)
    messages = list(client.call(ercp.RunStream, request))
    assert [message.WhichOneof("event") for message in messages[:-1]] == ["trace_event"] * (len(messages) - 1)
    assert [message.trace_event for message in messages[:-1]] == list(audited(messages[-1].result).trace_events)


def test_a_violated_fact_becomes_an_error_with_evidence(client, ercp):
    answer = client.call(ercp.Verify, rpc.VerifyRequest(request_id=str(uuid.uuid4()), reasoning_text=TEXT))
    found = [error for error in answer.errors if error.type == pb.ERROR_TYPE_FACTUAL_INCORRECT]
    assert found
    assert TEXT[slice(*found[0].span)]
    assert any("9 days" in evidence.excerpt for evidence in found[0].evidence)


def rule(name, words, **args):
    made = pb.Constraint(
        constraint_id=str(uuid.uuid4()), type="CONSTRAINT_TYPE_PREDICATE", nl_text=words, immutable=True
    )
    made.predicate.predicate_name = name
    made.predicate.args.update(args)
    return made


def test_a_constraint_is_kept_broken_or_undecided_and_the_last_is_no_convergence(client, ercp):
    """§2 "machine-checkable", §9 step 7: what nobody decided is not kept."""
    tank = rule(
        "GreaterThan", "The tank holds at least 5 litres.", left="tank.volume", right="5", unit="l", inclusive=True
    )
    frame = rule("LessThan", "The frame weighs less than 9 kg.", left="frame.weight", right="9", unit="kg")
    text = "The volume of the tank is 3 litres. The frame weighs 7 kg."
    request = rpc.VerifyRequest(request_id=str(uuid.uuid4()), reasoning_text=text, constraints=[tank, frame])
    broken, kept = client.call(ercp.Verify, request).constraint_outcomes
    assert (broken.state, kept.state) == (pb.CONSTRAINT_STATE_BROKEN, pb.CONSTRAINT_STATE_KEPT)
    assert text[broken.places[0].start : broken.places[0].end] == "The volume of the tank is 3 litres"
    assert kept.places[0].sentence == "The frame weighs 7 kg."
    asked = rpc.RunRequest(request_id=str(uuid.uuid4()), problem=PROBLEM, constraints=[tank])
    run = client.call(ercp.Run, asked)
    assert (run.status, run.status_reason) == (pb.RUN_STATUS_PARTIAL, "UNDECIDED")
    (outcome,) = run.constraint_outcomes
    assert (outcome.state, outcome.undecided_reason) == (pb.CONSTRAINT_STATE_UNDECIDED, "NOT_STATED")


def test_words_that_demand_another_thing_than_the_predicate_are_refused(client, ercp):
    wrong = rule("GreaterThan", "The tank holds at least 5 litres.", left="tank.volume", right="5", unit="l")
    request = rpc.RunRequest(request_id=str(uuid.uuid4()), problem=PROBLEM, constraints=[wrong])
    refusal = client.refused(ercp.Run, request)
    assert (refusal.reason, refusal.fields) == ("CONSTRAINT_WORDS_DISAGREE", ("constraints[0].nl_text",))


def test_an_unknown_predicate_and_an_unknown_trace_are_refused(client, ercp):
    rule = pb.Constraint(type="CONSTRAINT_TYPE_PREDICATE", nl_text="Perhaps.")
    rule.predicate.predicate_name = "Perhaps"
    request = rpc.RunRequest(request_id=str(uuid.uuid4()), problem=PROBLEM, constraints=[rule])
    refusal = client.refused(ercp.Run, request)
    assert (refusal.status, refusal.fields) == ("INVALID_ARGUMENT", ("constraints[0].predicate.predicate_name",))
    unknown = rpc.GetTraceRequest(trace_id=str(uuid.uuid4()))
    assert client.refused(ercp.GetTrace, unknown).reason == "TRACE_NOT_FOUND"
