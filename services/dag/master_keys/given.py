"""Master keys that are given whole at start, in settings."""

from typing import Final

from services.common.settings.dag import DagSettings
from services.dag.domain.keys import MasterKey
from services.dag.master_keys.secret_text import parse_secret

_VARIABLE: Final = "GROUNDTRAIL_DAG__%s"


class FixedMasterKeys:
    """Master keys that were read once, at start.

    Args:
        keys: by version; the highest one signs.
    """

    def __init__(self, keys: dict[int, MasterKey]) -> None:
        self._keys = dict(keys)
        self._current = self._keys[max(self._keys)]

    async def current(self) -> MasterKey:
        """Return the highest version."""
        return self._current

    async def find(self, version: int) -> MasterKey | None:
        """Return a version or ``None``."""
        return self._keys.get(version)


def from_settings(settings: DagSettings) -> dict[int, MasterKey]:
    """Return the keys that the environment holds, by version.

    Raises:
        SettingsError: one is malformed.
    """
    rotated_at = settings.master_key_rotated_at
    keys = {}
    for version, previous in settings.previous_master_keys.items():
        secret = parse_secret(previous.get_secret_value(), f"{_VARIABLE % 'PREVIOUS_MASTER_KEYS'}[{version}]")
        keys[version] = MasterKey(version, secret, rotated_at)
    current = settings.master_key_version
    text = settings.master_key.get_secret_value() if settings.master_key else ""
    return {**keys, current: MasterKey(current, parse_secret(text, _VARIABLE % "MASTER_KEY"))}
