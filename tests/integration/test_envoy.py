"""deploy/envoy/envoy.yaml in the real Envoy before the suite as a process: gRPC and ERCP's own JSON on one port."""

import asyncio
import contextlib
import json
import os
import socket
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import httpx
import pytest
from ercp.v1 import ercp_pb2, ercp_service_pb2, ercp_service_pb2_grpc

from bench import http2_frames as h2
from services.common.clock import SystemClock
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.ready_routes import ReadyRoutes
from services.gateway.doors.http.server import HttpServer
from tests.e2e.processes import command, environment, start
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.patience import patient
from tools.real_servers import envoy

pytestmark = [pytest.mark.needs_envoy, pytest.mark.timeout(240)]

PROBLEM = {"id": "p1", "description": "Why does water boil at different temperatures at different altitudes?"}
GRPC_CLUSTERS = ("gateway", "envelope", "dpe", "dag", "ercp")
EVENTS = {"Accept": "text/event-stream"}
SILENT_S = 2.5


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def binary():
    path = os.environ.get(envoy.VARIABLE, "")
    if not path:
        pytest.skip(f"set {envoy.VARIABLE} to the path of an Envoy, as make test-real does")
    return Path(path)


@pytest.fixture(scope="module")
def suite(binary, tmp_path_factory):
    """The suite, its ports by cluster, and a writer's key."""
    folder = tmp_path_factory.mktemp("envoy")
    port = free_port()
    env = environment(folder / "data", GROUNDTRAIL_HTTP__PORT=str(port), GROUNDTRAIL_HTTP__EVENT_INTERVAL_S="0.5")
    made = command(folder, "keys", "create", "--label", "test", "--role", "writer", "--json", env=env)
    assert made.returncode == 0, made.stdout + made.stderr
    server = start(folder, "suite", env=env)
    try:
        grpc_port = int(server.address.rsplit(":", 1)[1])
        yield dict.fromkeys(GRPC_CLUSTERS, grpc_port) | {"gateway_http": port}, json.loads(made.stdout)["api_key"]
    finally:
        server.stop()


@pytest.fixture(scope="module")
def proxy(binary, suite):
    with envoy.running(binary, suite[0]) as running:
        yield running


@pytest.fixture
def client(proxy, suite):
    headers = {"Authorization": f"Bearer {suite[1]}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{proxy.port}", headers=headers, timeout=patient(60)) as opened:
        yield opened


def test_the_documents_json_passes_as_it_is(client):
    body = {"problem": PROBLEM | {"x_note": "kept"}, "mutation_strategy": "reframe"}
    response = client.post("/ercp/v1/mutate", json=body, headers={"X-Request-Id": "me-1"})
    assert response.status_code == 200, response.text
    assert response.json()["new_problem"]["x_note"] == "kept"
    assert response.headers["x-request-id"] == "me-1"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_refusal_passes_as_it_is(client):
    response = client.post("/ercp/v1/mutate", json={"problem": PROBLEM, "mutation_strategy": "guess"})
    assert (response.status_code, response.json()["error"]["reason"]) == (400, "INVALID_FIELD")
    missing = client.get(f"/ercp/v1/trace/{uuid.uuid4()}")
    assert (missing.status_code, missing.json()["error"]["reason"]) == (404, "TRACE_NOT_FOUND")
    assert client.get("/ercp/v1/nothing").json()["error"]["reason"] == "PATH_NOT_FOUND"
    anonymous = httpx.post(client.base_url.join("/ercp/v1/run"), json={"problem": PROBLEM}, timeout=patient(20))
    assert (anonymous.status_code, anonymous.json()["error"]["reason"]) == (401, "CREDENTIAL_MISSING")


def test_a_run_and_its_description_and_health_are_reached(client):
    run = client.post("/ercp/v1/run", json={"problem": PROBLEM, "config": {"max_iterations": 2}})
    assert run.status_code == 200, run.text
    assert client.get(f"/ercp/v1/trace/{run.json()['trace_id']}").json()["trace_events"] == run.json()["trace_events"]
    assert client.get("/openapi.json").json()["info"]["title"] == "Groundtrail"
    assert client.get("/healthz").text == "alive\n"


CHECK = {"answer": "The fee is 7 euros.", "facts": ["The fee is 5 euros."], "report": False}


def test_the_gateways_own_http_is_reached_as_its_how_tos_have_it(client, suite):
    """Not the transcoder's form: the key in x-api-key, the risk beside the answer, server-sent events, refusals."""
    url, keyed = client.base_url.join("/v1/check"), {"x-api-key": suite[1]}
    checked = httpx.post(url, json=CHECK, headers=keyed, timeout=patient(30))
    assert checked.status_code == 200, checked.text
    assert checked.headers["x-content-type-options"] == "nosniff"  # what the gateway's HTTP adds
    assert client.get("/v1/models").json()["data"]
    assert client.get("/.well-known/crp-gateway.json").status_code == 200
    refused = client.post("/v1/dispatch", json={"query": ""})
    assert (refused.status_code, refused.json()["error"]["reason"]) == (400, "INVALID_FIELD")


def test_a_dispatch_is_streamed_in_events(client):
    body = {"query": "When does the fee change?", "stream": True}
    with client.stream("POST", "/v1/dispatch", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream"), response.read()
        assert "event: " in "".join(response.iter_text())


def test_paths_of_the_contract_alone_are_transcoded_as_before(client):
    page = client.get("/v1/sessions", params={"page_size": 1})
    assert (page.status_code, page.headers["content-type"]) == (200, "application/json"), page.text
    missing = client.post("/v1/sessions/crp_sess_none/audit", json={"event_type": "x"})
    assert missing.status_code in {400, 404}
    assert "code" in missing.json()  # google.rpc.Status, not the gateway's form
    read = client.get("/v1/sessions/crp_sess_none/audit")
    assert "reason" in read.json()["error"]


def test_a_run_is_streamed(client):
    body = {"problem": PROBLEM, "config": {"max_iterations": 3}}
    with client.stream("POST", "/ercp/v1/run", json=body, headers=EVENTS) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        text = "".join(response.iter_text())
    assert text.count("event: trace_event") >= 3
    assert text.rindex("event: result") > text.rindex("event: trace_event")


def test_a_large_body_passes_and_a_too_large_one_is_refused_by_the_gateway(client):
    body = {"reasoning_prev": "a" * 90_000, "reasoning_curr": "b" * 90_000}
    assert client.post("/ercp/v1/stabilize", json=body).status_code == 200
    response = client.post("/ercp/v1/stabilize", content=b"x" * (9 * 1024 * 1024))
    assert (response.status_code, response.json()["error"]["reason"]) == (413, "MESSAGE_TOO_LARGE")


def test_grpc_reaches_ercp_beside_it(proxy, suite):
    with grpc.insecure_channel(f"127.0.0.1:{proxy.port}") as channel:
        stub = ercp_service_pb2_grpc.ErcpServiceStub(channel)
        request = ercp_service_pb2.MutateRequest(
            request_id=str(uuid.uuid4()),
            problem=ercp_pb2.Problem(**PROBLEM),
            mutation_strategy="MUTATION_STRATEGY_REFRAME",
        )
        metadata = (("authorization", f"Bearer {suite[1]}"),)
        assert stub.Mutate(request, metadata=metadata, timeout=patient(30)).new_problem.id == "p1"


def test_where_nobody_listens_the_refusal_has_the_one_shape(binary, suite):
    """The port of the HTTP surface is dead; Envoy answers itself."""
    with envoy.running(binary, suite[0] | {"gateway_http": free_port()}, needed=GRPC_CLUSTERS) as proxy:
        response = httpx.post(
            f"http://127.0.0.1:{proxy.port}/ercp/v1/run", json={"problem": PROBLEM}, timeout=patient(30)
        )
    assert response.status_code == 503
    body = response.json()
    assert (body["error"]["reason"], body["error"]["retryable"]) == ("SERVICE_UNAVAILABLE", True)
    assert body["error"]["request_id"] == response.headers["x-request-id"]
    assert body.keys() == {
        *("error", "trace_id", "timestamp", "proto_version", "model_fingerprint", "node_signature"),
    }
    assert body["trace_id"] is body["model_fingerprint"] is body["node_signature"] is None


@asynccontextmanager
async def in_front_of(stub, binary, clusters, **options):
    """Serve a stub's HTTP surface with an Envoy before it; yield the URL of a run."""
    settings = HttpSettings(port=0, event_interval_s=0.5, drain_grace_s=1)
    ready = ReadyRoutes()
    ready.follow(cast("Any", SimpleNamespace(ready=True, draining=False)))  # what Envoy asks before it sends calls
    server = await HttpServer.open(create_app(stub, open_gate(), settings, SystemClock(), "0.1.0", [ready]), settings)
    opened = envoy.running(binary, clusters | {"gateway_http": server.port}, **options)
    try:
        proxy = await asyncio.to_thread(opened.__enter__)
        yield f"http://127.0.0.1:{proxy.port}/ercp/v1/run"
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)
        await server.close()


def test_an_event_arrives_before_the_next_one_is_made(binary, suite):
    """The run goes on only once its first event has come through: what buffers would never see the second."""

    async def told() -> tuple[str, str]:
        goes_on = asyncio.Event()
        async with (
            in_front_of(ErcpStub(pausing=goes_on), binary, suite[0]) as url,
            httpx.AsyncClient(timeout=patient(20)) as client,
            client.stream("POST", url, json={"problem": PROBLEM}, headers=EVENTS) as response,
        ):
            chunks, first = response.aiter_text(), ""
            while "\ndata: " not in first:
                first += await anext(chunks)
            goes_on.set()
            return first, "".join([chunk async for chunk in chunks])

    first, rest = asyncio.run(told())
    assert "event: trace_event" in first
    assert "event: result" not in first
    assert "event: result" in rest


@pytest.mark.parametrize("headers", [EVENTS, {}], ids=["streamed", "whole"])
def test_a_silent_run_is_not_cut(binary, suite, headers):
    """Longer than the listener's idle time (1 s here): the route's own bound and the gateway's comments hold it."""

    async def told() -> httpx.Response:
        goes_on = asyncio.Event()
        stub = ErcpStub(pausing=goes_on) if headers else ErcpStub(held=goes_on)
        async with (
            in_front_of(stub, binary, suite[0], stream_idle="1s") as url,
            httpx.AsyncClient(timeout=patient(30)) as client,
        ):
            asyncio.get_running_loop().call_later(SILENT_S, goes_on.set)
            return await client.post(url, json={"problem": PROBLEM}, headers=headers)

    response = asyncio.run(told())
    assert response.status_code == 200, response.text
    if headers:
        assert response.text.count(": the run goes on") >= 2
        assert "event: result" in response.text
    else:
        assert response.json()["status"] == "converged"


def test_requests_are_bounded_by_address(proxy):
    """Each address has a bucket of its own: 1,000 requests at once, then 200 a second. Envoy answers these itself."""
    lines = ("OPTIONS /healthz HTTP/1.1", "Host: x", "Origin: http://localhost", "Access-Control-Request-Method: GET")
    preflight = "\r\n".join([*lines, "", ""]).encode()

    async def asked(source, count) -> list[int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, local_addr=(source, 0))
        statuses = []
        for _ in range(count):
            writer.write(preflight)
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length or 0))
            statuses.append(int(head.split(b" ", 2)[1]))
        writer.close()
        return statuses

    async def told() -> tuple[list[int], list[int]]:
        floods = await asyncio.gather(*(asked("127.0.0.2", 500) for _ in range(8)))
        return [status for flood in floods for status in flood], await asked("127.0.0.3", 20)

    flood, other = asyncio.run(told())
    assert flood.count(200) >= 1_000
    assert flood.count(429) >= 200
    assert other == [200] * 20


def test_who_gives_streams_up_as_they_are_opened_is_disconnected(proxy):
    """Rapid reset: gRPC's core bounds what it costs; Envoy ends the connection."""

    async def told() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(h2.PREFACE + h2.settings() + h2.acknowledged())
        block = h2.call("/crp.dag.v1.SessionService/GetState")
        with contextlib.suppress(ConnectionError):
            for first in range(1, 20_000, 200):
                ids = range(first, first + 200, 2)
                writer.write(b"".join(h2.headers(stream, block) + h2.reset(stream) for stream in ids))
                await writer.drain()
                await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionError):
                while await reader.read(65_536):
                    pass
        writer.close()

    asyncio.run(told())
    admin = f"http://127.0.0.1:{proxy.admin}/stats?filter=premature|rst_stream|too_many"
    counts = httpx.get(admin, timeout=10).text
    found = {name: int(value) for name, _, value in (line.partition(": ") for line in counts.splitlines())}
    assert found["http.edge.downstream_rq_too_many_premature_resets"] == 1
