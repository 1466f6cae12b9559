"""Calls of paths without parameters, answered without a search through all routes.

Every route reads its request and answers its failures itself; the framework adds nothing to it but the document. What
stands here is found by method and path, at a fraction of the time; everything else goes the framework's way.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.datastructures import URLPath
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
_ALONE: Final = ["request"]


def fixed_endpoints(*routers: APIRouter) -> dict[tuple[str, str], Endpoint]:
    """Return the endpoints of routers that take the request alone, by method and path without parameters.

    Of two for one path the first answers, as in the framework.
    """
    found: dict[tuple[str, str], Endpoint] = {}
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, APIRoute) and "{" not in route.path and _takes_the_request_alone(route.endpoint):
            for method in route.methods or ():
                found.setdefault((method, route.path), route.endpoint)
    return found


class FixedPaths(BaseRoute):
    """One route for all fixed paths, which stands before the others; what an endpoint raises is the framework's.

    Args:
        endpoints: by method and path.
    """

    def __init__(self, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        self._endpoints = endpoints

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether a call is of a fixed path, as it is written."""
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        return (Match.NONE, {}) if endpoint is None else (Match.FULL, {"endpoint": endpoint, "path_params": {}})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call that matches."""
        endpoint: Endpoint = scope["endpoint"]
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        """Name no path: the routes themselves do.

        Raises:
            NoMatchFound: always.
        """
        raise NoMatchFound(name, dict(path_params))


def _takes_the_request_alone(endpoint: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(endpoint) and list(inspect.signature(endpoint).parameters) == _ALONE
