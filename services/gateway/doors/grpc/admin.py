"""AdminService over gRPC: check, convert, call the app, convert back."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from crp.gateway.v1 import admin_service_pb2 as pb
from crp.gateway.v1 import admin_service_pb2_grpc
from google.protobuf.message import Message

from services.common.clock import Clock
from services.common.context import Role, current_call
from services.common.errors import ErrorReason, UnauthenticatedError, UnavailableError
from services.common.rpc.authentication import LOCAL_CALLER
from services.common.rpc.idempotency import body_hash
from services.common.rpc.paging import PageRequest, decode_page, encode_page_token
from services.common.rpc.server import ServedService
from services.gateway.admin.app import AdminApp, CreatedKey, Replay, Write
from services.gateway.admin.providers import ProviderAdmin
from services.gateway.doors.grpc import admin_convert as convert
from services.gateway.doors.grpc import admin_validate as validate
from services.gateway.ports import ReportReads

SERVICE_NAME: Final = "crp.gateway.v1.AdminService"
ROLES: Final = {
    "CreateApiKey": Role.ADMIN,
    "ListApiKeys": Role.ADMIN,
    "RevokeApiKey": Role.ADMIN,
    "RegisterAiSystem": Role.ADMIN,
    "ListAiSystems": Role.ADMIN,
    "SetTenantPolicy": Role.ADMIN,
    "GetTenantPolicy": Role.ADMIN,
    "TryTenantPolicy": Role.ADMIN,
    "SetTenantProvider": Role.ADMIN,
    "ListTenantProviders": Role.ADMIN,
    "RemoveTenantProvider": Role.ADMIN,
}
_TRIED: Final = 10_000
"""Windows that a policy is tried on where the request does not say."""

ResultT = TypeVar("ResultT")
ResponseT = TypeVar("ResponseT", bound=Message)


class AdminServicer(admin_service_pb2_grpc.AdminServiceServicer):
    """The RPCs; ``reports`` and ``providers`` are ``None`` where the other services cannot be reached."""

    def __init__(
        self, app: AdminApp, clock: Clock, reports: ReportReads | None, providers: ProviderAdmin | None
    ) -> None:
        self._app = app
        self._clock = clock
        self._reports = reports
        self._own = providers

    async def CreateApiKey(self, request: pb.CreateApiKeyRequest, context: Any) -> pb.CreateApiKeyResponse:  # noqa: ARG002, N802
        """Make an API key and show it, this once."""
        validate.create_api_key(request)
        caller = current_call().caller
        if caller == LOCAL_CALLER:  # who has shown no credential gets none that outlives this server
            text = "without credentials no API keys are made here; `groundtrail keys create` on the data directory does"
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, text)
        now = self._clock.now()
        write: Write[CreatedKey] = _write(request, lambda made: convert.created_key(made, now, withhold=True))
        made = await self._app.create_key(caller, write, convert.new_key(request))
        return _answer(made, lambda created: convert.created_key(created, now, withhold=False), pb.CreateApiKeyResponse)

    async def ListApiKeys(self, request: pb.ListApiKeysRequest, context: Any) -> pb.ListApiKeysResponse:  # noqa: ARG002, N802
        """List the tenant's API keys."""
        bound_to, page = _page(request)
        keys = await self._app.list_keys(current_call().caller, after=page.after, limit=page.limit + 1)
        shown, more = keys[: page.limit], len(keys) > page.limit
        return pb.ListApiKeysResponse(
            keys=[convert.api_key(key, self._clock.now()) for key in shown],
            next_page_token=encode_page_token(shown[-1].key_id, bound_to) if more else "",
        )

    async def RevokeApiKey(self, request: pb.RevokeApiKeyRequest, context: Any) -> pb.RevokeApiKeyResponse:  # noqa: ARG002, N802
        """Revoke an API key."""
        validate.revoke_api_key(request)
        now = self._clock.now()

        def respond(key: Any) -> pb.RevokeApiKeyResponse:
            return pb.RevokeApiKeyResponse(key=convert.api_key(key, now))

        revoked = await self._app.revoke_key(current_call().caller, _write(request, respond), request.key_id)
        return _answer(revoked, respond, pb.RevokeApiKeyResponse)

    async def RegisterAiSystem(self, request: pb.RegisterAiSystemRequest, context: Any) -> pb.RegisterAiSystemResponse:  # noqa: ARG002, N802
        """Register an AI system, or describe it anew."""
        validate.register_ai_system(request)

        def respond(system: Any) -> pb.RegisterAiSystemResponse:
            return pb.RegisterAiSystemResponse(ai_system=convert.ai_system(system))

        new = convert.new_ai_system(request.ai_system)
        expected = request.expected_version if request.HasField("expected_version") else None
        kept = await self._app.register_ai_system(current_call().caller, _write(request, respond), new, expected)
        return _answer(kept, respond, pb.RegisterAiSystemResponse)

    async def ListAiSystems(self, request: pb.ListAiSystemsRequest, context: Any) -> pb.ListAiSystemsResponse:  # noqa: ARG002, N802
        """List the tenant's AI systems, or the versions of one."""
        validate.list_ai_systems(request)
        if request.versions_of:
            return await self._versions(request)
        bound_to, page = _page(request)
        systems = await self._app.list_ai_systems(current_call().caller, after=page.after, limit=page.limit + 1)
        shown, more = systems[: page.limit], len(systems) > page.limit
        return pb.ListAiSystemsResponse(
            ai_systems=[convert.ai_system(system) for system in shown],
            next_page_token=encode_page_token(shown[-1].ai_system_id, bound_to) if more else "",
        )

    async def _versions(self, request: pb.ListAiSystemsRequest) -> pb.ListAiSystemsResponse:
        caller = current_call().caller
        bound_to, page = _page(request, request.versions_of)
        after = int(page.after or 0)
        versions = await self._app.list_ai_system_versions(
            caller, request.versions_of, after=after, limit=page.limit + 1
        )
        shown, more = versions[: page.limit], len(versions) > page.limit
        return pb.ListAiSystemsResponse(
            ai_systems=[convert.ai_system(version) for version in shown],
            next_page_token=encode_page_token(str(shown[-1].version), bound_to) if more else "",
        )

    async def SetTenantPolicy(self, request: pb.SetTenantPolicyRequest, context: Any) -> pb.SetTenantPolicyResponse:  # noqa: ARG002, N802
        """Set the tenant's policy."""
        validate.set_tenant_policy(request)

        def respond(policy: Any) -> pb.SetTenantPolicyResponse:
            return pb.SetTenantPolicyResponse(policy=convert.tenant_policy(policy))

        write = _write(request, respond)
        policy = await self._app.set_policy(current_call().caller, write, convert.new_policy(request))
        return _answer(policy, respond, pb.SetTenantPolicyResponse)

    async def GetTenantPolicy(self, request: pb.GetTenantPolicyRequest, context: Any) -> pb.GetTenantPolicyResponse:  # noqa: ARG002, N802
        """Return the tenant's policy."""
        policy = await self._app.get_policy(current_call().caller)
        return pb.GetTenantPolicyResponse(policy=convert.tenant_policy(policy))

    async def TryTenantPolicy(self, request: pb.TryTenantPolicyRequest, context: Any) -> pb.TryTenantPolicyResponse:  # noqa: ARG002, N802
        """Say which stored windows a policy would have withheld."""
        validate.try_tenant_policy(request)
        if self._reports is None:
            text = "no stored windows can be reached from this process"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text)
        trial = await self._app.try_policy(request.safety_policy, self._reports, request.max_windows or _TRIED)
        return convert.tried_policy(trial)

    async def SetTenantProvider(  # noqa: N802
        self,
        request: pb.SetTenantProviderRequest,
        context: Any,  # noqa: ARG002
    ) -> pb.SetTenantProviderResponse:
        """Set a provider of the tenant's own."""
        validate.set_tenant_provider(request)

        def respond(provider: Any) -> pb.SetTenantProviderResponse:
            return pb.SetTenantProviderResponse(provider=convert.tenant_provider(provider))

        write = _write(request, respond)
        kept = await self._providers.put(current_call().caller, write, convert.new_provider(request))
        return _answer(kept, respond, pb.SetTenantProviderResponse)

    async def ListTenantProviders(  # noqa: N802
        self,
        request: pb.ListTenantProvidersRequest,
        context: Any,  # noqa: ARG002
    ) -> pb.ListTenantProvidersResponse:
        """List the tenant's own providers."""
        bound_to, page = _page(request)
        found = await self._providers.page(current_call().caller, after=page.after, limit=page.limit + 1)
        shown, more = found[: page.limit], len(found) > page.limit
        return pb.ListTenantProvidersResponse(
            providers=map(convert.tenant_provider, shown),
            next_page_token=encode_page_token(shown[-1].name, bound_to) if more else "",
        )

    async def RemoveTenantProvider(  # noqa: N802
        self,
        request: pb.RemoveTenantProviderRequest,
        context: Any,  # noqa: ARG002
    ) -> pb.RemoveTenantProviderResponse:
        """Remove a provider of the tenant's own."""
        validate.remove_tenant_provider(request)
        write: Write[None] = _write(request, lambda _: pb.RemoveTenantProviderResponse())
        await self._providers.remove(current_call().caller, write, request.name)
        return pb.RemoveTenantProviderResponse()

    @property
    def _providers(self) -> ProviderAdmin:
        if self._own is None:
            text = "what seals providers' keys cannot be reached from this process"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text)
        return self._own


def admin_service(
    app: AdminApp, clock: Clock, reports: ReportReads | None = None, providers: ProviderAdmin | None = None
) -> ServedService:
    """Return AdminService ready to be served.

    Args:
        app: keys, systems, policies.
        clock: the time.
        reports: what policies are tried on.
        providers: tenants' own providers.
    """
    servicer = AdminServicer(app, clock, reports, providers)
    return ServedService(
        name=SERVICE_NAME,
        register=partial(admin_service_pb2_grpc.add_AdminServiceServicer_to_server, servicer),
        roles=ROLES,
        check=app.check,
    )


def _write(request: Any, respond: Callable[[ResultT], Message]) -> Write[ResultT]:
    rpc = type(request).__name__.removesuffix("Request")
    return Write(rpc, request.request_id, body_hash(request), lambda result: respond(result).SerializeToString())


def _answer(
    outcome: ResultT | Replay, respond: Callable[[ResultT], ResponseT], response_type: type[ResponseT]
) -> ResponseT:
    if isinstance(outcome, Replay):
        return response_type.FromString(outcome.response)
    return respond(outcome)


def _page(
    request: pb.ListApiKeysRequest | pb.ListAiSystemsRequest | pb.ListTenantProvidersRequest, *besides: str
) -> tuple[tuple[str, ...], PageRequest]:
    bound_to = (type(request).__name__, current_call().caller.tenant_id, *besides)
    return bound_to, decode_page(request.page_size, request.page_token, bound_to)
