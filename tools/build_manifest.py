"""Make, sign and verify build manifests (SPEC-005 §21.1, ADR 0043).

python tools/build_manifest.py --new-key KEYFILE                        make a key; prints its public half
python tools/build_manifest.py WHEEL... --sign-with KEYFILE             put a signed manifest into the server's wheel
python tools/build_manifest.py --installed --sign-with KEYFILE -o FILE  sign what is installed here, weights included
python tools/build_manifest.py WHEEL... --verify PUBLIC_KEY             check wheels without installing them

The wheels are those of one build: groundtrail, groundtrail-server and groundtrail-models (ADR 0138).
"""

import argparse
import base64
import hashlib
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from services.common.build_manifest import (
    BuildError,
    BuildManifest,
    SigningKey,
    check_build,
    code_digest,
    installed_roots,
    new_signing_key,
    sign,
    tree_digests,
)
from services.common.encoding import sha256_hex
from services.common.errors import StartupError
from services.common.resources import resource_path
from services.common.settings.integrity import IntegritySettings

PACKAGES: Final = ("groundtrail", "groundtrail_server")
"""The packages with code that the wheels install; in a checkout they are ``services``, ``crp`` and ``ercp``."""
MANIFEST_NAME: Final = "groundtrail_server/_resources/BUILD.json"
WEIGHTS_NAME: Final = "groundtrail_models/model_repository/MANIFEST.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; return the exit status: 0, 1 = failed, 3 = the wheel does not verify."""
    given = _parser().parse_args(arguments)
    try:
        if given.new_key is not None:
            return _make_key(given.new_key)
        if given.verify is not None and given.wheels:
            return _verify(given.wheels, given.verify)
        if given.sign_with is None or bool(given.wheels) == given.installed:
            _parser().error("give WHEELs or --installed, and --sign-with KEYFILE (or --verify PUBLIC_KEY)")
        key = SigningKey.parse(given.sign_with.read_text(encoding="ascii"))
        if given.wheels:
            return _sign_wheels(given.wheels, key)
        if given.output is None:
            _parser().error("--installed needs -o FILE")
        return _sign_installed(given.output, key)
    except (OSError, ValueError, StartupError, zipfile.BadZipFile) as error:
        sys.stderr.write(f"build_manifest: {error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build_manifest.py", description=__doc__, formatter_class=_Raw)
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL", help="all wheels of one build")
    parser.add_argument("--installed", action="store_true", help="the packages that this Python imports")
    parser.add_argument("--sign-with", type=Path, metavar="KEYFILE", help="64 hex digits, as --new-key writes them")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where the manifest goes (--installed)")
    parser.add_argument("--new-key", type=Path, metavar="KEYFILE", help="make a key; refuses to overwrite one")
    parser.add_argument("--verify", metavar="PUBLIC_KEY", help="64 hex digits")
    return parser


class _Raw(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


def _make_key(path: Path) -> int:
    key = new_signing_key()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.seed.hex() + "\n")
    print(f"GROUNDTRAIL_INTEGRITY__PUBLIC_KEY={key.public_key}")
    return 0


def _sign_wheels(paths: Sequence[Path], key: SigningKey) -> int:
    """Write the server's wheel anew with ``BUILD.json`` in it; the same wheels and key give the same bytes."""
    held = {path: _files_of(path) for path in paths}
    path = _server_of(held)
    files = held[path]
    record = next((name for name in files if name.endswith(".dist-info/RECORD")), None)
    if record is None:
        raise ValueError(f"{path} is no wheel: it holds no RECORD")
    signed = sign(_manifest_of(held, _version_of(record)), key)
    with zipfile.ZipFile(path) as wheel:
        items = {item.filename: item for item in wheel.infolist()}
    files[MANIFEST_NAME] = (signed.model_dump_json(indent=1) + "\n").encode()
    files[record] = _record(files[record].decode(), files[MANIFEST_NAME])
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files, key=lambda name: (name == record, name)):  # RECORD comes last
            wheel.writestr(items.get(name) or zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), files[name])
    part.replace(path)
    print(f"{path}: {len(signed.manifest.files)} files, code {code_digest(signed.manifest.files)[:16]}…")
    return 0


def _files_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as wheel:
        return {item.filename: wheel.read(item) for item in wheel.infolist() if not item.is_dir()}


def _server_of(held: Mapping[Path, Mapping[str, bytes]]) -> Path:
    for path, files in held.items():
        if any(name.startswith("groundtrail_server/") for name in files):
            return path
    raise ValueError("none of the wheels is that of groundtrail-server")


def _sign_installed(output: Path, key: SigningKey) -> int:
    weights = sha256_hex((resource_path("model_repository") / "MANIFEST.json").read_bytes())
    files = tree_digests(installed_roots())
    signed = sign(BuildManifest(schema_version=1, version="installed", files=files, weights_digest=weights), key)
    output.write_text(signed.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(f"{output}: {len(files)} files, code {code_digest(files)[:16]}…")
    return 0


def _verify(paths: Sequence[Path], public_key: str) -> int:
    wheels = {path: _files_of(path) for path in paths}
    path = _server_of(wheels)
    held, files = path.with_suffix(".BUILD.json"), wheels[path]
    try:
        if MANIFEST_NAME in files:
            held.write_bytes(files[MANIFEST_NAME])
        found = _manifest_of(wheels, "")
        manifest = held if MANIFEST_NAME in files else None
        build = check_build(found.files, found.weights_digest, IntegritySettings(public_key=public_key), manifest)
    except BuildError as error:
        sys.stderr.write(f"build_manifest: {error}\n")
        return 3
    finally:
        held.unlink(missing_ok=True)
    print(f"{path}: {build.trust}, key {build.key_id}, code {build.code_digest}")
    return 0


def _manifest_of(held: Mapping[Path, Mapping[str, bytes]], version: str) -> BuildManifest:
    """Return what the wheels install together: they overlap nowhere."""
    files = {name: content for wheel in held.values() for name, content in wheel.items()}
    if WEIGHTS_NAME not in files:
        raise ValueError(f"the wheels hold no {WEIGHTS_NAME}: name that of groundtrail-models, too")
    digests = {name: sha256_hex(files[name]) for name in sorted(files) if _is_code(name)}
    return BuildManifest(
        schema_version=1, version=version, files=digests, weights_digest=sha256_hex(files[WEIGHTS_NAME])
    )


def _is_code(name: str) -> bool:
    """Say the same of a wheel's files as the installed ``is_code``."""
    resources = name.startswith("groundtrail_server/_resources/")
    return name.partition("/")[0] in PACKAGES and "/" in name and "/__pycache__/" not in name and not resources


def _version_of(record: str) -> str:
    return record.split("/", 1)[0].removesuffix(".dist-info").split("-", 1)[1]


def _record(record: str, manifest: bytes) -> bytes:
    digest = base64.urlsafe_b64encode(hashlib.sha256(manifest).digest()).rstrip(b"=").decode()
    kept = [line for line in record.splitlines() if not line.startswith(f"{MANIFEST_NAME},")]
    return ("\n".join([f"{MANIFEST_NAME},sha256={digest},{len(manifest)}", *kept]) + "\n").encode()


if __name__ == "__main__":
    sys.exit(main())
