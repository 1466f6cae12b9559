"""Where master keys come from: files that only their owner can read, or settings (CRP-SPEC-007 facts).

A key file is ``master-<version>.key`` with 64 hex digits; the highest version signs, and it counts as rotated in when
its file was last changed. A file that group or others can read is refused. Secrets are never logged; errors name paths.
"""

import os
import re
import secrets
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.domain.keys import KEY_BYTES, MasterKey

_FILE_NAME: Final = re.compile(r"master-([1-9][0-9]{0,8})\.key")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class FixedMasterKeys:
    """Master keys that were read once, at start."""

    def __init__(self, keys: dict[int, MasterKey]) -> None:
        self._keys = dict(keys)
        self._current = self._keys[max(self._keys)]

    async def current(self) -> MasterKey:
        """Return the highest version."""
        return self._current

    async def find(self, version: int) -> MasterKey | None:
        """Return a version or ``None``."""
        return self._keys.get(version)


def open_master_keys(settings: DagSettings, data_dir: Path) -> FixedMasterKeys:
    """Return the configured keys; without any, create the first one if the settings allow it.

    Args:
        settings: of the dag service.
        data_dir: the store's data directory; keys live in its ``keys`` unless the settings say otherwise.

    Raises:
        SettingsError: a key is malformed, missing or readable by others.
    """
    if settings.master_key is not None:
        return FixedMasterKeys(_from_settings(settings))
    folder = settings.master_key_dir or data_dir / "keys"
    if settings.create_master_key and not _files(folder):
        _create(folder)
    files = _files(folder)
    if not files:
        raise SettingsError([f"no master-<version>.key in {folder}; create one or set GROUNDTRAIL_DAG__MASTER_KEY"])
    moments = {version: datetime.fromtimestamp(path.stat().st_mtime, tz=UTC) for version, path in files.items()}
    return FixedMasterKeys(
        {
            version: MasterKey(version, _read(path), min((moments[v] for v in moments if v > version), default=None))
            for version, path in files.items()
        }
    )


def _from_settings(settings: DagSettings) -> dict[int, MasterKey]:
    rotated_at = settings.master_key_rotated_at
    keys = {}
    for version, previous in settings.previous_master_keys.items():
        secret = _parse(previous.get_secret_value(), f"previous_master_keys[{version}]")
        keys[version] = MasterKey(version, secret, rotated_at)
    current = settings.master_key_version
    text = settings.master_key.get_secret_value() if settings.master_key else ""
    return {**keys, current: MasterKey(current, _parse(text, "master_key"))}


def _files(folder: Path) -> dict[int, Path]:
    """Return the key files by version."""
    if not folder.is_dir():
        return {}
    named = ((_FILE_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in sorted(named, key=lambda pair: pair[1].name) if match}


def _create(folder: Path) -> None:
    """Write ``master-1.key`` whole or not at all; of two processes that start at once the first one's key stays."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = folder / f".new-{secrets.token_hex(8)}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        (folder / "master-1.key").hardlink_to(part)
    except FileExistsError:
        return
    finally:
        part.unlink()


def _read(path: Path) -> bytes:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        raise SettingsError([f"{path} can be read by others (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"])
    return _parse(path.read_text(encoding="ascii", errors="replace").strip(), str(path))


def _parse(text: str, where: str) -> bytes:
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES:
        raise SettingsError([f"{where} must hold {KEY_BYTES * 2} hex digits"])
    return secret
