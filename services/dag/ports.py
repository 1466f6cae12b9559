"""What the dag service needs beside the shared ports."""

from typing import Protocol

from services.dag.domain.keys import MasterKey


class MasterKeys(Protocol):
    """Versions of the master key. The secrets never leave the dag service and are never logged."""

    async def current(self) -> MasterKey:
        """Return the version that signs new tokens and new sessions.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the key cannot be read.
        """
        ...

    async def find(self, version: int) -> MasterKey | None:
        """Return a version, current or retired, or ``None`` when it is not held here."""
        ...
