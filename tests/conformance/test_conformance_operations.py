"""CRP-SPEC-014, levels Standard and Full: analysis and its stages, exports, profiles, residency, mTLS."""

import json
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import session_service_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.conformance.conftest import EMBEDDED, REGION
from tests.conformance.levels import row
from tests.conformance.wire import QUESTION, TIMEOUT_S, Refusal, ask, headers
from tests.e2e.processes import environment, start
from tests.fakes.certificates import own_certificate
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PROFILES = {
    "medical": ("default-src context", "halt-on HIGH", "require-grounding 0.9", "block-pii", "oversight human-review"),
    "financial": ("halt-on CRITICAL", "warn-on HIGH", "block-fabrication", "upgrade-on-risk reflexive"),
    "developer": ("warn-on CRITICAL", "require-quality S A B", "oversight auto"),
    "public-facing": ("halt-on CRITICAL", "block-pii", "require-flow 0.6", "max-repetition MINOR"),
}


def exported(client, session_id: str, form: Any) -> list[dict]:
    request = session_service_pb2.ExportAuditRequest(session_id=session_id, format=form)
    stream = client.sessions.ExportAudit(request, metadata=client.metadata, timeout=TIMEOUT_S)
    return [json.loads(each.line) for each in stream]


@row("all 13 stages")
def test_spec_005_2_every_stage_runs_and_says_how_it_ended(second):
    stages = second.answer.report.stages
    assert {stage.number for stage in stages} == set(range(1, 14))
    assert all(stage.status for stage in stages)


@row("response quality assurance")
def test_spec_005_18_the_quality_score_stands_in_the_header(second):
    report = second.answer.report
    assert 0.0 <= report.quality_score <= 1.0
    assert float(headers(second)["CRP-Quality-Score"]) == pytest.approx(report.quality_score, abs=0.0005)


@row("compliance headers")
def test_spec_005_14_the_regulatory_class_is_said_and_never_guessed(first):
    said = headers(first)
    assert said["CRP-Compliance-EU-AI-Act"] == "UNKNOWN"


@row("NDJSON export")
def test_spec_011_the_trail_is_exported_line_by_line(client, second):
    lines = exported(client, second.answer.session_id, session_service_pb2.AUDIT_EXPORT_FORMAT_NDJSON)
    kinds = [line["event_type"] for line in lines if "event_type" in line]
    assert kinds.count("AUDIT_EVENT_TYPE_DISPATCH_COMPLETED") + kinds.count("DISPATCH_COMPLETED") == 2


@row("OCSF")
def test_spec_011_the_trail_is_exported_as_ocsf(client, second):
    lines = exported(client, second.answer.session_id, session_service_pb2.AUDIT_EXPORT_FORMAT_OCSF)
    assert {line["class_uid"] for line in lines} == {6003}
    assert {line["src_endpoint"]["uid"] for line in lines} == {second.answer.session_id}
    assert all(line["unmapped"]["crp_hmac"] for line in lines)
    assert all(1 <= line["severity_id"] <= 6 for line in lines)


@row("profiles")
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_spec_006_a_profile_is_applied_with_its_directives(client, profile):
    applied = headers(client.dispatch(QUESTION, safety_policy=f"profile={profile}"))["CRP-Safety-Policy-Applied"]
    assert [directive for directive in PROFILES[profile] if directive not in applied] == []


@row("residency")
def test_spec_002_a_region_that_is_not_served_is_refused_before_anything_is_processed(llm, client):
    _, there = llm
    kept = there.dispatch(QUESTION, data_residency=REGION, safety_policy="oversight log-only")
    assert headers(kept)["CRP-Compliance-Data-Residency"] == REGION
    for one in (there, client):
        refusal = one.refused(one.gateway.Dispatch, ask(QUESTION, data_residency="MARS"))
        assert refusal == Refusal("INVALID_ARGUMENT", "INVALID_FIELD", ("data_residency",))


def health(channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


@contextmanager
def guarded(folder):
    """Serve one service whose clients have to show a certificate; yield its address and the files."""
    certificate, key = own_certificate(folder)
    settings = {
        "GROUNDTRAIL_SERVER__TLS__CERT_FILE": certificate,
        "GROUNDTRAIL_SERVER__TLS__KEY_FILE": key,
        "GROUNDTRAIL_SERVER__TLS__CLIENT_CA_FILE": certificate,
    }
    server = start(folder, "mtls", "dag", env=environment(folder / "data", **{k: str(v) for k, v in settings.items()}))
    try:
        yield server.address, certificate.read_bytes(), key.read_bytes()
    finally:
        assert server.stop() == 0


@row("mTLS")
def test_spec_015_a_client_without_a_certificate_gets_no_connection(target, tmp_path):
    if target != EMBEDDED:
        pytest.skip("--target embedded only: the certificates of another server are not ours to make")
    with guarded(tmp_path) as (address, certificate, key):
        request = health_pb2.HealthCheckRequest()
        shown = grpc.ssl_channel_credentials(certificate, key, certificate)
        with grpc.secure_channel(address, shown) as channel:
            status = health(channel).Check(request, timeout=TIMEOUT_S).status
            assert status == health_pb2.HealthCheckResponse.SERVING
        for nothing in (
            grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate)),
            grpc.insecure_channel(address),
        ):
            with nothing, pytest.raises(grpc.RpcError) as caught:
                health(nothing).Check(request, timeout=patient(20))
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


@row("policy inheritance")
def test_spec_006_an_agent_inherits_its_orchestrators_policy(client):
    root = client.dispatch(QUESTION, safety_policy="halt-on HIGH")
    agent = client.dispatch(QUESTION, agent_session_parent=root.answer.session_id)
    assert "halt-on HIGH" in headers(agent)["CRP-Safety-Policy-Applied"]
    weaker = ask(QUESTION, agent_session_parent=root.answer.session_id, safety_policy="halt-on CRITICAL")
    assert client.refused(client.gateway.Dispatch, weaker).reason == "POLICY_RELAXED"


def test_the_session_a_run_verifies_is_whole(client, second):
    assert client.verify(second.answer.session_id).integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID
