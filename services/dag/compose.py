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
from services.dag.log_keeper import LogKeeper
from services.dag.master_keys import usable_master_keys
from services.dag.policy import DagPolicy
from services.dag.ports import HeadSigning, MasterKeys
from services.dag.publishing import HeadSource, Publisher, Together
from services.dag.publishing_composition import PUBLISHING, open_publisher
from services.dag.reading import SessionReads
from services.dag.retention_composition import open_retention
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer
from services.dag.servicer import SessionServicer
from services.dag.sink import EventSink
from services.dag.sink_composition import TOPIC, open_sink
from services.dag.transparency import (
    CosignedHeads,
    ExportProofs,
    HeadSigners,
    LogEntries,
    ProcessSigners,
    TransparencyApp,
)
from services.dag.transparency_servicer import TransparencyServicer

SERVICE: Final = "crp.dag.v1.SessionService"
ROLES: Final = {
    "CreateSession": Role.WRITER,
    "OpenWindow": Role.WRITER,
    "CommitWindow": Role.WRITER,
    "FailWindow": Role.WRITER,
    "AppendEvent": Role.WRITER,
    "TerminateSession": Role.WRITER,
    "GetHoldingKey": Role.WRITER,
    "EraseSession": Role.ADMIN,
    "GetProviderKey": Role.READER,
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
    "GetEntries": Role.READER,
}


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return the services over the sealed store; the first start creates the master key if the settings allow it.

    Raises:
        SettingsError: a master key is malformed, missing or readable by others, or a secret of the event sink is.
        StartupError: the command that gives master keys fails.
        UnavailableError: MASTER_KEY_MISMATCH: the sessions were made with another master key.
    """
    inner = await adapters.session_store()
    master_keys = await usable_master_keys(settings.dag, settings.store.data_dir, adapters.clock, inner)
    sealer = Sealer(master_keys)
    unkept = SealedSessionStore(inner, sealer)
    signers = await _signers(settings, adapters, master_keys, unkept)
    keeper = LogKeeper(unkept, master_keys, signers)
    adapters.closing(keeper.close)
    store = SealedSessionStore(inner, sealer, keeper)
    policy = DagPolicy.of(settings.dag, settings.retention)
    app = SessionApp(Dependencies(store, master_keys, adapters.clock, adapters.ids), policy)
    reads = SessionReads(store, app.chains)
    log = TransparencyApp(store, signers, adapters.clock, keeper)
    cosigned = CosignedHeads(store, log)
    erasures = Erasures(store, app.chains, adapters.clock, app.registers)
    servicer = SessionServicer(app, reads, erasures, ExportProofs(log, cosigned))
    transparency = TransparencyServicer(log, reads, LogEntries(store, keeper), cosigned)
    add: Callable[[SessionServicer, grpc.aio.Server], None] = pb_grpc.add_SessionServiceServicer_to_server
    add_log: Callable[[TransparencyServicer, grpc.aio.Server], None] = (
        transparency_grpc.add_TransparencyServiceServicer_to_server
    )
    sink = await open_sink(settings.event_sink, adapters, store)
    publisher = await open_publisher(settings.checkpoints, adapters, HeadSource(log, store, cosigned))
    return [
        ServedService(
            name=SERVICE,
            register=lambda server: add(servicer, server),
            roles=ROLES,
            check=store.check,
            metrics=Together([app.budgets, *[each.metrics for each in (sink, publisher) if each]]),
            details=lambda: _details(sink, publisher),
        ),
        ServedService(
            name=LOG_SERVICE,
            register=lambda server: add_log(transparency, server),
            roles=LOG_ROLES,
            check=store.check,
            metrics=keeper,
            details=keeper.details,
        ),
        await open_retention(settings.retention, adapters, store, app),
    ]


def _details(sink: EventSink | None, publisher: Publisher | None) -> dict[str, str]:
    """Return what operators should know of what goes out."""
    told = {TOPIC: sink.detail} if sink else {}
    return told | ({PUBLISHING: publisher.detail} if publisher else {})


async def _signers(
    settings: Settings, adapters: Adapters, master_keys: MasterKeys, store: SealedSessionStore
) -> HeadSigning:
    """Return who signs heads: a process of its own where one is set, else this one."""
    process = await adapters.log_signer()
    if process is None:
        return HeadSigners(master_keys, settings.dag.log_name)
    return ProcessSigners(store, process, settings.dag.log_name)
