"""Listening, TLS, health, reflection, the HTTP endpoint, draining, and what stops a start."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import json
import stat
import time
import urllib.error
import urllib.request

import grpc
import pytest
from crp.gateway.v1 import admin_service_pb2_grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from services.common.context import Role
from services.common.errors import ErrorReason, UnavailableError
from services.common.rpc.nesting import WITHIN_KEY, own_mark
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import SettingsError, TlsSettings
from services.common.telemetry import open_telemetry
from tests.fakes.runtime_probe import SERVICE, echo, healthy, probe, probe_settings, register, scratch
from tests.patience import patient
from tests.rpc.test_runtime_errors import failure

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Authority:
    """A certificate authority of the test's own."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.cert = self._sign(name, self.key, name, self.key, authority=True)
        self.file = scratch(folder, f"{name}.pem", self.cert.public_bytes(serialization.Encoding.PEM))

    def issue(self, name):
        """Return the files of a certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        cert = self._sign(name, key, self.name, self.key, authority=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return (
            scratch(self.folder, f"{self.name}-{name}.crt", cert.public_bytes(serialization.Encoding.PEM)),
            scratch(self.folder, f"{self.name}-{name}.key", private),
        )

    @staticmethod
    def _sign(subject, key, issuer, issuer_key, *, authority):
        now = dt.datetime.now(tz=dt.UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=1))
            .not_valid_after(now + dt.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(issuer_key, hashes.SHA256())
        )


def credentials(authority, pair=None):
    cert, key = (path.read_bytes() for path in pair) if pair else (None, None)
    return grpc.ssl_channel_credentials(authority.file.read_bytes(), private_key=key, certificate_chain=cert)


async def test_tls(tmp_path):
    ours, other = Authority(tmp_path, "ours"), Authority(tmp_path, "other")
    cert, key = ours.issue("server")
    settings = probe_settings(tls=TlsSettings(cert_file=cert, key_file=key))
    async with probe(settings=settings, credentials=credentials(ours)) as p:
        assert (await p.call()).value == "hi"
        for channel in (
            grpc.aio.insecure_channel(p.server.address),
            grpc.aio.secure_channel(p.server.address, credentials(other)),
        ):
            rpc = channel.unary_unary(f"/{SERVICE}/Echo", StringValue.SerializeToString, StringValue.FromString)
            error, _ = await failure(rpc(StringValue(), timeout=patient(5)))
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            await channel.close()


async def test_mtls_asks_clients_for_a_certificate_of_the_right_authority(tmp_path):
    ours, clients, other = (Authority(tmp_path, name) for name in ("ours", "clients", "other"))
    cert, key = ours.issue("server")
    settings = probe_settings(tls=TlsSettings(cert_file=cert, key_file=key, client_ca_file=clients.file))
    async with probe(settings=settings, credentials=credentials(ours, clients.issue("app"))) as p:
        assert (await p.call()).value == "hi"
        error, details = await failure(p.call(key=""))
        assert details["ErrorInfo"].reason == "CREDENTIAL_MISSING"
        for pair in (None, other.issue("app")):
            channel = grpc.aio.secure_channel(p.server.address, credentials(ours, pair))
            rpc = channel.unary_unary(f"/{SERVICE}/Echo", StringValue.SerializeToString, StringValue.FromString)
            error, _ = await failure(rpc(StringValue(), timeout=patient(5)))
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            await channel.close()


async def test_a_certificate_that_cannot_be_read_stops_the_start(tmp_path):
    settings = probe_settings(tls=TlsSettings(cert_file=tmp_path / "c", key_file=tmp_path / "k"))
    with pytest.raises(SettingsError, match="cannot be read"):
        async with probe(settings=settings):
            pass


async def test_a_unix_socket_serves_beside_the_port_and_is_removed(tmp_path):
    socket = tmp_path / "s.sock"
    async with probe(settings=probe_settings(unix_socket=socket), target=f"unix:{socket}") as p:
        assert (await p.call()).value == "hi"
        assert stat.S_ISSOCK(socket.stat().st_mode)
        assert stat.S_IMODE(socket.stat().st_mode) & 0o077 == 0
    assert not socket.exists()


async def test_a_port_that_is_taken_stops_the_start_and_names_the_setting():
    async with probe() as p:
        with pytest.raises(SettingsError, match="GROUNDTRAIL_SERVER__PORT"):
            async with probe(settings=probe_settings(port=p.server.port)):
                pass


async def test_addresses_can_be_dialled():
    async with probe(settings=probe_settings(host="0.0.0.0")) as p:
        assert p.server.address == f"127.0.0.1:{p.server.port}"
        assert (await p.call()).value == "hi"


async def health(p, service=""):
    stub = health_pb2_grpc.HealthStub(p.channel)
    return (await stub.Check(health_pb2.HealthCheckRequest(service=service))).status


async def becomes(p, service, status):
    """Return once Watch says so."""
    stub = health_pb2_grpc.HealthStub(p.channel)
    async with asyncio.timeout(patient(5)):
        async for answer in stub.Watch(health_pb2.HealthCheckRequest(service=service)):
            if answer.status == status:
                return


async def test_health_needs_no_credential_and_is_neither_counted_nor_logged(capfd):
    async with probe() as p:
        assert await health(p) == SERVING
        assert await health(p, SERVICE) == SERVING
        error, _ = await failure(
            health_pb2_grpc.HealthStub(p.channel).Check(health_pb2.HealthCheckRequest(service="x"))
        )
        assert error.code() is grpc.StatusCode.NOT_FOUND
        assert "grpc.health" not in p.metrics()
    assert "grpc.health" not in "".join(capfd.readouterr())


async def test_readiness_follows_the_backend_and_liveness_does_not():
    up = asyncio.Event()

    async def check():
        if not up.is_set():
            raise UnavailableError(ErrorReason.STORE_UNAVAILABLE, "the store does not answer")

    async with probe(check=check) as p:
        assert await health(p) == NOT_SERVING
        assert await health(p, SERVICE) == NOT_SERVING
        assert await http(p, "/healthz") == (200, "alive\n")
        status, body = await http(p, "/readyz")
        assert status == 503
        problem = "STORE_UNAVAILABLE: the store does not answer"
        assert json.loads(body) == {"ready": False, "services": {SERVICE: problem}}
        up.set()
        await becomes(p, "", SERVING)
        assert await http(p, "/readyz") == (200, json.dumps({"ready": True, "services": {SERVICE: "SERVING"}}) + "\n")
        up.clear()
        await becomes(p, SERVICE, NOT_SERVING)


@pytest.mark.parametrize(("wait", "said"), [(30, "no answer within 0.1 s"), (0, "RuntimeError")])
async def test_a_check_that_hangs_or_breaks_is_not_serving(wait, said):
    async def check():
        await asyncio.sleep(wait)
        raise RuntimeError

    async with probe(check=check, settings=probe_settings(health_timeout_s=0.1)) as p:
        assert await health(p) == NOT_SERVING
        assert p.server.readiness.problems == {SERVICE: said}


async def http(p, path, method="GET"):
    def fetch():
        request = urllib.request.Request(f"http://127.0.0.1:{p.server.telemetry_port}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=patient(5)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(fetch)


async def test_metrics_text():
    async with probe() as p:
        await p.call()
        await p.call()
        await failure(p.call(key="reader"))
        where = f'method="Echo",service="{SERVICE}"'
        refused = f'groundtrail_rpc_total{{code="PERMISSION_DENIED",{where}}} 1.0'
        status, text = await http(p, "/metrics")
        until = time.monotonic() + patient(5)
        while refused not in text and time.monotonic() < until:  # a call is counted when it ends, after its answer
            status, text = await http(p, "/metrics")
        assert status == 200
        assert f'groundtrail_rpc_total{{code="OK",{where}}} 2.0' in text
        assert refused in text
        assert f"groundtrail_rpc_in_flight{{{where}}} 0.0" in text
        assert f"groundtrail_rpc_duration_seconds_count{{{where}}} 3.0" in text
        assert f'groundtrail_rpc_duration_seconds_bucket{{le="60.0",{where}}} 3.0' in text
        assert "tenant" not in text


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/", "GET", 404), ("/metrics?x=1", "GET", 200), ("/metrics", "POST", 405)]
)
async def test_http_answers_only_what_it_knows(path, method, status):
    async with probe() as p:
        assert (await http(p, path, method))[0] == status


async def test_http_survives_clients_that_do_not_finish():
    async with probe() as p:
        for sent in (b"", b"GET /metrics", b"\x00\xff\r\n\r\n", b"x" * 20_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", p.server.telemetry_port)
            writer.write(sent)
            writer.write_eof()
            await reader.read()
            writer.close()
        assert (await http(p, "/healthz"))[0] == 200


async def listed(p, metadata=()):
    stub = reflection_pb2_grpc.ServerReflectionStub(p.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    call = stub.ServerReflectionInfo(iter([request]), metadata=metadata)
    answers = [answer async for answer in call]
    return {service.name for service in answers[0].list_services_response.service}


async def test_reflection_lists_what_is_served_and_nothing_else():
    async with probe() as p:
        assert await listed(p) == {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}


async def test_reflection_gives_the_files_of_a_service():
    async with probe() as p:
        stub = reflection_pb2_grpc.ServerReflectionStub(p.channel)
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="crp.gateway.v1.AdminService")
        answers = [answer async for answer in stub.ServerReflectionInfo(iter([request]))]
        assert answers[0].file_descriptor_response.file_descriptor_proto
        assert admin_service_pb2_grpc.AdminServiceStub


async def test_reflection_streams_held_open_without_a_credential_keep_nobody_out():
    limits = {"max_concurrent_calls": 32, "max_concurrent_calls_per_tenant": 32}
    async with probe(settings=probe_settings(**limits)) as p:
        stub = reflection_pb2_grpc.ServerReflectionStub(p.channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        held = [stub.ServerReflectionInfo() for _ in range(2)]
        for stream in held:
            await stream.write(request)
            await stream.read()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await listed(p)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (await p.call()).value == "hi"
        for stream in held:
            await stream.done_writing()
            assert await stream.read() is grpc.aio.EOF
        assert SERVICE in await listed(p)


async def test_reflection_can_be_turned_off():
    async with probe(settings=probe_settings(reflection=False)) as p:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await listed(p)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_reflection_can_ask_for_a_credential():
    from tests.fakes.runtime_probe import KEYS

    async with probe(settings=probe_settings(reflection_needs_credential=True)) as p:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await listed(p)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert SERVICE in await listed(p, (("authorization", f"Bearer {KEYS['reader']}"),))


async def test_drain_finishes_calls_in_flight_and_takes_no_new_ones():
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def wait(request, context):
        entered.set()
        await go_on.wait()
        return request

    async with probe({"Wait": wait}) as p:
        call = asyncio.ensure_future(_awaited(p.call("Wait")))
        await asyncio.wait_for(entered.wait(), patient(5))
        draining = asyncio.ensure_future(p.server.drain())
        await asyncio.sleep(0.1)
        assert not p.server.readiness.ready
        assert not draining.done()
        error, _ = await failure(p.call("Wait", timeout=2))
        assert error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        go_on.set()
        assert (await call).value == "hi"
        await asyncio.wait_for(draining, patient(5))


async def test_drain_lets_a_call_in_flight_call_its_own_process_and_nobody_else():
    entered, go_on = asyncio.Event(), asyncio.Event()
    own = (("x-request-id", "one"), (WITHIN_KEY, own_mark()))

    async def outer(request, context):
        entered.set()
        await go_on.wait()
        return await p.call("Inner", "from within", metadata=own)

    async def inner(request, context):
        return request

    async with probe({"Outer": outer, "Inner": inner}, listening=lambda _target, _names: None) as p:
        call = asyncio.ensure_future(_awaited(p.call("Outer", metadata=(("x-request-id", "one"),))))
        await asyncio.wait_for(entered.wait(), patient(5))
        draining = asyncio.ensure_future(p.server.drain())
        with contextlib.suppress(grpc.aio.AioRpcError):  # until the drain has begun, anybody is let in
            while True:
                await p.call("Inner")
        strangers = [
            (("x-request-id", "one"),),
            (("x-request-id", "one"), (WITHIN_KEY, "0" * 32)),
            (("x-request-id", "two"), (WITHIN_KEY, own_mark())),
        ]
        for stranger in strangers:
            error, info = await failure(p.call("Inner", metadata=stranger))
            assert (error.code(), info["ErrorInfo"].reason) == (grpc.StatusCode.UNAVAILABLE, "SERVICE_UNAVAILABLE")
        assert not draining.done()
        go_on.set()
        assert (await call).value == "from within"
        await asyncio.wait_for(draining, patient(5))


async def test_drain_ends_calls_that_outlast_the_grace():
    stopped = asyncio.Event()
    entered = asyncio.Event()

    async def linger(request, context):
        entered.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()

    async with probe({"Linger": linger}, settings=probe_settings(drain_grace_s=0.2)) as p:
        call = asyncio.ensure_future(_awaited(p.call("Linger")))
        await asyncio.wait_for(entered.wait(), patient(5))
        await asyncio.wait_for(p.server.drain(), patient(5))
        await asyncio.wait_for(stopped.wait(), patient(5))
        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def _awaited(call):
    return await call


async def start(*services):
    settings = probe_settings()
    from services.common.rpc.authentication import LocalAuthenticator

    server = RpcServer(services, settings, LocalAuthenticator(), open_telemetry(settings.telemetry, "probe", "0"))
    try:
        await server.start()
    finally:
        await server.drain()


def not_async(request, context):
    return request


def served(behaviours, roles, name=SERVICE):
    return ServedService(name, register(behaviours), roles, healthy)


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ([served({"Echo": echo}, {})], "without a role"),
        ([served({"Echo": echo}, {"Echo": Role.READER, "Other": Role.READER})], "without an RPC"),
        ([served({"Echo": not_async}, {"Echo": Role.READER})], "coroutine function"),
        ([served({"Echo": echo}, {"Echo": Role.READER}, "other.Name")], "registers"),
        ([served({"Echo": echo}, {"Echo": Role.READER})] * 2, "twice"),
    ],
    ids=["no role", "role too many", "not async", "another name", "twice"],
)
async def test_services_that_are_put_together_wrongly_stop_the_start(services, said):
    with pytest.raises(TypeError, match=said):
        await start(*services)


async def test_rpcs_that_are_not_overridden_are_unimplemented():
    from functools import partial

    servicer = admin_service_pb2_grpc.AdminServiceServicer()
    name = "crp.gateway.v1.AdminService"
    register_admin = partial(admin_service_pb2_grpc.add_AdminServiceServicer_to_server, servicer)
    await start(ServedService(name, register_admin, {}, healthy))
