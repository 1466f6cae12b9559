"""Heads and notes over exports signed by a process of its own, which is shown that the log only grew (ADR 0100).

The service has no key here. What it wants signed it sends with a proof from the head that the process signed last; a
store that was rewritten has none to give, and nothing is signed.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.encoding import sha256_hex
from services.common.errors import ChainBrokenError, ErrorReason, UnavailableError
from services.common.ports.log_signer import LogSigner
from services.common.ports.transparency_log import TransparencyLog
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.common.submission import Submission
from services.dag.transparency.ranges import growth_proof

_ATTEMPTS: Final = 4
_TITLE: Final = re.compile(r"groundtrail export v[1-9][0-9]?\n")
_TENANT_DIGITS: Final = 32
_REMEMBERED: Final = 1_024


@dataclass(frozen=True, slots=True)
class HeldElsewhere:
    """A key of which only the public half is here."""

    key: NoteKey


class ProcessSigners:
    """Signs notes of each tenant's log through a process.

    Args:
        log: the trees, for proofs.
        process: holds the keys.
        log_name: first part of every origin; one per deployment.
    """

    def __init__(self, log: TransparencyLog, process: LogSigner, log_name: str) -> None:
        self._log = log
        self._process = process
        self._log_name = log_name
        self._known: dict[str, int] = {}
        self._keys: dict[str, HeldElsewhere] = {}

    def origin(self, tenant_id: str) -> str:
        """Return the log's origin."""
        return f"{self._log_name}/{sha256_hex(tenant_id)[:_TENANT_DIGITS]}"

    async def current(self, tenant_id: str) -> HeldElsewhere:
        """Return the log's public key.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the process does not answer.
        """
        origin = self.origin(tenant_id)
        if origin not in self._keys:
            key = await self._process.key(origin)
            if key.name != origin:
                raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the log signer gave another log's key")
            if len(self._keys) >= _REMEMBERED:
                self._keys.clear()
            self._keys[origin] = HeldElsewhere(key)
        return self._keys[origin]

    async def keys(self, tenant_id: str) -> tuple[NoteKey, ...]:
        """Return the one key that signs.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the process does not answer.
        """
        return ((await self.current(tenant_id)).key,)

    async def sign(self, tenant_id: str, text: str) -> Note:
        """Return the signed note.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the process does not answer.
            ChainBrokenError: CHAIN_BROKEN: the log does not go on from the head that the process signed last.
        """
        title = _TITLE.match(text)
        size = Checkpoint.parse(text[title.end() :] if title else text).size
        for _ in range(_ATTEMPTS):
            known = self._known.get(tenant_id, 0)
            answer = await self._process.sign(Submission(known, await self._proof(tenant_id, known, size), text))
            if answer.signatures:
                self._known[tenant_id] = max(known, size)
                return await self._checked(tenant_id, Note(text, answer.signatures))
            if answer.known_size is None:
                raise _refused(answer.refusal, known, size)
            self._known[tenant_id] = answer.known_size
        raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the log grew faster than it could be signed")

    async def _proof(self, tenant_id: str, known: int, size: int) -> tuple[bytes, ...]:
        try:
            return await growth_proof(self._log, tenant_id, min(known, size), max(known, size))
        except ValueError:
            raise _refused("the log is smaller than that", known, size) from None

    async def _checked(self, tenant_id: str, note: Note) -> Note:
        origin = self.origin(tenant_id)
        if note.holds((await self.current(tenant_id)).key, origin):
            return note
        self._keys.pop(origin, None)  # the process may have been set up anew
        if note.holds((await self.current(tenant_id)).key, origin):
            return note
        raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the log signer signed with a key that is not its own")


def _refused(why: str, known: int, size: int) -> ChainBrokenError:
    text = f"the log's signer, which signed a head of size {known}, does not sign one of size {size}: {why}"
    return ChainBrokenError(ErrorReason.CHAIN_BROKEN, text, signed_size=str(known), tree_size=str(size))
