"""The gateway's composition: adapters and settings in, served services out."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Final

from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub
from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub

from services.common.composition import Adapters
from services.common.context import current_call
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.credentials import CredentialStore
from services.common.ports.language_model import LanguageModel, StreamingLanguageModel
from services.common.rpc.peers import PeerChannels
from services.common.rpc.rate_limits import RateLimits, spend
from services.common.rpc.server import ServedService
from services.common.settings import GatewaySettings, Settings, SettingsError
from services.common.streaming.replies import streaming
from services.gateway.admin.app import AdminApp
from services.gateway.clients.drafts import StoredDrafts
from services.gateway.clients.envelopes import GrpcEnvelopeClient
from services.gateway.clients.provenance import GrpcProvenanceClient
from services.gateway.clients.registry import StoredRegistry
from services.gateway.clients.reports import GrpcReportReads
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.dispatch.admission import Admission
from services.gateway.dispatch.analyzer import AnswerAnalyzer
from services.gateway.dispatch.app import DispatchApp, DispatchParts
from services.gateway.dispatch.envelope_gate import EnvelopeGate
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.parent_summaries import ExtractiveSummariser, ModelSummariser, ParentSummaries
from services.gateway.dispatch.remediation import Remediator
from services.gateway.dispatch.window import WindowRun
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
_LOG: Final = logging.getLogger(__name__)


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return DispatchService, AdminService, ReviewService, ViolationReportService and FeedbackService.

    Raises:
        SettingsError: the deployment's default policy cannot be read.
    """
    _check_default_policy(settings.gateway.default_safety_policy)
    credentials = await adapters.credentials()
    model = await _language_model(settings, adapters)
    channels = PeerChannels(settings)
    adapters.closing(channels.close)
    reviews = await open_reviews(settings, adapters, channels)
    reports, dead_reports = await open_reports(settings, adapters)
    sessions = GrpcSessionClient(channels.to("dag"))
    own = await open_own_providers(settings, adapters)
    writer = TenantLanguageModel(model, own, sessions.provider_key, lambda: current_call().caller.tenant_id)
    generative = not isinstance(model, ExtractiveLanguageModel)
    model_caller = ModelCaller(writer, await adapters.tokens(), settings.gateway, generative=generative)
    app = await _dispatch_app(settings, adapters, (model_caller, model.default_model), channels, (reviews, reports))
    adapters.closing(app.close)
    observed = Backlog(settings.chat)
    limits = RateLimits(settings.limits, asyncio.get_running_loop().time)
    adapters.model_calls.listeners.append(partial(spend, limits))
    http_channels = await _http(settings, adapters, observed, (own, limits))
    servicer = DispatchServicer(app, settings.gateway)
    dispatch = ServedService(
        name=SERVICE_NAME,
        register=partial(pb_grpc.add_DispatchServiceServicer_to_server, servicer),
        roles=ROLES,
        check=partial(_check, credentials, model, channels),
        listening=partial(_listening, [channels, *http_channels]),
        work=WORK,
        metrics=observed,
        limits=limits,
    )
    admin = AdminApp(credentials, adapters.clock, adapters.ids, settings.auth.environment)
    stored = GrpcReportReads(channels.to("dag"))
    feedback = feedback_service(await adapters.feedback(), stored, adapters.clock)
    providers = await provider_admin(admin, settings, adapters, sessions, own)
    administered = admin_service(admin, adapters.clock, stored, providers)
    return [dispatch, administered, review_service(reviews), dead_reports, feedback]


async def _dispatch_app(
    settings: Settings,
    adapters: Adapters,
    model: tuple[ModelCaller, str],
    channels: PeerChannels,
    oversight: tuple[HeldAnswers, ViolationReports],
) -> DispatchApp:
    credentials = await adapters.credentials()
    sessions = GrpcSessionClient(channels.to("dag"))
    clients = Clients(sessions, GrpcEnvelopeClient(channels.to("envelope")), GrpcProvenanceClient(channels.to("dpe")))
    parts = DispatchParts(
        sessions=sessions,
        window=window_run(clients, model[0], settings.gateway),
        drafts=StoredDrafts(credentials, adapters.clock),
        admission=Admission(StoredRegistry(credentials), model[1], settings.gateway),
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


def window_run(clients: Clients, model_caller: ModelCaller, settings: GatewaySettings) -> WindowRun:
    """Return what runs windows; without a language model the built-in answerer summarises too (ADR 0020)."""
    analyzer = AnswerAnalyzer(clients.provenance)
    summariser: Summariser = (
        ModelSummariser(model_caller) if model_caller.generative else ExtractiveSummariser(model_caller)
    )
    return WindowRun(
        gate=EnvelopeGate(clients.envelopes),
        model_caller=model_caller,
        writer=AnswerWriter(model_caller, analyzer),
        summaries=ParentSummaries(
            clients.sessions, clients.provenance, summariser, model_caller, policy=settings.suspected_transfers
        ),
        remediator=Remediator(model_caller, analyzer, settings),
    )


async def _language_model(settings: Settings, adapters: Adapters) -> StreamingLanguageModel:
    """Return the configured provider, or the extractive answerer when there is none (ADR 0020)."""
    provider = await adapters.language_model()
    if provider is not None:
        return streaming(provider)
    limits = ExtractLimits(settings.gateway.extractive_max_sentences, settings.gateway.extractive_min_score)
    return ExtractiveLanguageModel(await adapters.tokens(), settings.gateway.extractive_model, limits)


async def _http(
    settings: Settings, adapters: Adapters, backlog: Backlog, behind_chats: tuple[OwnProviders, RateLimits]
) -> list[PeerChannels]:
    """Serve HTTP if a port is set, and return the channels that it calls (ADR 0075).

    Raises:
        SettingsError: the port is taken, or the certificate cannot be used.
    """
    if settings.http.port is None:
        return []
    from services.gateway.doors.http.app import create_app
    from services.gateway.doors.http.chat_doors import ChatBehind, ChatBounds, chat_routes
    from services.gateway.doors.http.check_routes import CheckRoutes
    from services.gateway.doors.http.guard_routes import GuardRoutes
    from services.gateway.doors.http.policy_routes import PolicyRoutes
    from services.gateway.doors.http.provider_routes import ProviderRoutes
    from services.gateway.doors.http.record_routes import RecordRoutes
    from services.gateway.doors.http.review_routes import ReviewRoutes
    from services.gateway.doors.http.server import HttpServer
    from services.gateway.doors.http.well_known import WellKnownRoutes

    peers = {
        "ercp": ERCP_SERVICE,
        "dpe": PROVENANCE_SERVICE,
        "dag": SESSION_SERVICE,
        "envelope": ENVELOPE_SERVICE,
        "gateway": SERVICE_NAME,
    }
    channels = PeerChannels(settings, peers)
    adapters.closing(channels.close)
    stub = ErcpServiceStub(channels.to("ercp"))  # type: ignore[no-untyped-call]  # generated
    dpe = channels.to("dpe")
    guard = GuardServiceStub(dpe)  # type: ignore[no-untyped-call]  # generated
    gate = await adapters.credential_gate(settings)
    checking = ProvenanceServiceStub(dpe)  # type: ignore[no-untyped-call]  # generated
    routers: list[Routes] = [
        CheckRoutes(checking, gate, settings.http, adapters.clock, settings.gateway),
        GuardRoutes(guard, gate, settings.http, adapters.clock),
    ]
    dispatches = pb_grpc.DispatchServiceStub(channels.to("gateway"))  # type: ignore[no-untyped-call]  # generated
    sessions = SessionServiceStub(channels.to("dag"))  # type: ignore[no-untyped-call]  # generated
    queue = ReviewServiceStub(channels.to("gateway"))  # type: ignore[no-untyped-call]  # generated
    routers.append(ReviewRoutes(queue, gate, settings.http, adapters.clock))
    admin = AdminServiceStub(channels.to("gateway"))  # type: ignore[no-untyped-call]  # generated
    routers.append(PolicyRoutes(admin, gate, settings.http, adapters.clock))
    routers.append(ProviderRoutes(admin, gate, settings.http, adapters.clock))
    envelopes = EnvelopeServiceStub(channels.to("envelope"))  # type: ignore[no-untyped-call]  # generated
    routers.append(RecordRoutes(dispatches, sessions, envelopes, gate, settings.http, adapters.clock))
    routers.append(WellKnownRoutes(version("groundtrail"), settings.http, settings.chat, settings.gateway))
    behind = ChatBehind(
        dispatches=dispatches,
        checks=checking,
        openai=await adapters.chat_provider(),
        anthropic=await adapters.messages_provider(),
        own=behind_chats[0],
        sessions=sessions,
        limits=behind_chats[1],
    )
    adapters.closing(backlog.close)
    routers += chat_routes(behind, gate, ChatBounds(settings.http, settings.chat, settings.gateway), backlog)
    app = create_app(stub, gate, settings.http, adapters.clock, version("groundtrail"), routers)
    server = await HttpServer.open(app, settings.http, adapters.clock, gate.addresses)
    adapters.closing(server.close)
    _LOG.info("HTTP on %s:%s", settings.http.host, server.port)
    return [channels]


def _listening(channels: Sequence[PeerChannels], target: str, names: frozenset[str]) -> None:
    for each in channels:
        each.listening(target, names)


async def _check(credentials: CredentialStore, model: LanguageModel, channels: PeerChannels) -> None:
    await credentials.check()
    await channels.check()
    await model.check()


def _check_default_policy(text: str) -> None:
    try:
        parse_policy(text)
    except PolicyError as error:
        problem = f"GROUNDTRAIL_GATEWAY__DEFAULT_SAFETY_POLICY: {error.directive}: {error}"
        raise SettingsError([problem]) from None
