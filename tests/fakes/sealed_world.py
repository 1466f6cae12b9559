"""The dag service as it is composed - sealed store, transparency log, erasure - over any store, with turned clock."""

import contextlib
from dataclasses import dataclass, field, replace
from typing import Any

import grpc
from crp.dag.v1 import retention_service_pb2_grpc as retention_grpc
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from crp.dag.v1 import transparency_service_pb2_grpc as transparency_grpc

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.composition import Adapters
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.common.telemetry import open_telemetry
from services.dag.compose import build
from tests.fakes.dag_world import Client, CountingIds, SubjectAuthenticator, TurnedClock, fresh_uuid
from tests.patience import patient

SECRET = bytes(range(32)).hex()


class WithStore(Adapters):
    """The shared adapters, but for the store of sessions."""

    held: Any = None

    async def session_store(self):
        return self.held


@dataclass
class SealedWorld:
    """One composed dag service; ``store`` is the one inside, which holds ciphertext."""

    store: Any = field(default_factory=MemorySessionStore)
    clock: TurnedClock = field(default_factory=TurnedClock)
    ids: CountingIds = field(default_factory=CountingIds)
    dag: DagSettings = field(default_factory=lambda: DagSettings(master_key=SECRET, log_name="log.example"))
    retention: RetentionSettings = field(default_factory=lambda: RetentionSettings(sweep_interval_s=0))
    sections: dict[str, Any] = field(default_factory=dict)
    """Further sections of the settings."""

    @contextlib.asynccontextmanager
    async def serving(self):
        """Serve over gRPC and yield a client for all services."""
        settings = Settings(
            server=ServerSettings(port=0, drain_grace_s=5, health_interval_s=0.05),
            telemetry=TelemetrySettings(http_port=0),
            dag=self.dag,
            retention=self.retention,
            **self.sections,
        )
        telemetry = open_telemetry(settings.telemetry, "dag", "0")
        adapters = WithStore(settings, clock=self.clock, ids=self.ids)
        adapters.held = self.store
        services = await build(settings, adapters)
        server = RpcServer(services, settings, SubjectAuthenticator(), telemetry)
        await server.start()
        channel = grpc.aio.insecure_channel(server.address)
        try:
            log = transparency_grpc.TransparencyServiceStub(channel)
            rules = retention_grpc.RetentionServiceStub(channel)
            yield SealedClient(pb_grpc.SessionServiceStub(channel), log, rules)
        finally:
            await channel.close()
            await server.drain()
            await adapters.__aexit__(None, None, None)
            telemetry.close()


@dataclass
class SealedClient(Client):
    """Calls of all services."""

    log: Any = None
    rules: Any = None

    async def keep(self, rpc, request, subject="alice"):
        """Call RetentionService."""
        return await replace(self, stub=self.rules).call(rpc, request, subject)

    async def keep_fails(self, rpc, request, subject="alice"):
        return await replace(self, stub=self.rules).fails(rpc, request, subject)

    async def ask_log(self, rpc, request, subject="alice"):
        return await getattr(self.log, rpc)(request, metadata=(("authorization", subject),), timeout=patient(20))

    async def log_fails(self, rpc, request, subject="alice"):
        return await replace(self, stub=self.log).fails(rpc, request, subject)

    async def export(self, session_id, *, with_content=False, sizes=(), subject="alice"):
        request = pb.ExportAuditRequest(session_id=session_id, with_content=with_content, consistency_from_sizes=sizes)
        call = self.stub.ExportAudit(request, metadata=(("authorization", subject),), timeout=patient(20))
        return [line.line async for line in call]

    async def erase(self, session_id, reason="the user asked for it", subject="alice", **fields):
        values = {"request_id": fresh_uuid(), "session_id": session_id, "reason": reason}
        return await self.call("EraseSession", pb.EraseSessionRequest(**(values | fields)), subject)
