"""The dag service's composition: adapters and settings in, served services out."""

from collections.abc import Callable
from typing import Final

import grpc
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from crp.dag.v1 import transparency_service_pb2_grpc as transparency_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.dag.app import Dependencies, SessionApp
from services.dag.erasing import Erasures
from services.dag.master_keys import usable_master_keys
from services.dag.policy import DagPolicy
from services.dag.reading import SessionReads
from services.dag.retention_composition import open_retention
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.servicer import SessionServicer
from services.dag.sink_composition import TOPIC, open_sink
from services.dag.transparency import ExportProofs, HeadSigners, TransparencyApp
from services.dag.transparency_servicer import TransparencyServicer

SERVICE: Final = "crp.dag.v1.SessionService"
ROLES: Final = {
    "CreateSession": Role.WRITER,
    "OpenWindow": Role.WRITER,
    "CommitWindow": Role.WRITER,
    "FailWindow": Role.WRITER,
    "AppendEvent": Role.WRITER,
    "TerminateSession": Role.WRITER,
    "EraseSession": Role.ADMIN,
    "GetWindow": Role.READER,
    "GetDag": Role.READER,
    "GetLineage": Role.READER,
    "VerifyChain": Role.READER,
    "ListAuditEvents": Role.READER,
    "ExportAudit": Role.READER,
    "GetReport": Role.READER,
    "ListReports": Role.READER,
    "ListSessions": Role.READER,
}

LOG_SERVICE: Final = "crp.dag.v1.TransparencyService"
LOG_ROLES: Final = {
    "GetTreeHead": Role.READER,
    "GetInclusionProof": Role.READER,
    "GetConsistencyProof": Role.READER,
}


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return the services over the sealed store; the first start creates the master key if the settings allow it.

    Raises:
        SettingsError: a master key is malformed, missing or readable by others, or a secret of the event sink is.
        StartupError: the command that gives master keys fails.
    """
    master_keys = await usable_master_keys(settings.dag, settings.store.data_dir, adapters.clock)
    store = SealedSessionStore(await adapters.session_store(), Sealer(master_keys))
    policy = DagPolicy.of(settings.dag, settings.retention)
    app = SessionApp(Dependencies(store, master_keys, adapters.clock, adapters.ids), policy)
    reads = SessionReads(store, app.chains)
    log = TransparencyApp(store, HeadSigners(master_keys, settings.dag.log_name), adapters.clock)
    erasures = Erasures(store, app.chains, adapters.clock, app.registers)
    servicer = SessionServicer(app, reads, erasures, ExportProofs(log))
    transparency = TransparencyServicer(log, reads)
    add: Callable[[SessionServicer, grpc.aio.Server], None] = pb_grpc.add_SessionServiceServicer_to_server
    add_log: Callable[[TransparencyServicer, grpc.aio.Server], None] = (
        transparency_grpc.add_TransparencyServiceServicer_to_server
    )
    sink = await open_sink(settings.event_sink, adapters, store)
    return [
        ServedService(
            name=SERVICE,
            register=lambda server: add(servicer, server),
            roles=ROLES,
            check=store.check,
            metrics=sink.metrics if sink else None,
            details=(lambda: {TOPIC: sink.detail}) if sink else None,
        ),
        ServedService(
            name=LOG_SERVICE,
            register=lambda server: add_log(transparency, server),
            roles=LOG_ROLES,
            check=store.check,
        ),
        await open_retention(settings.retention, adapters, store, app),
    ]
