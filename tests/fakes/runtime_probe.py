"""A service made of behaviours that tests hand in, served by the real runtime on a free port."""

import contextlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue

from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.api_key_format import hash_of, prefix_of
from services.common.context import Role
from services.common.ports.credentials import ApiKeyRecord
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import AuthSettings, ServerSettings, Settings, TelemetrySettings
from services.common.telemetry import open_telemetry
from tests.patience import patient

SERVICE = "groundtrail.probe.v1.ProbeService"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEYS = {
    "reader": "crp_gw_test_" + "R" * 32,
    "writer": "crp_gw_test_" + "W" * 32,
    "admin": "crp_gw_test_" + "A" * 32,
    "other": "crp_gw_test_" + "O" * 32,
    "revoked": "crp_gw_test_" + "V" * 32,
    "expired": "crp_gw_test_" + "E" * 32,
}


@dataclass
class FakeClock:
    """A clock that tests turn."""

    moment: datetime = NOW

    def now(self):
        return self.moment

    def advance(self, seconds):
        self.moment += timedelta(seconds=seconds)


def key_record(name, tenant="tenant-1", **changes):
    key = KEYS[name]
    role = name if name in {"reader", "writer", "admin"} else "writer"
    values = {
        "tenant_id": tenant,
        "key_id": f"00000000-0000-4000-8000-{ord(key[-1]):012d}",
        "prefix": prefix_of(key),
        "key_hash": hash_of(key),
        "label": name,
        "roles": (role,),
        "created_at": NOW - timedelta(days=1),
    }
    return ApiKeyRecord(**(values | changes))


async def credential_store():
    """A memory store with one key of each kind."""
    store = MemoryCredentialStore()
    for name in ("reader", "writer", "admin"):
        await store.put_key(key_record(name))
    await store.put_key(key_record("other", tenant="tenant-2"))
    await store.put_key(key_record("revoked", revoked_at=NOW - timedelta(hours=1)))
    await store.put_key(key_record("expired", expires_at=NOW - timedelta(hours=1)))
    return store


def register(behaviours):
    """Register coroutine functions and async generators as RPCs that take and give a StringValue.

    A name that ends in ``Bidi`` or ``ClientStream`` streams requests; async generators stream responses.
    """
    import inspect

    def add(server):
        handlers = {}
        for name, behaviour in behaviours.items():
            streams_in = name.endswith(("Bidi", "ClientStream"))
            streams_out = inspect.isasyncgenfunction(behaviour)
            make = {
                (False, False): grpc.unary_unary_rpc_method_handler,
                (False, True): grpc.unary_stream_rpc_method_handler,
                (True, False): grpc.stream_unary_rpc_method_handler,
                (True, True): grpc.stream_stream_rpc_method_handler,
            }[streams_in, streams_out]
            handlers[name] = make(behaviour, StringValue.FromString, StringValue.SerializeToString)
        server.add_registered_method_handlers(SERVICE, handlers)

    return add


async def healthy():
    """A readiness check that passes."""


@dataclass
class Probe:
    """A running server and how to call it."""

    server: RpcServer
    store: MemoryCredentialStore
    clock: FakeClock
    telemetry: Any
    channel: grpc.aio.Channel
    settings: Settings
    calls: list = field(default_factory=list)

    def call(self, method="Echo", text="hi", *, key="writer", timeout=patient(10.0), metadata=(), service=SERVICE):
        authorization = (("authorization", f"Bearer {KEYS.get(key, key)}"),) if key else ()
        rpc = self.channel.unary_unary(f"/{service}/{method}", StringValue.SerializeToString, StringValue.FromString)
        return rpc(StringValue(value=text), timeout=timeout, metadata=(*authorization, *metadata))

    def stream(self, method, text="hi", *, key="writer", timeout=patient(10.0)):
        rpc = self.channel.unary_stream(f"/{SERVICE}/{method}", StringValue.SerializeToString, StringValue.FromString)
        return rpc(StringValue(value=text), timeout=timeout, metadata=(("authorization", f"Bearer {KEYS[key]}"),))

    def metrics(self):
        from prometheus_client import generate_latest

        return generate_latest(self.telemetry.registry).decode()


async def echo(request, context):
    return request


def probe_settings(**server):
    """Settings for tests: a free port, everything else as given."""
    return Settings(
        server=ServerSettings(**({"port": 0, "drain_grace_s": 5, "health_interval_s": 0.05} | server)),
        telemetry=TelemetrySettings(http_port=0),
        auth=AuthSettings(environment="test"),
    )


@contextlib.asynccontextmanager
async def probe(
    behaviours=None,
    *,
    roles=None,
    settings=None,
    check=healthy,
    target=None,
    credentials=None,
    listening=None,
    work=None,
):
    """Serve ``behaviours`` (default: an echo) and yield a ``Probe``; every RPC needs WRITER unless ``roles`` says."""
    behaviours = behaviours or {"Echo": echo}
    settings = settings or probe_settings()
    clock = FakeClock()
    store = await credential_store()
    telemetry = open_telemetry(settings.telemetry, "probe", "0")
    served = ServedService(
        SERVICE,
        register(behaviours),
        roles or dict.fromkeys(behaviours, Role.WRITER),
        check,
        listening,
        work=work or {},
    )
    server = RpcServer([served], settings, open_authenticator(settings.auth, store, clock), telemetry)
    await server.start()
    where = target or server.address
    channel = grpc.aio.insecure_channel(where) if credentials is None else grpc.aio.secure_channel(where, credentials)
    try:
        yield Probe(server, store, clock, telemetry, channel, settings)
    finally:
        await channel.close()
        await server.drain()
        telemetry.close()


def scratch(path: Path, name: str, data: bytes) -> Path:
    """Write a file and return its path."""
    target = path / name
    target.write_bytes(data)
    return target
