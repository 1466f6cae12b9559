"""Sealing of stored content: AES-256-GCM, a fresh key for every text, wrapped under a key of the session (ADR 0054).

A sealed text is ``gtseal1.`` and base64url of: version of the master key (4 bytes), nonce and wrapped key (12 + 48),
nonce and ciphertext (12 + n + 16). What is under the ciphertext is the length of the salt, the salt and the text. Both
steps authenticate the text's place - tenant, session, kind, id and field - so that a sealed text opens nowhere else.
Destroying the sealed text destroys content, key and salt at once.
"""

import contextlib
import os
import struct
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.encoding import base64url, base64url_decode
from services.common.errors import ErrorReason, UnavailableError
from services.dag.domain import keys
from services.dag.held_keys import MAX_VERSION, other_keys
from services.dag.ports import MasterKeys

MARK: Final = "gtseal1."
_VERSION: Final = struct.Struct(">I")
_LENGTH: Final = struct.Struct(">I")
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_WRAPPED_BYTES: Final = keys.KEY_BYTES + _TAG_BYTES
_HEAD_BYTES: Final = _VERSION.size + _NONCE_BYTES + _WRAPPED_BYTES + _NONCE_BYTES
_DRAWN_BYTES: Final = keys.KEY_BYTES + 2 * _NONCE_BYTES
_REMEMBERED_KEYS: Final = 4_096


@dataclass(frozen=True, slots=True)
class SealPlace:
    """Where a sealed text stands; it opens nowhere else.

    Attributes:
        session_id: empty for a remembered answer, which belongs to the tenant.
        record_kind: window, event, report or receipt.
        field: the record's field.
    """

    tenant_id: str
    session_id: str
    record_kind: str
    record_id: str
    field: str

    def bytes(self) -> bytes:
        """Return the place without ambiguity: every part after its length."""
        parts = [self.tenant_id, self.session_id, self.record_kind, self.record_id, self.field]
        encoded = [part.encode() for part in ("groundtrail-seal-v1", *parts)]
        return b"".join(_LENGTH.pack(len(part)) + part for part in encoded)


@dataclass(frozen=True, slots=True)
class Unsealed:
    """What was sealed.

    Attributes:
        salt: of the record's leaf; empty for a record without one.
        opened: false when it was stored as it is, without a seal, or does not open here.
    """

    content: bytes = field(repr=False)
    salt: bytes = field(default=b"", repr=False)
    opened: bool = False

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode()


class Sealer:
    """Seals and opens texts.

    Args:
        master_keys: the current version seals; older ones still open.
    """

    def __init__(self, master_keys: MasterKeys) -> None:
        self._master_keys = master_keys
        self._wrapping: dict[tuple[int, str, str], AESGCM] = {}

    async def seal(self, place: SealPlace, content: bytes, salt: bytes = b"") -> str:
        """Return the content, sealed.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the current master key cannot be had.
        """
        master = await self._master_keys.current()
        version = _VERSION.pack(master.version)
        bound = version + place.bytes()
        drawn = os.urandom(_DRAWN_BYTES)  # at once: each call gives the interpreter lock away
        key, key_nonce, nonce = drawn[: keys.KEY_BYTES], drawn[keys.KEY_BYTES : -_NONCE_BYTES], drawn[-_NONCE_BYTES:]
        wrapped = self._wrapper(master, place).encrypt(key_nonce, key, bound)
        secret = bytes([len(salt)]) + salt + content
        return MARK + base64url(version + key_nonce + wrapped + nonce + AESGCM(key).encrypt(nonce, secret, bound))

    async def open(self, place: SealPlace, stored: str) -> Unsealed:
        """Return what was sealed.

        A text that was never sealed, from before sealing, is returned as it is; so is one that does not open here:
        altered, or taken from another place. It then fits no hash, so that verification names its record.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key version that sealed it is not held here.
        """
        if not stored.startswith(MARK):
            return Unsealed(stored.encode())
        try:
            raw = base64url_decode(stored[len(MARK) :])
            (version,) = _VERSION.unpack_from(raw)
        except (ValueError, struct.error):
            return Unsealed(stored.encode())
        master = await self._master_keys.find(version)
        if master is None and await self._was_altered(place, raw, version):
            return Unsealed(stored.encode())
        if master is None:
            text = f"master key version {version} is not configured; add it to read what it sealed"
            raise UnavailableError(
                ErrorReason.SERVICE_UNAVAILABLE,
                text,
                key_version=str(version),
                record_kind=place.record_kind,
                record_id=place.record_id,
                session_id=place.session_id,
            )
        try:
            return self._opened(master, place, raw)
        except (InvalidTag, ValueError, IndexError):
            return Unsealed(stored.encode())

    async def _was_altered(self, place: SealPlace, raw: bytes, version: int) -> bool:
        """Say whether the version that a sealed text names is not the one that sealed it."""
        if not 0 < version <= MAX_VERSION:
            return True
        async for other in other_keys(self._master_keys, version):
            with contextlib.suppress(InvalidTag, ValueError, IndexError):
                self._opened(other, place, _VERSION.pack(other.version) + raw[_VERSION.size :])
                return True
        return False

    def _opened(self, master: keys.MasterKey, place: SealPlace, raw: bytes) -> Unsealed:
        bound = raw[: _VERSION.size] + place.bytes()
        at = _VERSION.size
        key_nonce, at = raw[at : at + _NONCE_BYTES], at + _NONCE_BYTES
        wrapped, at = raw[at : at + _WRAPPED_BYTES], at + _WRAPPED_BYTES
        nonce = raw[at : at + _NONCE_BYTES]
        key = self._wrapper(master, place).decrypt(key_nonce, wrapped, bound)
        secret = AESGCM(key).decrypt(nonce, raw[_HEAD_BYTES:], bound)
        content_at = 1 + secret[0]
        return Unsealed(secret[content_at:], secret[1:content_at], opened=True)

    def _wrapper(self, master: keys.MasterKey, place: SealPlace) -> AESGCM:
        name = (master.version, place.tenant_id, place.session_id)
        found = self._wrapping.get(name)
        if found is None:
            if len(self._wrapping) >= _REMEMBERED_KEYS:
                self._wrapping.clear()
            if place.session_id:
                derived = keys.session_seal_key(master, place.session_id)
            else:
                derived = keys.receipt_seal_key(master, place.tenant_id)
            found = self._wrapping[name] = AESGCM(derived)
        return found
