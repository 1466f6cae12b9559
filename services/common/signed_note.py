"""Signed notes and checkpoints of transparency logs, as C2SP describes them (signed-note, tlog-checkpoint).

A note is text that ends in a line feed, an empty line, and signature lines: an em dash, the key's name, and base64 of
the key id and the signature. A checkpoint is a note of which the text is the log's origin, its size and its root.
Ed25519 (RFC 8032) by libsodium, which refuses keys and signatures that are not in canonical form. Private keys are
neither logged nor printed.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from services.common.merkle import HASH_BYTES

ED25519: Final = b"\x01"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
_ID_BYTES: Final = 4
_DASH: Final = "\u2014 "
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_NAME: Final = re.compile(r"[^\s+]{1,255}")


@dataclass(frozen=True, slots=True)
class NoteKey:
    """A public key that signs notes.

    Attributes:
        name: without spaces and plus signs; empty for a bare key, which is taken under the name that a note gives.
        public_key: 32 bytes.
    """

    name: str
    public_key: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``name+keyid+base64``, or a bare key of 64 hex digits.

        Raises:
            ValueError: it is neither, or its id is another key's.
        """
        text = text.strip()
        if re.fullmatch(r"[0-9a-fA-F]{64}", text):
            return cls("", bytes.fromhex(text))
        name, key_id, encoded = [*text.split("+", 2), "", ""][:3]
        raw = _decoded(encoded)
        if not _NAME.fullmatch(name) or raw[:1] != ED25519 or len(raw) != 1 + KEY_BYTES:
            msg = "a public key is NAME+ID+BASE64, as `groundtrail checkpoint` prints it, or 64 hex digits"
            raise ValueError(msg)
        key = cls(name, raw[1:])
        if key.key_id.hex() != key_id.lower():
            msg = "the public key's id does not belong to its name and bytes: it was cut or mixed up"
            raise ValueError(msg)
        return key

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that signature lines name the key by."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public_key).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{_encoded(ED25519 + self.public_key)}"


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line; ``signature`` is 64 bytes for a key of this module, any length for others'."""

    name: str
    key_id: bytes
    signature: bytes

    def line(self) -> str:
        """Return its line, with the line feed."""
        return f"{_DASH}{self.name} {_encoded(self.key_id + self.signature)}\n"


@dataclass(frozen=True)
class NoteSigner:
    """A private key that signs notes under a name."""

    name: str
    seed: bytes = field(repr=False)

    @cached_property
    def _private(self) -> SigningKey:
        return SigningKey(self.seed)

    @cached_property
    def key(self) -> NoteKey:
        """The public half."""
        return NoteKey(self.name, bytes(self._private.verify_key))

    def sign(self, text: str) -> NoteSignature:
        """Sign a note's text."""
        return NoteSignature(self.name, self.key.key_id, self._private.sign(text.encode()).signature)


@dataclass(frozen=True, slots=True)
class Note:
    """Text and its signatures; ``text`` ends in a line feed."""

    text: str
    signatures: tuple[NoteSignature, ...]

    @classmethod
    def parse(cls, note: str) -> Self:
        """Read a note, strictly.

        Raises:
            ValueError: it is none.
        """
        text, empty, lines = note.rpartition("\n\n")
        if not empty or not text or not lines.endswith("\n"):
            msg = "a signed note is text, an empty line and signature lines, each ended by a line feed"
            raise ValueError(msg)
        return cls(f"{text}\n", signature_lines(lines))

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(one.line() for one in self.signatures)}"

    def with_signatures(self, more: Iterable[NoteSignature]) -> Self:
        """Return the note with further signatures behind its own; one that is there already is not added again."""
        return replace(self, signatures=tuple(dict.fromkeys((*self.signatures, *more))))

    def holds(self, key: NoteKey, origin: str) -> bool:
        """Say whether the key signed the text under the origin's name.

        Args:
            key: a bare one is taken under that name; a named one must have it.
            origin: of the log.
        """
        named = NoteKey(origin, key.public_key)
        if key.name not in ("", origin):
            return False
        ours = (one for one in self.signatures if (one.name, one.key_id) == (origin, named.key_id))
        return any(_signed(key.public_key, self.text, one.signature) for one in ours)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log's size and root."""

    origin: str
    size: int
    root: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a note's text; extension lines after the first three are left alone.

        Raises:
            ValueError: it is no checkpoint.
        """
        lines = text.split("\n")
        raw = _decoded(lines[2]) if len(lines) > 3 else b""  # noqa: PLR2004 - three lines and what follows the last
        if len(raw) != HASH_BYTES or not lines[0] or not _SIZE.fullmatch(lines[1]):
            msg = "a checkpoint's text is the origin, the size in digits and the root in base64, a line each"
            raise ValueError(msg)
        return cls(lines[0], int(lines[1]), raw)

    def __str__(self) -> str:
        return f"{self.origin}\n{self.size}\n{_encoded(self.root)}\n"


def signature_lines(text: str) -> tuple[NoteSignature, ...]:
    """Read signature lines, each ended by a line feed.

    Raises:
        ValueError: one is none.
    """
    if not text.endswith("\n"):
        msg = "every signature line ends in a line feed"
        raise ValueError(msg)
    return tuple(_signature(line) for line in text[:-1].split("\n"))


def _signature(line: str) -> NoteSignature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    raw = _decoded(encoded)
    if not line.startswith(_DASH) or not _NAME.fullmatch(name) or len(raw) <= _ID_BYTES:
        msg = "a signature line is an em dash, a name and base64, with a space between"
        raise ValueError(msg)
    return NoteSignature(name, raw[:_ID_BYTES], raw[_ID_BYTES:])


def _signed(public_key: bytes, text: str, signature: bytes) -> bool:
    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        VerifyKey(public_key).verify(text.encode(), signature)
    except BadSignatureError:
        return False
    return True


def _encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _decoded(text: str) -> bytes:
    """Read base64 with padding, strictly; empty for anything else."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return raw if _encoded(raw) == text else b""
