"""Where master keys come from: files, settings, or a command that asks a key management system (CRP-SPEC-007 facts).

All three are one port, ``services.dag.ports.MasterKeys``. Secrets are never logged; errors name paths and versions.
"""

from pathlib import Path

from services.common.clock import Clock, SystemClock
from services.common.errors import ErrorReason, StartupError, UnavailableError
from services.common.ports.sessions import SessionStore
from services.common.settings import SettingsError
from services.common.settings.dag import DagSettings
from services.dag.master_keys.command import CommandMasterKeys
from services.dag.master_keys.folder import FolderMasterKeys, add_key, holds_keys, key_folder
from services.dag.master_keys.given import FixedMasterKeys, from_settings
from services.dag.master_keys.known import KnownMasterKeys, holds_records, not_here
from services.dag.ports import MasterKeys

__all__ = [
    "CommandMasterKeys",
    "FixedMasterKeys",
    "FolderMasterKeys",
    "KnownMasterKeys",
    "add_key",
    "key_folder",
    "open_master_keys",
    "usable_master_keys",
]


def open_master_keys(settings: DagSettings, data_dir: Path, clock: Clock | None = None) -> MasterKeys:
    """Return the configured keys; a folder without any gets its first one if the settings allow it.

    Args:
        settings: of the dag service.
        data_dir: the store's data directory; keys live in its ``keys`` unless the settings say otherwise.
        clock: tells from when on a key signs; the machine's by default.

    Raises:
        SettingsError: a key is malformed, missing or readable by others.
    """
    clock = clock or SystemClock()
    if settings.master_key is not None:
        return FixedMasterKeys(from_settings(settings))
    if settings.master_key_command:
        return CommandMasterKeys(settings.master_key_command)
    folder = key_folder(settings, data_dir)
    try:
        return FolderMasterKeys(folder, clock)
    except FileNotFoundError:
        if not settings.create_master_key:
            text = f"no master-<version>.key in {folder}; create one or set GROUNDTRAIL_DAG__MASTER_KEY"
            raise SettingsError([text]) from None
    add_key(folder, only_first=True)
    return FolderMasterKeys(folder, clock)


async def usable_master_keys(
    settings: DagSettings, data_dir: Path, clock: Clock, store: SessionStore
) -> KnownMasterKeys:
    """Return the configured keys after they were held against the records: a wrong key stops the start, not a request.

    Args:
        settings: of the dag service.
        data_dir: the store's data directory.
        clock: tells from when on a key signs.
        store: the records, as they are stored; where there are some, no first key is made.

    Raises:
        SettingsError: as ``open_master_keys``.
        StartupError: the command that gives keys fails.
        UnavailableError: MASTER_KEY_MISMATCH: the records were made with another key than the one that is here.
    """
    if settings.create_master_key and await holds_records(store):
        settings = settings.model_copy(update={"create_master_key": False})
        if _from_files(settings) and not holds_keys(key_folder(settings, data_dir)):
            raise not_here()
    keys = KnownMasterKeys(open_master_keys(settings, data_dir, clock), store)
    try:
        await keys.check()
    except UnavailableError as error:
        if error.reason is ErrorReason.SERVICE_UNAVAILABLE:
            raise StartupError(error.message) from None
        raise
    return keys


def _from_files(settings: DagSettings) -> bool:
    return settings.master_key is None and not settings.master_key_command
