"""Chats over HTTP put together: every dialect in every mode, over the services that this process calls."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

from services.common.ports.chat_provider import ChatProvider
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.rate_limits import RateLimits
from services.common.settings import GatewaySettings, LimitSettings
from services.common.settings.chat import ChatMode, ChatSettings
from services.common.settings.http import HttpSettings
from services.gateway.check_policy import CheckPolicies
from services.gateway.doors.http.calls import Routes
from services.gateway.doors.http.chat.backlog import Backlog
from services.gateway.doors.http.chat.checking import CheckMode, Judge
from services.gateway.doors.http.chat.conversations import Conversations
from services.gateway.doors.http.chat.forms import OpenAiDialect
from services.gateway.doors.http.chat.grounding import GroundMode
from services.gateway.doors.http.chat.models import ModelRoutes
from services.gateway.doors.http.chat.observing import ObserveMode
from services.gateway.doors.http.chat.providers import ChatProviders
from services.gateway.doors.http.chat.routes import ChatRoutes, Mode
from services.gateway.doors.http.messages.forms import AnthropicDialect
from services.gateway.providers.own import OwnProviders


@dataclass(frozen=True, slots=True)
class ChatBehind:
    """What stands behind chats.

    Attributes:
        dispatches: DispatchService of this process.
        checks: ProvenanceService.
        policies: what checked answers are held against.
        openai, anthropic: providers of the two forms; ``None`` = none is configured.
        own: the tenants' own providers, with ``sessions``, SessionService, for the keys that theirs are sealed with;
            ``None`` = there are none.
        limits: what callers may ask for in a minute; ``None`` = as much as they want.
    """

    dispatches: DispatchServiceStub
    checks: ProvenanceServiceStub
    policies: CheckPolicies
    openai: ChatProvider | None
    anthropic: ChatProvider | None
    own: OwnProviders | None = None
    sessions: SessionServiceStub | None = None
    limits: RateLimits | None = None


@dataclass(frozen=True, slots=True)
class ChatBounds:
    """Settings of chats: of HTTP, of the modes, of the gateway."""

    http: HttpSettings
    chat: ChatSettings
    gateway: GatewaySettings


def chat_routes(behind: ChatBehind, gate: CredentialGate, bounds: ChatBounds, backlog: Backlog) -> list[Routes]:
    """Return the routes of chats.

    Args:
        behind: the services and providers.
        gate: proves callers.
        bounds: the settings.
        backlog: where answers of mode observe wait; the caller closes it.
    """
    limits = behind.limits or RateLimits(LimitSettings(), asyncio.get_running_loop().time)
    judge = Judge(behind.checks, bounds.http, bounds.gateway, behind.policies)
    now = asyncio.get_running_loop().time
    conversations = Conversations(bounds.chat.conversations, bounds.chat.conversation_s, now)
    openai = ChatProviders("openai", behind.openai, behind.own, behind.sessions)
    anthropic = ChatProviders("anthropic", behind.anthropic, behind.own, behind.sessions)
    routes: list[Routes] = [ModelRoutes(OpenAiDialect(), gate, openai)]
    for dialect, providers in ((OpenAiDialect(), openai), (AnthropicDialect(), anthropic)):
        modes: Mapping[ChatMode, Mode] = {
            "check": CheckMode(dialect, judge, providers),
            "observe": ObserveMode(dialect, judge, backlog, providers, bounds.chat),
            "ground": GroundMode(dialect, behind.dispatches, bounds.http, conversations),
        }
        routes.append(ChatRoutes(dialect, modes, gate, (bounds.http, bounds.chat), providers, limits))
    return routes
