"""HTTP as an attacker and a bad network use it: bodies, headers, connections, broken streams (ADR 0075, ADR 0079)."""

import asyncio
import contextlib
import json
import logging
import threading
import tracemalloc
import uuid

import httpx
import pytest

from services.common.clock import SystemClock
from services.common.settings.http import HttpSettings
from services.gateway.doors.http import calls
from services.gateway.doors.http.app import SECURITY_HEADERS, create_app
from services.gateway.doors.http.ercp_schemas import ExtractConstraintsRequest, RunRequest
from services.gateway.doors.http.json_bodies import read_form
from services.gateway.doors.http.server import HttpServer
from tests.fakes.ercp_http import ercp_http
from tests.fakes.ercp_stub import TRACE, ErcpStub
from tests.fakes.ercp_world import GOOD, ErcpWorld
from tests.fakes.open_gate import open_gate
from tests.patience import patient

RUN = {"problem": {"id": "p1", "description": "Why?"}}
SAME = {"reasoning_prev": "a", "reasoning_curr": "a"}
EVENTS = {"Accept": "text/event-stream"}
AUDIT = {"trace_id", "timestamp", "proto_version", "model_fingerprint", "node_signature"}


@pytest.fixture
def stub():
    return ErcpStub()


@contextlib.asynccontextmanager
async def app_client(stub, **settings):
    app = create_app(stub, open_gate(), HttpSettings(port=0, **settings), SystemClock(), "0.1.0")
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway/ercp/v1") as client:
        yield client


@pytest.fixture
async def http(stub):
    async with app_client(stub) as client:
        yield client


@contextlib.asynccontextmanager
async def served(stub, **changes):
    settings = HttpSettings(port=0, drain_grace_s=1, **changes)
    server = await HttpServer.open(create_app(stub, open_gate(), settings, SystemClock(), "0.1.0"), settings)
    try:
        yield server.port
    finally:
        await server.close()


def refusal(response, status, reason):
    assert response.status_code == status, response.text
    body = response.json()
    assert body["error"]["reason"] == reason
    assert body.keys() - {"error"} == AUDIT
    assert response.headers["x-request-id"] == body["error"]["request_id"]
    assert {name: response.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    return body["error"]


class TestBodies:
    @pytest.mark.parametrize(
        "body",
        [
            b'{"reasoning_prev": "a", "reasoning_curr": "a", "reasoning_curr": "b"}',
            b'{"reasoning_prev": "a", "reasoning_curr": "a", "x": [{"y": 1, "y": 1}]}',
            b'{"reasoning_prev": "a", "reasoning_curr": "a", "\\ud800": 1, "\\ud800": 2}',
        ],
    )
    async def test_a_name_that_stands_twice_is_refused(self, http, stub, body):
        error = refusal(await http.post("/stabilize", content=body), 400, "INVALID_FIELD")
        assert "stands twice" in error["message"]
        assert stub.asked == []

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
    async def test_what_is_not_utf_8_is_refused(self, http, stub, encoding):
        body = json.dumps(SAME | {"x": "é"}, ensure_ascii=False).encode(encoding)
        refusal(await http.post("/stabilize", content=body), 400, "INVALID_FIELD")
        assert stub.asked == []

    @pytest.mark.parametrize(
        ("field", "value"), [("threshold", "0.9"), ("threshold", True), ("reasoning_prev", 1), ("trace_id", None)]
    )
    async def test_a_value_of_another_type_than_the_document_says_is_refused(self, http, stub, field, value):
        error = refusal(await http.post("/stabilize", json=SAME | {field: value}), 400, "INVALID_FIELD")
        assert [fault["field"] for fault in error["fields"]] == [field]

    def test_an_endless_list_costs_no_more_than_reading_it(self):
        """It took 2.6 GB and 9 s to note what was wrong with each of its members."""
        for form, name, part in (
            (RunRequest, "constraints", b"{}"),
            (ExtractConstraintsRequest, "errors", b"{}"),
            (RunRequest, "x", b"1e999"),
        ):
            body = b'{"problem": {}, "%s": [%s]}' % (name.encode(), b",".join([part] * 60_000))
            tracemalloc.start()
            with pytest.raises(Exception, match=name):
                read_form(body, form)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 60 * len(body) + 2**20, (name, peak)

    async def test_a_name_without_end_is_not_repeated_whole(self, http):
        response = await http.post("/stabilize", json=SAME | {"x" * 50_000: 2**60})
        assert len(response.content) < 5_000
        refusal(response, 400, "INVALID_FIELD")

    async def test_a_large_body_does_not_hold_up_other_calls(self, stub):
        async with app_client(stub) as http:
            body = json.dumps(SAME | {"x": ["y"] * 60_000}).encode()
            threads = set()

            def seen(form):
                threads.add(threading.current_thread() is threading.main_thread())
                return form

            with pytest.MonkeyPatch.context() as patched:
                read = calls.read_form
                patched.setattr(calls, "read_form", lambda *given: seen(read(*given)))
                assert (await http.post("/stabilize", content=body)).status_code == 200
                assert (await http.post("/stabilize", json=SAME)).status_code == 200
            assert threads == {False, True}


class TestMedia:
    @pytest.mark.parametrize(
        "given",
        ["application/json", "application/json; charset=utf-8", "application/problem+json", "",
         "application/x-www-form-urlencoded"],
    )  # fmt: skip
    async def test_json_is_read_whatever_curl_calls_it(self, http, given):
        headers = {"Content-Type": given} if given else {}
        response = await http.post("/stabilize", content=json.dumps(SAME).encode(), headers=headers)
        assert response.status_code == 200, response.text

    @pytest.mark.parametrize(
        ("header", "given"),
        [("Content-Type", "text/plain"), ("Content-Type", "multipart/form-data; boundary=x"),
         ("Content-Type", "application/grpc+proto"), ("Content-Encoding", "gzip")],
    )  # fmt: skip
    async def test_what_says_that_it_is_no_json_is_refused(self, http, stub, header, given):
        response = await http.post("/stabilize", content=json.dumps(SAME).encode(), headers={header: given})
        error = refusal(response, 415, "UNSUPPORTED_MEDIA")
        assert [fault["field"] for fault in error["fields"]] == [header]
        assert stub.asked == []


class TestMethods:
    async def test_head_is_get_without_a_body(self, http, stub):
        whole = await http.get(f"/trace/{TRACE}")
        head = await http.head(f"/trace/{TRACE}")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
        assert (await http.head("http://gateway/healthz")).status_code == 200

    @pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "HEAD"])
    async def test_other_methods_are_refused_with_those_that_are_served(self, http, stub, method):
        response = await http.request(method, "/run")
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
        if method != "HEAD":
            refusal(response, 405, "INVALID_FIELD")
        assert stub.asked == []


class TestHeaders:
    async def test_a_refusal_names_the_request_in_its_header_as_well(self, http):
        response = await http.post("/stabilize", content=b"{", headers={"X-Request-Id": "me-1"})
        assert refusal(response, 400, "INVALID_FIELD")["request_id"] == "me-1"

    @pytest.mark.parametrize("given", ["a\r\nSet-Cookie: x=1", "x" * 65, "<script>", "é", ""])
    async def test_a_request_id_that_is_none_is_replaced(self, http, stub, given):
        response = await http.post("/stabilize", json=SAME, headers={"X-Request-Id": given.encode()})
        assert uuid.UUID(response.headers["x-request-id"])
        assert "set-cookie" not in response.headers
        assert uuid.UUID(stub.asked[0].metadata["x-request-id"])

    async def test_credentials_that_are_two_or_too_long_are_refused(self, http, stub):
        twice = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]
        refusal(await http.post("/stabilize", json=SAME, headers=twice), 401, "CREDENTIAL_INVALID")
        long = {"Authorization": "Bearer " + "x" * 9_000}
        refusal(await http.post("/stabilize", json=SAME, headers=long), 401, "CREDENTIAL_INVALID")
        assert stub.asked == []

    async def test_trace_headers_that_are_none_do_not_break_the_call(self, http, stub):
        headers = {"traceparent": "x" * 20_000, "tracestate": "a=" + "b" * 20_000}
        assert (await http.post("/stabilize", json=SAME, headers=headers)).status_code == 200
        assert set(stub.asked[0].metadata) == {"x-request-id"}

    @pytest.mark.parametrize("key", ["9b2f2f39-8a9e-1d4e-9c6b-0d9b6f6f2a11", "{9b2f2f39-8a9e-4d4e-9c6b-0d9b6f6f2a11}",
                                     "9b2f2f398a9e4d4e9c6b0d9b6f6f2a11", ""])  # fmt: skip
    async def test_an_idempotency_key_is_a_uuid4_as_it_is_written(self, http, stub, key):
        response = await http.post("/stabilize", json=SAME, headers={"Idempotency-Key": key})
        (fault,) = refusal(response, 400, "INVALID_FIELD")["fields"]
        assert fault["field"] == "Idempotency-Key"
        assert stub.asked == []


class TestLimits:
    async def test_a_call_too_many_is_refused_and_the_process_still_says_that_it_lives(self, stub):
        stub.held = asyncio.Event()
        async with app_client(stub, max_connections=2) as http:
            running = [asyncio.create_task(http.post("/stabilize", json=SAME)) for _ in range(2)]
            while len(stub.asked) < len(running):  # noqa: ASYNC110 - the loop runs them meanwhile
                await asyncio.sleep(0)
            response = await http.post("/stabilize", json=SAME)
            assert refusal(response, 429, "CONCURRENCY_LIMIT")["retryable"]
            assert "retry-after" in response.headers
            assert (await http.get("http://gateway/healthz")).status_code == 200
            stub.held.set()
            assert [one.status_code for one in await asyncio.gather(*running)] == [200, 200]
            assert (await http.post("/stabilize", json=SAME)).status_code == 200

    async def test_a_body_that_does_not_come_is_given_up(self, stub):
        async def slow():
            yield b"{"
            await asyncio.Event().wait()

        async with app_client(stub, body_timeout_s=0.1) as http:
            response = await http.post("/stabilize", content=slow())
        assert refusal(response, 408, "DEADLINE_EXCEEDED")["retryable"]

    @pytest.mark.parametrize("sent", [b"", b"POST /ercp/v1/run HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /"])
    async def test_a_connection_that_sends_no_whole_head_is_closed(self, stub, sent):
        async with served(stub, head_timeout_s=0.2) as port, asyncio.timeout(patient(10)):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            answer = await reader.read()
            writer.close()
        last = answer[answer.rindex(b"HTTP/1.1 ") :]
        assert last.startswith(b"HTTP/1.1 408 ")
        assert json.loads(last.partition(b"\r\n\r\n")[2])["error"]["reason"] == "DEADLINE_EXCEEDED"

    async def test_what_is_no_http_is_refused_in_the_one_shape(self, stub):
        async with served(stub) as port, asyncio.timeout(patient(10)):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n")
            answer = await reader.read()
            writer.close()
        assert answer.startswith(b"HTTP/1.1 400 ")
        body = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert body.keys() == {"error", "timestamp"}

    async def test_connections_beyond_the_bound_are_closed(self, stub):
        async with served(stub, max_connections=1) as port, asyncio.timeout(patient(10)):
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            with contextlib.suppress(ConnectionResetError):
                reader, _ = await asyncio.open_connection("127.0.0.1", port)
                assert await reader.read() == b""
            opened[0][1].write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await opened[0][0].readline()).startswith(b"HTTP/1.1 200")
            for _, writer in opened:
                writer.close()

    async def test_an_upgrade_is_not_taken(self, stub):
        headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
        async with served(stub) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/healthz", headers=headers)).status_code == 200


class TestStreams:
    async def test_who_leaves_before_the_first_event_ends_the_call(self, stub, caplog):
        stub.held = asyncio.Event()
        async with served(stub) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.post("/ercp/v1/run", json=RUN, headers=EVENTS, timeout=0.5)
            async with asyncio.timeout(patient(5)):
                await stub.left.wait()
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

    async def test_who_leaves_in_the_middle_ends_the_call(self, stub, caplog):
        stub.pausing = asyncio.Event()
        async with served(stub) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            async with client.stream("POST", "/ercp/v1/run", json=RUN, headers=EVENTS) as response:
                assert await anext(response.aiter_lines())
            async with asyncio.timeout(patient(5)):
                await stub.left.wait()
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

    async def test_who_leaves_a_call_or_a_body_is_no_fault_in_the_log(self, stub, caplog):
        stub.held = asyncio.Event()
        async with served(stub) as port:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                with pytest.raises(httpx.ReadTimeout):
                    await client.post("/ercp/v1/run", json=RUN, timeout=0.5)
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /ercp/v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
            await writer.drain()
            writer.close()
            async with asyncio.timeout(patient(5)):
                await stub.left.wait()
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

    async def test_a_silent_run_is_kept_alive_and_a_late_refusal_is_an_event(self, stub):
        stub.held = asyncio.Event()
        async with served(stub, event_interval_s=0.1) as port, httpx.AsyncClient(timeout=patient(10)) as client:
            url = f"http://127.0.0.1:{port}/ercp/v1/run"
            async with client.stream("POST", url, json=RUN, headers=EVENTS) as response:
                assert response.status_code == 200
                lines = response.aiter_lines()
                assert [await anext(lines) for _ in range(3)] == [": the run goes on", "", ": the run goes on"]
                stub.breaking = RuntimeError("secret of db.internal")
                stub.held.set()
                rest = [line async for line in lines]
        assert rest[-3] == "event: error"
        assert json.loads(rest[-2].removeprefix("data: "))["error"]["reason"] == "INTERNAL"
        assert "secret" not in "".join(rest)

    @pytest.mark.parametrize("named", [{}, {"Idempotency-Key": str(uuid.uuid4())}])
    async def test_events_have_ids_and_who_has_some_gets_the_rest(self, http, named):
        whole = await http.post("/run", json=RUN, headers=EVENTS | named)
        assert whole.text.startswith("id: v1\nevent: trace_event\n")
        again = await http.post("/run", json=RUN, headers=EVENTS | named | {"Last-Event-ID": "v1"})
        assert again.text.count("event: trace_event") == (0 if named else 1)
        assert "event: result" in again.text
        forged = await http.post("/run", json=RUN, headers=EVENTS | named | {"Last-Event-ID": "x\x0bevent: y"})
        assert "event: y" not in forged.text

    async def test_no_text_of_an_event_breaks_its_line(self):
        text = "One.\u2028Two.\x85Three.\x0bFour."
        async with ercp_http(ErcpWorld(replies=(text,))) as ercp:
            response = await ercp.post("run", RUN | {"config": {"max_iterations": 1}}, **EVENTS)
        results = [line for line in response.text.splitlines() if line.startswith("data: ") and '"status"' in line]
        assert json.loads(results[0].removeprefix("data: "))["final_reasoning"]["reasoning_text"]

    async def test_a_run_that_was_left_gives_its_turn_back_and_is_taken_up_again(self):
        """A whole run behind a socket: the client leaves after the first event, comes again, and gets the rest."""
        world = ErcpWorld(replies=(GOOD,))
        body = RUN | {"trace_id": str(uuid.uuid4())}
        headers = {"Authorization": "alice", "Idempotency-Key": str(uuid.uuid4()), **EVENTS}
        async with ercp_http(world) as ercp:
            app = ercp.http._transport.app
            server = await HttpServer.open(app, HttpSettings(port=0, drain_grace_s=1))
            try:
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=patient(20)) as client:
                    async with client.stream("POST", "/ercp/v1/run", json=body, headers=headers) as response:
                        first = await anext(response.aiter_lines())
                    assert first.startswith("id: ")
                    again = {**headers, "Last-Event-ID": first.removeprefix("id: ")}
                    rest = await client.post("/ercp/v1/run", json=body, headers=again)
            finally:
                await server.close()
            assert first not in rest.text
            assert "event: result" in rest.text
            whole = (await ercp.trace(body["trace_id"])).json()["trace_events"]
            assert rest.text.count("event: trace_event") == len(whole) - 1
