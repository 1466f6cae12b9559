"""What a report says about the build that wrote it."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class BuildTrust(StrEnum):
    """How far the installed code was checked at start (SPEC-005 §21.1)."""

    SIGNED = "SIGNED"
    """Every file is that of the manifest, and the manifest is signed with the key that the operator configured."""
    UNVERIFIED = "UNVERIFIED"
    """Every file is that of the manifest; no public key is configured, so nobody vouches for the manifest."""
    UNSIGNED = "UNSIGNED"
    """There is no manifest: a development checkout, or a wheel that was never signed."""


@dataclass(frozen=True, slots=True)
class BuildIdentity:
    """The code and the weights of a process.

    Attributes:
        code_digest: SHA-256 over paths and digests of the installed files, 64 lower-case hex digits.
        weights_digest: SHA-256 of the model repository's MANIFEST.json, which pins every weight; 64 hex digits.
        trust: how far both were checked.
        key_id: of the key that vouches: the first 16 hex digits of the public key's SHA-256; empty unless SIGNED.
    """

    code_digest: str
    weights_digest: str
    trust: BuildTrust
    key_id: str = ""
