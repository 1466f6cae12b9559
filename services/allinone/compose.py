"""The composition of the whole suite in one process."""

import sys

from services.common.composition import Adapters
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.dag.compose import build as build_dag
from services.dpe.compose import build as build_dpe
from services.envelope.compose import build as build_envelope
from services.ercp.compose import build as build_ercp
from services.gateway.admin.app import ensure_first_key
from services.gateway.compose import build as build_gateway


async def build_services(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return every service of the suite, each as its own composition makes it."""
    return [
        service
        for build_one in (build_envelope, build_dpe, build_dag, build_gateway, build_ercp)
        for service in await build_one(settings, adapters)
    ]


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return every service of the suite; a fresh installation's first API key is made and printed, this once."""
    services = await build_services(settings, adapters)
    if not settings.server.insecure_local:
        key = await ensure_first_key(
            await adapters.credentials(), adapters.clock, adapters.ids, settings.auth.environment
        )
        if key is not None:
            sys.stdout.write(f"first API key (shown once; keep it): {key}\n")
            sys.stdout.flush()
    return services
