"""What a server says about itself: health, reflection, and an honest UNIMPLEMENTED."""

import ast
from pathlib import Path

import grpc
import pytest
from crp.dag.v1 import transparency_service_pb2 as transparency
from crp.dag.v1 import transparency_service_pb2_grpc as transparency_grpc
from crp.dpe.v1 import guard_service_pb2 as guard
from crp.dpe.v1 import guard_service_pb2_grpc as guard_grpc
from crp.dpe.v1 import provenance_service_pb2 as provenance
from crp.dpe.v1 import provenance_service_pb2_grpc as provenance_grpc
from crp.gateway.v1 import dispatch_service_pb2 as dispatch
from crp.gateway.v1 import dispatch_service_pb2_grpc as dispatch_grpc
from crp.gateway.v1 import review_service_pb2 as review
from crp.gateway.v1 import review_service_pb2_grpc as review_grpc
from ercp.v1 import ercp_service_pb2 as ercp
from ercp.v1 import ercp_service_pb2_grpc as ercp_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

PATH = {
    "crp.ckf.v1.KnowledgeService",
    "crp.envelope.v1.EnvelopeService",
    "crp.dpe.v1.ProvenanceService",
    "crp.dag.v1.SessionService",
    "crp.gateway.v1.DispatchService",
}


@pytest.fixture(scope="module")
def served(client) -> set[str]:
    return set(ProtoReflectionDescriptorDatabase(client.channel).get_services())


def test_reflection_lists_the_services_of_the_path(served):
    assert PATH - served == set()


def test_reflection_describes_what_it_lists(client, served):
    database = ProtoReflectionDescriptorDatabase(client.channel)
    for name in served & PATH:
        described = database.FindFileContainingSymbol(name)
        assert name.rpartition(".")[2] in [service.name for service in described.service]


def test_health_is_serving_overall_and_for_every_service(client, served):
    health = health_pb2_grpc.HealthStub(client.channel)
    names = ["", *sorted(name for name in served if name.startswith(("crp.", "ercp.")))]
    states = {
        name: health.Check(health_pb2.HealthCheckRequest(service=name), timeout=patient(10)).status for name in names
    }
    assert states == dict.fromkeys(names, health_pb2.HealthCheckResponse.SERVING)


def test_health_of_an_unknown_service_is_not_found(client):
    with pytest.raises(grpc.RpcError) as caught:
        health_pb2_grpc.HealthStub(client.channel).Check(
            health_pb2.HealthCheckRequest(service="x.Y"), timeout=patient(10)
        )
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("service", "stub", "rpc", "request_type"),
    [
        ("crp.dpe.v1.GuardService", guard_grpc.GuardServiceStub, "ScoreCoherence", guard.ScoreCoherenceRequest),
        ("crp.gateway.v1.ReviewService", review_grpc.ReviewServiceStub, "GetReview", review.GetReviewRequest),
        (
            "crp.dag.v1.TransparencyService",
            transparency_grpc.TransparencyServiceStub,
            "GetInclusionProof",
            transparency.GetInclusionProofRequest,
        ),
        ("ercp.v1.ErcpService", ercp_grpc.ErcpServiceStub, "Run", ercp.RunRequest),
    ],
    ids=["guard", "review", "transparency", "ercp"],
)
def test_a_service_is_unimplemented_exactly_when_reflection_does_not_list_it(
    client, served, service, stub, rpc, request_type
):
    refusal = client.refused(getattr(stub(client.channel), rpc), request_type())
    assert (refusal.status == "UNIMPLEMENTED") == (service not in served)


@pytest.mark.parametrize(
    ("stub", "rpc", "request_type"),
    [
        (dispatch_grpc.DispatchServiceStub, "DispatchBatch", dispatch.DispatchBatchRequest),
        (provenance_grpc.ProvenanceServiceStub, "VerifySummary", provenance.VerifySummaryRequest),
    ],
    ids=["DispatchBatch", "VerifySummary"],
)
def test_an_empty_request_to_a_later_rpc_is_never_answered(client, stub, rpc, request_type):
    assert client.refused(getattr(stub(client.channel), rpc), request_type()).status in {
        "UNIMPLEMENTED",
        "INVALID_ARGUMENT",
    }


def test_this_suite_knows_nothing_of_the_product():
    imported = set()
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).split(".")[0])
    assert "services" not in imported
