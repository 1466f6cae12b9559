"""The dag service over memory adapters: a clock that tests turn, ids that count, reports that fit their windows."""

import contextlib
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc
from crp.dpe.v1 import report_pb2
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.context import Caller, Role
from services.common.encoding import sha256_hex
from services.common.provenance import report_hash
from services.common.rpc.authentication import Authenticator
from services.common.rpc.canonical import message_json
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.dag import DagSettings
from services.common.telemetry import open_telemetry
from services.dag.app import Dependencies, SessionApp
from services.dag.compose import ROLES, SERVICE
from services.dag.domain.keys import MasterKey
from services.dag.erasing import Erasures
from services.dag.log_keeper import LogKeeper
from services.dag.master_keys import FixedMasterKeys
from services.dag.policy import DagPolicy
from services.dag.reading import SessionReads
from services.dag.sealed_store import logged_change
from services.dag.servicer import SessionServicer
from services.dag.transparency import ExportProofs, HeadSigners, TransparencyApp
from tests.patience import patient

NOW = datetime(2026, 5, 24, 9, 0, 0, 123456, tzinfo=UTC)
MASTER = MasterKey(1, bytes(range(32)))
ALICE = Caller("tenant-a", "crp_gw_test_alice123", frozenset({Role.ADMIN}), "alice")
ALICE_2 = Caller("tenant-a", "crp_gw_test_alice456", frozenset({Role.ADMIN}), "alice-2")
MALLORY = Caller("tenant-m", "crp_gw_test_mallory1", frozenset({Role.ADMIN}), "mallory")
READER = Caller("tenant-a", "crp_gw_test_reader12", frozenset({Role.READER}), "reader")
WRITER = Caller("tenant-a", "crp_gw_test_writer12", frozenset({Role.WRITER}), "writer")
OTHER_WRITER = Caller("tenant-a", "crp_gw_test_writer34", frozenset({Role.WRITER}), "other-writer")
REVIEWER = Caller("tenant-a", "crp_gw_test_review12", frozenset({Role.REVIEWER}), "reviewer")
CALLERS = {caller.subject: caller for caller in (ALICE, ALICE_2, MALLORY, READER, WRITER, OTHER_WRITER, REVIEWER)}
TIERS = {tier: taxonomy.QualityTier.Value(f"QUALITY_TIER_{tier}") for tier in "SABCD"}
RISKS = {risk: taxonomy.RiskLevel.Value(f"RISK_LEVEL_{risk}") for risk in ("LOW", "MEDIUM", "HIGH", "CRITICAL")}


@dataclass
class TurnedClock:
    """A clock that tests turn; every reading is one microsecond later, so that no two are the same."""

    moment: datetime = NOW

    def now(self):
        self.moment += timedelta(microseconds=1)
        return self.moment

    def advance(self, **span):
        self.moment += timedelta(**span)


@dataclass
class CountingIds:
    """Ids that count up, each of the length that was asked for."""

    count: int = 0
    prefix: str = "x"

    def alphanumeric(self, length):
        self.count += 1
        return f"{self.prefix}{self.count}".zfill(length)

    def uuid(self):
        self.count += 1
        return str(uuid.UUID(int=self.count, version=4))


class LoggedMemoryStore(MemorySessionStore):
    """Records as they are, with the leaves that the dag service's own store would make of them."""

    keeper: LogKeeper | None = None

    async def write(self, *changes):
        if self.keeper is not None:
            for tenant_id in {change.session.tenant_id for change in changes}:
                await self.keeper.admit(tenant_id)
        await super().write(*map(logged_change, changes))


class SubjectAuthenticator:
    """The credential is the subject's name, bare or as a bearer's."""

    def remembered(self, authorization):
        return CALLERS.get(authorization.removeprefix("Bearer "))

    async def authenticate(self, authorization):
        return CALLERS[authorization.removeprefix("Bearer ")]


def fresh_uuid():
    return str(uuid.uuid4())


@dataclass
class World:
    """One dag service."""

    store: MemorySessionStore = field(default_factory=LoggedMemoryStore)
    clock: TurnedClock = field(default_factory=TurnedClock)
    ids: CountingIds = field(default_factory=CountingIds)
    keys: FixedMasterKeys = field(default_factory=lambda: FixedMasterKeys({1: MASTER}))
    settings: DagSettings = field(default_factory=DagSettings)

    def __post_init__(self):
        dependencies = Dependencies(self.store, self.keys, self.clock, self.ids)
        self.app = SessionApp(dependencies, DagPolicy.of(self.settings))
        self.reads = SessionReads(self.store, self.app.chains)
        self.keeper = LogKeeper(self.store, self.keys)
        if isinstance(self.store, LoggedMemoryStore):
            self.store.keeper = self.keeper

    def held(self, session_id, tenant="tenant-a"):
        """The memory store's own record of a session, for tests that tamper with it."""
        return self.store._sessions[tenant, session_id]

    def tamper(self, session_id, window_id, **changes):
        windows = self.held(session_id).windows
        windows[window_id] = replace(windows[window_id], **changes)

    @contextlib.asynccontextmanager
    async def serving(self):
        """Serve over gRPC and yield a ``Client``."""
        settings = Settings(
            server=ServerSettings(port=0, drain_grace_s=5, health_interval_s=0.05),
            telemetry=TelemetrySettings(http_port=0),
        )
        telemetry = open_telemetry(settings.telemetry, "dag", "0")
        log = TransparencyApp(self.store, HeadSigners(self.keys, "log.example"), self.clock, self.keeper)
        erasures = Erasures(self.store, self.app.chains, self.clock)
        servicer = SessionServicer(self.app, self.reads, erasures, ExportProofs(log))
        served = ServedService(
            SERVICE,
            lambda server: pb_grpc.add_SessionServiceServicer_to_server(servicer, server),
            ROLES,
            self.store.check,
        )
        authenticator: Authenticator = SubjectAuthenticator()
        server = RpcServer([served], settings, authenticator, telemetry)
        await server.start()
        channel = grpc.aio.insecure_channel(server.address)
        try:
            yield Client(pb_grpc.SessionServiceStub(channel))
        finally:
            await channel.close()
            await server.drain()
            telemetry.close()


def fitting_report(opened, text, risk="LOW", **changes):
    """A report of this very window and response."""
    window = opened.window
    return report_for(window.session_id, window.window_id, window.window_number, text, risk, **changes)


def report_for(session, window, number, text, risk="LOW", **changes):
    values = {
        "report_id": fresh_uuid(),
        "session_id": session,
        "window_id": window,
        "window_number": number,
        "response_content_hash": sha256_hex(text),
        "risk_level": RISKS[risk],
        "claims_total": 2,
        "fidelity_score": 0.875,
    }
    report = report_pb2.DpeReport(**(values | changes))
    if "report_hash" not in changes:
        report.report_hash = report_hash(message_json(report))
    return report


@dataclass
class Client:
    """Calls as one subject."""

    stub: pb_grpc.SessionServiceStub

    async def call(self, rpc, request, subject="alice"):
        return await getattr(self.stub, rpc)(request, metadata=(("authorization", subject),), timeout=patient(20))

    async def open(self, token="", subject="alice", **fields):
        values = {"request_id": fresh_uuid(), "session_token": token}
        if token:
            values["available_budget_tokens"] = 1000
        return await self.call("OpenWindow", pb.OpenWindowRequest(**(values | fields)), subject)

    async def commit(self, opened, text="The limit is 500 euros.", *, risk="LOW", tier="A", subject="alice", **fields):
        return await self.call("CommitWindow", commit_request(opened, text, risk=risk, tier=tier, **fields), subject)

    async def window(self, token="", *, text="The limit is 500 euros.", risk="LOW", tier="A", **fields):
        """Open and commit."""
        opened = await self.open(token, **fields)
        return await self.commit(opened, text, risk=risk, tier=tier)

    async def fails(self, rpc, request, subject="alice"):
        """Call and return the refusal."""
        try:
            answer = await self.call(rpc, request, subject)
        except grpc.aio.AioRpcError as error:
            return Refusal.of(error)
        raise AssertionError(f"{rpc} answered {answer}")


def commit_request(opened, text="The limit is 500 euros.", *, risk="LOW", tier="A", **fields):
    values = {
        "request_id": fresh_uuid(),
        "session_id": opened.session.session_id,
        "window_id": opened.window.window_id,
        "response_text": text,
        "report": fitting_report(opened, text, risk),
        "envelope_etag": "sha256:" + "e" * 64,
        "quality_tier": TIERS[tier],
        "token_count": 321,
        "response_tokens": 40,
        "facts_included": ["f-1", "f-2"],
        "deferred_facts": [{"fact_id": "f-3", "token_count": 12}],
        "model_fingerprint": "extractive@1",
    }
    return pb.CommitWindowRequest(**(values | fields))


@dataclass
class Refusal:
    """What a failed call said."""

    code: grpc.StatusCode
    reason: str
    metadata: dict
    fields: tuple

    @classmethod
    def of(cls, error):
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        for detail in rpc_status.from_call(error).details:
            for message in (info, bad):
                if detail.Is(message.DESCRIPTOR):
                    detail.Unpack(message)
        fields = tuple(violation.field for violation in bad.field_violations)
        return cls(error.code(), info.reason, dict(info.metadata), fields)
