"""``/healthz`` and ``/readyz`` of the gateway's HTTP port: alive to its end, ready until it drains (ADR 0226)."""

import asyncio
from typing import Any

import httpx

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.clock import SystemClock
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.ready_routes import ReadyRoutes
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.patience import patient
from tests.rpc.test_gateway_tenant_policy import served


class Health:
    """What the runtime knows of itself."""

    def __init__(self, *, ready=True, draining=False):
        self.ready = ready
        self.draining = draining


async def asked(routes: Any, path="/readyz"):
    given = HttpSettings(port=0)
    stub: Any = ErcpStub()
    app = create_app(stub, open_gate(), given, SystemClock(), "0.1.0", [routes])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as http:
        response = await http.get(path)
    return response.status_code, response.text


async def test_it_says_why_it_takes_no_calls_and_names_no_backend():
    routes: Any = ReadyRoutes()
    said = [await asked(routes)]
    for health in (Health(ready=False), Health(), Health(ready=False, draining=True)):
        routes.follow(health)
        said.append(await asked(routes))
    assert said == [
        (503, "starting\n"),
        (503, "not ready: a backend does not serve\n"),
        (200, "ready\n"),
        (503, "draining: this process takes no new calls\n"),
    ]
    assert await asked(routes, "/healthz") == (200, "alive\n")


class Waiting(MemoryLanguageModel):
    """Says nothing before it is let."""

    def __init__(self):
        super().__init__(["The fee is 5 euros."])
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def complete(self, request):
        self.asked.set()
        await self.go_on.wait()
        return await super().complete(request)


async def test_while_it_drains_it_is_alive_and_not_ready(tmp_path):
    async with served(tmp_path, model := Waiting()) as doors:
        before = await doors.http.get("/readyz")
        held = asyncio.create_task(doors.http.post("/v1/dispatch", json={"query": "What is the fee?"}))
        async with asyncio.timeout(patient(10)):
            await model.asked.wait()
        draining = asyncio.create_task(doors.server.drain())
        await asyncio.sleep(0)  # it begins
        ready = await doors.http.get("/readyz")
        alive = await doors.http.get("/healthz")
        refused = await doors.checked()
        model.go_on.set()
        answered = await held
        await draining
    assert (before.status_code, before.text) == (200, "ready\n")
    assert (ready.status_code, ready.text) == (503, "draining: this process takes no new calls\n")
    assert (alive.status_code, alive.text) == (200, "alive\n")
    assert (refused.status_code, refused.json()["error"]["reason"]) == (503, "SERVICE_UNAVAILABLE")
    assert answered.status_code == 200, answered.text
