"""Which master keys are held beside the one that a record names: a name can be altered, a key cannot be guessed."""

from collections.abc import AsyncIterator
from typing import Final

from services.dag.domain.keys import MasterKey
from services.dag.ports import MasterKeys

MAX_VERSION: Final = 999_999_999
"""Of a master key; what names a higher one, or 0, was never written so."""
_TRIED: Final = 16


async def other_keys(master_keys: MasterKeys, version: int) -> AsyncIterator[MasterKey]:
    """Yield the latest held versions but for one, the one that signs first."""
    latest = (await master_keys.current()).version
    for candidate in range(latest, max(0, latest - _TRIED), -1):
        found = await master_keys.find(candidate) if candidate != version else None
        if found is not None:
            yield found
