"""The API keys of an installation, in its own store: for whoever may write the data directory (ADR 0090).

Over the wire an administrator manages the keys of one tenant, the credential's, and no role reaches further. Whoever
holds the files owns every tenant in them anyway; to such a person this gives keys of any tenant, by the same checks.
"""

from datetime import datetime
from typing import Any, Final

from crp.gateway.v1 import admin_pb2, admin_service_pb2
from google.protobuf.message import Message

from services.common.clock import Clock
from services.common.context import FIRST_TENANT, Caller, Role
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.ids import IdSource
from services.common.ports.credentials import CredentialStore
from services.common.rpc.idempotency import body_hash
from services.common.settings.auth import SHARED_PREFIX
from services.gateway.admin.app import AdminApp, Replay, Write
from services.gateway.doors.grpc import admin_convert as convert
from services.gateway.doors.grpc import admin_validate as validate

MAX_TENANT_CHARS: Final = 128
"""As in the claim of a JWT."""
_PAGE: Final = 1_000


class LocalKeys:
    """Makes, lists and revokes keys.

    Args:
        store: of the installation.
        clock: for times.
        ids: source of keys and their ids.
        environment: the ``<env>`` part of the keys.
    """

    def __init__(self, store: CredentialStore, clock: Clock, ids: IdSource, environment: str) -> None:
        self._store = store
        self._clock = clock
        self._app = AdminApp(store, clock, ids, environment)

    async def create(
        self, request: admin_service_pb2.CreateApiKeyRequest, tenant_id: str = FIRST_TENANT
    ) -> admin_service_pb2.CreateApiKeyResponse:
        """Make a key of the tenant, which need not have any yet.

        Raises:
            InvalidRequestError: the name can be no tenant's, or as CreateApiKey.
        """
        _check_tenant(tenant_id)
        validate.create_api_key(request)
        now = self._clock.now()
        made = await self._app.create_key(
            _owner(tenant_id),
            _write(request, lambda created: convert.created_key(created, now, withhold=True)),
            convert.new_key(request),
        )
        if isinstance(made, Replay):
            return admin_service_pb2.CreateApiKeyResponse.FromString(made.response)
        return convert.created_key(made, now, withhold=False)

    async def page_all(self, tenant_id: str = "") -> list[admin_pb2.ApiKey]:
        """Return the keys of the tenant, those of all when none is named, by tenant and id."""
        now = self._clock.now()
        found: list[admin_pb2.ApiKey] = []
        for tenant in [tenant_id] if tenant_id else await self._store.key_tenants():
            after = ""
            while page := await self._store.page_keys(tenant, after=after, limit=_PAGE):
                found.extend(convert.api_key(record, now) for record in page)
                after = page[-1].key_id
        return found

    async def revoke(self, request: admin_service_pb2.RevokeApiKeyRequest) -> admin_service_pb2.RevokeApiKeyResponse:
        """Revoke a key of whatever tenant.

        Raises:
            NotFoundError: API_KEY_NOT_FOUND.
            InvalidRequestError: as RevokeApiKey.
        """
        validate.revoke_api_key(request)
        now = self._clock.now()
        for tenant in await self._store.key_tenants():
            if await self._store.get_key(tenant, request.key_id) is not None:
                return await self._revoked(tenant, request, now)
        text = f"there is no API key {request.key_id} in this installation"
        raise NotFoundError(ErrorReason.API_KEY_NOT_FOUND, text, key_id=request.key_id)

    async def _revoked(
        self, tenant_id: str, request: admin_service_pb2.RevokeApiKeyRequest, now: datetime
    ) -> admin_service_pb2.RevokeApiKeyResponse:
        def respond(record: Any) -> admin_service_pb2.RevokeApiKeyResponse:
            return admin_service_pb2.RevokeApiKeyResponse(key=convert.api_key(record, now))

        revoked = await self._app.revoke_key(_owner(tenant_id), _write(request, respond), request.key_id)
        if isinstance(revoked, Replay):
            return admin_service_pb2.RevokeApiKeyResponse.FromString(revoked.response)
        return respond(revoked)


def _owner(tenant_id: str) -> Caller:
    """Return the owner of the files as an administrator of the tenant."""
    return Caller(tenant_id, "local", frozenset({Role.ADMIN}), "local")


def _write(request: Any, respond: Any) -> Write[Any]:
    def encode(result: Any) -> bytes:
        message: Message = respond(result)
        return message.SerializeToString()

    return Write(type(request).__name__.removesuffix("Request"), request.request_id, body_hash(request), encode)


def _check_tenant(tenant_id: str) -> None:
    problem = ""
    if not 0 < len(tenant_id) <= MAX_TENANT_CHARS or not tenant_id.isprintable() or tenant_id != tenant_id.strip():
        problem = f"must be 1 to {MAX_TENANT_CHARS} printable characters without blanks around them"
    elif tenant_id.startswith(SHARED_PREFIX):
        problem = f"{tenant_id} is a shared namespace; --namespace makes its keys"
    if problem:
        raise InvalidRequestError.of(FieldViolation("--tenant", problem))
