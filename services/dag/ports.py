"""What the dag service needs beside the shared ports."""

from typing import Protocol

from services.common.signed_note import Note, NoteKey
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


class HeldKey(Protocol):
    """A key that signs notes; the private half may be elsewhere."""

    @property
    def key(self) -> NoteKey:
        """The public half."""
        ...


class HeadSigning(Protocol):
    """Who signs the heads of tenants' logs: this process, or one that never signs what does not grow (ADR 0100)."""

    def origin(self, tenant_id: str) -> str:
        """Return the log's origin: unique per deployment and tenant, without naming the tenant."""
        ...

    async def current(self, tenant_id: str) -> HeldKey:
        """Return the key that makes the first signature.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: it cannot be had.
        """
        ...

    async def keys(self, tenant_id: str) -> tuple[NoteKey, ...]:
        """Return the public halves of all keys that ``sign`` signs with, in its order.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: they cannot be had.
        """
        ...

    async def sign(self, tenant_id: str, text: str) -> Note:
        """Return the signed note.

        Args:
            tenant_id: whose log.
            text: a checkpoint, or a note over an export, which repeats one.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the key cannot be had.
            ChainBrokenError: CHAIN_BROKEN: the signer knows a head that this one does not fit.
        """
        ...
