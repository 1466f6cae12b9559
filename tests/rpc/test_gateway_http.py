"""ERCP 1.0 over HTTP: the document's JSON in and out, refusals in one shape, the headers of every answer (ADR 0075)."""

import asyncio
import contextlib
import json
import socket
import uuid
from datetime import UTC, datetime
from pathlib import Path

import grpc
import httpx
import pytest
from ercp.v1 import ercp_pb2 as ercp
from pydantic import ValidationError

from services.common.encoding import canonical_json
from services.common.errors import (
    CrpError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from services.common.rpc.status import STATUS
from services.common.settings import SettingsError
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import SECURITY_HEADERS, create_app
from services.gateway.doors.http.json_bodies import MAX_DEPTH
from services.gateway.doors.http.problems import SlowRequestError, http_status
from services.gateway.doors.http.server import HttpServer
from tests.fakes.ercp_stub import FINGERPRINT, SIGNATURE, TRACE, ErcpStub
from tests.fakes.open_gate import open_gate
from tests.patience import patient

SETTINGS = HttpSettings(port=0, max_body_bytes=64 * 1024)
AUDIT = {"trace_id", "timestamp", "proto_version", "model_fingerprint", "node_signature"}
PROBLEM = {"id": "p1", "description": "Why?", "metadata": {"domain": "physics", "priority": "high"}}
CONSTRAINT = {
    "constraint_id": "c1",
    "type": "predicate",
    "priority": "high",
    "nl_text": "Water boils at 100 °C.",
    "predicate": {
        "predicate_name": "Equal",
        "args": {"left": "water.boiling_point", "right": "100", "unit": "C", "tolerance": 0.5, "strict": [1, None]},
    },
    "source": {"detected_by": "nli", "error_id": "e1"},
    "confidence": 0.92,
    "immutable": True,
}
FAULT = {
    "error_id": "e1",
    "type": "missing_justification",
    "span": [0, 12],
    "excerpt": "Water boils.",
    "confidence": 0.86,
    "detected_by": ["nli", "rule"],
    "evidence": [{"source": "nli", "score": 0.86}],
}
DOCUMENT = {
    "run": (
        {
            "trace_id": TRACE,
            "problem": PROBLEM,
            "config": {
                "model": "string",
                "max_iterations": 50,
                "max_constraints": 30,
                "similarity_threshold": 0.95,
                "temperature": 0.0,
                "top_p": 1.0,
                "deterministic": True,
                "verify_threshold": 0.75,
                "candidate_threshold": 0.60,
            },
        },
        {"status", "final_reasoning", "constraints", "trace_events", "utility_score"},
    ),
    "generate": (
        {
            "trace_id": TRACE,
            "problem": {},
            "constraints": [],
            "gen_config": {"model": "", "temperature": 0.0, "max_tokens": 2000, "deterministic": True},
        },
        {"reasoning_id", "reasoning_text", "sentences", "claims"},
    ),
    "verify": (
        {
            "trace_id": TRACE,
            "reasoning_id": TRACE,
            "reasoning_text": "string",
            "constraints": [CONSTRAINT],
            "verify_config": {"nli_threshold": 0.7, "run_fact_check": True},
        },
        {"errors"},
    ),
    "extract_constraints": (
        {
            "trace_id": TRACE,
            "errors": [FAULT],
            "reasoning_text": "string",
            "extract_config": {"max_constraints_per_error": 2},
        },
        {"constraints", "candidate_constraints"},
    ),
    "stabilize": (
        {"trace_id": TRACE, "reasoning_prev": "string", "reasoning_curr": "string", "threshold": 0.95},
        {"stable", "score"},
    ),
    "mutate": (
        {
            "trace_id": TRACE,
            "problem": PROBLEM,
            "reasoning_text": "string",
            "mutation_strategy": "relax",
            "mutation_config": {},
        },
        {"new_problem", "new_constraints", "mutation_notes"},
    ),
}
"""Requests as ERCP 1.0 §3 prints them, and what §3 says that the answers hold besides the audit metadata."""


class StoppedClock:
    def now(self):
        return datetime(2026, 5, 24, 9, 0, tzinfo=UTC)


ANSWERS = json.loads((Path(__file__).parents[1] / "vectors/ercp/answers.json").read_text(encoding="utf-8"))["answers"]


@pytest.fixture
def stub():
    return ErcpStub()


@pytest.fixture
async def http(stub):
    app = create_app(stub, open_gate(), SETTINGS, StoppedClock(), "0.1.0")
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway/ercp/v1") as client:
        yield client


def refusal(response, status, reason):
    assert response.status_code == status, response.text
    body = response.json()
    assert body["error"]["reason"] == reason
    assert body.keys() - {"error"} == AUDIT
    assert (body["proto_version"], body["timestamp"]) == ("ercp-1.0", "2026-05-24T09:00:00.000000Z")
    assert body["model_fingerprint"] is body["node_signature"] is None
    return body


@pytest.mark.parametrize("name", DOCUMENT)
async def test_the_documents_own_requests_get_the_documents_answers(http, stub, name):
    request, keys = DOCUMENT[name]
    response = await http.post(f"/{name}", json=request)
    assert response.status_code == 200, response.text
    body = response.json()
    assert keys | AUDIT <= body.keys()
    assert body["trace_id"] == TRACE
    assert body["timestamp"] == "2026-02-02T02:40:00.123456Z"
    assert (body["proto_version"], body["model_fingerprint"], body["node_signature"]) == (
        "ercp-1.0",
        FINGERPRINT,
        SIGNATURE,
    )
    (asked,) = stub.asked
    assert asked.rpc.lower() == name.replace("_", "")
    assert asked.request.trace_id == TRACE
    assert uuid.UUID(asked.request.request_id).version == 4
    assert asked.timeout == (900 if name == "run" else 60)


async def test_every_field_of_a_run_arrives(http, stub):
    body = DOCUMENT["run"][0] | {
        "constraints": [CONSTRAINT],
        "retrieval_context": [{"source": "s", "text": "Water boils at 100 °C."}],
    }
    await http.post("/run", json=body)
    request = stub.asked[0].request
    assert (request.problem.id, request.problem.description) == ("p1", "Why?")
    assert dict(request.problem.metadata) == {"domain": "physics", "priority": "high"}
    assert (request.config.max_iterations, request.config.deterministic, request.config.temperature) == (50, True, 0.0)
    assert request.config.HasField("candidate_threshold")
    assert not request.config.HasField("seed")
    (constraint,) = request.constraints
    assert (constraint.type, constraint.priority) == (
        ercp.CONSTRAINT_TYPE_PREDICATE,
        ercp.CONSTRAINT_PRIORITY_HIGH,
    )
    assert (constraint.immutable, constraint.confidence, constraint.source.detected_by) == (True, 0.92, "nli")
    assert constraint.predicate.args["tolerance"] == 0.5
    assert list(constraint.predicate.args["strict"]) == [1, None]
    assert request.retrieval_context[0].text == "Water boils at 100 °C."


async def test_errors_to_extract_from_arrive(http, stub):
    await http.post("/extract_constraints", json=DOCUMENT["extract_constraints"][0])
    (error,) = stub.asked[0].request.errors
    assert (error.type, list(error.span), list(error.detected_by)) == (
        ercp.ERROR_TYPE_MISSING_JUSTIFICATION,
        [0, 12],
        ["nli", "rule"],
    )
    assert error.evidence[0].score == 0.86


async def test_objects_are_written_as_the_document_prints_them(http):
    body = (await http.post("/run", json=DOCUMENT["run"][0])).json()
    assert (body["status"], body["utility_score"]) == ("converged", None)
    assert body["constraints"][0] == {
        "constraint_id": "c1",
        "type": "predicate",
        "priority": "high",
        "nl_text": "Water boils at 100 °C at sea level.",
        "predicate": {
            "predicate_name": "Equal",
            "args": {"left": "water.boiling_point", "right": "100", "unit": "C"},
        },
        "source": {"detected_by": "nli", "error_id": "e1"},
        "confidence": 0.92,
        "immutable": False,
    }
    event = body["trace_events"][0]
    assert (event["operator"], event["input_summary"], event["timestamp"]) == (
        "generate",
        {"constraints": 1},
        "2026-02-02T02:40:00.123456Z",
    )
    (error,) = (await http.post("/verify", json=DOCUMENT["verify"][0])).json()["errors"]
    assert error | {"evidence": FAULT["evidence"]} == FAULT
    assert error["evidence"][0] | FAULT["evidence"][0] == error["evidence"][0]


@pytest.mark.parametrize("name", [*DOCUMENT, "trace"])
async def test_to_who_does_not_read_the_newer_fields_every_byte_is_as_before(http, name):
    """ERCP 1.0 §10: what ADR 0115 added stands behind the fields that were there, and leaves their bytes alone."""
    if name == "trace":
        response = await http.get(f"/trace/{TRACE}")
    else:
        response = await http.post(f"/{name}", json=DOCUMENT[name][0])
    rpc = "GetTrace" if name == "trace" else "".join(part.title() for part in name.split("_"))
    before, body = ANSWERS[rpc], response.json()
    known = before["fields"]
    assert list(body)[: len(known)] == known
    newer = {
        "constraint_outcomes",
        "duplicate_constraints",
        "node_key_id",
        "open_doubts",
        "open_grounds",
        "trace_key_id",
    }
    assert set(body) - set(known) <= newer
    assert canonical_json({field: body[field] for field in known}).decode() == before["canonical"]


async def test_a_trace_is_read(http, stub):
    response = await http.get(f"/trace/{TRACE}")
    assert {"trace_id", "trace_events", "model_fingerprints", "node_signature"} <= response.json().keys()
    assert (stub.asked[0].rpc, stub.asked[0].request.trace_id) == ("GetTrace", TRACE)


async def test_fields_of_a_newer_minor_version_are_accepted(http, stub):
    body = DOCUMENT["run"][0] | {"hint": "x", "problem": PROBLEM | {"language": "en"}}
    body["config"] = body["config"] | {"beam_width": 4, "nested": {"deep": [1]}}
    body["constraints"] = [CONSTRAINT | {"weight": 0.5}]
    assert (await http.post("/run", json=body)).status_code == 200
    assert stub.asked[0].request.config.max_iterations == 50


@pytest.mark.parametrize(
    ("name", "change", "field", "told"),
    [
        ("run", {"problem": None}, "problem", "must be an object"),
        ("run", {"problem": "Why?"}, "problem", "must be an object"),
        ("run", {"config": {"max_iterations": -1}}, "config.max_iterations", "greater than or equal to 0"),
        ("run", {"config": {"max_iterations": 2**32}}, "config.max_iterations", "less than or equal"),
        ("run", {"config": {"max_iterations": "50"}}, "config.max_iterations", "must be a whole number"),
        ("run", {"config": {"deterministic": "yes"}}, "config.deterministic", "must be true or false"),
        ("run", {"constraints": [CONSTRAINT, CONSTRAINT | {"type": "wish"}]}, "constraints[1].type", "'temporal'"),
        ("run", {"constraints": [CONSTRAINT | {"priority": "urgent"}]}, "constraints[0].priority", "'low'"),
        ("mutate", {"mutation_strategy": "guess"}, "mutation_strategy", "'reframe'"),
        ("mutate", {"mutation_config": {"n": 2**60}}, "mutation_config.n", "2^53"),
        ("run", {"problem": PROBLEM | {"metadata": {"x": [1, {"y": "\udc00"}]}}}, "problem.metadata.x[1].y", "Unicode"),
        ("verify", {"reasoning_text": None}, "reasoning_text", "must be a text"),
        ("extract_constraints", {"errors": [FAULT | {"type": "typo"}]}, "errors[0].type", "'ambiguity'"),
        ("extract_constraints", {"errors": [FAULT | {"span": [-1, 2]}]}, "errors[0].span[0]", "greater than"),
    ],
)
async def test_a_wrong_field_is_named_with_what_is_allowed(http, stub, name, change, field, told):
    sent = json.dumps(DOCUMENT[name][0] | change).encode("ascii")
    body = refusal(await http.post(f"/{name}", content=sent), 400, "INVALID_FIELD")
    assert body["trace_id"] in {None, TRACE}
    (violation,) = [one for one in body["error"]["fields"] if one["field"] == field]
    assert told in violation["description"]
    assert stub.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"run"',
        b"null",
        b"\xff\xfe",
        b'{"reasoning_prev": NaN, "reasoning_curr": ""}',
        b'{"reasoning_prev": "", "reasoning_curr": "", "threshold": Infinity}',
        b'{"reasoning_prev": "\\ud800", "reasoning_curr": ""}',
        b'{"reasoning_prev": "", "reasoning_curr": "", "\\ud800": 1}',
        b'{"reasoning_prev": "", "reasoning_curr": "", "x": ' + b"[" * 2_000 + b"]" * 2_000 + b"}",
        b'{"x": ' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"}",
        b'{"reasoning_prev": "", "reasoning_curr": "", "threshold": 1e400}',
        b'{"reasoning_prev": "", "reasoning_curr": "", "later": {"x": [1e400]}}',
        b'{"reasoning_prev": "", "reasoning_curr": "", "threshold": 1' + b"0" * 5_000 + b"}",
    ],
)
async def test_a_body_that_is_no_object_of_text_and_numbers_is_refused(http, stub, body):
    refusal(await http.post("/stabilize", content=body), 400, "INVALID_FIELD")
    assert stub.asked == []


async def test_a_body_that_is_too_large_is_refused_before_it_is_read_whole(http, stub):
    most = SETTINGS.max_body_bytes
    refusal(await http.post("/stabilize", content=b"x" * (most + 1)), 413, "MESSAGE_TOO_LARGE")
    sent = 0

    async def parts():
        nonlocal sent
        for _ in range(1_000):
            sent += 1024
            yield b"x" * 1024

    refusal(await http.post("/stabilize", content=parts()), 413, "MESSAGE_TOO_LARGE")
    assert sent >= most
    assert stub.asked == []


def test_every_reason_has_its_status():
    expected = {
        grpc.StatusCode.INVALID_ARGUMENT: 400,
        grpc.StatusCode.UNAUTHENTICATED: 401,
        grpc.StatusCode.PERMISSION_DENIED: 403,
        grpc.StatusCode.NOT_FOUND: 404,
        grpc.StatusCode.ABORTED: 409,
        grpc.StatusCode.DATA_LOSS: 409,
        grpc.StatusCode.FAILED_PRECONDITION: 424,
        grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
        grpc.StatusCode.UNAVAILABLE: 503,
        grpc.StatusCode.DEADLINE_EXCEEDED: 504,
        grpc.StatusCode.INTERNAL: 500,
    }
    own = {ErrorReason.MESSAGE_TOO_LARGE: 413, ErrorReason.UNSUPPORTED_MEDIA: 415}
    for reason, row in STATUS.items():
        assert http_status(CrpError(reason, "x")) == own.get(reason, expected[row.code]), reason
    assert http_status(SlowRequestError(ErrorReason.DEADLINE_EXCEEDED, "x")) == 408


async def test_what_the_service_refuses_is_told_whole(http, stub):
    fault = FieldViolation("config.top_p", "must be 1.0 when deterministic")
    stub.failing = InvalidRequestError(ErrorReason.INVALID_FIELD, "top_p", violations=(fault,), allowed="1.0")
    response = await http.post("/run", json=DOCUMENT["run"][0], headers={"X-Request-Id": "me-1"})
    error = refusal(response, 400, "INVALID_FIELD")["error"]
    assert error["fields"] == [{"field": "config.top_p", "description": "must be 1.0 when deterministic"}]
    assert (error["metadata"], error["request_id"], error["status"]) == ({"allowed": "1.0"}, "me-1", "INVALID_ARGUMENT")
    assert error["retryable"] is False
    assert response.json()["trace_id"] == TRACE


async def test_when_to_try_again_and_how_to_prove_who_one_is_are_headers(http, stub):
    stub.failing = UnavailableError(ErrorReason.STORE_UNAVAILABLE, "away", retry_after_s=7.2)
    response = await http.get(f"/trace/{TRACE}")
    assert (refusal(response, 503, "STORE_UNAVAILABLE")["trace_id"], response.headers["retry-after"]) == (TRACE, "7")
    stub.failing = UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, "no credential")
    response = await http.get(f"/trace/{TRACE}")
    assert response.headers["www-authenticate"] == "Bearer"
    refusal(response, 401, "CREDENTIAL_MISSING")
    stub.failing = NotFoundError(ErrorReason.TRACE_NOT_FOUND, "no such trace")
    refusal(await http.get(f"/trace/{TRACE}"), 404, "TRACE_NOT_FOUND")


async def test_a_fault_of_ours_says_nothing_of_itself_and_stands_in_the_log(http, stub, caplog):
    stub.failing = RuntimeError("secret of db.internal")
    response = await http.post("/run", json=DOCUMENT["run"][0])
    refusal(response, 500, "INTERNAL")
    assert "secret" not in response.text
    assert "secret of db.internal" in caplog.text
    stub.failing, stub.breaking = None, RuntimeError("another secret")
    streamed = await http.post("/run", json=DOCUMENT["run"][0], headers={"Accept": "text/event-stream"})
    assert [data.get("error", {}).get("reason") for _, data in events_of(streamed.text)] == [None, "INTERNAL"]
    assert "another secret" not in streamed.text
    assert "another secret" in caplog.text


async def test_credential_request_id_and_trace_travel_on(http, stub):
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"Authorization": "Bearer crp_gw_test_x", "X-Request-Id": "me-1", "traceparent": parent}
    response = await http.get(f"/trace/{TRACE}", headers=headers)
    assert stub.asked[0].metadata == {
        "authorization": "Bearer crp_gw_test_x",
        "x-request-id": "me-1",
        "traceparent": parent,
    }
    assert response.headers["x-request-id"] == "me-1"
    await http.get(f"/trace/{TRACE}", headers={"X-Request-Id": "no id\t"})
    assert uuid.UUID(stub.asked[1].metadata["x-request-id"])
    assert "authorization" not in stub.asked[1].metadata


async def test_a_credential_that_is_no_text_is_refused(http, stub):
    headers = [(b"authorization", b"Bearer \xc3\xa9")]
    refusal(await http.get(f"/trace/{TRACE}", headers=headers), 401, "CREDENTIAL_INVALID")
    assert stub.asked == []


async def test_a_repeat_is_the_callers_to_name(http, stub):
    key = str(uuid.uuid4())
    for _ in range(2):
        await http.post("/stabilize", json=DOCUMENT["stabilize"][0], headers={"Idempotency-Key": key})
    assert [asked.request.request_id for asked in stub.asked] == [key, key]
    response = await http.post("/stabilize", json=DOCUMENT["stabilize"][0], headers={"Idempotency-Key": "again"})
    (fault,) = refusal(response, 400, "INVALID_FIELD")["error"]["fields"]
    assert fault["field"] == "Idempotency-Key"


@pytest.mark.parametrize("name", ["run", "nothing", "../../healthz", "trace/x"])
async def test_every_answer_has_the_headers(http, stub, name):
    if name == "run":
        stub.failing = RuntimeError("x")
    response = await http.request("GET" if name != "run" else "POST", f"/{name}", json=DOCUMENT["run"][0])
    assert {key: response.headers[key] for key in SECURITY_HEADERS} == SECURITY_HEADERS
    assert len(response.headers.get_list("cache-control")) == 1


async def test_paths_and_methods_that_are_not_served(http):
    refusal(await http.get("/nothing"), 404, "PATH_NOT_FOUND")
    refusal(await http.post("/run/", json={}), 404, "PATH_NOT_FOUND")
    other = await http.get("/run")
    refusal(other, 405, "INVALID_FIELD")
    assert other.headers["allow"] == "POST"
    refusal(await http.delete(f"/trace/{TRACE}"), 405, "INVALID_FIELD")
    alive = await http.get("http://gateway/healthz")
    assert (alive.status_code, alive.text) == (200, "alive\n")


def events_of(text):
    events = [dict(line.split(": ", 1) for line in block.split("\n")) for block in text.strip().split("\n\n")]
    return [(event["event"], json.loads(event["data"])) for event in events]


async def test_a_run_is_streamed_to_whom_asks_for_events(http, stub):
    response = await http.post("/run", json=DOCUMENT["run"][0], headers={"Accept": "text/event-stream"})
    assert response.headers["content-type"].startswith("text/event-stream")
    (first, event), (last, result) = events_of(response.text)
    assert (first, event["operator"], last, result["status"]) == ("trace_event", "generate", "result", "converged")
    assert stub.asked[0].request.problem.id == "p1"
    whole = (await http.post("/run", json=DOCUMENT["run"][0])).json()
    assert result == whole


async def test_a_stream_that_is_refused_is_a_status_and_one_that_breaks_off_an_event(http, stub):
    headers = {"Accept": "text/event-stream"}
    stub.failing = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "away")
    refusal(await http.post("/run", json=DOCUMENT["run"][0], headers=headers), 503, "LLM_UNAVAILABLE")
    stub.failing, stub.breaking = None, UnavailableError(ErrorReason.STORE_UNAVAILABLE, "away")
    response = await http.post("/run", json=DOCUMENT["run"][0], headers=headers)
    assert response.status_code == 200
    kinds = [(kind, data.get("error", {}).get("reason")) for kind, data in events_of(response.text)]
    assert kinds == [("trace_event", None), ("error", "STORE_UNAVAILABLE")]


@contextlib.asynccontextmanager
async def served(stub, settings=SETTINGS):
    server = await HttpServer.open(create_app(stub, open_gate(), settings, StoppedClock(), "0.1.0"), settings)
    try:
        yield server
    finally:
        await server.close()


async def test_over_a_socket_a_client_that_leaves_ends_its_call(stub):
    stub.held = asyncio.Event()
    async with served(stub) as server:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.post("/ercp/v1/run", json=DOCUMENT["run"][0], timeout=0.5)
        async with asyncio.timeout(patient(5)):
            await stub.left.wait()


async def test_over_a_socket_two_calls_share_a_connection_and_the_server_names_itself_not(stub):
    async with served(stub) as server, httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
        for _ in range(2):
            response = await client.post("/ercp/v1/run", json=DOCUMENT["run"][0])
            assert response.status_code == 200
            assert "server" not in response.headers


async def test_a_port_that_is_taken_is_a_fault_of_the_settings(stub):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = HttpSettings(port=taken.getsockname()[1])
        with pytest.raises(SettingsError, match="GROUNDTRAIL_HTTP__PORT"):
            async with served(stub, settings):
                pytest.fail("it listens")


async def test_a_certificate_that_cannot_be_used_is_a_fault_of_the_settings(stub, tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("no PEM", encoding="ascii")
    settings = HttpSettings(port=0, tls_cert_file=tmp_path / "cert.pem", tls_key_file=tmp_path / "key.pem")
    with pytest.raises(SettingsError, match="GROUNDTRAIL_HTTP__TLS_CERT_FILE"):
        async with served(stub, settings):
            pytest.fail("it listens")


def test_credentials_never_travel_in_the_open():
    with pytest.raises(ValidationError, match="behind_proxy"):
        HttpSettings(port=0, host="0.0.0.0")
    assert HttpSettings(port=0, host="0.0.0.0", behind_proxy=True).host == "0.0.0.0"
    assert HttpSettings(port=0, host="::1").host == "::1"
    with pytest.raises(ValidationError, match="go together"):
        HttpSettings(port=0, tls_cert_file="cert.pem")
