"""Which build this is, and whether somebody vouches for it (SPEC-005 §21.1, ADR 0043)."""

from services.common.build_manifest.checking import BuildError, check_build, installed_build
from services.common.build_manifest.document import BuildManifest, SignedManifest, code_digest, read_manifest
from services.common.build_manifest.identity import BuildIdentity, BuildTrust
from services.common.build_manifest.signing import SigningKey, new_signing_key, sign, signature_holds
from services.common.build_manifest.tree import PACKAGES, installed_roots, is_code, tree_digests

__all__ = [
    "PACKAGES",
    "BuildError",
    "BuildIdentity",
    "BuildManifest",
    "BuildTrust",
    "SignedManifest",
    "SigningKey",
    "check_build",
    "code_digest",
    "installed_build",
    "installed_roots",
    "is_code",
    "new_signing_key",
    "read_manifest",
    "sign",
    "signature_holds",
    "tree_digests",
]
