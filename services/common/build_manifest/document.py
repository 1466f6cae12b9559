"""The build manifest: which files a build consists of, and the signature over that list."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import StartupError

MANIFEST_NAME: Final = "services/_resources/BUILD.json"
"""Where it lies in a wheel."""
_HEX_64: Final = r"^[0-9a-f]{64}$"
_HEX_128: Final = r"^[0-9a-f]{128}$"
_MAX_BYTES: Final = 8 * 1024 * 1024
_CONTEXT: Final = b"groundtrail-build-manifest-v1\n"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BuildManifest(_Strict):
    """What a build consists of."""

    schema_version: Literal[1]
    """Version of this format."""
    version: str
    """Of the product, e.g. ``0.1.0``."""
    files: dict[str, str] = Field(min_length=1)
    """SHA-256 by path of every file of code; 64 lower-case hex digits each."""
    weights_digest: str = Field(pattern=_HEX_64)
    """SHA-256 of the model repository's MANIFEST.json."""

    def signed_bytes(self) -> bytes:
        """Return the bytes that are signed: a fixed line, so that the key signs nothing else by accident, and JCS."""
        return _CONTEXT + canonical_json(self.model_dump())


class SignedManifest(_Strict):
    """The file ``BUILD.json``."""

    manifest: BuildManifest
    """What is signed."""
    algorithm: Literal["Ed25519"]
    """RFC 8032."""
    public_key: str = Field(pattern=_HEX_64)
    """Whose signature it is; believed only when it is the key that the operator configured."""
    signature: str = Field(pattern=_HEX_128)
    """Over ``manifest.signed_bytes()``; 64 bytes in hex."""


def code_digest(files: Mapping[str, str]) -> str:
    """Return SHA-256 over the JCS of paths and digests: 64 lower-case hex digits."""
    return sha256_hex(canonical_json(dict(files)))


def read_manifest(path: Path) -> SignedManifest:
    """Read a manifest.

    Raises:
        StartupError: the file cannot be read, is too large or is no manifest.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise StartupError(f"{path}: more than {_MAX_BYTES} bytes; this is no build manifest")
        return SignedManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StartupError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise StartupError(f"{path} is no build manifest: {where}: {first['msg']}") from error
