"""The gateway's HTTP app over the ERCP service of an ``ErcpWorld``: document's JSON in, real gRPC behind."""

import contextlib
from dataclasses import dataclass

import httpx
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub

from services.common.clock import SystemClock
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from tests.fakes.ercp_world import ErcpClient, ErcpWorld, Subjects
from tests.fakes.open_gate import open_gate
from tests.patience import patient

SETTINGS = HttpSettings(port=0)


@dataclass
class ErcpHttp:
    """A client of both ways in; the subject of an HTTP call is the world's ``alice`` unless its header says another."""

    http: httpx.AsyncClient
    grpc: ErcpClient

    async def post(self, name, body, subject="alice", **headers):
        return await self.http.post(f"/{name}", json=body, headers={"Authorization": subject, **headers})

    async def trace(self, trace_id, subject="alice"):
        return await self.http.get(f"/trace/{trace_id}", headers={"Authorization": subject})


@contextlib.asynccontextmanager
async def ercp_http(world: ErcpWorld, settings: HttpSettings = SETTINGS):
    async with world.serving() as client:
        stub = ErcpServiceStub(PeerChannel(client.channel, Peer("ercp", "ercp"), 20.0))
        app = create_app(stub, open_gate(Subjects()), settings, SystemClock(), "0.1.0")
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gateway/ercp/v1", timeout=patient(30)
        ) as http:
            yield ErcpHttp(http, client)
