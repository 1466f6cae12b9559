"""``GET /v1/models`` and one of them: the providers' models, and the name that the deployment answers to itself."""

import json
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from services.common.context import Role
from services.common.errors import ErrorReason, NotFoundError
from services.common.rpc.credential_gate import CredentialGate
from services.gateway.doors.http.callers import prove_caller
from services.gateway.doors.http.chat.asks import OWN_MODEL
from services.gateway.doors.http.chat.checking import OK
from services.gateway.doors.http.chat.dialect import Dialect
from services.gateway.doors.http.chat.providers import ChatProviders
from services.gateway.doors.http.chat.refusals import refusal_of
from services.gateway.doors.http.chat.routes import CHECK_RPC, REFUSALS, guarded_chat
from services.gateway.doors.http.chat.schemas import ModelEntry, ModelList
from services.gateway.doors.http.requests import until_disconnected

MODELS: Final = "/v1/models"
_BUILT_IN: Final = {"id": OWN_MODEL, "object": "model", "created": 0, "owned_by": OWN_MODEL}


class ModelRoutes:
    """The endpoints.

    Args:
        dialect: of refusals.
        gate: proves callers.
        providers: whose models they are.
    """

    forms: Sequence[type[BaseModel]] = ()

    def __init__(self, dialect: Dialect, gate: CredentialGate, providers: ChatProviders) -> None:
        self._dialect = dialect
        self._gate = gate
        self._providers = providers

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Chat"])
        router.add_api_route(
            MODELS,
            guarded_chat(self._dialect, self._models),
            methods=["GET"],
            responses={200: {"model": ModelList}, **REFUSALS},
            summary="The models that may be asked for: the deployment's own name, and those of its providers.",
            operation_id="models",
        )
        name = {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}
        router.add_api_route(
            f"{MODELS}/{{model:path}}",
            guarded_chat(self._dialect, self._model),
            methods=["GET"],
            responses={200: {"model": ModelEntry}, **REFUSALS},
            openapi_extra={"parameters": [name]},
            summary="One of them.",
            operation_id="model",
        )
        return router

    async def _models(self, request: Request, request_id: str) -> Response:
        found = await self._listed(request, request_id)
        return found if isinstance(found, Response) else _answer(found, request_id)

    async def _model(self, request: Request, request_id: str) -> Response:
        wanted = request.path_params["model"]
        found = await self._listed(request, request_id)
        if isinstance(found, Response):
            return _answer(_BUILT_IN, request_id) if wanted == OWN_MODEL else found
        for one in found["data"]:
            if one.get("id") == wanted:
                return _answer(one, request_id)
        text = "there is no such model; GET /v1/models lists those that may be asked for"
        raise NotFoundError(ErrorReason.PATH_NOT_FOUND, text)

    async def _listed(self, request: Request, request_id: str) -> dict[str, Any] | Response:
        """Return the list, or the provider's refusal to give its own."""
        caller = await prove_caller(request, self._gate, Role.READER, CHECK_RPC)
        own = await self._providers.own_models(caller)
        deployment = self._providers.deployment
        if deployment is None:
            return _with([_BUILT_IN, *own], b"")
        reply = await until_disconnected(request, deployment.models())
        if reply.status != OK:
            return refusal_of(self._dialect, reply, request_id)
        return _with([_BUILT_IN, *own], reply.body)


def _with(ours: list[dict[str, Any]], body: bytes) -> dict[str, Any]:
    """Return a provider's list of models with others before it; those alone where it is no list."""
    try:
        found = json.loads(body)
        names = {one["id"] for one in ours}
        return {**found, "data": [*ours, *(one for one in found["data"] if one.get("id") not in names)]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"object": "list", "data": ours}


def _answer(value: dict[str, Any], request_id: str) -> Response:
    return Response(json.dumps(value), OK, {"X-Request-Id": request_id}, "application/json")
