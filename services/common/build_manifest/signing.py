"""Ed25519 signatures (RFC 8032) over build manifests, by the library that the suite uses for its other keys."""

from dataclasses import dataclass, field
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from services.common.build_manifest.document import BuildManifest, SignedManifest
from services.common.encoding import sha256_hex

_KEY_BYTES: Final = 32
_KEY_ID_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key: 32 bytes, kept as 64 hex digits in a file that its owner alone may read."""

    seed: bytes = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key file's text.

        Raises:
            ValueError: it is not 64 hex digits; the message never holds the text.
        """
        try:
            seed = bytes.fromhex(text.strip())
        except ValueError:
            seed = b""
        if len(seed) != _KEY_BYTES:
            msg = "a signing key is 64 hex digits; make one with --new-key"
            raise ValueError(msg)
        return cls(seed)

    @property
    def public_key(self) -> str:
        """The public half: 64 lower-case hex digits."""
        return Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw().hex()


def new_signing_key() -> SigningKey:
    """Return a fresh key."""
    return SigningKey(Ed25519PrivateKey.generate().private_bytes_raw())


def key_id(public_key: str) -> str:
    """Return a short name for a public key: the first 16 hex digits of its SHA-256."""
    return sha256_hex(bytes.fromhex(public_key))[:_KEY_ID_DIGITS]


def sign(manifest: BuildManifest, key: SigningKey) -> SignedManifest:
    """Return the manifest with its signature; the same manifest and key give the same bytes."""
    signature = Ed25519PrivateKey.from_private_bytes(key.seed).sign(manifest.signed_bytes())
    return SignedManifest(manifest=manifest, algorithm="Ed25519", public_key=key.public_key, signature=signature.hex())


def signature_holds(signed: SignedManifest, public_key: str) -> bool:
    """Say whether the manifest was signed with the private half of ``public_key``, whatever the file names itself."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signed.signature), signed.manifest.signed_bytes())
    except (InvalidSignature, ValueError):
        return False
    return True
