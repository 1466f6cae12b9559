"""Who signs a tenant's log: a key derived from the current master key and, while it is held, one from that before.

Two signatures let auditors and witnesses go over to the new key at their own pace after a rotation.
"""

from typing import Final

from services.common.encoding import sha256_hex
from services.common.errors import UnavailableError
from services.common.signed_note import Note, NoteKey, NoteSigner
from services.dag.domain.keys import MasterKey, log_signing_seed
from services.dag.ports import MasterKeys

_TENANT_DIGITS: Final = 32
_REMEMBERED: Final = 1_024


class HeadSigners:
    """Signs notes of each tenant's log.

    Args:
        master_keys: what the signing keys are derived from.
        log_name: first part of every origin; one per deployment.
    """

    def __init__(self, master_keys: MasterKeys, log_name: str) -> None:
        self._master_keys = master_keys
        self._log_name = log_name
        self._signers: dict[tuple[int, str], NoteSigner] = {}

    def origin(self, tenant_id: str) -> str:
        """Return the log's origin: unique per deployment and tenant, without naming the tenant."""
        return f"{self._log_name}/{sha256_hex(tenant_id)[:_TENANT_DIGITS]}"

    async def current(self, tenant_id: str) -> NoteSigner:
        """Return the current key.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
        """
        return (await self._held(tenant_id))[0]

    async def keys(self, tenant_id: str) -> tuple[NoteKey, ...]:
        """Return the public halves of the keys that ``sign`` signs with, in its order.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
        """
        return tuple(signer.key for signer in await self._held(tenant_id))

    async def sign(self, tenant_id: str, text: str) -> Note:
        """Return the signed note; the first signature is the current key's.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
        """
        return Note(text, tuple(signer.sign(text) for signer in await self._held(tenant_id)))

    async def _held(self, tenant_id: str) -> list[NoteSigner]:
        master = await self._master_keys.current()
        before = await self._older(master.version - 1)
        held = []
        for key in (master, before):
            if key is None:
                continue
            name = (key.version, tenant_id)
            if name not in self._signers:
                if len(self._signers) >= _REMEMBERED:
                    self._signers.clear()
                self._signers[name] = NoteSigner(self.origin(tenant_id), log_signing_seed(key, tenant_id))
            held.append(self._signers[name])
        return held

    async def _older(self, version: int) -> MasterKey | None:
        """Return the version before, if it can be had: heads do not wait for a key that is on its way out."""
        if version < 1:
            return None
        try:
            return await self._master_keys.find(version)
        except UnavailableError:
            return None
