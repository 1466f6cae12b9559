"""How a provider's key is sealed: AES-256-GCM under a key of the tenant that the dag service gives (ADR 0163).

A sealed key is ``gtprov1.``, a nonce of 12 bytes and the ciphertext. It is bound to tenant, name, form and address, so
that whoever can write the store cannot have it sent elsewhere.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.errors import UnreadableRecordError
from services.common.ports.credentials import TenantProviderRecord

MARK: Final = b"gtprov1."
_NONCE_BYTES: Final = 12
_LENGTH_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """What credentials of a tenant's providers are sealed with; ``version`` is the master key's."""

    version: int
    key: bytes = field(repr=False)


KeySource: TypeAlias = Callable[[int], Awaitable[ProviderKey]]
"""Gives the caller's tenant's key of a version; 0 = the current one. Raises ``UnavailableError``."""


def sealed(api_key: str, provider: TenantProviderRecord, key: bytes) -> bytes:
    """Return a provider's key, sealed for its place."""
    nonce = os.urandom(_NONCE_BYTES)
    return MARK + nonce + AESGCM(key).encrypt(nonce, api_key.encode(), _bound(provider))


def opened(provider: TenantProviderRecord, key: bytes) -> str:
    """Return a provider's key.

    Raises:
        UnreadableRecordError: it does not open: altered, or taken from another place.
    """
    body = provider.sealed_key[len(MARK) :]
    try:
        return AESGCM(key).decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], _bound(provider)).decode()
    except (InvalidTag, ValueError):
        raise UnreadableRecordError("provider", provider.name, "does not open") from None


def _bound(provider: TenantProviderRecord) -> bytes:
    parts = (provider.tenant_id, provider.name, provider.form, provider.base_url)
    return b"".join(len(part.encode()).to_bytes(_LENGTH_BYTES, "big") + part.encode() for part in parts)
