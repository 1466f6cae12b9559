"""The FastAPI app of the gateway process: routes, headers of every answer, the OpenAPI document."""

import logging
from collections.abc import MutableMapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Literal

from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub
from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.common.clock import Clock
from services.common.errors import (
    CrpError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    internal_error,
)
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http import ercp_schemas as schemas
from services.gateway.doors.http.calls import Routes
from services.gateway.doors.http.chat.dialect import Dialect
from services.gateway.doors.http.chat.forms import OpenAiDialect
from services.gateway.doors.http.chat.models import MODELS
from services.gateway.doors.http.chat.refusals import error_response
from services.gateway.doors.http.ercp_routes import ENDPOINTS, ErcpRoutes
from services.gateway.doors.http.fixed_paths import FixedPaths, fixed_endpoints
from services.gateway.doors.http.messages.forms import AnthropicDialect
from services.gateway.doors.http.problems import ERCP, problem_response
from services.gateway.doors.http.protocol import label
from services.gateway.doors.http.ready_routes import READY
from services.gateway.doors.http.requests import request_id_of
from services.gateway.doors.http.well_known import WELL_KNOWN

_LOG: Final = logging.getLogger(__name__)
SECURITY_HEADERS: Final = {
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Of every answer (CRP-SPEC-002, bodies)."""


def create_app(
    stub: ErcpServiceStub,
    gate: CredentialGate,
    settings: HttpSettings,
    clock: Clock,
    version: str,
    more: Sequence[Routes] = (),
) -> FastAPI:
    """Return the app.

    Args:
        stub: ErcpService, over a channel that raises the peer's own errors.
        gate: proves callers; the one that the process proves them at over gRPC.
        settings: limits and deadlines.
        clock: the time.
        version: of Groundtrail, for the OpenAPI document.
        more: routes beside those of ERCP.
    """
    app = FastAPI(
        title="Groundtrail",
        version=version,
        description=(
            "ERCP 1.0, dispatches, checks, chats, the guard and a look at sources over HTTP. Everything else is gRPC."
        ),
        docs_url=None,  # the pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    forms: list[type[BaseModel]] = [schemas.RunRequest, *(endpoint.form for endpoint in ENDPOINTS)]
    routers = ErcpRoutes(stub, gate, settings, clock).router(), *(routes.router() for routes in more)
    app.router.routes.append(FixedPaths(fixed_endpoints(*routers)))
    for router in routers:
        app.router.routes.extend(router.routes)  # whole as they are: to include them would build each a second time
    for routes in more:
        forms += routes.forms
    app.add_api_route(
        "/healthz", _alive, methods=["GET"], response_class=PlainTextResponse, summary="The process lives."
    )

    async def unknown(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
        response = _refused(request, _of_http(status, request.url.path), clock)
        response.status_code = status
        response.headers.update(getattr(error, "headers", None) or {})  # Allow, where another method is served
        return response

    async def fault(request: Request, error: Exception) -> Response:
        _LOG.error("an HTTP call failed unexpectedly", exc_info=error)
        return _refused(request, internal_error(), clock)

    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(Exception, fault)
    app.add_middleware(_Admission, most=settings.max_connections, clock=clock)
    app.add_middleware(_Edge)
    app.openapi = lambda: _openapi(app, forms)  # type: ignore[method-assign]  # FastAPI's own way to change the document
    return app


async def _alive() -> PlainTextResponse:
    return PlainTextResponse("alive\n")


_DIALECTS: Final[tuple[tuple[Dialect, tuple[str, ...]], ...]] = (
    (OpenAiDialect(), ("/v1/chat", MODELS)),
    (AnthropicDialect(), (AnthropicDialect.path,)),
)
"""Whose clients ask below these paths, and read nothing but the form's own errors."""
_KNOWLEDGE: Final = ("/v1/sources", "/v1/facts", "/v1/communities", "/v1/state")
"""Paths that the contract states for KnowledgeService; but for what only looks at sources, Envoy alone serves them."""
_ELSEWHERE: Final = (
    "facts, and what writes sources, are not served at this port but over gRPC, and as REST by Envoy (deploy/envoy); "
    "/openapi.json has what is"
)
_OPEN: Final = frozenset({"/healthz", READY, WELL_KNOWN})
"""What is answered without a credential."""
_PROBES: Final = frozenset({"/healthz", READY})


class _Edge:
    """Adds the headers of every answer, errors included; answers HEAD as GET, without the body (RFC 9110 §9.3.2).

    An answer to a request whose body was not read to its end says that the connection closes: what is left of the body
    is nobody's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"

        unread = _has_body(scope)

        async def receiving() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            return message

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message)
                if unread:
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            elif is_head:
                message["body"] = b""
            await send(message)

        await self._app({**scope, "method": "GET"} if is_head else scope, receiving, sending)


class _Admission:
    """Refuses calls beyond a number, in the shape of every refusal; probes are always answered."""

    def __init__(self, app: ASGIApp, most: int, clock: Clock) -> None:
        self._app = app
        self._most = most
        self._clock = clock
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _PROBES:
            await self._app(scope, receive, send)
            return
        if self._running >= self._most:
            text = f"{self._most} calls run already; try again in a moment"
            error = LimitExceededError(ErrorReason.CONCURRENCY_LIMIT, text, limit=str(self._most))
            await _refused(Request(scope), error, self._clock)(scope, receive, send)
            return
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1


def _has_body(scope: Scope) -> bool:
    given = dict(scope["headers"])
    return b"transfer-encoding" in given or given.get(b"content-length", b"0") != b"0"


def _add_headers(message: MutableMapping[str, Any]) -> None:
    present = {name.lower() for name, _ in message["headers"]}
    added = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
    message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in present)]


def _of_http(status: int, path: str) -> CrpError:
    """Return what the framework refused by itself as one of our errors."""
    of_knowledge = any(path == one or path.startswith((f"{one}/", f"{one}:")) for one in _KNOWLEDGE)
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        fault = FieldViolation("method", "must be one that /openapi.json names for this path")
        also = f"; {_ELSEWHERE}" if of_knowledge else ""
        text = f"this path takes another method: see /openapi.json{also}"
        return InvalidRequestError(ErrorReason.INVALID_FIELD, text, violations=(fault,))
    text = _ELSEWHERE if of_knowledge else "nothing is served at this path; see /openapi.json"
    return NotFoundError(ErrorReason.PATH_NOT_FOUND, text)


def _refused(request: Request, error: CrpError, clock: Clock) -> Response:
    """Return a refusal in the form of the path: a chat's, or ours."""
    path, request_id = request.url.path, request_id_of(request)
    for dialect, paths in _DIALECTS:
        if any(path == one or path.startswith(f"{one}/") for one in paths):
            return label(error_response(dialect, error, request_id))
    return problem_response(error, request_id=request_id, clock=clock, audited=path.startswith(ERCP))


def _openapi(app: FastAPI, forms: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Return the document: FastAPI's own, and the schemas of the bodies, which the routes read themselves."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        read: Sequence[tuple[type[BaseModel], Literal["validation"]]] = [(form, "validation") for form in forms]
        _, defined = models_json_schema(read, ref_template="#/components/schemas/{model}")
        components = document.setdefault("components", {})
        components.setdefault("schemas", {}).update(defined["$defs"])
        components["securitySchemes"] = {"credential": {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                refused = operation.get("responses", {})
                if "ValidationError" in str(refused.get("422")):  # FastAPI's own; bodies are read by the routes
                    refused.pop("422")
                if path not in _OPEN:
                    operation["security"] = [{"credential": []}]
        app.openapi_schema = document
    return app.openapi_schema
