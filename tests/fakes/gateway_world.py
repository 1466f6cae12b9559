"""The gateway between a real dag service (memory store) and scripted envelope and dpe services, over real gRPC.

``faults`` holds, by RPC name, what an RPC raises instead of answering, or after it has done its work.
"""

import asyncio
import contextlib
import inspect
import json
from dataclasses import dataclass, field, replace
from functools import partial

import grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.common.v1 import text_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc as dag_grpc
from crp.dpe.v1 import claim_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import provenance_service_pb2_grpc as dpe_grpc
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2_grpc
from crp.envelope.v1 import envelope_service_pb2 as env
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.adapters.memory.reviews import MemoryReviewStore
from services.common.adapters.memory.violation_reports import MemoryViolationReportStore
from services.common.context import Role
from services.common.errors import ErrorReason, InvalidRequestError
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.tokens import ModelProfile
from services.common.ports.tool_box import NoTools
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import (
    GatewaySettings,
    ReportSettings,
    ReviewSettings,
    ServerSettings,
    Settings,
    TelemetrySettings,
    ToolSettings,
)
from services.common.telemetry import open_telemetry
from services.dag.compose import ROLES as DAG_ROLES
from services.dag.servicer import SessionServicer
from services.gateway.clients.drafts import StoredDrafts
from services.gateway.clients.envelopes import GrpcEnvelopeClient
from services.gateway.clients.provenance import GrpcProvenanceClient
from services.gateway.clients.registry import StoredRegistry
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.compose import Clients, window_run
from services.gateway.dispatch.admission import Admission
from services.gateway.dispatch.app import DispatchApp, DispatchParts
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.results import Results
from services.gateway.dispatch.tool_use import ToolUser
from services.gateway.doors.grpc.dispatch import ROLES, SERVICE_NAME, DispatchServicer
from services.gateway.doors.grpc.reviews import review_service
from services.gateway.reports.announcing import HeldAnnouncing
from services.gateway.reports.filing import ReportFiling
from services.gateway.reports.queueing import ReportQueue
from services.gateway.reviews.app import ReviewApp
from tests.fakes.dag_world import RISKS, TIERS, Refusal, SubjectAuthenticator, World, fresh_uuid, report_for
from tests.patience import patient

ANSWER = "A motor accident must be reported within 7 days."
FAULT = "A theft may be reported within 900 days."
QUESTION = "How long do I have to report a motor accident?"
ETAG = "sha256:" + "e" * 64


def contradicting(request):
    """Find ``FAULT`` in an answer: a contradicted claim, CRITICAL; a report_of of a script."""
    at = request.response_text.find(FAULT)
    if at < 0:
        return {}
    span = text_pb2.TextSpan(start=at, end=at + len(FAULT))
    claim = claim_pb2.Claim(text=FAULT, span=span, verdict=claim_pb2.CLAIM_VERDICT_CONTRADICTED)
    return {"risk_level": RISKS["CRITICAL"], "claims": [claim]}


class WordCounter:
    """Counts words; knows every model but those called unknown."""

    def profile(self, model):
        if model.startswith("unknown"):
            raise InvalidRequestError(ErrorReason.UNKNOWN_MODEL, f"{model} is not known")
        return ModelProfile(model, "words", 8192)

    def stand_in(self, model, context_window_tokens):
        if model.startswith("unknown"):
            return ModelProfile(model, "words", context_window_tokens, True, 0.25, "approximate")
        return self.profile(model)

    async def opened(self, model):
        self.profile(model)

    def count(self, texts, model):
        return [len(text.split()) for text in texts]

    def models(self):
        return ("words",)


@dataclass
class Fault:
    """Raises ``error`` the next ``times`` times: before the work, or after it."""

    error: BaseException
    times: int = 1
    after: bool = False

    def due(self, *, after):
        if self.after is not after or self.times < 1:
            return False
        self.times -= 1
        return True


@dataclass
class Hold:
    """Holds the first call of ``rpc`` up until released: before its work, or after it. Says when it was reached."""

    rpc: str
    after: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    async def at(self, rpc, *, after):
        if (self.rpc, self.after) == (rpc, after) and not self.reached.is_set():
            self.reached.set()
            await self._released.wait()

    def release(self):
        self._released.set()


@dataclass
class Script:
    """What the scripted services answer and what they were asked.

    ``analyses`` holds, by the number of the analysis, what differs: risk, report and plan; the last one is repeated.
    ``report_of`` makes fields of a report from the request.
    ``summary`` answers VerifySummary: a function of its request, or a real servicer of the dpe service.
    """

    facts: tuple = ("A motor accident must be reported within 7 days.", "A theft must be reported within 48 hours.")
    tier: str = "A"
    risk: str = "LOW"
    not_modified: bool = False
    recommended: str = ""
    report: dict = field(default_factory=dict)
    analyses: tuple = ()
    summary: object = None
    report_of: object = None
    hands_on: bool = False
    """Facts of parents' envelopes are handed on, as the envelope service does (SPEC-004 §7.3.3)."""
    faults: dict = field(default_factory=dict)
    asked: dict = field(default_factory=dict)
    hold: Hold | None = None
    parts: object = None
    """A function of a query that says which parts it has; ``None`` = every query has one."""
    conflicts: tuple = ()
    """Of every envelope: for each the fact ids with their values."""
    suspected: tuple = ()
    """``SuspectedFact`` messages of every envelope."""

    async def around(self, rpc, request, answer):
        self.asked.setdefault(rpc, []).append(request)
        fault = self.faults.get(rpc)
        if fault is not None and fault.due(after=False):
            raise fault.error
        if self.hold is not None:
            await self.hold.at(rpc, after=False)
        result = await answer()
        if self.hold is not None:
            await self.hold.at(rpc, after=True)
        if fault is not None and fault.due(after=True):
            raise fault.error
        return result


class ScriptedEnvelopes(envelope_service_pb2_grpc.EnvelopeServiceServicer):
    def __init__(self, script):
        self.script = script

    async def BuildEnvelope(self, request, context):  # noqa: N802
        async def answer():
            return self._built(request)

        return await self.script.around("BuildEnvelope", request, answer)

    def _built(self, request):
        script = self.script
        if request.compare_only and not script.not_modified:
            return env.BuildEnvelopeResponse(cache_status="MISS; reason=unknown-etag")
        seen = set(request.facts_seen) - (set(request.transferred_fact_ids) if script.hands_on else set())
        known = [(f"f-{content[:12]}", content, "") for content in script.facts]
        carried = [(f"c-{text.content[:12]}", text.content, text.source_window_id) for text in request.carried_facts]
        facts = [
            envelope_pb2.EnvelopeFact(
                fact_id=fact_id, content=content, relevance_score=0.8, token_count=10, carried_from_window_id=window_id
            )
            for fact_id, content, window_id in [*carried, *known]
            if fact_id not in seen
        ]
        facts += [
            envelope_pb2.EnvelopeFact(
                fact_id=f"t-{told.content[:12]}",
                content=told.content,
                relevance_score=0.9,
                token_count=10,
                source=text_pb2.FactSource(uri=f"tool:{told.tool}", title=told.tool),
            )
            for told in request.tool_facts
        ]
        envelope = envelope_pb2.ContextEnvelope(
            session_id=request.session_id,
            window_number=request.window_number,
            window_id=request.window_id,
            facts=[] if script.not_modified else facts,
            total_facts_available=10,
            total_facts_included=len(facts),
            token_count=10 * len(facts),
            token_budget=100,
            saturation=0.1 * len(facts),
            quality_tier=TIERS[script.tier],
            etag=ETAG,
            ckf_communities=["motor claims"],
            memory_tier_hit=3,
            ckf_hits=5,
            conflicts=[
                envelope_pb2.SourceConflict(
                    values=[envelope_pb2.ConflictingValue(fact_id=fact_id, text=text) for fact_id, text in values]
                )
                for values in script.conflicts
            ],
        )
        not_modified = script.not_modified and bool(request.if_match_etag)
        return env.BuildEnvelopeResponse(
            suspected_facts=script.suspected,
            envelope=envelope,
            deferred_facts=[envelope_pb2.DeferredFact(fact_id="f-later", token_count=7, composite_score=0.4)],
            system_prompt="Prefer the provided context when answering.",
            not_modified=not_modified,
            sub_queries=script.parts(request.query) if script.parts else [request.query],
            cache_status="HIT" if not_modified else "MISS; reason=no-etag",
            recommended_strategy=f"DISPATCH_STRATEGY_{script.recommended}" if script.recommended else None,
            quality=envelope_pb2.QualityAssessment(quality_tier=TIERS[script.tier], accepted=True),
        )


class PreviewingEnvelopes(ScriptedEnvelopes):
    """Answers previews as well, which the gateway alone asks for."""

    async def PreviewEnvelope(self, request, context):  # noqa: N802
        async def answer():
            facts = len(self.script.facts)
            preview = envelope_pb2.EnvelopePreview(facts_available=10, facts_included=facts, etag=ETAG)
            return env.PreviewEnvelopeResponse(preview=preview)

        return await self.script.around("PreviewEnvelope", request, answer)


class ScriptedProvenance(dpe_grpc.ProvenanceServiceServicer):
    def __init__(self, script):
        self.script = script

    async def Analyze(self, request, context):  # noqa: N802
        async def answer():
            script = self.script
            number = len(script.asked["Analyze"]) - 1
            made = script.report_of(request) if script.report_of else {}
            own = script.analyses[min(number, len(script.analyses) - 1)] if script.analyses else {}
            report = report_for(
                request.session_id,
                request.window_id,
                request.window_number,
                request.response_text,
                own.get("risk", script.risk),
                **(script.report | made | own.get("report", {})),
            )
            return dpe.AnalyzeResponse(report=report, remediation=own.get("plan"))

        return await self.script.around("Analyze", request, answer)

    async def VerifySummary(self, request, context):  # noqa: N802
        async def answer():
            summary = self.script.summary
            if hasattr(summary, "VerifySummary"):
                return await summary.VerifySummary(request, context)
            return summary(request)

        return await self.script.around("VerifySummary", request, answer)


class ScriptedSessions(SessionServicer):
    """The real dag servicer with faults around its writes."""

    def __init__(self, world, script):
        # What the gateway never calls (erasure, proofs) is left out, whatever else the servicer is composed of.
        more = len(inspect.signature(SessionServicer).parameters) - 2
        super().__init__(world.app, world.reads, *[None] * more)
        self.script = script

    async def OpenWindow(self, request, context):  # noqa: N802
        return await self.script.around("OpenWindow", request, partial(super().OpenWindow, request, context))

    async def CommitWindow(self, request, context):  # noqa: N802
        return await self.script.around("CommitWindow", request, partial(super().CommitWindow, request, context))

    async def FailWindow(self, request, context):  # noqa: N802
        return await self.script.around("FailWindow", request, partial(super().FailWindow, request, context))

    async def AppendEvent(self, request, context):  # noqa: N802
        return await self.script.around("AppendEvent", request, partial(super().AppendEvent, request, context))

    async def GetHoldingKey(self, request, context):  # noqa: N802
        return await self.script.around("GetHoldingKey", request, partial(super().GetHoldingKey, request, context))

    async def GetReport(self, request, context):  # noqa: N802
        return await self.script.around("GetReport", request, partial(super().GetReport, request, context))


@dataclass
class GatewayWorld:
    """One process with gateway, dag and the scripted services."""

    script: Script = field(default_factory=Script)
    dag: World = field(default_factory=World)
    credentials: MemoryCredentialStore = field(default_factory=MemoryCredentialStore)
    replies: tuple = (ANSWER,)
    model: object = None
    settings: GatewaySettings = field(default_factory=GatewaySettings)
    reviews: object = field(default_factory=MemoryReviewStore)
    review_settings: ReviewSettings = field(default_factory=lambda: ReviewSettings(poll_interval_s=60.0))

    tools: object = field(default_factory=NoTools)
    tool_settings: ToolSettings = field(default_factory=ToolSettings)
    reports: object = field(default_factory=MemoryViolationReportStore)
    report_settings: ReportSettings = field(default_factory=ReportSettings)
    filed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a dispatch has queued violation reports."""

    def __post_init__(self):
        self.model = self.model or MemoryLanguageModel(list(self.replies))

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, drain_grace_s=5), telemetry=TelemetrySettings(), gateway=self.settings
        )
        channels = PeerChannels(settings)
        app, reviews = self._app(channels)
        telemetry = open_telemetry(settings.telemetry, "gateway", "0")
        server = RpcServer(
            [*self._services(app, channels), review_service(reviews)], settings, SubjectAuthenticator(), telemetry
        )
        await server.start()
        channel = grpc.aio.insecure_channel(server.address)
        try:
            yield GatewayClient(self, channel, server.address)
        finally:
            await channel.close()
            await server.drain()
            await app.close()
            await channels.close()
            telemetry.close()

    def _app(self, channels):
        sessions = GrpcSessionClient(channels.to("dag"))
        generative = not isinstance(self.model, ExtractiveLanguageModel)
        model_caller = ModelCaller(self.model, WordCounter(), self.settings, generative=generative)
        clients = Clients(
            sessions, GrpcEnvelopeClient(channels.to("envelope")), GrpcProvenanceClient(channels.to("dpe"))
        )
        queue = ReportQueue(self.reports, self.dag.clock, self.report_settings, self.filed.set)
        reviews = ReviewApp(
            self.reviews,
            sessions,
            Results(self.settings),
            self.dag.clock,
            self.review_settings,
            HeldAnnouncing(queue, self.review_settings.notify),
        )
        parts = DispatchParts(
            sessions=sessions,
            window=window_run(
                clients, model_caller, self.settings, ToolUser(self.tools, model_caller, self.tool_settings)
            ),
            drafts=StoredDrafts(self.credentials, self.dag.clock),
            admission=Admission(
                StoredRegistry(self.credentials), self.model.default_model, self.settings, self.answers_for
            ),
            held=reviews,
            reports=ReportFiling(queue, StoredRegistry(self.credentials)),
        )
        return DispatchApp(parts, self.settings), reviews

    def _services(self, app, channels):
        script = self.script
        return [
            ServedService(
                SERVICE_NAME,
                partial(pb_grpc.add_DispatchServiceServicer_to_server, DispatchServicer(app, self.settings)),
                ROLES,
                self.credentials.check,
                channels.listening,
            ),
            ServedService(
                "crp.dag.v1.SessionService",
                partial(dag_grpc.add_SessionServiceServicer_to_server, ScriptedSessions(self.dag, script)),
                DAG_ROLES,
                self.credentials.check,
            ),
            ServedService(
                "crp.envelope.v1.EnvelopeService",
                partial(envelope_service_pb2_grpc.add_EnvelopeServiceServicer_to_server, PreviewingEnvelopes(script)),
                {"BuildEnvelope": Role.READER, "PreviewEnvelope": Role.READER},
                self.credentials.check,
            ),
            ServedService(
                "crp.dpe.v1.ProvenanceService",
                partial(dpe_grpc.add_ProvenanceServiceServicer_to_server, ScriptedProvenance(script)),
                {"Analyze": Role.READER, "VerifySummary": Role.READER},
                self.credentials.check,
            ),
        ]

    async def answers_for(self, _tenant_id, _model):
        """No provider is set up for a name."""
        return False

    def windows(self):
        """Every window that the dag store holds."""
        return [window for session in self.dag.store._sessions.values() for window in session.windows.values()]

    def events(self):
        """Every audit event, in the order of its session."""
        return [event for session in self.dag.store._sessions.values() for event in session.events]

    def events_of(self, *types):
        """The data of every audit event of these types."""
        return [json.loads(event.data) for event in self.events() if event.event_type in types]

    def statuses(self):
        return sorted(window.status.value for window in self.windows())


@dataclass
class GatewayClient:
    """Calls Dispatch as one subject."""

    world: GatewayWorld
    channel: grpc.aio.Channel
    address: str

    def start(
        self,
        query="How long do I have to report a motor accident?",
        subject="alice",
        *,
        timeout=patient(20),
        metadata=(),
        **fields,
    ):
        stub = pb_grpc.DispatchServiceStub(self.channel)
        request = pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": query} | fields))
        return stub.Dispatch(request, metadata=(("authorization", subject), *metadata), timeout=timeout)

    async def dispatch(self, *arguments, **fields):
        return await self.start(*arguments, **fields)

    async def fails(self, *arguments, **fields):
        try:
            answer = await self.start(*arguments, **fields)
        except grpc.aio.AioRpcError as error:
            return Refusal.of(error)
        raise AssertionError(f"answered {answer}")

    async def terminate(self, session_id):
        stub = dag_grpc.SessionServiceStub(self.channel)
        request = dag.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="done")
        return await stub.TerminateSession(request, metadata=(("authorization", "alice"),), timeout=20)

    async def verify(self, session_id):
        stub = dag_grpc.SessionServiceStub(self.channel)
        return await stub.VerifyChain(
            dag.VerifyChainRequest(session_id=session_id), metadata=(("authorization", "alice"),), timeout=20
        )


def headers_of(response):
    return {header.name: header.value for header in response.headers}


__all__ = ["ANSWER", "ETAG", "RISKS", "TIERS", "Fault", "GatewayWorld", "Script", "headers_of", "replace", "taxonomy"]
