"""From ``authorization`` metadata to a proven caller.

A verified credential is remembered under its SHA-256 for a few seconds (``auth.cache_ttl_s``), so that the store is not
asked for every call and a revocation still bites soon. Refusals are never remembered: a key made a moment ago works.
"""

import hashlib
import hmac
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from services.common.api_key_format import KEY_START, hash_of, prefix_of
from services.common.clock import Clock
from services.common.context import FIRST_TENANT, Caller, Role
from services.common.errors import ErrorReason, UnauthenticatedError
from services.common.ports.credentials import ApiKeyRecord, CredentialStore
from services.common.settings import AuthSettings

if TYPE_CHECKING:
    from services.common.rpc.jwt_verification import JwtVerifier

_SCHEME: Final = "bearer "
_JWT_DOTS: Final = 2
_HINT: Final = "send `authorization: Bearer <API key or JWT>`, a header over HTTP and metadata over gRPC"

LOCAL_CALLER: Final = Caller(FIRST_TENANT, "local", frozenset({Role.ADMIN}), "local")
"""Who everyone is with ``server.insecure_local``."""


class Authenticator(Protocol):
    """Proves callers."""

    def remembered(self, authorization: str) -> Caller | None:
        """Return the caller if this credential was verified a moment ago; never blocks."""
        ...

    async def authenticate(self, authorization: str) -> Caller:
        """Return the caller that the credential proves.

        Args:
            authorization: value of the metadata key; empty when there was none.

        Raises:
            UnauthenticatedError: CREDENTIAL_MISSING, _INVALID, _EXPIRED or _REVOKED.
            UnavailableError: the store of keys does not answer.
        """
        ...


class LocalAuthenticator:
    """Everyone is the administrator of the tenant ``default``; only behind ``server.insecure_local`` (loopback)."""

    def remembered(self, authorization: str) -> Caller | None:  # noqa: ARG002 - the port's signature
        """Return ``LOCAL_CALLER``."""
        return LOCAL_CALLER

    async def authenticate(self, authorization: str) -> Caller:  # noqa: ARG002 - the port's signature
        """Return ``LOCAL_CALLER``."""
        return LOCAL_CALLER


class CredentialAuthenticator:
    """API keys from the store, JWTs by their signature."""

    def __init__(
        self, credentials: CredentialStore, settings: AuthSettings, clock: Clock, tokens: "JwtVerifier | None" = None
    ) -> None:
        self._credentials = credentials
        self._clock = clock
        self._tokens = tokens
        self._ttl = timedelta(seconds=settings.cache_ttl_s)
        self._room = settings.cache_entries
        self._verified: OrderedDict[bytes, tuple[Caller, datetime]] = OrderedDict()

    def remembered(self, authorization: str) -> Caller | None:
        """Return the caller of a credential that was verified within the last ``cache_ttl_s``."""
        entry = self._verified.get(_digest(authorization))
        if entry is None or self._clock.now() >= entry[1]:
            return None
        return entry[0]

    async def authenticate(self, authorization: str) -> Caller:
        """Verify the credential and remember the result."""
        if not authorization:
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, f"the call carries no credential; {_HINT}")
        scheme, secret = authorization[: len(_SCHEME)], authorization[len(_SCHEME) :].strip()
        if scheme.lower() != _SCHEME:
            raise _invalid(f"the credential is not of the scheme Bearer; {_HINT}")
        if secret.startswith(KEY_START):
            caller, expires_at = await self._api_key(secret)
        elif self._tokens is not None and secret.count(".") == _JWT_DOTS:
            token = self._tokens.verify(secret)
            caller, expires_at = token.caller, token.expires_at
        else:
            raise _invalid("the credential is neither an API key nor a JWT that this server accepts")
        self._remember(_digest(authorization), caller, expires_at)
        return caller

    async def _api_key(self, key: str) -> tuple[Caller, datetime | None]:
        prefix = prefix_of(key)
        if prefix is None:
            raise _invalid("the API key is malformed: crp_gw_<env>_ and 32 letters and digits")
        record = await self._credentials.find_key(prefix)
        # An unknown prefix takes the same path as a wrong secret, so that the answer does not tell them apart.
        expected = record.key_hash if record is not None else hash_of("")
        if not hmac.compare_digest(hash_of(key), expected) or record is None:
            raise _invalid("the API key is not known here")
        self._refuse_if_over(record)
        return _caller(record), record.expires_at

    def _refuse_if_over(self, record: ApiKeyRecord) -> None:
        if record.revoked_at is not None:
            text = f"the API key {record.prefix} was revoked; ask an administrator for another"
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_REVOKED, text, key_prefix=record.prefix)
        if record.expires_at is not None and self._clock.now() >= record.expires_at:
            text = f"the API key {record.prefix} has expired; ask an administrator for another"
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_EXPIRED, text, key_prefix=record.prefix)

    def _remember(self, digest: bytes, caller: Caller, expires_at: datetime | None) -> None:
        until = self._clock.now() + self._ttl
        self._verified[digest] = (caller, until if expires_at is None else min(until, expires_at))
        self._verified.move_to_end(digest)
        while len(self._verified) > self._room:
            self._verified.popitem(last=False)


def open_authenticator(settings: AuthSettings, credentials: CredentialStore, clock: Clock) -> CredentialAuthenticator:
    """Build the authenticator that the settings describe.

    Raises:
        SettingsError: a JWT key file cannot be used.
    """
    if not (settings.jwt.secret or settings.jwt.public_key_file or settings.jwt.jwks_file):
        return CredentialAuthenticator(credentials, settings, clock)
    from services.common.rpc.jwt_verification import open_jwt_verifier  # with all that signatures need

    return CredentialAuthenticator(credentials, settings, clock, open_jwt_verifier(settings.jwt, clock))


def _caller(record: ApiKeyRecord) -> Caller:
    roles = frozenset(Role(role) for role in record.roles)
    return Caller(record.tenant_id, record.prefix, roles, record.key_id)


def _digest(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).digest()


def _invalid(text: str) -> UnauthenticatedError:
    return UnauthenticatedError(ErrorReason.CREDENTIAL_INVALID, text)
