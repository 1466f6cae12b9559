"""Whether the configured master keys are those that the stored records were made with (ADR 0220).

A value that only the key gives is kept with the records, by version. A key that gives another one is refused before
anything is read or written with it: what it makes of the records would look like tampering. Where no value is kept,
the records say whether the key is theirs, and then one is.
"""

import hmac
from dataclasses import dataclass
from typing import Final

import structlog

from services.common.errors import CrpError, ErrorReason, LogInconsistentError, UnavailableError, UnreadableRecordError
from services.common.ports.session_lists import SessionFilter
from services.common.ports.sessions import SessionStore
from services.dag.domain.chain import head_mac, same
from services.dag.domain.keys import MasterKey, key_check, log_head_key, session_hmac_key
from services.dag.domain.tombstones import is_tombstone
from services.dag.domain.verify import is_first_event
from services.dag.ports import MasterKeys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer

_TENANTS: Final = 64
_NEWEST: Final = 8
"""Sessions of a tenant that are asked whose key made them."""
_DAMAGED: Final = (LogInconsistentError, UnreadableRecordError, UnicodeDecodeError)
"""What a changed record can raise, the last one where a sealed text holds none: verification names it."""
_LOG: Final = structlog.get_logger("groundtrail")


@dataclass(slots=True)
class _Evidence:
    """How many records of a version the key made, and how many it did not."""

    own: int = 0
    others: int = 0

    def count(self, *, is_own: bool) -> None:
        self.own, self.others = self.own + is_own, self.others + (not is_own)


class KnownMasterKeys:
    """Master keys, each held against the records once before it is given out.

    Args:
        keys: as they are configured.
        store: the records, as they are stored.
    """

    def __init__(self, keys: MasterKeys, store: SessionStore) -> None:
        self._keys = keys
        self._store = SealedSessionStore(store, Sealer(keys))
        self._known: dict[int, bytes] = {}

    async def current(self) -> MasterKey:
        """Return the version that signs.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE; MASTER_KEY_MISMATCH: the records were made with another key.
        """
        return await self._checked(await self._keys.current())

    async def find(self, version: int) -> MasterKey | None:
        """Return a version or ``None``.

        Raises:
            UnavailableError: as ``current``.
        """
        found = await self._keys.find(version)
        return await self._checked(found) if found else None

    async def check(self) -> None:
        """Hold every key that the records name against them; one that signs must be no older than theirs.

        Raises:
            UnavailableError: as ``current``; MASTER_KEY_MISMATCH: the latest key of the records is not here, too.
        """
        signing = await self.current()
        versions = await self._store.key_checks()
        for version in sorted(versions):
            if await self.find(version) is None and version > signing.version:
                raise not_here(version)

    async def _checked(self, key: MasterKey) -> MasterKey:
        if self._known.get(key.version) == key.secret:
            return key
        kept, value = (await self._store.key_checks()).get(key.version), key_check(key)
        if kept is None:
            await self._first_check(key, value)
            return key
        if not hmac.compare_digest(kept, value):
            raise _another(key.version)
        self._known[key.version] = key.secret
        return key

    async def _first_check(self, key: MasterKey, value: bytes) -> None:
        """Ask the records about a key that nothing is kept of, and keep its value unless they contradict each other.

        Of a key that signs no more, and of which no record tells, nothing is kept: it may be the wrong one.
        """
        found = await _evidence(self._store, key)
        if found.others and not found.own:
            raise _another(key.version)
        if found.others:  # a changed record, or another key was in use for a time: neither is to be settled here
            _LOG.error(
                "some records do not verify under their master key", key_version=key.version, records=found.others
            )
            self._known[key.version] = key.secret
            return
        if not found.own and key.version < (await self._keys.current()).version:
            return
        try:
            await self._store.keep_key_check(key.version, value)
        except CrpError as error:  # a full disk keeps nobody from reading
            _LOG.warning("which master key is in use cannot be kept", reason=error.reason.value)
        kept = (await self._store.key_checks()).get(key.version)
        if kept is not None and not hmac.compare_digest(kept, value):
            raise _another(key.version)  # another process came first, with another key
        self._known[key.version] = key.secret


async def holds_records(store: SessionStore) -> bool:
    """Say whether anything in the store was made with a master key."""
    return bool(await store.key_checks() or await store.session_tenants(after="", limit=1))


def not_here(version: int | None = None) -> UnavailableError:
    """Return the refusal to start, or to make a first key, without the key that the records were made with."""
    if version:
        text = (
            f"master key version {version} was in use with the stored sessions, which is not here; "
            "put it back from its backup, or sign with a later version"
        )
    else:
        text = "the stored sessions were made with a master key, which is not here; put it back from its backup"
    return UnavailableError(ErrorReason.MASTER_KEY_MISMATCH, text, key_version=str(version or ""))


def _another(version: int) -> UnavailableError:
    text = (
        f"the stored sessions were made with another master key version {version} than the one that is configured; "
        "nobody need have changed them: put the right key back from its backup"
    )
    return UnavailableError(ErrorReason.MASTER_KEY_MISMATCH, text, key_version=str(version))


async def _evidence(store: SessionStore, key: MasterKey) -> _Evidence:
    """Hold kept heads and first events of the key's version against it, of the newest sessions of some tenants."""
    found = _Evidence()
    for tenant_id in await store.session_tenants(after="", limit=_TENANTS):
        await _ask_log(store, tenant_id, key, found)
        for listed in await store.list_sessions(tenant_id, SessionFilter(), after="", limit=_NEWEST):
            await _ask_session(store, (tenant_id, listed.session_id), key, found)
    return found


async def _ask_log(store: SessionStore, tenant_id: str, key: MasterKey, found: _Evidence) -> None:
    try:
        head = (await store.log_state(tenant_id)).head
    except _DAMAGED:
        return
    if head is not None and head.key_version == key.version:
        found.count(is_own=same(head_mac(head.size, head.root, log_head_key(key, tenant_id)), head.mac))


async def _ask_session(store: SessionStore, place: tuple[str, str], key: MasterKey, found: _Evidence) -> None:
    try:
        snapshot = await store.snapshot(*place)
        if snapshot is None or snapshot.session.key_version != key.version:
            return
        for event in await store.page_events(*place, after_sequence=-1, limit=1):
            secret = session_hmac_key(key, snapshot.session.session_id)
            found.count(is_own=is_first_event(event, secret) or is_tombstone(event, secret))
    except _DAMAGED:
        return
    except UnavailableError as error:
        if "key_version" not in error.metadata:  # else it is sealed by a version that is not here, and tells nothing
            raise
