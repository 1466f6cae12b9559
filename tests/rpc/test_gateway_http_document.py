"""The request of ERCP 1.0 §3.1 as the document prints it, over HTTP, and who may ask it (§11)."""

import pytest

from services.common.settings import ErcpSettings
from tests.fakes.ercp_http import ercp_http
from tests.fakes.ercp_world import GOOD, ErcpWorld

TRACE = "9b2f2f39-8a9e-4d4e-9c6b-0d9b6f6f2a21"
PRINTED = {
    "trace_id": TRACE,
    "problem": {"id": "string", "description": "string", "metadata": {"domain": "physics", "priority": "high"}},
    "config": {
        "model": "gpt-4o-mini",
        "max_iterations": 50,
        "max_constraints": 30,
        "similarity_threshold": 0.95,
        "temperature": 0.0,
        "top_p": 1.0,
        "deterministic": True,
        "verify_threshold": 0.75,
        "candidate_threshold": 0.60,
    },
}
"""As §3.1 prints it, but for the trace's id, which it only describes, and the model, which is a configured one."""
KEYS = {
    *("trace_id", "timestamp", "proto_version", "status", "final_reasoning", "constraints", "trace_events"),
    *("utility_score", "model_fingerprint", "node_signature"),
}


@pytest.mark.parametrize("subject", ["writer", "alice"])
async def test_it_runs_for_whoever_may_run(subject):
    async with ercp_http(ErcpWorld(replies=(GOOD,))) as ercp:
        response = await ercp.post("run", PRINTED, subject)
        assert response.status_code == 200, response.text
        body = response.json()
        assert body.keys() >= KEYS
        assert (body["trace_id"], body["proto_version"], body["status"]) == (TRACE, "ercp-1.0", "converged")
        assert body["final_reasoning"].keys() == {"reasoning_id", "reasoning_text", "sentences", "claims"}


async def test_it_does_not_run_for_a_reader():
    async with ercp_http(ErcpWorld(replies=(GOOD,))) as ercp:
        response = await ercp.post("run", PRINTED, "reader")
        assert (response.status_code, response.json()["error"]["reason"]) == (403, "ROLE_MISSING")


async def test_where_the_deployment_wants_another_role_the_refusal_names_role_field_and_setting():
    async with ercp_http(ErcpWorld(replies=(GOOD,), settings=ErcpSettings(high_priority_role="admin"))) as ercp:
        response = await ercp.post("run", PRINTED, "writer")
        error = response.json()["error"]
        assert (response.status_code, error["reason"]) == (403, "ROLE_MISSING")
        assert error["metadata"] == {"role": "admin", "field": "problem.metadata.priority"}
        assert "GROUNDTRAIL_ERCP__HIGH_PRIORITY_ROLE" in error["message"]
        assert (await ercp.post("run", PRINTED, "alice")).status_code == 200


async def test_a_trace_of_another_tenant_is_not_there():
    async with ercp_http(ErcpWorld(replies=(GOOD,))) as ercp:
        assert (await ercp.post("run", PRINTED)).status_code == 200
        assert (await ercp.trace(TRACE)).json()["trace_events"]
        response = await ercp.trace(TRACE, "mallory")
        assert (response.status_code, response.json()["error"]["reason"]) == (404, "TRACE_NOT_FOUND")
        same_id = await ercp.post("run", PRINTED, "mallory")
        assert same_id.json()["node_signature"] != (await ercp.post("run", PRINTED)).json()["node_signature"]
