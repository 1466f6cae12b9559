"""What a peer may take of the gRPC port that has proven nothing, and what is told of it (ADR 0089)."""

import asyncio
import contextlib
import socket
from collections import Counter

import grpc
import jwt
import pytest

from bench import http2_frames as h2
from services.common.rpc import credential_gate
from services.common.rpc.credential_gate import CredentialGate, named
from services.common.rpc.peer_address import PeerAddresses
from services.common.settings import EdgeSettings, Settings
from tests.fakes.runtime_probe import KEYS, SERVICE, probe, probe_settings
from tests.patience import patient
from tests.rpc.test_runtime_errors import failure

WRONG = KEYS["writer"][:-1] + "x"


def edge(**bounds):
    return probe_settings().model_copy(update={"edge": EdgeSettings(**bounds)})  # copied: small bounds are not checked


class Log:
    """Keeps what the gate writes."""

    def __init__(self):
        self.lines = []

    def bind(self):
        return self

    def info(self, event, **told):
        self.lines.append((event, told))

    warning = error = info


@contextlib.asynccontextmanager
async def watched(monkeypatch, settings, **changes):
    """A probe whose gate writes into a list."""
    log = Log()
    monkeypatch.setattr(credential_gate.structlog, "get_logger", lambda *_: log)
    async with probe(settings=settings, **changes) as p:
        p.log = log
        yield p


async def reasons(p, key, count, **more):
    found = []
    for _ in range(count):
        _, details = await failure(p.call(key=key, **more))
        found.append(details["ErrorInfo"].reason)
    return found


class TestFailedLogins:
    async def test_failures_are_throttled_and_nobody_is_locked_out(self):
        async with probe(settings=edge(failed_login_burst=3, failed_logins_per_minute=6)) as p:
            assert await reasons(p, WRONG, 5) == ["CREDENTIAL_INVALID"] * 3 + ["LOGIN_LIMIT"] * 2
            error, details = await failure(p.call(key=""))
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert 9 <= details["RetryInfo"].retry_delay.ToSeconds() <= 10
            assert details["ErrorInfo"].metadata["retryable"] == "false"
            assert (await p.call()).value == "hi"  # from the same address, never seen before

    async def test_all_addresses_share_one_bound(self):
        settings = edge(failed_logins_per_minute_overall=2, trusted_proxies=["127.0.0.1"], failed_logins_per_minute=60)
        async with probe(settings=settings) as p:
            found = []
            for n in range(3):
                found += await reasons(p, WRONG, 1, metadata=(("x-forwarded-for", f"203.0.113.{n}"),))
            assert found == ["CREDENTIAL_INVALID"] * 2 + ["LOGIN_LIMIT"]
            assert (await p.call()).value == "hi"

    async def test_a_forwarded_address_is_believed_of_a_proxy_of_ours_alone(self):
        for trusted, last in (([], "LOGIN_LIMIT"), (["127.0.0.0/8"], "CREDENTIAL_INVALID")):
            async with probe(settings=edge(failed_login_burst=1, trusted_proxies=trusted)) as p:
                await reasons(p, WRONG, 1, metadata=(("x-forwarded-for", "203.0.113.1"),))
                assert await reasons(p, WRONG, 1, metadata=(("x-forwarded-for", "203.0.113.2"),)) == [last]

    async def test_each_is_told_once_by_what_names_it_and_never_by_itself(self, monkeypatch):
        token = jwt.encode({"sub": "a"}, "k" * 32, headers={"kid": "key-7"})
        settings = edge(failed_login_burst=4, failed_logins_per_minute=60_000)
        async with watched(monkeypatch, settings) as p:
            for key in (WRONG, token, "", "revoked"):
                await failure(p.call(key=key))
            told = [line for event, line in p.log.lines if event == "credential refused"]
        where = {"address": "127.0.0.1", "transport": "grpc"}
        assert told == [
            {"reason": "CREDENTIAL_INVALID", **where, "kind": "api_key", "key_prefix": "crp_gw_test_WWWWWWWW"},
            {"reason": "CREDENTIAL_INVALID", **where, "kind": "jwt", "kid": "key-7"},
            {"reason": "CREDENTIAL_MISSING", **where, "kind": "none"},
            {"reason": "CREDENTIAL_REVOKED", **where, "kind": "api_key", "key_prefix": "crp_gw_test_VVVVVVVV"},
        ]
        assert WRONG not in str(told)
        assert token not in str(told)

    async def test_a_flood_is_counted_and_not_written(self, monkeypatch):
        now = [0.0]
        async with watched(monkeypatch, edge(failed_login_burst=1, failed_logins_per_minute=60)) as p:
            p.server._pipeline._gate._failed._now = lambda: now[0]
            p.server._pipeline._gate._failed._overall._at = 0.0
            await reasons(p, WRONG, 6)
            now[0] = 2.0
            await reasons(p, WRONG, 1)
            told = [line for event, line in p.log.lines if event == "credential refused"]
            scraped = p.metrics()
        assert [line.get("not_logged_before", 0) for line in told] == [0, 5]
        assert 'groundtrail_refused_credentials_total{reason="CREDENTIAL_INVALID",transport="grpc"} 2.0' in scraped
        assert 'groundtrail_refused_credentials_total{reason="LOGIN_LIMIT",transport="grpc"} 5.0' in scraped

    async def test_credentials_that_are_looked_at_are_bounded_by_address(self):
        looked = asyncio.Event()

        class Slow:
            def remembered(self, authorization):
                return None

            async def authenticate(self, authorization):
                await looked.wait()

        settings = Settings(server=probe_settings(max_concurrent_calls_per_tenant=2).server)
        gate = CredentialGate(Slow(), settings)
        waiting = [asyncio.ensure_future(gate.prove("Bearer x", "192.0.2.1", "grpc")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Exception, match="wait for their credential") as caught:
            await gate.prove("Bearer x", "192.0.2.1", "grpc")
        assert caught.value.reason == "CONCURRENCY_LIMIT"
        waiting.append(asyncio.ensure_future(gate.prove("Bearer x", "192.0.2.2", "grpc")))
        looked.set()
        await asyncio.gather(*waiting)
        assert gate._unproven == Counter()

    @pytest.mark.parametrize(
        ("credential", "expected"),
        [
            ("", {"kind": "none"}),
            ("Basic dXNlcjpwYXNz", {"kind": "other"}),
            ("Bearer crp_gw_test_short", {"kind": "api_key"}),
            ("Bearer eyJ!", {"kind": "jwt"}),
            (f"Bearer {jwt.encode({}, 'k' * 32, headers={'kid': 'a b' + chr(10)})}", {"kind": "jwt"}),
            (f"Bearer {jwt.encode({}, 'k' * 32, headers={'kid': 'x' * 65})}", {"kind": "jwt"}),
            (f"Bearer {jwt.encode({}, 'k' * 32)}", {"kind": "jwt"}),
        ],
    )
    def test_what_a_log_says_of_a_credential(self, credential, expected):
        assert named(credential) == expected


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "forwarded", "expected"),
        [
            ("203.0.113.9", ["1.2.3.4"], "203.0.113.9"),
            ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1", ["9.9.9.9, 1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1", ["9.9.9.9", "1.2.3.4, 10.0.0.2"], "1.2.3.4"),
            ("10.0.0.1", ["1.2.3.4, unknown"], "10.0.0.1"),
            ("10.0.0.1", ["<script>"], "10.0.0.1"),
            ("::ffff:10.0.0.1", ["2001:db8:1:2:3::4"], "2001:db8:1:2::/64"),
            ("unix", ["1.2.3.4"], "unix"),
            ("", [], "unknown"),
            ("fe80::1%eth0", [], "fe80::/64"),
        ],
    )
    def test_the_nearest_address_that_is_no_proxy_of_ours(self, address, forwarded, expected):
        assert PeerAddresses(["10.0.0.0/8"]).behind(address, forwarded) == expected

    def test_the_unix_socket_is_trusted_by_name(self):
        assert PeerAddresses(["unix"]).behind("unix", ["1.2.3.4"]) == "1.2.3.4"

    @pytest.mark.parametrize(
        ("peer", "expected"),
        [
            ("ipv4:192.0.2.1:4711", "192.0.2.1"),
            ("ipv6:%5B2001:db8::1%5D:4711", "2001:db8::/64"),
            ("unix:", "unix"),
            ("unix-abstract:x", "unix"),
        ],
    )
    def test_a_peer_as_grpc_writes_it(self, peer, expected):
        class Context:
            def peer(self):
                return peer

        assert PeerAddresses().of_call(Context()) == expected


class TestStreams:
    async def test_reset_streams_count_until_they_are_cleared_away(self):
        """Without the bound each of the 4,000 became a call."""
        async with probe(settings=edge(max_streams_per_connection=20)) as p, asyncio.timeout(patient(30)):
            reader, writer = await dialled(p)
            block = h2.call(f"/{SERVICE}/Echo")
            for first in range(1, 8_000, 1_000):
                ids = range(first, first + 1_000, 2)
                writer.write(b"".join(h2.headers(stream, block) + h2.reset(stream) for stream in ids))
                await writer.drain()
            assert (await p.call()).value == "hi"
            writer.close()
            await reader.read()
            assert begun(p) < 1_000

    async def test_as_many_calls_as_a_process_takes_on_are_never_refused_by_the_wire(self):
        """What was answered a moment ago still counts: a bound near the number of calls would refuse honest ones."""
        async with probe(settings=probe_settings(max_concurrent_calls_per_tenant=256)) as p:
            for _ in range(4):
                answers = await asyncio.gather(*(p.call() for _ in range(256)))
                assert [one.value for one in answers] == ["hi"] * 256

    async def test_connections_of_the_port_are_bounded(self):
        async with probe(settings=edge(max_connections=2)) as p, asyncio.timeout(patient(30)):
            await p.call()  # holds one
            _, held = await dialled(p)
            with contextlib.suppress(ConnectionError):
                reader, writer = await asyncio.open_connection("127.0.0.1", p.server.port)
                writer.write(h2.PREFACE + h2.settings())
                assert await reader.read() == b""
                writer.close()
            assert (await p.call()).value == "hi"
            held.close()

    async def test_who_says_nothing_is_let_go(self):
        async with probe(settings=edge(handshake_timeout_s=0.3)) as p, asyncio.timeout(patient(20)):
            reader, writer = await asyncio.open_connection("127.0.0.1", p.server.port)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            writer.close()

    async def test_a_connection_without_calls_is_let_go(self):
        async with probe(settings=edge(connection_idle_s=0.3)) as p, asyncio.timeout(patient(20)):
            reader, writer = await dialled(p)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            writer.close()
            assert (await p.call()).value == "hi"


async def dialled(p):
    """A connection of HTTP/2 on which the server's bounds hold."""
    reader, writer = await asyncio.open_connection("127.0.0.1", p.server.port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    writer.write(h2.PREFACE + h2.settings())
    await writer.drain()
    await reader.readexactly(9)
    writer.write(h2.acknowledged())
    await writer.drain()
    return reader, writer


def begun(p):
    """How many calls came through to the pipeline."""
    return sum(
        int(float(line.rpartition(" ")[2]))
        for line in p.metrics().splitlines()
        if line.startswith("groundtrail_rpc_total{")
    )
