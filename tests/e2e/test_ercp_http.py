"""HTTP against the suite as a process, with a real key: the canonical example (ERCP 1.0 §12), and a chat by curl."""

import json
import shutil
import subprocess
import uuid

import httpx
import pytest

from tests.e2e.processes import command, environment, start
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

WATER = """# Water

At sea level water boils at 100 °C, because its vapour pressure equals the pressure of the air there.

At higher altitudes the pressure of the air is lower, so that water boils at a lower temperature.
"""
EXAMPLE = {
    "problem": {"id": "p1", "description": "Why does water boil at different temperatures at different altitudes?"},
    "config": {"model": "", "max_iterations": 10, "similarity_threshold": 0.95, "deterministic": True},
}
"""As §12 prints it, but for the model, which is the deployment's own."""


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ercp-http")
    env = environment(folder / "data")
    made = command(folder, "keys", "create", "--label", "test", "--role", "writer", "--json", env=env)
    assert made.returncode == 0, made.stdout + made.stderr
    key = json.loads(made.stdout)["api_key"]
    (folder / "water.md").write_text(WATER, encoding="utf-8")
    server = start(folder, "suite", "--http-port", "0", env=env)
    try:
        ingested = command(
            folder,
            *("ingest", "water.md", "--source-type", "research"),
            env=env | {"GROUNDTRAIL_CLIENT__API_KEY": key, "GROUNDTRAIL_CLIENT__SERVER": server.address},
        )
        assert ingested.returncode == 0, ingested.stdout + ingested.stderr
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{server.http_port}", headers=headers, timeout=patient(60)
        ) as client:
            yield client
    finally:
        status = server.stop()
    assert status == 0, server.log.read_text()[-3000:]


@pytest.fixture(scope="module")
def run(suite):
    response = suite.post("/ercp/v1/run", json=EXAMPLE)
    assert response.status_code == 200, response.text
    return response.json()


def test_the_canonical_example_runs(run):
    assert run["proto_version"] == "ercp-1.0"
    assert run["status"] in {"converged", "partial"}
    assert "boils" in run["final_reasoning"]["reasoning_text"]
    assert [event["operator"] for event in run["trace_events"][:2]] == ["generate", "verify"]
    assert run["model_fingerprint"].startswith("sha256:")
    assert run["node_signature"].startswith("hmac:")
    signatures = [event["node_signature"] for event in run["trace_events"]]
    assert len(set(signatures)) == len(signatures)


def test_the_request_of_the_documents_first_endpoint_runs_for_a_writer(suite):
    """§3.1 as it is printed, but for the model and the trace's id, which the server chooses."""
    problem = {"id": "string", "description": "string", "metadata": {"domain": "physics", "priority": "high"}}
    config = {
        "max_iterations": 50, "max_constraints": 30, "similarity_threshold": 0.95, "temperature": 0.0, "top_p": 1.0,
        "deterministic": True, "verify_threshold": 0.75, "candidate_threshold": 0.60,
    }  # fmt: skip
    response = suite.post("/ercp/v1/run", json={"problem": problem, "config": config})
    assert response.status_code == 200, response.text
    assert response.json()["status"] in {"converged", "infeasible", "partial", "failed"}


def test_the_trace_is_there_afterwards_and_another_tenants_is_not(suite, run):
    trace = suite.get(f"/ercp/v1/trace/{run['trace_id']}")
    assert trace.status_code == 200, trace.text
    assert trace.json()["trace_events"] == run["trace_events"]
    missing = suite.get(f"/ercp/v1/trace/{uuid.uuid4()}")
    assert (missing.status_code, missing.json()["error"]["reason"]) == (404, "TRACE_NOT_FOUND")


def test_the_operators_of_the_loop_answer_one_by_one(suite):
    text = "The boiling point of water at sea level is 100 °C. The boiling point of water at sea level is 90 °C."
    verified = suite.post("/ercp/v1/verify", json={"reasoning_text": text}).json()
    assert {error["type"] for error in verified["errors"]} == {"contradiction", "factual_incorrect"}
    body = {"errors": verified["errors"], "reasoning_text": text, "trace_id": verified["trace_id"]}
    extracted = suite.post("/ercp/v1/extract_constraints", json=body).json()
    found = extracted["constraints"] + extracted["candidate_constraints"]
    assert found
    assert all(one["nl_text"] and one["predicate"]["predicate_name"] for one in found)
    same = suite.post("/ercp/v1/stabilize", json={"reasoning_prev": text, "reasoning_curr": text}).json()
    assert (same["stable"], same["score"]) == (True, 1.0)
    generated = suite.post("/ercp/v1/generate", json={"problem": EXAMPLE["problem"]}).json()
    assert generated["sentences"]
    mutated = suite.post(
        "/ercp/v1/mutate",
        json={"problem": EXAMPLE["problem"], "mutation_strategy": "relax", "constraints": found},
    ).json()
    assert mutated["mutation_notes"]


def test_a_run_is_watched_as_it_goes(suite):
    with suite.stream("POST", "/ercp/v1/run", json=EXAMPLE, headers={"Accept": "text/event-stream"}) as response:
        assert response.status_code == 200
        kinds = [line.removeprefix("event: ") for line in response.iter_lines() if line.startswith("event: ")]
    assert kinds[-1] == "result"
    assert set(kinds[:-1]) == {"trace_event"}


def test_who_has_no_credential_gets_none(suite):
    anonymous = httpx.post(suite.base_url.join("/ercp/v1/run"), json=EXAMPLE, timeout=patient(20))
    assert (anonymous.status_code, anonymous.json()["error"]["reason"]) == (401, "CREDENTIAL_MISSING")
    wrong = suite.post("/ercp/v1/run", json=EXAMPLE, headers={"Authorization": "Bearer crp_gw_test_" + "x" * 32})
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, "Bearer")


def test_a_predicate_that_does_not_exist_is_refused_at_its_place(suite):
    wrong = {"type": "predicate", "nl_text": "x", "predicate": {"predicate_name": "Roughly", "args": {}}}
    response = suite.post("/ercp/v1/run", json=EXAMPLE | {"constraints": [wrong]})
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["reason"] == "INVALID_FIELD"
    assert any(field["field"].startswith("constraints[0].predicate") for field in error["fields"])


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("is_streamed", [False, True])
def test_curl_chats_with_the_documents(suite, is_streamed):
    question = "Why does water boil at a lower temperature at higher altitudes?"
    body = {"model": "groundtrail", "messages": [{"role": "user", "content": question}], "stream": is_streamed}
    given = ["curl", "-sSiN", "--noproxy", "*", f"{suite.base_url}/v1/chat/completions", "-d", json.dumps(body)]
    given += ["-H", f"Authorization: {suite.headers['Authorization']}"]
    done = subprocess.run(given, capture_output=True, text=True, timeout=patient(60), check=False)
    assert done.returncode == 0, done.stderr
    head, _, said = done.stdout.replace("\r\n", "\n").partition("\n\n")
    headers = dict(line.split(": ", 1) for line in head.lower().splitlines()[1:])
    assert head.startswith("HTTP/1.1 200")
    if is_streamed:  # what the whole answer decides comes at last
        events = [json.loads(line.removeprefix("data: ")) for line in said.splitlines() if line.startswith("data: {")]
        text = "".join(event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"])
        told = events[-1]["groundtrail"]
        headers |= {name.lower(): value.lower() for name, value in told["headers"].items()}
        assert said.rstrip().endswith("data: [DONE]")
    else:
        (choice,), told = json.loads(said)["choices"], json.loads(said)["groundtrail"]
        text = choice["message"]["content"]
    assert "lower temperature" in text
    assert headers["crp-safety-hallucination-risk"] == "low"
    assert told["supported"] == told["judged"] > 0
