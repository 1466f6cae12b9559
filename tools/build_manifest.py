"""Make, sign and verify build manifests (SPEC-005 §21.1, ADR 0043).

python tools/build_manifest.py --new-key KEYFILE                        make a key; prints its public half
python tools/build_manifest.py WHEEL --sign-with KEYFILE                put a signed manifest into a built wheel
python tools/build_manifest.py --installed --sign-with KEYFILE -o FILE  sign what is installed here, weights included
python tools/build_manifest.py WHEEL --verify PUBLIC_KEY                check a wheel without installing it
"""

import argparse
import base64
import hashlib
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from services.common.build_manifest import (
    BuildError,
    BuildManifest,
    SigningKey,
    check_build,
    code_digest,
    installed_roots,
    is_code,
    new_signing_key,
    sign,
    tree_digests,
)
from services.common.build_manifest.document import MANIFEST_NAME
from services.common.encoding import sha256_hex
from services.common.errors import StartupError
from services.common.resources import resource_path
from services.common.settings.integrity import IntegritySettings

WEIGHTS_NAME = "services/_resources/model_repository/MANIFEST.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; return the exit status: 0, 1 = failed, 3 = the wheel does not verify."""
    given = _parser().parse_args(arguments)
    try:
        if given.new_key is not None:
            return _make_key(given.new_key)
        if given.verify is not None and given.wheel is not None:
            return _verify(given.wheel, given.verify)
        if given.sign_with is None or (given.wheel is None) == (not given.installed):
            _parser().error("give a WHEEL or --installed, and --sign-with KEYFILE (or --verify PUBLIC_KEY)")
        key = SigningKey.parse(given.sign_with.read_text(encoding="ascii"))
        if given.wheel is not None:
            return _sign_wheel(given.wheel, key)
        if given.output is None:
            _parser().error("--installed needs -o FILE")
        return _sign_installed(given.output, key)
    except (OSError, ValueError, StartupError, zipfile.BadZipFile) as error:
        sys.stderr.write(f"build_manifest: {error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build_manifest.py", description=__doc__, formatter_class=_Raw)
    parser.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL")
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


def _sign_wheel(path: Path, key: SigningKey) -> int:
    """Write the wheel anew with ``BUILD.json`` in it; the same wheel and key give the same bytes."""
    with zipfile.ZipFile(path) as wheel:
        files = {item.filename: wheel.read(item) for item in wheel.infolist() if not item.is_dir()}
        items = {item.filename: item for item in wheel.infolist()}
    record = next((name for name in files if name.endswith(".dist-info/RECORD")), None)
    if record is None:
        raise ValueError(f"{path} is no wheel: it holds no RECORD")
    signed = sign(_manifest_of(files, _version_of(record)), key)
    files[MANIFEST_NAME] = (signed.model_dump_json(indent=1) + "\n").encode()
    files[record] = _record(files[record].decode(), files[MANIFEST_NAME])
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files, key=lambda name: (name == record, name)):  # RECORD comes last
            wheel.writestr(items.get(name) or zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), files[name])
    part.replace(path)
    print(f"{path}: {len(signed.manifest.files)} files, code {code_digest(signed.manifest.files)[:16]}…")
    return 0


def _sign_installed(output: Path, key: SigningKey) -> int:
    weights = sha256_hex((resource_path("model_repository") / "MANIFEST.json").read_bytes())
    files = tree_digests(installed_roots())
    signed = sign(BuildManifest(schema_version=1, version="installed", files=files, weights_digest=weights), key)
    output.write_text(signed.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(f"{output}: {len(files)} files, code {code_digest(files)[:16]}…")
    return 0


def _verify(path: Path, public_key: str) -> int:
    with zipfile.ZipFile(path) as wheel:
        files = {item.filename: wheel.read(item) for item in wheel.infolist() if not item.is_dir()}
    held = path.with_suffix(".BUILD.json")
    try:
        if MANIFEST_NAME in files:
            held.write_bytes(files[MANIFEST_NAME])
        found = _manifest_of(files, "")
        manifest = held if MANIFEST_NAME in files else None
        build = check_build(found.files, found.weights_digest, IntegritySettings(public_key=public_key), manifest)
    except BuildError as error:
        sys.stderr.write(f"build_manifest: {error}\n")
        return 3
    finally:
        held.unlink(missing_ok=True)
    print(f"{path}: {build.trust}, key {build.key_id}, code {build.code_digest}")
    return 0


def _manifest_of(files: dict[str, bytes], version: str) -> BuildManifest:
    if WEIGHTS_NAME not in files:
        raise ValueError(f"the wheel holds no {WEIGHTS_NAME}")
    digests = {name: sha256_hex(files[name]) for name in sorted(files) if is_code(name)}
    return BuildManifest(
        schema_version=1, version=version, files=digests, weights_digest=sha256_hex(files[WEIGHTS_NAME])
    )


def _version_of(record: str) -> str:
    return record.split("/", 1)[0].removesuffix(".dist-info").split("-", 1)[1]


def _record(record: str, manifest: bytes) -> bytes:
    digest = base64.urlsafe_b64encode(hashlib.sha256(manifest).digest()).rstrip(b"=").decode()
    kept = [line for line in record.splitlines() if not line.startswith(f"{MANIFEST_NAME},")]
    return ("\n".join([f"{MANIFEST_NAME},sha256={digest},{len(manifest)}", *kept]) + "\n").encode()


if __name__ == "__main__":
    sys.exit(main())
