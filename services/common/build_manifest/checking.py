"""Holds the installed code against the build manifest at start (SPEC-005 §21.1).

What it cannot do: a process whose own check was replaced says whatever the replacement says. It finds files that were
changed, added, lost or mixed from two builds; ``tools/build_manifest.py --verify`` does the same from outside, with the
code of a copy that is trusted (ADR 0043).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from services.common.build_manifest.document import MANIFEST_NAME, BuildManifest, code_digest, read_manifest
from services.common.build_manifest.identity import BuildIdentity, BuildTrust
from services.common.build_manifest.signing import key_id, signature_holds
from services.common.build_manifest.tree import installed_roots, tree_digests
from services.common.errors import StartupError
from services.common.model_repository import manifest_digest
from services.common.settings.inference import InferenceSettings
from services.common.settings.integrity import IntegritySettings

WEIGHTS_MANIFEST = "MANIFEST.json"


class BuildError(StartupError):
    """The build is not the one that was released; the process must not start. The message names the file."""


@cache
def _installed_digests() -> Mapping[str, str]:
    """Return the digests of the running installation, read once in the life of a process."""
    return tree_digests(installed_roots())


def installed_build(integrity: IntegritySettings, inference: InferenceSettings) -> BuildIdentity:
    """Check the running installation and return what it is.

    Raises:
        BuildError: a file differs from the manifest, the signature does not hold, or a signed manifest is missing
            that the settings demand.
        StartupError: the manifest or the model repository cannot be read.
    """
    try:
        files = _installed_digests()
    except OSError as error:
        raise StartupError(f"the installation cannot be read: {error}") from error
    return check_build(files, manifest_digest(inference), integrity, manifest_path(integrity))


def manifest_path(integrity: IntegritySettings) -> Path | None:
    """Return where the manifest lies; ``None`` when there is none."""
    if integrity.manifest_file is not None:
        return integrity.manifest_file
    delivered = installed_roots()["services"].parent / MANIFEST_NAME
    return delivered if delivered.is_file() else None


def check_build(
    files: Mapping[str, str], weights_digest: str, integrity: IntegritySettings, manifest: Path | None
) -> BuildIdentity:
    """Hold digests against a manifest.

    Args:
        files: SHA-256 by path of what is installed.
        weights_digest: SHA-256 of the model repository's MANIFEST.json.
        integrity: the key, and whether a signature is demanded.
        manifest: the manifest's file; ``None`` = there is none.

    Raises:
        BuildError, StartupError: as ``installed_build``.
    """
    digest = code_digest(files)
    if manifest is None:
        if integrity.public_key:
            # Otherwise whoever deletes the manifest turns the check off.
            raise BuildError(
                "this installation has no build manifest, and GROUNDTRAIL_INTEGRITY__PUBLIC_KEY demands a signed one: "
                "install the signed wheel, or unset the key in a development checkout"
            )
        return BuildIdentity(digest, weights_digest, BuildTrust.UNSIGNED)
    signed = read_manifest(manifest)
    if integrity.public_key and not signature_holds(signed, integrity.public_key):
        raise BuildError(
            f"{manifest}: the signature is not one of the key {key_id(integrity.public_key)} over this manifest "
            f"(it names the key {key_id(signed.public_key)})"
        )
    _compare(signed.manifest, files, weights_digest)
    if not integrity.public_key:
        return BuildIdentity(digest, weights_digest, BuildTrust.UNVERIFIED)
    return BuildIdentity(digest, weights_digest, BuildTrust.SIGNED, key_id(integrity.public_key))


def _compare(manifest: BuildManifest, files: Mapping[str, str], weights_digest: str) -> None:
    """Refuse the first difference, in the order of the paths."""
    for path in sorted(manifest.files.keys() | files.keys()):
        expected, found = manifest.files.get(path), files.get(path)
        if found is None:
            raise BuildError(f"{path} is missing: the build manifest lists it")
        if expected is None:
            raise BuildError(f"{path} is not part of the build: the build manifest does not list it")
        if expected != found:
            raise BuildError(f"{path} was changed: expected sha256 {expected}, found {found}")
    if manifest.weights_digest != weights_digest:
        raise BuildError(
            f"model_repository/{WEIGHTS_MANIFEST} is not that of the build: expected sha256 "
            f"{manifest.weights_digest}, found {weights_digest}; sign a manifest of your own for other weights"
        )
