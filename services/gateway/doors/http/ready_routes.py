"""``/readyz`` of the gateway's HTTP port: whether a load balancer should send calls here (ADR 0226).

Without a credential, and so without names: what a backend answers is told at the telemetry port.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

from services.common.rpc.readiness import DRAINING, Readiness

READY: Final = "/readyz"
_STARTING: Final = "starting"
_AWAY: Final = "not ready: a backend does not serve"


class ReadyRoutes:
    """The endpoint; ``follow`` says what it tells."""

    forms: Sequence[type[BaseModel]] = ()
    """Schemas of the bodies."""

    def __init__(self) -> None:
        self._readiness: Readiness | None = None

    def follow(self, readiness: Readiness) -> None:
        """Tell from here on what the process says of itself."""
        self._readiness = readiness

    def router(self) -> APIRouter:
        """Return the route, for an app."""
        router = APIRouter()
        router.add_api_route(
            READY,
            self._ready,
            methods=["GET"],
            response_class=PlainTextResponse,
            responses={
                HTTPStatus.SERVICE_UNAVAILABLE.value: {"description": "It takes no calls now; the text says why."}
            },
            summary="The process takes calls.",
        )
        return router

    async def _ready(self) -> PlainTextResponse:
        problem = self._problem()
        status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
        return PlainTextResponse(f"{problem or 'ready'}\n", status)

    def _problem(self) -> str:
        if self._readiness is None:
            return _STARTING
        if self._readiness.draining:
            return DRAINING
        return "" if self._readiness.ready else _AWAY
