"""Accepting JSON Web Tokens as credentials.

The algorithm is decided by the type of the configured key, never by the token: a symmetric secret verifies HS256 alone,
an RSA key RS256 alone, an Ed25519 key EdDSA alone, and ``none`` nothing. So a token that names another algorithm than
its key's cannot verify (algorithm confusion). Times are compared with the injected clock.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt.exceptions import InvalidSubjectError

from services.common.clock import Clock
from services.common.context import Caller, Role
from services.common.errors import ErrorReason, UnauthenticatedError
from services.common.settings import JwtSettings, SettingsError
from services.common.settings.auth import SHARED_PREFIX

MAX_TOKEN_CHARS: Final = 8192
MAX_CLAIM_CHARS: Final = 128
MIN_RSA_BITS: Final = 2048
_ANY_KEY: Final = ""


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A key and the one algorithm that it may verify."""

    key: RSAPublicKey | Ed25519PublicKey | str
    algorithm: str


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """What a good token proves, and until when."""

    caller: Caller
    expires_at: datetime


class JwtVerifier:
    """Verifies tokens against the configured keys."""

    def __init__(self, settings: JwtSettings, keys: Mapping[str, VerificationKey], clock: Clock) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock

    def verify(self, token: str) -> VerifiedToken:
        """Return who the token is for.

        Raises:
            UnauthenticatedError: CREDENTIAL_INVALID or CREDENTIAL_EXPIRED.
        """
        if len(token) > MAX_TOKEN_CHARS:
            raise _invalid("is too long")
        claims = self._claims(token)
        expires_at = self._expiry(claims)
        subject = self._text_claim(claims, "sub")
        tenant = self._text_claim(claims, self._settings.tenant_claim)
        if tenant.startswith(SHARED_PREFIX) and not self._settings.shared_namespaces:
            raise _invalid("names a shared namespace as its tenant, which this server takes from API keys alone")
        caller = Caller(tenant, f"jwt:{subject}", self._roles(claims), subject)
        return VerifiedToken(caller, expires_at)

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            key = self._key_for(jwt.get_unverified_header(token).get("kid"))
            return jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                audience=self._settings.audience,
                issuer=self._settings.issuer or None,
                options={
                    "require": ["exp", "aud", "sub"],
                    "verify_exp": False,  # these three are compared with the injected clock below
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.MissingRequiredClaimError as error:  # raised only once the signature was found to hold
            raise self._missing(error.claim) from None
        except InvalidSubjectError:  # it is there and no text; said as of one that is empty
            raise self._missing("sub") from None
        except jwt.PyJWTError as error:
            raise _invalid(f"does not verify ({type(error).__name__})") from None

    def _missing(self, claim: str) -> UnauthenticatedError:
        """Return a refusal that says which claim is missing and what to write there."""
        wanted = {
            "sub": "the id of who calls, by which the call is known in records",
            "exp": "when the token ends, in seconds since 1970",
            "aud": f"for this server {self._settings.audience!r}",
            self._settings.tenant_claim: "the id of the tenant whose data is meant",
        }
        return _invalid(f"has no claim {claim}, or an empty one: have its issuer add it ({wanted[claim]})", claim=claim)

    def _key_for(self, key_id: object) -> VerificationKey:
        if _ANY_KEY in self._keys:
            return self._keys[_ANY_KEY]
        if isinstance(key_id, str) and key_id in self._keys:
            return self._keys[key_id]
        raise _invalid("names no known key (kid)")

    def _expiry(self, claims: Mapping[str, Any]) -> datetime:
        now = self._clock.now().timestamp()
        expires = _time_claim(claims, "exp")
        if now >= expires + self._settings.leeway_s:
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_EXPIRED, "the token has expired; get a fresh one")
        if "nbf" in claims and now < _time_claim(claims, "nbf") - self._settings.leeway_s:
            raise _invalid("is not valid yet")
        return datetime.fromtimestamp(expires + self._settings.leeway_s, tz=UTC)

    def _text_claim(self, claims: Mapping[str, Any], name: str) -> str:
        value = claims.get(name)
        if value is None or value == "":
            raise self._missing(name)
        if not isinstance(value, str) or len(value) > MAX_CLAIM_CHARS or not value.isprintable():
            raise _invalid(f"needs a claim {name} of 1 to {MAX_CLAIM_CHARS} printable characters", claim=name)
        return value

    def _roles(self, claims: Mapping[str, Any]) -> frozenset[Role]:
        given = claims.get(self._settings.roles_claim, [])
        if not isinstance(given, list):
            raise _invalid(f"has a claim {self._settings.roles_claim} that is no list")
        return frozenset(Role(role) for role in given if role in tuple(Role))


def open_jwt_verifier(settings: JwtSettings, clock: Clock) -> JwtVerifier | None:
    """Load the configured keys; ``None`` when JWTs are not accepted.

    Raises:
        SettingsError: a key file cannot be read, or holds a key of a type that is not accepted.
    """
    if settings.secret is not None:
        secret = VerificationKey(settings.secret.get_secret_value(), "HS256")
        return JwtVerifier(settings, {_ANY_KEY: secret}, clock)
    if settings.public_key_file is not None:
        path = settings.public_key_file
        try:
            key = load_pem_public_key(_read(path))
        except ValueError:
            raise SettingsError([f"{path} holds no PEM public key"]) from None
        return JwtVerifier(settings, {_ANY_KEY: _typed(key, path)}, clock)
    if settings.jwks_file is not None:
        return JwtVerifier(settings, _jwks(settings.jwks_file), clock)
    return None


def _jwks(path: Path) -> dict[str, VerificationKey]:
    keys: dict[str, VerificationKey] = {}
    try:
        for entry in json.loads(_read(path))["keys"]:
            if entry.get("kty") not in {"RSA", "OKP"}:
                raise SettingsError([f"{path}: only public keys of the types RSA and OKP are accepted"])
            keys[entry["kid"]] = _typed(jwt.PyJWK(entry, algorithm=_algorithm_of(entry)).key, path)
    except (ValueError, KeyError, TypeError, AttributeError, jwt.PyJWTError):
        raise SettingsError([f"{path} is no JWK set whose every key has a kid"]) from None
    if not keys:
        raise SettingsError([f"{path} holds no key"])
    return keys


def _algorithm_of(entry: Mapping[str, Any]) -> str:
    return "RS256" if entry["kty"] == "RSA" else "EdDSA"


def _typed(key: object, path: Path) -> VerificationKey:
    if isinstance(key, RSAPublicKey):
        if key.key_size < MIN_RSA_BITS:
            raise SettingsError([f"{path}: an RSA key needs at least {MIN_RSA_BITS} bits"])
        return VerificationKey(key, "RS256")
    if isinstance(key, Ed25519PublicKey):
        return VerificationKey(key, "EdDSA")
    raise SettingsError([f"{path}: only public RSA and Ed25519 keys are accepted"])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from None


def _time_claim(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:  # noqa: PLR2004 - AD 5138
        raise _invalid(f"has a claim {name} that is no time")
    return float(value)


def _invalid(what: str, claim: str = "") -> UnauthenticatedError:
    text = f"the token {what}"
    if claim:
        return UnauthenticatedError(ErrorReason.CREDENTIAL_INVALID, text, why=what, claim=claim)
    return UnauthenticatedError(ErrorReason.CREDENTIAL_INVALID, text, why=what)
