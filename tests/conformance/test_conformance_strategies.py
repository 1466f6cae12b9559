"""CRP-SPEC-008 under CRP-SPEC-014, level Full: every strategy, and a stream that is stopped before what is false."""

import uuid

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.gateway.v1 import dispatch_service_pb2

from tests.conformance.header_formats import faults
from tests.conformance.levels import row
from tests.conformance.wire import NEXT_QUESTION, QUESTION, TIMEOUT_S, ask, headers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TWO = "Within how many days must a broken lighthouse lamp be reported? What fine does a keeper pay for a late report?"
TRUE = "A broken lighthouse lamp must be reported to the harbour office within 9 days."
FALSE = "A broken lighthouse lamp must be reported to the harbour office within 90 days."
REST = " ".join(["The keeper of the lighthouse writes the report by hand and brings it to the office."] * 12)


def strategy(name: str) -> int:
    return taxonomy_pb2.DispatchStrategy.Value(f"DISPATCH_STRATEGY_{name}")


def streamed(client, **fields):
    """Return the pieces that left, and the outcome at the end."""
    request = dispatch_service_pb2.DispatchStreamRequest(dispatch=ask(QUESTION, **fields))
    events = list(client.gateway.DispatchStream(request, metadata=client.metadata, timeout=TIMEOUT_S))
    assert [event.WhichOneof("event") for event in events].count("outcome") == 1
    return "".join(event.token for event in events if event.HasField("token")), events[-1].outcome


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=row(f"strategy {name.lower()}")) for name in ("PUSH", "PULL", "REFLEXIVE", "AGENTIC")],
)
def test_spec_008_a_strategy_of_its_own_answers_and_says_so(client, name):
    outcome = client.dispatch(QUESTION, strategies=[strategy(name)])
    said = headers(outcome)
    assert faults(said) == []
    assert said["CRP-Context-Strategy"] == name.lower()
    assert "9 days" in outcome.answer.text
    assert client.verify(outcome.answer.session_id).integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID


@row("strategy reflexive")
def test_spec_008_reflexive_refines_what_was_found_and_keeps_the_better_answer(llm):
    fake, client = llm
    fake.first, fake.text = [FALSE], TRUE
    outcome = client.dispatch(QUESTION, strategies=[strategy("REFLEXIVE")], safety_policy="halt-on CRITICAL")
    assert outcome.answer.text == TRUE
    assert headers(outcome)["CRP-Agent-Revision-Round"] == "2/3"


@row("strategy hierarchical")
def test_spec_008_hierarchical_answers_each_part_and_puts_them_together(client):
    outcome = client.dispatch(TWO, strategies=[strategy("HIERARCHICAL")])
    dag = client.dag(outcome.answer.session_id)
    assert len(outcome.answer.window.parent_ids) == 2
    assert headers(outcome)["CRP-Context-Strategy"] == "hierarchical"
    assert (len(dag.windows), outcome.answer.window.window_number) == (4, 3)
    assert ("9 days" in outcome.answer.text, "40 crowns" in outcome.answer.text) == (True, True)


@row("strategy fan-out", "strategy fan-in")
def test_spec_004_6_1_a_first_fan_out_is_the_whole_course(client):
    outcome = client.dispatch(TWO, strategies=[strategy("FAN_OUT")])
    assert headers(outcome)["CRP-Context-Strategy"] == "fan-in"
    assert len(outcome.answer.window.parent_ids) == 2


@row("strategy batch")
def test_spec_008_a_batch_answers_each_and_puts_the_worst_case_on_top(client):
    wrong = ask("x", request_id=str(uuid.uuid4()), max_tokens=0)
    request = dispatch_service_pb2.DispatchBatchRequest(dispatches=[ask(QUESTION), wrong, ask(NEXT_QUESTION)])
    response = client.call(client.gateway.DispatchBatch, request)
    assert [item.WhichOneof("result") for item in response.items] == ["response", "failure", "response"]
    assert response.items[1].failure.reason == "INVALID_FIELD"
    order = ["LOW", "MEDIUM", "HIGH", "CRITICAL"]
    risks = [headers(response.items[n].response)["CRP-Safety-Hallucination-Risk"] for n in (0, 2)]
    assert headers(response)["CRP-Safety-Hallucination-Risk"] == max(risks, key=order.index)


@row("strategy streaming")
def test_spec_008_a_stream_is_the_answer(client):
    pieces, outcome = streamed(client)
    assert pieces == outcome.answer.text
    assert "9 days" in pieces
    assert headers(outcome)["CRP-Context-Protocol-Version"] == "3.0.0"


@row("streaming safety with mid-stream stop")
def test_spec_008_what_is_false_never_leaves_and_the_model_is_stopped(llm):
    fake, client = llm
    fake.text, fake.sent = f"{TRUE} {FALSE} {REST}", 0
    pieces, outcome = streamed(client, safety_policy="halt-on HIGH")
    assert outcome.WhichOneof("outcome") == "halted"
    assert "90" not in pieces
    assert TRUE.startswith(pieces.strip())
    assert fake.sent < len(fake.text.split())
