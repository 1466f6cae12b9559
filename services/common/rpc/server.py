"""One gRPC server for any set of services.

It adds to what the services register: the pipeline around every RPC, grpc.health.v1, reflection, TLS, a unix socket,
the HTTP endpoint for scrapers, and a drain that lets calls in flight finish.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc
from prometheus_client.registry import Collector

from services.common.context import Role
from services.common.rpc.authentication import Authenticator
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.handlers import wrap
from services.common.rpc.heartbeat import Heartbeat
from services.common.rpc.http_endpoint import HttpEndpoint
from services.common.rpc.methods import HandlerTable, MethodTable, WrappedHandler, build_method
from services.common.rpc.pipeline import Pipeline
from services.common.rpc.rate_limits import RateLimits
from services.common.rpc.readiness import Readiness
from services.common.rpc.tls import server_credentials
from services.common.rpc.wire_options import server_options
from services.common.rpc.work import Work
from services.common.settings import Settings, SettingsError
from services.common.settings.environment import variable_name
from services.common.settings.server import is_loopback
from services.common.telemetry import Telemetry

HEALTH_SERVICE: Final = "grpc.health.v1.Health"
PORT_VARIABLE: Final = variable_name(("server", "port"))
"""What a port that cannot be listened on is told by."""


@dataclass(frozen=True, slots=True)
class ServedService:
    """One proto service, ready to be served.

    Attributes:
        name: full name, ``crp.dpe.v1.ProvenanceService``.
        register: the generated ``add_…_to_server`` with its servicer filled in.
        roles: what each implemented RPC needs, by short name; one too few or too many stops the start.
        check: returns when the backends can serve, raises otherwise; polled for readiness.
        listening: told, before the first call is accepted, the target that this process can be dialled at and the names
            of all services in it; for a service that calls others in its own process. May raise ``SettingsError``.
        metrics: what the service counts besides its calls; registered with the process's registry.
        work: what RPCs cost that compute or write much, by short name; those without cost no more than a read.
        details: what operators should know of the service though it can serve, by topic, one sentence each; shown by
            ``/readyz``.
        http_port: that the service is reached at over HTTP too; it listens already.
        limits: what its callers may ask for in a minute; ``None`` = as much as they want.
        readiness: given, before the first call is accepted, whether this process can serve, for a port of its own.
        started: called once everything of the process listens; a start that fails does not come so far.
    """

    name: str
    register: Callable[[grpc.aio.Server], None]
    roles: Mapping[str, Role]
    check: Callable[[], Awaitable[None]]
    listening: Callable[[str, frozenset[str]], None] | None = None
    metrics: Collector | None = None
    details: Callable[[], Mapping[str, str]] | None = None
    work: Mapping[str, Work] = field(default_factory=dict)
    http_port: int | None = None
    limits: RateLimits | None = None
    readiness: Callable[[Readiness], None] | None = None
    started: Callable[[], Awaitable[None]] | None = None


class RpcServer:
    """Serves; ``start`` once, ``drain`` once.

    Callers are proven at a gate: one that is shared with another edge of the process, or one of its own.
    """

    def __init__(
        self,
        services: Sequence[ServedService],
        settings: Settings,
        authenticator: Authenticator | CredentialGate,
        telemetry: Telemetry,
    ) -> None:
        self._services = tuple(services)
        self._settings = settings
        self._telemetry = telemetry
        for service in self._services:
            if service.metrics is not None:
                telemetry.registry.register(service.metrics)
            if service.limits is not None:
                telemetry.registry.register(service.limits)
        gate = authenticator if isinstance(authenticator, CredentialGate) else CredentialGate(authenticator, settings)
        telemetry.registry.register(gate.metrics)
        self._pipeline = Pipeline(gate, telemetry, settings.server, log_calls=settings.telemetry.log_calls)
        self._readiness = Readiness(self._services, settings.server, telemetry.log.bind())
        self._heartbeat = Heartbeat()
        telemetry.registry.register(self._heartbeat)
        self._telemetry_http = HttpEndpoint(settings.telemetry, telemetry.registry, self._readiness, self._heartbeat)
        self._server: grpc.aio.Server | None = None
        self._port = 0

    @property
    def port(self) -> int:
        """The TCP port that it listens on; 0 before ``start``."""
        return self._port

    @property
    def address(self) -> str:
        """``host:port`` to dial; loopback where it listens on every interface."""
        host = self._settings.server.host
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}  # noqa: S104 - recognised, not bound
        return f"{everywhere.get(host, _bracketed(host))}:{self._port}"

    @property
    def http_port(self) -> int | None:
        """Port of the services over HTTP; ``None`` where none is served so."""
        return next((service.http_port for service in self._services if service.http_port is not None), None)

    @property
    def telemetry_port(self) -> int | None:
        """Port of ``/metrics``, ``/healthz`` and ``/readyz``; ``None`` when it is off."""
        return self._telemetry_http.port

    @property
    def readiness(self) -> Readiness:
        """What the backends say."""
        return self._readiness

    async def start(self) -> None:
        """Register, listen and begin to serve; returns once calls are accepted and readiness was polled.

        Raises:
            SettingsError: an address is taken or a certificate cannot be read.
            TypeError: the roles of a service are not those of its RPCs.
        """
        handlers = self._handlers()
        self._server = grpc.aio.server(options=server_options(self._settings))
        self._server.add_generic_rpc_handlers((HandlerTable(handlers),))
        health_pb2_grpc.add_HealthServicer_to_server(self._readiness.servicer, self._server)
        self._listen(self._server)
        self._tell_services()
        await self._server.start()
        self._heartbeat.start()
        await self._telemetry_http.start()
        await self._readiness.start()
        for service in self._services:
            if service.started is not None:
                await service.started()

    async def drain(self) -> None:
        """Say NOT_SERVING, take no new calls, let those in flight finish within the grace period, and stop.

        What a call in flight asks of a service of this same process is part of it, and is answered.
        """
        await self._readiness.drain()
        self._pipeline.refuse_waiting()
        if self._server is not None:
            until = time.monotonic() + self._settings.server.drain_grace_s
            if any(service.listening is not None for service in self._services):
                await self._pipeline.drain(self._settings.server.drain_grace_s)
            await self._server.stop(max(0.0, until - time.monotonic()))
        await self._telemetry_http.close()
        await self._heartbeat.close()
        if self._settings.server.unix_socket is not None:
            self._settings.server.unix_socket.unlink(missing_ok=True)

    def _tell_services(self) -> None:
        socket = self._settings.server.unix_socket
        target = f"unix:{socket}" if socket is not None else self.address
        names = frozenset(service.name for service in self._services)
        for service in self._services:
            if service.listening is not None:
                service.listening(target, names)
            if service.readiness is not None:
                service.readiness(self._readiness)

    def _handlers(self) -> dict[str, WrappedHandler]:
        handlers: dict[str, WrappedHandler] = {}
        for service in self._services:
            table = MethodTable()
            service.register(cast("grpc.aio.Server", table))
            _check_roles(service, table)
            self._wrap_all(table, service, handlers)
        if self._settings.server.reflection:
            self._wrap_all(self._reflection(), None, handlers)
        return handlers

    def _wrap_all(
        self,
        table: MethodTable,
        service: ServedService | None,
        out: dict[str, WrappedHandler],
    ) -> None:
        """Wrap the RPCs of ``table``; without a service they are reflection's."""
        for service_name, registered in table.handlers.items():
            for name, handler in registered.items():
                role = self._reflection_role() if service is None else service.roles[name]
                method = build_method(
                    service_name,
                    name,
                    handler,
                    role=role,
                    max_bytes=self._settings.server.max_message_bytes,
                    metrics=self._telemetry.rpc_metrics,
                )
                if service is not None:
                    method = replace(method, work=service.work.get(name), limits=service.limits)
                if method.rpc in out:
                    raise TypeError(f"{service_name} is served twice")
                out[method.rpc] = wrap(self._pipeline, method)

    def _reflection(self) -> MethodTable:
        table = MethodTable()
        names = [*(service.name for service in self._services), HEALTH_SERVICE, reflection.SERVICE_NAME]
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(  # type: ignore[no-untyped-call]
            reflection.aio.ReflectionServicer(names), cast("grpc.aio.Server", table)
        )
        return table

    def _reflection_role(self) -> Role | None:
        return Role.READER if self._settings.server.reflection_needs_credential else None

    def _listen(self, server: grpc.aio.Server) -> None:
        settings = self._settings.server
        address = f"{_bracketed(settings.host)}:{settings.port}"
        credentials = server_credentials(settings.tls)
        if credentials is None and not is_loopback(settings.host):
            self._telemetry.log.warning("plaintext", address=address, advice="set GROUNDTRAIL_SERVER__TLS__CERT_FILE")
        try:
            if credentials is None:
                self._port = server.add_insecure_port(address)
            else:
                self._port = server.add_secure_port(address, credentials)
            if settings.unix_socket is not None:
                server.add_insecure_port(f"unix:{settings.unix_socket}")
                settings.unix_socket.chmod(0o600)
        except RuntimeError:
            text = f"cannot listen on {address}: the port is taken, or the host, socket or certificate cannot be used"
            raise SettingsError([f"{PORT_VARIABLE}: {text}"]) from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _check_roles(service: ServedService, table: MethodTable) -> None:
    implemented = set(table.handlers.get(service.name, {}))
    if set(table.handlers) != {service.name}:
        raise TypeError(f"{service.name} registers {sorted(table.handlers)}")
    missing, extra = implemented - set(service.roles), set(service.roles) - implemented
    if missing or extra:
        raise TypeError(f"{service.name}: RPCs without a role {sorted(missing)}, roles without an RPC {sorted(extra)}")
    if set(service.work) - implemented:
        raise TypeError(f"{service.name}: work of no RPC {sorted(set(service.work) - implemented)}")
