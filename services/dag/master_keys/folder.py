"""Master keys in files that only their owner can read, taken up while the service runs.

A key file is ``master-<version>.key``: 64 hex digits and, in a second line, ``signs_from <moment>`` when the key is not
to sign at once. The highest version whose moment has come signs. Its predecessor counts as retired from that moment, or
from the file's last change when it names none.
"""

import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from services.common.clock import Clock
from services.common.encoding import iso_micros, parse_iso_micros
from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.domain.keys import KEY_BYTES, MasterKey
from services.dag.master_keys.secret_text import parse_secret

_FILE_NAME: Final = re.compile(r"master-([1-9][0-9]{0,8})\.key")
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SIGNS_FROM: Final = "signs_from "
_LOOK_EVERY_S: Final = 1.0
_SEEN_WITHIN: Final = timedelta(seconds=_LOOK_EVERY_S)


@dataclass(frozen=True, slots=True)
class _KeyFile:
    """One file, read.

    Attributes:
        signs_from: ``None`` = from the moment that it is seen.
        took_over: when its predecessor retired.
    """

    key: MasterKey
    signs_from: datetime | None
    took_over: datetime


class FolderMasterKeys:
    """The keys of a folder; one that is added is taken up within a second, or as soon as a token names it.

    Args:
        folder: where the key files are.
        clock: tells whether a key's moment has come.
        monotonic: seconds of a clock that never goes back; limits how often the folder is looked at.

    Raises:
        SettingsError: a key is malformed or readable by others.
        FileNotFoundError: the folder holds none.
    """

    def __init__(self, folder: Path, clock: Clock, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._monotonic = monotonic
        self._seen = _stamps(folder)
        self._files = _read_all(folder)
        self._looked_at = monotonic()

    async def current(self) -> MasterKey:
        """Return the highest version whose moment has come."""
        self._look(at_once=False)
        now = self._clock.now()
        signing = [v for v, file in self._files.items() if file.signs_from is None or file.signs_from <= now]
        return self._files[max(signing, default=min(self._files))].key

    async def find(self, version: int) -> MasterKey | None:
        """Return a version or ``None``; for an unknown one the folder is looked at anew."""
        self._look(at_once=version not in self._files)
        file = self._files.get(version)
        return file.key if file else None

    def held(self) -> list[MasterKey]:
        """Return every key, the lowest version first."""
        return [self._files[version].key for version in sorted(self._files)]

    def _look(self, *, at_once: bool) -> None:
        """Read the folder again if it changed; what cannot be read changes nothing, since the service has keys."""
        moment = self._monotonic()
        if not at_once and moment - self._looked_at < _LOOK_EVERY_S:
            return
        self._looked_at = moment
        stamps = _stamps(self._folder)
        if stamps == self._seen:
            return
        self._seen = stamps
        log = structlog.get_logger("groundtrail")
        try:
            self._files = _read_all(self._folder)
        except SettingsError as error:
            log.warning("changed master keys cannot be used; the ones held go on", problems=list(error.problems))
        except OSError as error:
            log.warning("the folder of master keys cannot be read; the ones held go on", problem=str(error.strerror))
        else:
            log.info("master keys were read again", versions=sorted(self._files))


def key_folder(settings: DagSettings, data_dir: Path) -> Path:
    """Return where key files live."""
    return settings.master_key_dir or data_dir / "keys"


def holds_keys(folder: Path) -> bool:
    """Say whether there is a key file, usable or not."""
    return bool(_paths(folder))


def add_key(folder: Path, *, signs_from: datetime | None = None, only_first: bool = False) -> int:
    """Write a fresh key under the next version, whole or not at all, and return the version.

    Args:
        folder: made with mode 0700 when it is not there.
        signs_from: from when on it signs; ``None`` = as soon as it is seen.
        only_first: make version 1 and none if it is there: of two processes that start at once the first one's stays.

    Raises:
        SettingsError: another process added the same version first.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    version = 1 if only_first else max(_paths(folder), default=0) + 1
    later = f"{_SIGNS_FROM}{iso_micros(signs_from)}\n" if signs_from else ""
    part = folder / f".new-{secrets.token_hex(8)}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(KEY_BYTES)}\n{later}")
            file.flush()
            os.fsync(file.fileno())
        (folder / f"master-{version}.key").hardlink_to(part)
        _sync_folder(folder)
    except FileExistsError:
        if not only_first:
            raise SettingsError([f"master-{version}.key was added by another process; look again"]) from None
    finally:
        part.unlink()
    return version


def _sync_folder(folder: Path) -> None:
    """Make the new name outlive a power loss: what the key seals would be lost with it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _paths(folder: Path) -> dict[int, Path]:
    """Return the key files by version."""
    if not folder.is_dir():
        return {}
    named = ((_FILE_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in sorted(named, key=lambda pair: pair[1].name) if match}


def _stamps(folder: Path) -> Mapping[str, tuple[int, int]]:
    """Return what tells a changed folder from an unchanged one; empty when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = {entry.name: entry.stat() for entry in entries}
    except OSError:
        return {}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


def _read_all(folder: Path) -> dict[int, _KeyFile]:
    files = {version: _read(version, path) for version, path in _paths(folder).items()}
    if not files:
        raise FileNotFoundError(2, "no master-<version>.key", str(folder))
    retired = {v: min((files[w].took_over for w in files if w > v), default=None) for v in files}
    return {
        v: _KeyFile(MasterKey(v, file.key.secret, retired[v], _SEEN_WITHIN), file.signs_from, file.took_over)
        for v, file in files.items()
    }


def _read(version: int, path: Path) -> _KeyFile:
    status = path.stat()
    if status.st_mode & _OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        raise SettingsError([f"{path} can be read by others (mode {mode:04o}); run: chmod 600 {path}"])
    lines = path.read_text(encoding="ascii", errors="replace").split("\n")
    key = MasterKey(version, parse_secret(lines[0].strip(), str(path)))
    rest = [line.strip() for line in lines[1:] if line.strip()]
    if not rest:
        return _KeyFile(key, None, datetime.fromtimestamp(status.st_mtime, tz=UTC))
    try:
        signs_from = parse_iso_micros(rest[0].removeprefix(_SIGNS_FROM))
    except ValueError:
        signs_from = None
    if signs_from is None or len(rest) > 1 or not rest[0].startswith(_SIGNS_FROM):
        text = f"{path} may hold nothing after its key but a line: {_SIGNS_FROM}YYYY-MM-DDTHH:MM:SS.ffffffZ"
        raise SettingsError([text])
    return _KeyFile(key, signs_from, signs_from)
