"""kill -9 of the whole suite in the middle of a run: the run goes on after its last recorded event."""

import uuid

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import session_service_pb2, session_service_pb2_grpc
from ercp.v1 import ercp_pb2, ercp_service_pb2, ercp_service_pb2_grpc

from services.common.ids import trace_session_id
from services.common.rpc.authentication import LOCAL_CALLER
from tests.e2e.processes import environment, start
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
TRACE = str(uuid.UUID(int=42, version=4))
PASSAGE = "Water boils at a lower temperature on a mountain because the air pressure falls with altitude."
OPERATORS = ["OPERATOR_GENERATE", "OPERATOR_VERIFY", "OPERATOR_GENERATE", "OPERATOR_VERIFY", "OPERATOR_STABILIZE"]


def request(kind):
    return kind(
        request_id=str(uuid.uuid4()),
        trace_id=TRACE,
        problem=ercp_pb2.Problem(id="p", description="Why does water boil at a lower temperature on a mountain?"),
        retrieval_context=[ercp_service_pb2.RetrievalPassage(source="handbook", text=PASSAGE)],
    )


@pytest.mark.parametrize("events", [1, 3])
@pytest.mark.tenth
def test_a_run_goes_on_after_a_kill(tmp_path, events):
    env = environment(tmp_path / "data")
    first = start(tmp_path, "first", "--insecure-local", env=env)
    seen = []
    with grpc.insecure_channel(first.address) as channel:
        stub = ercp_service_pb2_grpc.ErcpServiceStub(channel)
        for message in stub.RunStream(request(ercp_service_pb2.RunStreamRequest), timeout=patient(60)):
            seen.append(message.trace_event)
            if len(seen) == events:
                first.kill()
                break
    second = start(tmp_path, "second", "--insecure-local", env=env)
    try:
        with grpc.insecure_channel(second.address) as channel:
            stub = ercp_service_pb2_grpc.ErcpServiceStub(channel)
            answer = stub.Run(request(ercp_service_pb2.RunRequest), timeout=patient(60))
            trace = stub.GetTrace(ercp_service_pb2.GetTraceRequest(trace_id=TRACE), timeout=patient(60))
            sessions = session_service_pb2_grpc.SessionServiceStub(channel)
            session_id = trace_session_id(LOCAL_CALLER.tenant_id, TRACE)
            verdict = sessions.VerifyChain(
                session_service_pb2.VerifyChainRequest(session_id=session_id), timeout=patient(60)
            )
    finally:
        assert second.stop() == 0
    assert answer.status == ercp_pb2.RUN_STATUS_CONVERGED
    assert [ercp_pb2.Operator.Name(event.operator) for event in answer.trace_events] == OPERATORS
    assert list(answer.trace_events[:events]) == seen
    assert list(trace.trace_events) == list(answer.trace_events)
    assert answer.final_reasoning.reasoning_text == PASSAGE
    assert verdict.integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID
