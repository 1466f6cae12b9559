"""The whole suite with its encoders on Triton: it answers, says so when Triton is killed, and recovers by itself.

The Triton is the test's own, so that it can be killed; GROUNDTRAIL_TEST_TRITON turns the test on all the same.
"""

import time
import uuid

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2
from crp.gateway.v1 import dispatch_service_pb2, dispatch_service_pb2_grpc
from google.rpc import error_details_pb2, status_pb2

from tests.e2e import processes
from tests.e2e.processes import environment, start
from tests.integration.triton_target import triton_target
from tests.patience import patient
from tools.real_servers.provisioning import supported
from tools.real_servers.triton import running

pytestmark = [pytest.mark.needs_triton, pytest.mark.slow, pytest.mark.timeout(420)]

ANSWER_DEADLINE_S = patient(120)
RULES = (
    "Water damage must be reported to the insurer within 3 days.",
    "The cafeteria opens at noon.",
    "Broken glass is replaced by the landlord.",
)
QUESTION = "Within how many days must water damage be reported?"


class Client:
    """Calls the suite as any client would."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)
        self._knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(self.channel)
        self._gateway = dispatch_service_pb2_grpc.DispatchServiceStub(self.channel)

    def ingest(self):
        request = knowledge_service_pb2.IngestSourceRequest(
            request_id=str(uuid.uuid4()),
            uri="file:rules.txt",
            title="Rules",
            media_type="text/plain",
            source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
            content="\n\n".join(RULES).encode(),
        )
        return self._knowledge.IngestSource(request, timeout=ANSWER_DEADLINE_S)

    def search(self):
        request = knowledge_service_pb2.SearchFactsRequest(query=QUESTION, limit=3)
        return self._knowledge.SearchFacts(request, timeout=ANSWER_DEADLINE_S)

    def ask(self):
        request = dispatch_service_pb2.DispatchRequest(
            request_id=str(uuid.uuid4()), query=QUESTION, strategies=[taxonomy_pb2.DISPATCH_STRATEGY_PUSH]
        )
        return self._gateway.Dispatch(request, timeout=ANSWER_DEADLINE_S).answer


def details_of(error: grpc.RpcError) -> dict:
    """Return an error's details by name."""
    data = dict(error.trailing_metadata())["grpc-status-details-bin"]
    found = {}
    for packed in status_pb2.Status.FromString(data).details:
        for kind in ("ErrorInfo", "RetryInfo"):
            message = getattr(error_details_pb2, kind)()
            if packed.Unpack(message):
                found[kind] = message
    return found


def assert_unavailable(call) -> None:
    with pytest.raises(grpc.RpcError) as failed:
        call()
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    details = details_of(failed.value)
    assert details["ErrorInfo"].reason == "MODEL_UNAVAILABLE"
    assert details["RetryInfo"].retry_delay.ToMilliseconds() == 1000
    assert "127.0.0.1" not in failed.value.details()  # where Triton is concerns no client


def until_it_answers(call, deadline_s: float = 30.0):
    """Call again while the answer is UNAVAILABLE, as its RetryInfo asks."""
    ends = time.monotonic() + deadline_s
    while True:
        try:
            return call()
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE or time.monotonic() > ends:
                raise
        time.sleep(1.0)


@pytest.fixture
def own_triton(monkeypatch):
    """Return what starts a Triton of the test's own; where that is not possible the test is skipped."""
    monkeypatch.setattr(processes, "START_DEADLINE_S", patient(120.0))  # two servers and the suite share few cores
    triton_target()
    reason = supported()
    if reason:
        pytest.skip(f"a Triton of the test's own cannot be started: {reason}")
    return running


def test_the_suite_answers_and_survives_a_triton_that_is_killed(tmp_path, own_triton):
    with own_triton() as triton:
        env = environment(
            tmp_path / "data",
            GROUNDTRAIL_INFERENCE__BACKEND="triton",
            GROUNDTRAIL_INFERENCE__TRITON__TARGET=triton.target,
            GROUNDTRAIL_INFERENCE__TRITON__TIMEOUT_S="60",
        )
        suite = start(tmp_path, "suite", "--insecure-local", env=env)
        client = Client(suite.address)
        try:
            assert client.ingest().facts_created >= 1
            answer = client.ask()
            assert "3 days" in answer.text
            assert answer.report.claims
            assert {claim.attribution.type for claim in answer.report.claims} != {0}
            triton.process.kill()
            assert_unavailable(client.search)
            assert_unavailable(client.ask)
            with own_triton(port=int(triton.target.rsplit(":", 1)[1])):
                assert "3 days" in until_it_answers(client.search).hits[0].fact.content
                assert client.ask().text == answer.text
        finally:
            client.channel.close()
            assert suite.stop() == 0, suite.log.read_text()[-3000:]


def test_a_suite_without_its_triton_does_not_start(tmp_path, own_triton):
    env = environment(
        tmp_path / "data",
        GROUNDTRAIL_INFERENCE__BACKEND="triton",
        GROUNDTRAIL_INFERENCE__TRITON__TARGET="127.0.0.1:9",
        GROUNDTRAIL_INFERENCE__TRITON__START_TIMEOUT_S="0.5",
    )
    with pytest.raises(AssertionError, match=r"Triton at 127\.0\.0\.1:9 was not ready after 0\.5 s"):
        start(tmp_path, "suite", "--insecure-local", env=env)
