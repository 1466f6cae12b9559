"""``groundtrail serve [SERVICE…]``: the whole suite, or some of its services, as one server process."""

from collections.abc import Sequence
from typing import Final

from services.allinone.compose import build as build_all
from services.common.composition import Adapters
from services.common.rpc.main import Build, run
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.dag.compose import build as build_dag
from services.dpe.compose import build as build_dpe
from services.envelope.compose import build as build_envelope
from services.ercp.compose import build as build_ercp
from services.gateway.compose import build as build_gateway
from services.gateway.compose import build_alone as build_gateway_alone


async def build_knowledge(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Serve ingestion and search alone, so that they scale apart from the request path."""
    return [
        service for service in await build_envelope(settings, adapters) if service.name == "crp.ckf.v1.KnowledgeService"
    ]


BUILDERS: Final[dict[str, Build]] = {
    "knowledge": build_knowledge,
    "envelope": build_envelope,
    "dpe": build_dpe,
    "dag": build_dag,
    "gateway": build_gateway,
    "ercp": build_ercp,
}


def serve(names: Sequence[str], argv: Sequence[str]) -> None:
    """Serve the named services in one process, all when none is named, until SIGTERM or SIGINT.

    Raises:
        ValueError: a name is unknown, or HTTP is asked for of services without the gateway.
    """
    unknown = [name for name in names if name not in BUILDERS]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: the services are {', '.join(BUILDERS)}")
    chosen = list(dict.fromkeys(names))
    if chosen and "gateway" not in chosen and "--http-port" in argv:
        text = "--http-port is the gateway's; /metrics, /healthz and /readyz are at --telemetry-port"
        raise ValueError(f"{', '.join(chosen)}: {text}")
    if not chosen:
        run("allinone", build_all, argv)
        return
    if "envelope" in chosen and "knowledge" in chosen:
        chosen.remove("knowledge")  # envelope serves both

    async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
        if chosen == ["gateway"]:
            return await build_gateway_alone(settings, adapters)
        return [service for name in chosen for service in await BUILDERS[name](settings, adapters)]

    run("+".join(chosen), build, argv)
