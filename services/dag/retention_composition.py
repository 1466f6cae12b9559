"""Retention's composition: holds, rules, the sweep, and the service over them."""

import uuid
from collections.abc import Callable
from typing import Final

import grpc
from crp.dag.v1 import retention_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.ports.sessions import SessionStore
from services.common.rpc.server import ServedService
from services.common.settings.retention import RetentionSettings
from services.dag.app import SessionApp
from services.dag.retention import Holds, Retention, RetentionSweep, SweepMetrics, SweepParts
from services.dag.retention_servicer import RetentionServicer

RETENTION_SERVICE: Final = "crp.dag.v1.RetentionService"
RETENTION_ROLES: Final = {
    "GetRetention": Role.READER,
    "PreviewRetention": Role.READER,
    "SetRetention": Role.ADMIN,
    "SetLegalHold": Role.ADMIN,
    "ApplyRetention": Role.ADMIN,
}


async def open_retention(
    settings: RetentionSettings, adapters: Adapters, store: SessionStore, app: SessionApp
) -> ServedService:
    """Return the service; its sweep is started, and closed by the adapters before the store."""
    retention = Retention(store, app.chains, app.expiry, adapters.clock)
    metrics, feed = SweepMetrics(), await adapters.event_feed()
    parts = SweepParts(retention, store, feed, adapters.clock, holder=uuid.uuid4().hex, metrics=metrics)
    sweep = RetentionSweep(parts, settings)
    adapters.closing(sweep.close)
    sweep.start()
    holds = Holds(store, app.chains, adapters.clock)
    servicer = RetentionServicer(app.registers, retention, holds, metrics)
    add: Callable[[RetentionServicer, grpc.aio.Server], None] = pb_grpc.add_RetentionServiceServicer_to_server
    return ServedService(
        name=RETENTION_SERVICE,
        register=lambda server: add(servicer, server),
        roles=RETENTION_ROLES,
        check=store.check,
        metrics=metrics,
    )
