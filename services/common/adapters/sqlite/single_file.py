"""What every store does that is one database file and nothing beside it: open, check, close."""

from pathlib import Path
from typing import ClassVar, Self

from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.database import Database
from services.common.settings.stores import StoreSettings


class SingleFileStore:
    """A store in one file.

    Args:
        database: the open file.
    """

    schema: ClassVar[Schema]
    """Of the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path, settings: StoreSettings) -> Self:
        """Open or create the file.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            LimitExceededError: STORAGE_FULL.
        """
        return cls(await Database.open(path, cls.schema, settings))

    async def check(self) -> None:
        """Return when the file can be read."""
        await self._database.check()

    async def close(self) -> None:
        """Close the file; idempotent."""
        await self._database.close()
