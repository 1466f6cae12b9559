"""Cosignatures of witnesses on checkpoints, as C2SP describes them (tlog-cosignature, version 1).

A cosignature is one more signature line of a checkpoint: the witness's name, and base64 of its key id and of the moment
with an Ed25519 signature (RFC 8032). It says that at that moment the witness had seen the log grow, without a break, up
to this head. Whoever does not know the witness ignores the line (C2SP signed-note).
"""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Self

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from services.common.signed_note import KEY_BYTES, SIGNATURE_BYTES, Note, NoteSignature

COSIGNATURE_V1: Final = b"\x04"
"""The signature type that key ids and verifier keys of version 1 name."""
_HEADER: Final = "cosignature/v1"
_MOMENT_BYTES: Final = 8
_ID_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """A witness's public key.

    Attributes:
        name: of the witness, without spaces and plus signs.
        public_key: 32 bytes.
    """

    name: str
    public_key: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``name+keyid+base64`` with signature type 0x04.

        Raises:
            ValueError: it is none, or its id is another key's.
        """
        name, key_id, encoded = [*text.strip().split("+", 2), "", ""][:3]
        try:
            raw = base64.b64decode(encoded, validate=True)
        except ValueError:
            raw = b""
        if not name or any(c.isspace() for c in name) or raw[:1] != COSIGNATURE_V1 or len(raw) != 1 + KEY_BYTES:
            msg = "a witness's key is NAME+ID+BASE64 of a cosignature/v1 key, as `groundtrail witness key` prints it"
            raise ValueError(msg)
        key = cls(name, raw[1:])
        if key.key_id.hex() != key_id.lower():
            msg = "the witness key's id does not belong to its name and bytes: it was cut or mixed up"
            raise ValueError(msg)
        return key

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that signature lines name the key by."""
        return hashlib.sha256(self.name.encode() + b"\n" + COSIGNATURE_V1 + self.public_key).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        encoded = base64.b64encode(COSIGNATURE_V1 + self.public_key).decode("ascii")
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    def signed_at(self, text: str, line: NoteSignature) -> int | None:
        """Return when the witness cosigned the text by this line, in seconds since 1970; ``None`` when it did not."""
        if not self.names(line) or len(line.signature) != _MOMENT_BYTES + SIGNATURE_BYTES:
            return None
        moment = int.from_bytes(line.signature[:_MOMENT_BYTES], "big")
        try:
            VerifyKey(self.public_key).verify(_message(text, moment), line.signature[_MOMENT_BYTES:])
        except BadSignatureError:
            return None
        return moment

    def names(self, line: NoteSignature) -> bool:
        """Say whether the line names this key; whether it is good is another question."""
        return (line.name, line.key_id) == (self.name, self.key_id)


@dataclass(frozen=True)
class Cosigner:
    """A witness's private key."""

    name: str
    seed: bytes = field(repr=False)

    @cached_property
    def _private(self) -> SigningKey:
        return SigningKey(self.seed)

    @cached_property
    def key(self) -> WitnessKey:
        """The public half."""
        return WitnessKey(self.name, bytes(self._private.verify_key))

    def cosign(self, text: str, moment: int) -> NoteSignature:
        """Cosign a checkpoint's text.

        Args:
            text: all lines of the note's body, extension lines included.
            moment: seconds since 1970.
        """
        signed = self._private.sign(_message(text, moment)).signature
        return NoteSignature(self.name, self.key.key_id, moment.to_bytes(_MOMENT_BYTES, "big") + signed)


def good_cosignatures(note: Note, keys: Iterable[WitnessKey]) -> dict[WitnessKey, int]:
    """Return which witnesses cosigned the note, and when for the last time, in seconds since 1970."""
    found: dict[WitnessKey, int] = {}
    for key in keys:
        moments = [at for line in note.signatures if (at := key.signed_at(note.text, line)) is not None]
        if moments:
            found[key] = max(moments)
    return found


def bad_cosignatures(note: Note, keys: Iterable[WitnessKey]) -> list[WitnessKey]:
    """Return the witnesses that a line names and that did not make it."""
    return [
        key
        for key in keys
        if any(key.names(line) and key.signed_at(note.text, line) is None for line in note.signatures)
    ]


def _message(text: str, moment: int) -> bytes:
    return f"{_HEADER}\ntime {moment}\n{text}".encode()
