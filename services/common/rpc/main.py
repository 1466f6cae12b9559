"""The one way to start a service: settings, adapters, services, server; and back in reverse order.

``python -m services.<name> --port …`` and ``groundtrail serve`` both end in ``run``. ``running_server`` is the same
without a process around it: the embedded mode and tests use it.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import ValidationError

from services.common.blas import limit_blas_threads
from services.common.build_manifest import BuildIdentity
from services.common.collector import collect_at_rest, freeze_collector
from services.common.composition import Adapters
from services.common.computing import configure, is_computing, settle_switching
from services.common.errors import CrpError, StartupError
from services.common.rpc.server import PORT_VARIABLE, RpcServer, ServedService
from services.common.settings import (
    ServerSettings,
    Settings,
    SettingsError,
    TelemetrySettings,
    changed_configuration,
    load_settings,
)
from services.common.settings.http import HttpSettings
from services.common.telemetry import configure_logs, open_telemetry
from services.common.telemetry.queues import QueueMetrics

Build = Callable[[Settings, Adapters], Awaitable[list[ServedService]]]
EXIT_SETTINGS: Final = 2
"""Exit status when the settings cannot be used."""
EXIT_STARTUP: Final = 1
"""Exit status when weights or other delivered files cannot be used (SPEC-005 §21.1)."""


@asynccontextmanager
async def running_server(
    name: str, build: Build, settings: Settings, *, adapters: Adapters | None = None, serving: bool = False
) -> AsyncIterator[RpcServer]:
    """Build the services, serve them, and close everything in reverse order, also when the start fails half way.

    Args:
        name: of the process, in logs and traces: ``dpe``, ``allinone`` …
        build: makes the services from settings and adapters.
        settings: of the process.
        adapters: shared ones of the caller, who closes them; made and closed here when not given.
        serving: whether the process is a server, which has its embedded stores for itself (ADR 0090).
    """
    async with AsyncExitStack() as stack:
        telemetry = open_telemetry(settings.telemetry, name, version("groundtrail"))
        stack.callback(telemetry.close)
        if adapters is None:
            adapters = await stack.enter_async_context(Adapters(settings, serving=serving))
        telemetry.registry.register(adapters.worker_counts)
        telemetry.registry.register(adapters.engine_counts)
        telemetry.registry.register(adapters.reading_counts)
        telemetry.registry.register(QueueMetrics(adapters.queue_counts))
        telemetry.registry.register(adapters.model_calls)
        telemetry.registry.register(adapters.usage_audit)
        adapters.model_calls.tracer = telemetry.tracer or adapters.model_calls.tracer
        _log_build(await adapters.build_identity())  # before anything else of the installation is trusted
        configure(settings.server.computing_threads)
        limit_blas_threads(1)  # in every process, so that a report's bits do not depend on what shares a process
        try:
            services = await build(settings, adapters)
            gate = await adapters.credential_gate(settings)
        except OSError as error:
            raise StartupError(f"{error.filename or settings.store.data_dir}: {error.strerror or error}") from error
        server = RpcServer(services, settings, gate, telemetry)
        stack.push_async_callback(server.drain)
        await server.start()
        adapters.listening(server.address)
        yield server


async def serve(name: str, build: Build, settings: Settings, ready_file: Path | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then drain; a second signal ends the process at once.

    Args:
        name: of the process.
        build: makes the services.
        settings: of the process.
        ready_file: written once the server listens and readiness was polled: JSON with ``address``, ``port``,
            ``http_port``, ``telemetry_port``, ``unix_socket``, ``ready`` and ``pid``.
    """
    log = structlog.get_logger("groundtrail")
    log.info("configuration", service=name, settings=changed_configuration(settings))
    stop = _stop_on_signal()
    async with running_server(name, build, settings, serving=True) as server:
        freeze_collector()
        settle_switching()
        resting = asyncio.create_task(collect_at_rest(is_computing), name="collector")
        listening = _listening(name, server, settings)
        log.info("listening", **listening)
        sys.stdout.write(f"{name} listening on {server.address}\n")
        if server.http_port is not None:
            sys.stdout.write(f"{name} serves HTTP on {settings.http.host}:{server.http_port}\n")
        sys.stdout.flush()
        if ready_file is not None:
            _write_whole(ready_file, json.dumps(listening))
        await stop.wait()
        resting.cancel()
        log.info("draining", service=name, grace_s=settings.server.drain_grace_s)
    log.info("stopped", service=name)


def run(name: str, build: Build, argv: Sequence[str] | None = None) -> None:
    """Run a service as the whole process; this is what every ``__main__`` calls.

    Args:
        name: of the process.
        build: makes the services.
        argv: command line; that of the process when not given.
    """
    arguments = _parser(name).parse_args(argv)
    try:
        settings = _settings(arguments)
        configure_logs(settings.telemetry)
        asyncio.run(serve(name, build, settings, arguments.ready_file))
    except SettingsError as error:
        for problem in error.problems:
            is_typed = arguments.port is not None and problem.startswith(f"{PORT_VARIABLE}: ")
            told = problem.replace(PORT_VARIABLE, f"--port ({PORT_VARIABLE})", 1) if is_typed else problem
            sys.stderr.write(f"{name}: {told}\n")
        sys.exit(EXIT_SETTINGS)
    except (StartupError, CrpError) as error:  # of delivered files; of a store that is away, damaged or another's
        reason = f"{error.reason.value}: " if isinstance(error, CrpError) else ""
        sys.stderr.write(f"{name}: cannot start: {reason}{error}\n")
        sys.exit(EXIT_STARTUP)


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"groundtrail serve {name}", description=f"Serve {name} over gRPC.")
    parser.add_argument("--host", help="address to listen on (GROUNDTRAIL_SERVER__HOST, 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, help="port to listen on, 0 = any free one (GROUNDTRAIL_SERVER__PORT, 50051)"
    )
    parser.add_argument("--http-port", type=int, help="port of the gateway's HTTP, 0 = any (GROUNDTRAIL_HTTP__PORT)")
    parser.add_argument("--telemetry-port", type=int, help="port of /metrics, /readyz (…TELEMETRY__HTTP_PORT)")
    parser.add_argument("--insecure-local", action="store_true", help="no credentials; loopback only")
    parser.add_argument("--ready-file", type=Path, help="file to write, as JSON, once calls are accepted")
    return parser


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = load_settings()
    server: dict[str, Any] = {}
    if arguments.host is not None:
        server["host"] = arguments.host
    if arguments.port is not None:
        server["port"] = arguments.port
    if arguments.insecure_local:
        server["insecure_local"] = True
    http = {} if arguments.http_port is None else {"port": arguments.http_port}
    telemetry = {} if arguments.telemetry_port is None else {"http_port": arguments.telemetry_port}
    try:
        return settings.model_copy(
            update={
                "server": ServerSettings.model_validate(settings.server.model_dump() | server),
                "http": HttpSettings.model_validate(settings.http.model_dump() | http),
                "telemetry": TelemetrySettings.model_validate(settings.telemetry.model_dump() | telemetry),
            }
        )
    except ValidationError as error:
        raise SettingsError(f"the command line: {_option(item)}{item['msg']}" for item in error.errors()) from None


def _option(problem: Any) -> str:
    """Return the option that a problem is about, ``--http-port: ``; empty when it is about several."""
    name = "-".join(str(part) for part in problem["loc"]).replace("_", "-")
    return f"--{name}: " if name else ""


def _log_build(build: BuildIdentity) -> None:
    """Say which build runs; one that nobody vouches for is called what it is (SPEC-005 §21.1, ADR 0043)."""
    structlog.get_logger("groundtrail").info(
        "build", trust=build.trust.value, code=build.code_digest, weights=build.weights_digest, key_id=build.key_id
    )


def _listening(name: str, server: RpcServer, settings: Settings) -> dict[str, Any]:
    return {
        "service": name,
        "address": server.address,
        "port": server.port,
        "http_port": server.http_port,
        "telemetry_port": server.telemetry_port,
        "unix_socket": str(settings.server.unix_socket or ""),
        "ready": server.readiness.ready,
        "pid": os.getpid(),
    }


def _stop_on_signal() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)  # the next one acts as if we had never listened
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    return stop


def _write_whole(path: Path, text: str) -> None:
    """Write so that a reader sees nothing or all of it."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
