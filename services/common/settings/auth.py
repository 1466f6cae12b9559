"""How callers prove who they are."""

from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

SHARED_PREFIX: Final = "shared:"
"""A tenant whose id begins so is a shared namespace (ADR 0077)."""
MIN_HS256_SECRET_BYTES: Final = 32
"""RFC 7518 §3.2: an HS256 key is at least as long as the hash."""


class JwtSettings(BaseModel):
    """Acceptance of JSON Web Tokens; no key set means that none is accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    secret: SecretStr | None = None
    """Shared secret for HS256, at least 32 bytes."""
    public_key_file: Path | None = None
    """PEM public key: RSA (RS256) or Ed25519 (EdDSA)."""
    jwks_file: Path | None = None
    """A JWK set with RSA or Ed25519 keys; tokens name theirs by ``kid``."""
    audience: str = ""
    """The ``aud`` that a token must carry; required with any key."""
    issuer: str = ""
    """The ``iss`` that a token must carry; empty = any."""
    tenant_claim: str = "tenant"
    """Claim that holds the tenant id."""
    roles_claim: str = "roles"
    """Claim that holds a list of ``reader``, ``writer``, ``admin``."""
    shared_namespaces: bool = False
    """Whether a token may be one of a shared namespace (``"tenant": "shared:…"``) and so write what other tenants read.
    Default off: only API keys that ``groundtrail keys create --namespace`` made may. On, the issuer decides who may."""
    leeway_s: float = Field(default=5.0, ge=0, le=120)
    """Clock difference that is forgiven in ``exp`` and ``nbf``, in seconds."""

    @property
    def enabled(self) -> bool:
        """Say whether JWTs are accepted."""
        return any(source is not None for source in (self.secret, self.public_key_file, self.jwks_file))

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        given = [source for source in (self.secret, self.public_key_file, self.jwks_file) if source is not None]
        problems = []
        if len(given) > 1:
            problems.append("set one of secret, public_key_file, jwks_file: two key types invite algorithm confusion")
        if given and not self.audience:
            problems.append("audience is required where JWTs are accepted")
        if self.secret is not None and len(self.secret.get_secret_value().encode()) < MIN_HS256_SECRET_BYTES:
            problems.append(f"secret is shorter than {MIN_HS256_SECRET_BYTES} bytes")
        if problems:
            raise ValueError("; ".join(problems))
        return self


class AuthSettings(BaseModel):
    """API keys and JWTs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: Literal["dev", "test", "staging", "live"] = "dev"
    """The ``<env>`` part of the API keys that this installation makes: ``crp_gw_<env>_…``."""
    cache_ttl_s: float = Field(default=5.0, ge=0, le=300)
    """How long a verified credential is trusted without asking the store again, in seconds: a revocation bites after
    at most this long. 0 asks every time."""
    cache_entries: int = Field(default=4096, ge=1, le=1_000_000)
    """Verified credentials that are remembered at most."""
    jwt: JwtSettings = JwtSettings()
    """Acceptance of JWTs."""
