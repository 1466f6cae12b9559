"""``/v1/admin/providers``: the tenant's own providers of language models over HTTP (ADR 0163)."""

from collections.abc import Sequence
from typing import Any, Final

from crp.gateway.v1 import admin_service_pb2 as pb
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute
from services.common.context import Role
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import label
from services.gateway.doors.http.requests import call_metadata, until_disconnected

PROVIDERS: Final = "/v1/admin/providers"
_ONE: Final = PROVIDERS + "/{name}"
_SERVICE: Final = "crp.gateway.v1.AdminService"
_RPCS: Final = {"PUT": "SetTenantProvider", "GET": "ListTenantProviders", "POST": "RemoveTenantProvider"}
_OPERATIONS: Final = {"PUT": "set_provider", "GET": "providers", "POST": "remove_provider"}
_SET_FORM: Final = MessageModels().request(pb.SetTenantProviderRequest)


class ProviderRemoval(BaseModel):
    """Nothing: the path says which provider is removed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProviderRoutes:
    """The endpoints.

    Args:
        admin: of the service, over a channel that raises its own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_SET_FORM, ProviderRemoval)
    """Schemas of the bodies."""

    def __init__(self, admin: AdminServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self._admin = admin
        self._settings = settings
        self._calls = RpcCalls(admin, _SERVICE, dict.fromkeys(_RPCS.values(), Role.ADMIN), gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Providers"])
        named = parameters(pb.RemoveTenantProviderRequest, _ONE)[-1]
        listing = {"parameters": parameters(pb.ListTenantProvidersRequest, PROVIDERS)}
        for path, method, handler, extra, says in (
            (PROVIDERS, "GET", self._list, listing, "The tenant's own providers, without their keys."),
            (_ONE, "PUT", self._set, body(_SET_FORM, named), "Set a provider of the tenant's own, and its key."),
            (f"{_ONE}:remove", "POST", self._remove, body(ProviderRemoval, named), "Remove a provider and its key."),
        ):
            router.add_api_route(
                path,
                self._calls.guarded(_RPCS[method], handler),
                methods=[method],
                responses={200: {"description": says}, **REFUSALS},
                openapi_extra=extra,
                summary=says,
                operation_id=_OPERATIONS[method],
            )
        return router

    async def _list(self, request: Request, asked: Asked) -> Response:
        return await self._answer(request, asked, "ListTenantProviders", filled(pb.ListTenantProvidersRequest, request))

    async def _set(self, request: Request, asked: Asked) -> Response:
        message = await self._calls.message(request, asked, _SET_FORM, pb.SetTenantProviderRequest)
        name = request.path_params["name"]
        if message.provider.name not in {"", name}:
            raise InvalidRequestError.of(FieldViolation("provider.name", "must be the path's, or be left out"))
        message.provider.name = name
        return await self._answer(request, asked, "SetTenantProvider", message)

    async def _remove(self, request: Request, asked: Asked) -> Response:
        message = await self._calls.message(request, asked, ProviderRemoval, pb.RemoveTenantProviderRequest)
        message.name = request.path_params["name"]
        return await self._answer(request, asked, "RemoveTenantProvider", message)

    async def _answer(self, request: Request, asked: Asked, rpc: str, message: Message) -> Response:
        metadata = call_metadata(request, asked.request_id)
        call = getattr(self._admin, rpc)(message, timeout=self._settings.call_timeout_s, metadata=metadata)
        found: Any = await until_disconnected(request, call)
        return label(json_response(await compute(message_json, found), headers={"X-Request-Id": asked.request_id}))
