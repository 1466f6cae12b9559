"""``/v1/admin/policy``: the tenant's safety policy over HTTP, and what another one would have done (ADR 0152)."""

from collections.abc import Sequence
from typing import Final

from crp.gateway.v1 import admin_service_pb2 as pb
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body, protocol_answer
from services.gateway.doors.http.guarded import Asked, Handler
from services.gateway.doors.http.message_schemas import MessageModels

POLICY: Final = "/v1/admin/policy"
_SERVICE: Final = "crp.gateway.v1.AdminService"
_ROLES: Final = dict.fromkeys(("GetTenantPolicy", "SetTenantPolicy", "TryTenantPolicy"), Role.ADMIN)
_MODELS: Final = MessageModels()
_SET_FORM: Final = _MODELS.request(pb.SetTenantPolicyRequest)
_TRY_FORM: Final = _MODELS.request(pb.TryTenantPolicyRequest)


class PolicyRoutes:
    """The endpoints.

    Args:
        admin: of the service, over a channel that raises its own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_SET_FORM, _TRY_FORM)
    """Schemas of the bodies."""

    def __init__(self, admin: AdminServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self._calls = RpcCalls(admin, _SERVICE, _ROLES, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Policy"])
        for path, method, rpc, form, says in (
            (POLICY, "GET", "GetTenantPolicy", None, "The tenant's safety policy."),
            (POLICY, "PUT", "SetTenantPolicy", _SET_FORM, "Set the tenant's safety policy."),
            (f"{POLICY}:try", "POST", "TryTenantPolicy", _TRY_FORM, "What another policy would have withheld."),
        ):
            router.add_api_route(
                path,
                self._calls.guarded(rpc, self._handler(rpc, form)),
                methods=[method],
                responses={200: {"description": says}, **REFUSALS},
                openapi_extra=body(form) if form else {},
                summary=says,
                operation_id={"GET": "policy", "PUT": "set_policy", "POST": "try_policy"}[method],
            )
        return router

    def _handler(self, rpc: str, form: type[BaseModel] | None) -> Handler:
        async def handler(request: Request, asked: Asked) -> Response:
            kind: type[Message] = getattr(pb, f"{rpc}Request")
            message = await self._calls.message(request, asked, form, kind) if form else kind()
            return await protocol_answer(await self._calls.call(request, asked, rpc, message), asked)

        return handler
