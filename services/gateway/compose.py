"""The gateway's composition: adapters and settings in, served services out."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub
from crp.gateway.v1.feedback_service_pb2_grpc import FeedbackServiceStub
from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub
from crp.gateway.v1.violation_report_service_pb2_grpc import ViolationReportServiceStub
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub

from services.common.adapters.tools.calling import open_tools
from services.common.composition import Adapters
from services.common.context import current_call
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.extractive.selecting import AnswerSelector
from services.common.ports.credentials import CredentialStore
from services.common.ports.language_model import LanguageModel, StreamingLanguageModel
from services.common.provider_composition import answers_for
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.peers import PEERS, PeerChannels, unset_peers
from services.common.rpc.rate_limits import RateLimits, spend
from services.common.rpc.readiness import Readiness
from services.common.rpc.server import ServedService
from services.common.settings import GatewaySettings, Settings, SettingsError
from services.common.streaming.replies import streaming
from services.gateway.admin.app import AdminApp
from services.gateway.check_policy import CheckPolicies
from services.gateway.clients.drafts import StoredDrafts
from services.gateway.clients.envelopes import GrpcEnvelopeClient
from services.gateway.clients.provenance import GrpcProvenanceClient
from services.gateway.clients.registry import StoredRegistry
from services.gateway.clients.reports import GrpcReportReads
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.dispatch.admission import Admission, AnswersFor
from services.gateway.dispatch.analyzer import AnswerAnalyzer
from services.gateway.dispatch.app import DispatchApp, DispatchParts
from services.gateway.dispatch.envelope_gate import EnvelopeGate
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.parent_summaries import ExtractiveSummariser, ModelSummariser, ParentSummaries
from services.gateway.dispatch.remediation import Remediator
from services.gateway.dispatch.tool_use import ToolUser
from services.gateway.dispatch.window import WindowRun, WindowSteps
from services.gateway.dispatch.writing import AnswerWriter
from services.gateway.domain.policy import PolicyError, parse_policy
from services.gateway.doors.grpc.admin import admin_service
from services.gateway.doors.grpc.dispatch import ROLES, SERVICE_NAME, DispatchServicer
from services.gateway.doors.grpc.feedback import feedback_service
from services.gateway.doors.grpc.reviews import review_service
from services.gateway.doors.grpc.work import WORK
from services.gateway.doors.http.calls import Routes
from services.gateway.doors.http.chat.backlog import Backlog
from services.gateway.ports import (
    EnvelopeClient,
    HeldAnswers,
    ProvenanceClient,
    SessionClient,
    Summariser,
    ViolationReports,
)
from services.gateway.provider_composition import open_own_providers, provider_admin
from services.gateway.providers.own import OwnProviders, TenantLanguageModel
from services.gateway.report_composition import open_reports
from services.gateway.review_composition import open_reviews

ERCP_SERVICE: Final = "ercp.v1.ErcpService"
PROVENANCE_SERVICE: Final = "crp.dpe.v1.ProvenanceService"
"""Of the dpe process, which serves GuardService beside it."""
SESSION_SERVICE: Final = "crp.dag.v1.SessionService"
ENVELOPE_SERVICE: Final = "crp.envelope.v1.EnvelopeService"
"""Of the envelope process, which serves KnowledgeService beside it."""
_LOG: Final = logging.getLogger(__name__)


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return DispatchService, AdminService, ReviewService, ViolationReportService and FeedbackService.

    Raises:
        SettingsError: the deployment's default policy cannot be read.
    """
    if problems := _policy_problems(settings):
        raise SettingsError(problems)
    credentials = await adapters.credentials()
    model = await _language_model(settings, adapters)
    channels = PeerChannels(settings)
    adapters.closing(channels.close)
    reports = await open_reports(settings, adapters)
    reviews = await open_reviews(settings, adapters, channels, reports.announcing)
    sessions = GrpcSessionClient(channels.to("dag"))
    own = await open_own_providers(settings, adapters)
    writer = TenantLanguageModel(model, own, sessions.provider_key, lambda: current_call().caller.tenant_id)
    generative = not isinstance(model, ExtractiveLanguageModel)
    model_caller = ModelCaller(writer, await adapters.tokens(), settings.gateway, generative=generative)
    oversight = (reviews, reports.filing)
    writing = Writing(model_caller, model.default_model, partial(_answers_for, settings, own))
    app = await _dispatch_app(settings, adapters, writing, channels, oversight)
    adapters.closing(app.close)
    observed = Backlog(settings.chat)
    limits = RateLimits(settings.limits, asyncio.get_running_loop().time)
    adapters.model_calls.listeners.append(partial(spend, limits))
    policies = CheckPolicies(StoredRegistry(credentials), settings.gateway.default_safety_policy)
    served = await _http(settings, adapters, observed, BehindHttp(own, limits, policies))
    servicer = DispatchServicer(app, settings.gateway)
    dispatch = ServedService(
        name=SERVICE_NAME,
        register=partial(pb_grpc.add_DispatchServiceServicer_to_server, servicer),
        roles=ROLES,
        check=partial(_check, credentials, model, channels),
        listening=partial(_listening, [channels, *([served.channels] if served else [])]),
        work=WORK,
        metrics=observed,
        http_port=served.port if served else None,
        limits=limits,
        readiness=served.readiness if served else None,
    )
    admin = AdminApp(credentials, adapters.clock, adapters.ids, settings.auth.environment)
    stored = GrpcReportReads(channels.to("dag"))
    feedback = feedback_service(await adapters.feedback(), stored, adapters.clock)
    providers = await provider_admin(admin, settings, adapters, sessions, own)
    administered = admin_service(admin, adapters.clock, stored, providers)
    return [dispatch, administered, review_service(reviews), reports.service, feedback]


async def build_alone(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return the services of a process that serves nothing else.

    Raises:
        SettingsError: as ``build``, with the peers that it lacks; before anything is opened.
    """
    peers = PEERS if settings.http.port is None else {**PEERS, "ercp": ERCP_SERVICE}
    if problems := [*_policy_problems(settings), *unset_peers(settings, peers, frozenset())]:
        raise SettingsError(problems)
    return await build(settings, adapters)


@dataclass(frozen=True, slots=True)
class Writing:
    """What writes answers: the caller, the model that is asked without a name, and whom names are set up with."""

    caller: ModelCaller
    default_model: str
    answers_for: AnswersFor


async def _answers_for(settings: Settings, own: OwnProviders, tenant_id: str, model: str) -> bool:
    """Say whether the settings, or the tenant, name a provider for a model."""
    return answers_for(settings, model) or await own.answer_for(tenant_id, model)


async def _dispatch_app(
    settings: Settings,
    adapters: Adapters,
    writing: Writing,
    channels: PeerChannels,
    oversight: tuple[HeldAnswers, ViolationReports],
) -> DispatchApp:
    credentials = await adapters.credentials()
    sessions = GrpcSessionClient(channels.to("dag"))
    clients = Clients(sessions, GrpcEnvelopeClient(channels.to("envelope")), GrpcProvenanceClient(channels.to("dpe")))
    box = await open_tools(settings.tools)
    adapters.closing(box.close)
    tools = ToolUser(box, writing.caller, settings.tools)
    parts = DispatchParts(
        sessions=sessions,
        window=window_run(clients, writing.caller, settings.gateway, tools),
        drafts=StoredDrafts(credentials, adapters.clock),
        admission=Admission(StoredRegistry(credentials), writing.default_model, settings.gateway, writing.answers_for),
        held=oversight[0],
        reports=oversight[1],
    )
    return DispatchApp(parts, settings.gateway)


@dataclass(frozen=True, slots=True)
class Clients:
    """The other services."""

    sessions: SessionClient
    envelopes: EnvelopeClient
    provenance: ProvenanceClient


def window_run(clients: Clients, model_caller: ModelCaller, settings: GatewaySettings, tools: ToolUser) -> WindowRun:
    """Return what runs windows; without a language model the built-in answerer summarises too (ADR 0020)."""
    analyzer = AnswerAnalyzer(clients.provenance)
    summariser: Summariser = (
        ModelSummariser(model_caller) if model_caller.generative else ExtractiveSummariser(model_caller)
    )
    steps = WindowSteps(
        gate=EnvelopeGate(clients.envelopes),
        model_caller=model_caller,
        writer=AnswerWriter(model_caller, analyzer, model_caller.quoting()),
        summaries=ParentSummaries(
            clients.sessions, clients.provenance, summariser, model_caller, policy=settings.suspected_transfers
        ),
        remediator=Remediator(model_caller, analyzer, settings),
        tools=tools,
    )
    return WindowRun(steps)


async def _language_model(settings: Settings, adapters: Adapters) -> StreamingLanguageModel:
    """Return the configured provider, or the extractive answerer when there is none (ADR 0020)."""
    provider = await adapters.language_model()
    if provider is not None:
        return streaming(provider)
    limits = ExtractLimits(settings.gateway.extractive_max_sentences, settings.gateway.extractive_min_score)
    selector = AnswerSelector(await adapters.embedding(), await adapters.entailment())
    return ExtractiveLanguageModel(await adapters.tokens(), settings.gateway.extractive_model, limits, selector)


@dataclass(frozen=True, slots=True)
class BehindHttp:
    """What checks and chats over HTTP share with the RPCs of this process."""

    own: OwnProviders
    limits: RateLimits
    policies: CheckPolicies


@dataclass(frozen=True, slots=True)
class ServedHttp:
    """The HTTP port: the channels that it calls, its number, and who wants to know whether the process can serve."""

    channels: PeerChannels
    port: int
    readiness: Callable[[Readiness], None]


async def _http(settings: Settings, adapters: Adapters, backlog: Backlog, shared: BehindHttp) -> ServedHttp | None:
    """Serve HTTP if a port is set (ADR 0075).

    Raises:
        SettingsError: the port is taken, or the certificate cannot be used.
    """
    if settings.http.port is None:
        return None
    from services.gateway.doors.http.app import create_app
    from services.gateway.doors.http.chat_doors import ChatBehind, ChatBounds, chat_routes
    from services.gateway.doors.http.ready_routes import ReadyRoutes
    from services.gateway.doors.http.server import HttpServer

    peers = {
        "ercp": ERCP_SERVICE,
        "dpe": PROVENANCE_SERVICE,
        "dag": SESSION_SERVICE,
        "envelope": ENVELOPE_SERVICE,
        "gateway": SERVICE_NAME,
    }
    channels = PeerChannels(settings, peers)
    adapters.closing(channels.close)
    gate = await adapters.credential_gate(settings)
    ready = ReadyRoutes()
    routers = [ready, *_rpc_routes(settings, adapters, channels, (gate, shared))]
    gateway, dpe = channels.to("gateway"), channels.to("dpe")
    behind = ChatBehind(
        dispatches=pb_grpc.DispatchServiceStub(gateway),  # type: ignore[no-untyped-call]  # generated
        checks=ProvenanceServiceStub(dpe),  # type: ignore[no-untyped-call]  # generated
        policies=shared.policies,
        openai=await adapters.chat_provider(),
        anthropic=await adapters.messages_provider(),
        own=shared.own,
        sessions=SessionServiceStub(channels.to("dag")),  # type: ignore[no-untyped-call]  # generated
        limits=shared.limits,
    )
    adapters.closing(backlog.close)
    routers += chat_routes(behind, gate, ChatBounds(settings.http, settings.chat, settings.gateway), backlog)
    stub = ErcpServiceStub(channels.to("ercp"))  # type: ignore[no-untyped-call]  # generated
    app = create_app(stub, gate, settings.http, adapters.clock, version("groundtrail"), routers)
    server = await HttpServer.open(app, settings.http, adapters.clock, gate.addresses)
    adapters.closing(server.close)
    _LOG.info("HTTP on %s:%s", settings.http.host, server.port)
    if settings.http.behind_proxy and not settings.edge.trusted_proxies:
        _LOG.warning("all clients count as one address: name the proxy in GROUNDTRAIL_EDGE__TRUSTED_PROXIES")
    return ServedHttp(channels, server.port, ready.follow)


def _rpc_routes(
    settings: Settings, adapters: Adapters, channels: PeerChannels, doors: tuple[CredentialGate, BehindHttp]
) -> list[Routes]:
    """Return the routes that are RPCs of the services by other names."""
    from services.gateway.doors.http.batch_routes import BatchRoutes
    from services.gateway.doors.http.check_routes import CheckRoutes, CheckTerms
    from services.gateway.doors.http.fan_out_routes import FanOutRoutes
    from services.gateway.doors.http.guard_routes import GuardRoutes
    from services.gateway.doors.http.oversight_routes import OversightRoutes
    from services.gateway.doors.http.policy_routes import PolicyRoutes
    from services.gateway.doors.http.provider_routes import ProviderRoutes
    from services.gateway.doors.http.record_routes import RecordRoutes
    from services.gateway.doors.http.review_routes import ReviewRoutes
    from services.gateway.doors.http.source_routes import SourceRoutes
    from services.gateway.doors.http.well_known import WellKnownRoutes

    stubs: dict[str, Any] = {
        kind.__name__: kind(channels.to(peer))
        for peer, kinds in {
            "dpe": (ProvenanceServiceStub, GuardServiceStub),
            "dag": (SessionServiceStub,),
            "envelope": (EnvelopeServiceStub, KnowledgeServiceStub),
            "gateway": (
                pb_grpc.DispatchServiceStub,
                ReviewServiceStub,
                AdminServiceStub,
                FeedbackServiceStub,
                ViolationReportServiceStub,
            ),
        }.items()
        for kind in kinds
    }
    gate, shared = doors
    behind = (gate, settings.http, adapters.clock)
    dispatches = stubs["DispatchServiceStub"]
    return [
        CheckRoutes(
            stubs["ProvenanceServiceStub"], *behind, CheckTerms(settings.gateway, shared.policies, shared.limits)
        ),
        GuardRoutes(stubs["GuardServiceStub"], *behind),
        ReviewRoutes(stubs["ReviewServiceStub"], *behind),
        PolicyRoutes(stubs["AdminServiceStub"], *behind),
        ProviderRoutes(stubs["AdminServiceStub"], *behind),
        OversightRoutes(stubs["FeedbackServiceStub"], stubs["ViolationReportServiceStub"], *behind),
        RecordRoutes(dispatches, stubs["SessionServiceStub"], stubs["EnvelopeServiceStub"], *behind),
        SourceRoutes(stubs["KnowledgeServiceStub"], *behind),
        BatchRoutes(dispatches, *behind),
        FanOutRoutes(dispatches, *behind),
        WellKnownRoutes(version("groundtrail"), settings.http, settings.chat, settings.gateway),
    ]


def _listening(channels: Sequence[PeerChannels], target: str, names: frozenset[str]) -> None:
    for each in channels:
        each.listening(target, names)


async def _check(credentials: CredentialStore, model: LanguageModel, channels: PeerChannels) -> None:
    await credentials.check()
    await channels.check()
    await model.check()


def _policy_problems(settings: Settings) -> list[str]:
    try:
        parse_policy(settings.gateway.default_safety_policy)
    except PolicyError as error:
        return [f"GROUNDTRAIL_GATEWAY__DEFAULT_SAFETY_POLICY: {error}"]
    return []
