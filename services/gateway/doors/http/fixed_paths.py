"""Calls of paths without parameters, answered without a search through all routes.

Every route reads its request and answers its failures itself; the framework adds nothing to it but the document. What
stands here is found by method and path, at a fraction of the time; everything else goes the framework's way.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
_ALONE: Final = ["request"]


def fixed_endpoints(router: APIRouter) -> dict[tuple[str, str], Endpoint]:
    """Return the endpoints of a router that take the request alone, by method and path without parameters."""
    return {
        (method, route.path): route.endpoint
        for route in router.routes
        if isinstance(route, APIRoute) and "{" not in route.path and _takes_the_request_alone(route.endpoint)
        for method in route.methods or ()
    }


class FixedPaths:
    """Middleware that calls the endpoint of a fixed path.

    Args:
        app: serves everything else.
        endpoints: by method and path.
    """

    def __init__(self, app: ASGIApp, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


def _takes_the_request_alone(endpoint: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(endpoint) and list(inspect.signature(endpoint).parameters) == _ALONE
