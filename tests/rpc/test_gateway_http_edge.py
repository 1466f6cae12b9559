"""What a stranger may take of the HTTP port: no body, a share of the connections, a few failures (ADR 0089)."""

import asyncio
import contextlib
import json
import ssl

import httpx
import pytest

from services.common.clock import SystemClock
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings import AuthSettings, EdgeSettings, Settings
from services.common.settings.http import HttpSettings
from services.ercp.servicer import ROLES as ERCP_ROLES
from services.ercp.servicer import SERVICE_NAME
from services.gateway.doors.http import calls, ercp_routes
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.server import HttpServer
from tests.fakes.certificates import own_certificate
from tests.fakes.ercp_stub import TRACE, ErcpStub
from tests.fakes.runtime_probe import KEYS, FakeClock, credential_store, probe, probe_settings
from tests.patience import patient
from tests.speed import processor_time_below

SAME = {"reasoning_prev": "a", "reasoning_curr": "a"}
WRITER = {"Authorization": f"Bearer {KEYS['writer']}"}
WRONG = {"Authorization": f"Bearer {KEYS['writer'][:-1]}x"}
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
NODES_8_MIB = b'{"reasoning_prev": "a", "reasoning_curr": "a", "x": [' + b"1," * 4_000_000 + b"1]}"


class Turned:
    """A clock for buckets."""

    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


async def gate_of_keys(turned=None, **edge):
    settings = Settings(edge=EdgeSettings(**edge), auth=AuthSettings(environment="test"))
    authenticator = open_authenticator(settings.auth, await credential_store(), FakeClock())
    return CredentialGate(authenticator, settings, turned or Turned())


@contextlib.asynccontextmanager
async def served(gate, **changes):
    settings = HttpSettings(port=0, drain_grace_s=1, **changes)
    stub = ErcpStub()
    app = create_app(stub, gate, settings, SystemClock(), "0.1.0")
    server = await HttpServer.open(app, settings, addresses=gate.addresses)
    server.stub = stub
    try:
        async with asyncio.timeout(patient(30)):
            yield server
    finally:
        await server.close()


@contextlib.asynccontextmanager
async def client_of(port, source="127.0.0.1", **headers):
    transport = httpx.AsyncHTTPTransport(local_address=source)
    url = f"http://127.0.0.1:{port}/ercp/v1"
    async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=patient(20)) as client:
        yield client


async def connected(port, source="127.0.0.1", **more):
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), **more)


def head(path="/ercp/v1/stabilize", **headers):
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json"]
    return "\r\n".join([*lines, *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()), "", ""])


def with_x(value):
    """A body whose field x, which nobody knows, holds some JSON text."""
    return json.dumps(SAME)[:-1] + f', "x": {value}}}'


async def answered(reader):
    raw = await reader.read()
    first, _, body = raw.partition(b"\r\n\r\n")
    return first.decode(), body


class TestBodies:
    async def test_the_roles_are_those_of_the_service(self):
        assert ercp_routes.SERVICE == SERVICE_NAME
        assert {rpc: ERCP_ROLES[rpc] for rpc in ercp_routes.ROLES} == ercp_routes.ROLES
        assert ERCP_ROLES["RunStream"] == ercp_routes.ROLES["Run"]

    @pytest.mark.parametrize(
        ("credential", "status", "reason"),
        [
            ("", 401, "CREDENTIAL_MISSING"),
            (WRONG["Authorization"], 401, "CREDENTIAL_INVALID"),
            (f"Bearer {KEYS['revoked']}", 401, "CREDENTIAL_REVOKED"),
            (f"Bearer {KEYS['reader']}", 403, "ROLE_MISSING"),
        ],
    )
    async def test_who_may_not_call_is_told_so_before_the_body_comes(self, credential, status, reason):
        """Nothing of the body is sent here: an answer proves that nobody waited for it."""
        async with served(await gate_of_keys(), body_timeout_s=30) as server:
            reader, writer = await connected(server.port)
            sent = {"Authorization": credential} if credential else {}
            writer.write(head(Content_Length=7_600_000, Expect="100-continue", **sent).encode())
            first, body = await answered(reader)
            writer.close()
        assert first.startswith(f"HTTP/1.1 {status} ")  # no 100 came before it
        assert "connection: close" in first.lower()
        assert json.loads(body)["error"]["reason"] == reason
        assert server.stub.asked == []

    async def test_who_may_call_is_asked_for_the_body(self):
        async with served(await gate_of_keys()) as server:
            reader, writer = await connected(server.port)
            body = json.dumps(SAME)
            sent = {"Content_Length": len(body), "Expect": "100-continue", "Connection": "close", **WRITER}
            writer.write(head(**sent).encode())
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(body.encode())
            first, _ = await answered(reader)
            writer.close()
        assert first.startswith("HTTP/1.1 200 ")

    @pytest.mark.timed
    async def test_a_body_of_8_mib_costs_a_stranger_nothing_but_the_sending(self):
        async with served(await gate_of_keys()) as server, client_of(server.port) as client:
            # It took 10 to 20 s; what is left is a client and a server that hand bytes over.
            with processor_time_below(2.0), pytest.MonkeyPatch.context() as patched:
                patched.setattr(calls, "read_form", None)
                refused = await client.post("/stabilize", content=NODES_8_MIB)
            assert (refused.status_code, refused.headers["connection"]) == (401, "close")

    async def test_a_connection_is_closed_though_its_peer_never_stops_sending(self):
        async with served(await gate_of_keys()) as server:
            reader, writer = await connected(server.port)
            writer.write(head(Transfer_Encoding="chunked").encode())
            assert (await reader.readline()).startswith(b"HTTP/1.1 401 ")
            with contextlib.suppress(ConnectionError):
                while True:
                    writer.write(b"4\r\n[[[[\r\n")
                    await writer.drain()
                    await asyncio.sleep(0.05)
            writer.close()

    async def test_other_refusals_before_the_body_close_the_connection_too(self):
        async with served(await gate_of_keys()) as server:
            for path in ("/ercp/v1/nothing", "/healthz"):
                reader, writer = await connected(server.port)
                writer.write(head(path, Content_Length=100).encode())
                first, _ = await answered(reader)
                writer.close()
                assert "connection: close" in first.lower(), path

    async def test_a_whole_refused_body_keeps_the_connection(self):
        async with served(await gate_of_keys()) as server, client_of(server.port, **WRITER) as client:
            refused = await client.post("/stabilize", content=b"{}")
            assert refused.status_code == 400
            assert "connection" not in refused.headers

    @pytest.mark.timed
    async def test_values_are_counted_before_they_are_read(self):
        async with served(await gate_of_keys()) as server, client_of(server.port, **WRITER) as client:
            with processor_time_below(2.0):
                refused = await client.post("/stabilize", content=NODES_8_MIB)
            error = refused.json()["error"]
            assert (refused.status_code, error["reason"]) == (413, "MESSAGE_TOO_LARGE")
            assert error["metadata"] == {"limit_nodes": "100000", "found_nodes": "4000005"}
            assert "MAX_JSON_NODES" in error["message"]

    @pytest.mark.parametrize(
        ("value", "status"),
        [
            ("[" + ",".join(["1"] * 96) + "]", 200),  # with the object and two texts: 100 values
            ("[" + ",".join(["1"] * 97) + "]", 413),
            (json.dumps("[,{" * 1_000), 200),
            (json.dumps('\\",[' * 1_000), 200),
            ('"' + "[," * 1_000, 400),  # not finished
            ('"\\' + "[," * 1_000, 400),
            ("[" * 99_999, 413),
        ],
        ids=["as many", "one more", "in a text", "behind escapes", "unfinished", "unfinished escape", "depth"],
    )
    async def test_what_counts_as_a_value(self, value, status):
        body = with_x(value)
        async with served(await gate_of_keys(), max_json_nodes=100) as server, client_of(server.port, **WRITER) as http:
            assert (await http.post("/stabilize", content=body)).status_code == status

    async def test_depth_is_refused_with_its_bound(self):
        async with served(await gate_of_keys()) as server, client_of(server.port, **WRITER) as client:
            for depth in (25, 20_000):
                refused = await client.post("/stabilize", content=with_x("[" * depth + "]" * depth))
                assert refused.status_code == 400
                assert "deeper than 24 levels" in refused.json()["error"]["message"]


class TestConnections:
    async def test_an_address_holds_its_share_and_the_others_theirs(self):
        async with served(await gate_of_keys(), max_connections_per_address=4) as server:
            crowd = [await connected(server.port, "127.0.0.2") for _ in range(4)]
            for _ in range(3):
                with contextlib.suppress(ConnectionResetError):
                    reader, _ = await connected(server.port, "127.0.0.2")
                    assert await reader.read() == b""
            for source in ("127.0.0.1", "127.0.0.3"):
                reader, writer = await connected(server.port, source)
                writer.write(HEALTH)
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
                writer.close()
            crowd.pop()[1].close()  # its place is given back
            async with asyncio.timeout(patient(10)):
                while not await alive(server.port, "127.0.0.2"):
                    pass
            for _, writer in crowd:
                writer.close()

    async def test_half_open_connections_of_many_addresses_make_room(self):
        """1,200 of one client had every other connection reset for ten seconds."""
        async with served(await gate_of_keys(), max_connections=8, max_connections_per_address=10) as server:
            crowd = [await connected(server.port, f"127.0.0.{2 + n % 2}") for n in range(16)]
            for _ in range(5):
                assert await alive(server.port, "127.0.0.1")
            for _, writer in crowd:
                writer.close()

    async def test_a_connection_with_a_call_keeps_its_place(self):
        async with served(await gate_of_keys(), max_connections=2, max_connections_per_address=4) as server:
            server.stub.held = asyncio.Event()
            async with client_of(server.port, "127.0.0.2", **WRITER) as client:
                running = [asyncio.create_task(client.post("/stabilize", json=SAME)) for _ in range(2)]
                while len(server.stub.asked) < len(running):  # noqa: ASYNC110 - the loop runs them meanwhile
                    await asyncio.sleep(0.01)
                crowd = [await connected(server.port, "127.0.0.2") for _ in range(2)]
                assert await alive(server.port, "127.0.0.1")
                server.stub.held.set()
                assert [one.status_code for one in await asyncio.gather(*running)] == [200, 200]
                for _, writer in crowd:
                    writer.close()

    async def test_who_never_finishes_tls_is_counted_too(self, tmp_path):
        certificate, key = own_certificate(tmp_path)
        context = ssl.create_default_context(cafile=str(certificate))
        settings = {"tls_cert_file": certificate, "tls_key_file": key}
        async with served(await gate_of_keys(), max_connections=4, **settings) as server:
            crowd = [await connected(server.port, "127.0.0.2") for _ in range(8)]  # TCP alone
            assert await alive(server.port, "127.0.0.1", ssl=context)
            for _, writer in crowd:
                writer.close()

    async def test_a_proxy_of_ours_may_hold_any_share(self):
        gate = await gate_of_keys(trusted_proxies=["127.0.0.2"])
        async with served(gate, max_connections_per_address=2) as server:
            held = [await connected(server.port, "127.0.0.2") for _ in range(6)]
            assert await alive(server.port, "127.0.0.2")
            for _, writer in held:
                writer.close()


async def alive(port, source, **more):
    try:
        reader, writer = await connected(port, source, **more)
        writer.write(HEALTH)
        line = await reader.readline()
        writer.close()
    except ConnectionError:
        return False
    return line.startswith(b"HTTP/1.1 200")


async def statuses(client, credential, count):
    return [(await client.post("/stabilize", json=SAME, headers=credential)).status_code for _ in range(count)]


class TestFailedLogins:
    async def test_failures_are_throttled_and_the_good_credential_is_served(self):
        turned = Turned()
        gate = await gate_of_keys(turned, failed_login_burst=3, failed_logins_per_minute=6)
        async with (
            served(gate) as server,
            client_of(server.port, "127.0.0.2") as bad,
            client_of(server.port, "127.0.0.3") as other,
        ):
            assert await statuses(bad, WRONG, 5) == [401, 401, 401, 429, 429]
            refused = await bad.post("/stabilize", json=SAME)
            assert refused.json()["error"]["reason"] == "LOGIN_LIMIT"
            assert refused.headers["retry-after"] == "10"
            assert await statuses(bad, WRITER, 1) == [200]
            assert await statuses(other, WRONG, 1) == [401]
            assert await statuses(other, WRITER, 1) == [200]
            turned.at += 10
            assert await statuses(bad, WRONG, 2) == [401, 429]

    async def test_a_forwarded_address_means_nothing_unless_a_proxy_of_ours_wrote_it(self):
        def forged(n):
            return {**WRONG, "X-Forwarded-For": f"203.0.113.{n}"}

        for trusted, expected in (([], [401, 429, 429]), (["127.0.0.2"], [401, 401, 401])):
            gate = await gate_of_keys(failed_login_burst=1, trusted_proxies=trusted)
            async with served(gate) as server, client_of(server.port, "127.0.0.2") as client:
                found = [(await client.get(f"/trace/{TRACE}", headers=forged(n))).status_code for n in range(3)]
                assert found == expected

    async def test_failures_over_grpc_and_http_are_counted_together(self):
        settings = probe_settings().model_copy(update={"edge": EdgeSettings(failed_login_burst=2)})
        async with probe(settings=settings) as p, served(p.server._pipeline._gate) as server:
            for _ in range(2):
                with contextlib.suppress(Exception):
                    await p.call(key="nobody")
            async with client_of(server.port) as client:
                assert (await client.get(f"/trace/{TRACE}", headers=WRONG)).status_code == 429
            scraped = p.metrics()
        assert 'groundtrail_refused_credentials_total{reason="CREDENTIAL_INVALID",transport="grpc"} 2.0' in scraped
        assert 'groundtrail_refused_credentials_total{reason="LOGIN_LIMIT",transport="http"} 1.0' in scraped
