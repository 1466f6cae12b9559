"""The composition of the whole suite in one process."""

import sys
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from services.common.composition import Adapters
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.dag.compose import build as build_dag
from services.dpe.compose import build as build_dpe
from services.envelope.compose import build as build_envelope
from services.ercp.compose import build as build_ercp
from services.gateway.admin.app import ensure_first_key
from services.gateway.compose import build as build_gateway
from services.gateway.doors.grpc.admin import SERVICE_NAME as ADMIN_SERVICE

_LOG: Final = structlog.get_logger("groundtrail")
_ADVICE: Final = "make one in the data directory: groundtrail keys create --label NAME --role admin"


async def build_services(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return every service of the suite, each as its own composition makes it."""
    return [
        service
        for build_one in (build_envelope, build_dpe, build_dag, build_gateway, build_ercp)
        for service in await build_one(settings, adapters)
    ]


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return every service of the suite; once it listens, a fresh installation gets its first API key or a hint."""
    services = await build_services(settings, adapters)
    if settings.server.insecure_local:
        return services
    offered = partial(_offer_first_key, settings, adapters)
    return [replace(each, started=offered) if each.name == ADMIN_SERVICE else each for each in services]


async def _offer_first_key(settings: Settings, adapters: Adapters) -> None:
    """Show the administrator who sits at a terminal a first key; what is no terminal is kept, as logs of pods are."""
    store = await adapters.credentials()
    if not sys.stdout.isatty():
        if not settings.auth.jwt.enabled and not await store.count_keys():
            _LOG.warning("no API key is stored yet", advice=_ADVICE)
        return
    key = await ensure_first_key(store, adapters.clock, adapters.ids, settings.auth.environment)
    if key is not None:
        sys.stdout.write(f"first API key, an administrator's without expiry (shown once; keep it): {key}\n")
        sys.stdout.flush()
