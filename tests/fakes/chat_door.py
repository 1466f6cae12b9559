"""Chats over HTTP in one process: scripted providers, a dispatching gateway and a checking service behind, or none."""

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

from services.common.clock import SystemClock
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings import ChatSettings, GatewaySettings
from services.common.settings.http import HttpSettings
from services.gateway.check_policy import CheckPolicies
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.chat.backlog import Backlog
from services.gateway.doors.http.chat_doors import ChatBehind, ChatBounds, chat_routes
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.fakes.tenant_policies import check_policies
from tests.patience import patient

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"


@dataclass
class Behind:
    """What a test puts behind the door; channels of real servers, providers as ports."""

    authenticator: Any
    dispatches: Any = None
    checks: Any = None
    openai: Any = None
    anthropic: Any = None
    http: HttpSettings = field(default_factory=lambda: HttpSettings(port=0))
    chat: ChatSettings = field(default_factory=ChatSettings)
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    policies: CheckPolicies | None = None


@dataclass
class ChatDoor:
    """A client of the door; ``subject`` calls."""

    http: httpx.AsyncClient
    backlog: Backlog
    subject: str

    async def ask(self, body, path=CHAT, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post(path, json=body, headers={"Authorization": self.subject, **named})

    async def events(self, body, path=CHAT, **headers):
        """Return the response and its events as pairs of name and data."""
        response = await self.ask(body | {"stream": True}, path, **headers)
        return response, events_of(response.text)


def events_of(text):
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found


@contextlib.asynccontextmanager
async def chat_door(behind: Behind, subject: str):
    """Serve the door in this process."""
    gate = open_gate(behind.authenticator)

    def stub(kind, channel, name):
        return None if channel is None else kind(PeerChannel(channel, Peer(name, name), patient(20.0)))

    parts = ChatBehind(
        stub(DispatchServiceStub, behind.dispatches, "gateway"),
        stub(ProvenanceServiceStub, behind.checks, "dpe"),
        behind.policies or check_policies(behind.gateway),
        behind.openai,
        behind.anthropic,
    )
    backlog = Backlog(behind.chat)
    routes = chat_routes(parts, gate, ChatBounds(behind.http, behind.chat, behind.gateway), backlog)
    app = create_app(cast("Any", ErcpStub()), gate, behind.http, SystemClock(), "0.1.0", routes)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=patient(60)) as http:
        yield ChatDoor(http, backlog, subject)
    await backlog.close()
