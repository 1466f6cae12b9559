"""What administrators do to their own tenant: keys, AI systems, policy.

Every write is idempotent by its request id: the answer is stored with the write, in its transaction, and given again to
a replay. The one thing never stored is a key's secret, so a replay of CreateApiKey is answered without it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import structlog

from services.common.clock import Clock
from services.common.context import FIRST_TENANT, Caller, Role
from services.common.errors import (
    ConflictError,
    CrpError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    NotFoundError,
    PreconditionError,
)
from services.common.ids import IdSource
from services.common.ports.credentials import AiSystemRecord, ApiKeyRecord, CredentialStore, TenantPolicyRecord
from services.common.ports.receipts import Receipt
from services.common.progress import stored, writing
from services.gateway.domain.ai_systems import check_expected, next_version, unknown_ai_system
from services.gateway.domain.api_keys import MadeKey, make_key
from services.gateway.domain.policy import PolicyError, parse_policy

if TYPE_CHECKING:
    from services.gateway.admin.trial import Trial
    from services.gateway.ports import ReportReads

REGISTRATION_TRIES: Final = 5
"""How often a description is put after another that was registered at the same time."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Write(Generic[ResultT]):
    """A mutating request as the app sees it.

    Attributes:
        rpc: short method name.
        request_id: of the caller; UUID4.
        body_hash: of the request without its id.
        encode: makes the answer that a replay gets.
    """

    rpc: str
    request_id: str
    body_hash: str
    encode: Callable[[ResultT], bytes]


@dataclass(frozen=True, slots=True)
class Replay:
    """The request was answered before; ``response`` is that answer, serialised."""

    response: bytes


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be."""

    label: str
    roles: tuple[Role, ...]
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A fresh key: its record, and the secret, which exists nowhere else."""

    record: ApiKeyRecord
    key: str


@dataclass(frozen=True, slots=True)
class NewPolicy:
    """The policy to set, if the present version is ``expected_version``."""

    safety_policy: str
    allowed_sink_hosts: tuple[str, ...]
    data_residency: str
    expected_version: int


class AdminApp:
    """The administrator's operations, each confined to the caller's tenant."""

    def __init__(self, store: CredentialStore, clock: Clock, ids: IdSource, environment: str) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._environment = environment
        self._log = structlog.get_logger("groundtrail.admin")

    async def create_key(self, caller: Caller, write: Write[CreatedKey], new: NewKey) -> CreatedKey | Replay:
        """Make a key.

        Raises:
            InvalidRequestError: ``new.expires_at`` is not in the future.
            PreconditionError: REQUEST_ID_REUSED.
        """
        replayed = await self.replay(caller, write)  # first: a replay may come after the key's expiry
        if replayed is not None:
            return replayed
        now = self._clock.now()
        if new.expires_at is not None and new.expires_at <= now:
            raise InvalidRequestError.of(FieldViolation("expire_time", "must be in the future"))
        made = make_key(self._environment, self._ids.alphanumeric(32))
        created = CreatedKey(_record(caller.tenant_id, self._ids.uuid(), made, new, now), made.key)

        async def store(receipt: Receipt) -> None:
            await self._store.put_key(created.record, receipt)
            self._log.info("api key created", key_id=created.record.key_id, prefix=created.record.prefix)

        return await self.once(caller, write, created, store)

    async def list_keys(self, caller: Caller, *, after: str, limit: int) -> list[ApiKeyRecord]:
        """Return up to ``limit`` keys with ``key_id > after``, ordered by id."""
        return await self._store.page_keys(caller.tenant_id, after=after, limit=limit)

    async def revoke_key(self, caller: Caller, write: Write[ApiKeyRecord], key_id: str) -> ApiKeyRecord | Replay:
        """Revoke a key; one that is revoked stays as it is.

        Raises:
            NotFoundError: API_KEY_NOT_FOUND.
            PreconditionError: REQUEST_ID_REUSED.
        """
        key = await self._store.get_key(caller.tenant_id, key_id)
        if key is None:
            raise NotFoundError(ErrorReason.API_KEY_NOT_FOUND, f"there is no API key {key_id}", key_id=key_id)
        revoked = key if key.revoked_at is not None else replace(key, revoked_at=self._clock.now())

        async def store(receipt: Receipt) -> None:
            await self._store.put_key(revoked, receipt)
            self._log.info("api key revoked", key_id=key_id, prefix=revoked.prefix)

        return await self.once(caller, write, revoked, store)

    async def register_ai_system(
        self,
        caller: Caller,
        write: Write[AiSystemRecord],
        system: AiSystemRecord,
        expected_version: int | None = None,
    ) -> AiSystemRecord | Replay:
        """Store the description of an AI system as its next version; the one that stands already is left as it is.

        Args:
            caller: whose tenant it is.
            write: the request.
            system: the description; tenant, times, version and an unstated regulated sector are filled in.
            expected_version: the version that must stand, 0 = none; ``None`` = whatever stands.

        Raises:
            ConflictError: ETAG_STALE: another version stands than the expected one.
            PreconditionError: REQUEST_ID_REUSED.
        """
        own = replace(system, tenant_id=caller.tenant_id)
        for _ in range(REGISTRATION_TRIES - 1):
            try:
                return await self._describe(caller, write, own, expected_version)
            except ConflictError:
                # Somebody else described the system between reading and writing: ours comes after theirs.
                if expected_version is not None:
                    raise
        return await self._describe(caller, write, own, expected_version)

    async def _describe(
        self,
        caller: Caller,
        write: Write[AiSystemRecord],
        system: AiSystemRecord,
        expected_version: int | None,
    ) -> AiSystemRecord | Replay:
        replayed = await self.replay(caller, write)  # first: a replay may come after later versions
        if replayed is not None:
            return replayed
        known = await self._store.get_ai_system(caller.tenant_id, system.ai_system_id)
        check_expected(known, expected_version)
        described = next_version(known, system, self._clock.now())

        async def store(receipt: Receipt) -> None:
            if described is known:
                await self._store.put_receipt(receipt)
                return
            await self._store.put_ai_system(described, receipt)
            self._log.info("ai system registered", ai_system_id=described.ai_system_id, version=described.version)

        return await self.once(caller, write, described, store)

    async def list_ai_systems(self, caller: Caller, *, after: str, limit: int) -> list[AiSystemRecord]:
        """Return up to ``limit`` systems with ``ai_system_id > after``, ordered by id."""
        return await self._store.page_ai_systems(caller.tenant_id, after=after, limit=limit)

    async def list_ai_system_versions(
        self, caller: Caller, ai_system_id: str, *, after: int, limit: int
    ) -> list[AiSystemRecord]:
        """Return up to ``limit`` versions of a system with ``version > after``, ordered by version.

        Raises:
            NotFoundError: AI_SYSTEM_NOT_FOUND.
        """
        found = await self._store.page_ai_system_versions(caller.tenant_id, ai_system_id, after=after, limit=limit)
        if not found and await self._store.get_ai_system(caller.tenant_id, ai_system_id) is None:
            raise unknown_ai_system(ai_system_id)
        return found

    async def set_policy(
        self, caller: Caller, write: Write[TenantPolicyRecord], new: NewPolicy
    ) -> TenantPolicyRecord | Replay:
        """Set the tenant's policy if nobody changed it meanwhile.

        Raises:
            InvalidRequestError: UNKNOWN_DIRECTIVE, or INVALID_FIELD for a directive with a wrong value.
            ConflictError: ETAG_STALE.
            PreconditionError: REQUEST_ID_REUSED.
        """
        _check_policy(new.safety_policy)
        policy = TenantPolicyRecord(
            tenant_id=caller.tenant_id,
            safety_policy=new.safety_policy,
            allowed_sink_hosts=new.allowed_sink_hosts,
            data_residency=new.data_residency,
            version=new.expected_version + 1,
            updated_at=self._clock.now(),
        )

        async def store(receipt: Receipt) -> None:
            await self._store.put_policy(policy, receipt)
            self._log.info("tenant policy set", version=policy.version)

        return await self.once(caller, write, policy, store)

    async def try_policy(self, text: str, reports: "ReportReads", most: int) -> "Trial":
        """Say which stored windows a policy would have withheld.

        Raises:
            InvalidRequestError: UNKNOWN_DIRECTIVE, or INVALID_FIELD for a directive with a wrong value.
        """
        _check_policy(text, "safety_policy")
        from services.gateway.admin.trial import try_policy  # reads answers; commands that list keys do not

        return await try_policy(text, reports, most)

    async def get_policy(self, caller: Caller) -> TenantPolicyRecord | None:
        """Return the tenant's policy, ``None`` when it was never set."""
        return await self._store.get_policy(caller.tenant_id)

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        await self._store.check()

    async def once(
        self,
        caller: Caller,
        write: Write[ResultT],
        result: ResultT,
        store: Callable[[Receipt], Awaitable[None]],
    ) -> ResultT | Replay:
        """Do the write unless it was done; of two racing replays one writes and the other gets its answer."""
        replayed = await self.replay(caller, write)
        if replayed is not None:
            return replayed
        response, now = write.encode(result), self._clock.now()
        try:
            with writing():
                await store(Receipt(caller.tenant_id, write.rpc, write.request_id, write.body_hash, response, now))
        except ConflictError:
            replayed = await self.replay(caller, write)
            if replayed is None:
                raise
            return replayed
        stored()
        return result

    async def replay(self, caller: Caller, write: Write[ResultT]) -> Replay | None:
        """Return what the request was answered with before.

        Raises:
            PreconditionError: REQUEST_ID_REUSED.
        """
        receipt = await self._store.get_receipt(caller.tenant_id, write.rpc, write.request_id)
        if receipt is None:
            return None
        if receipt.body_hash != write.body_hash:
            raise PreconditionError(
                ErrorReason.REQUEST_ID_REUSED,
                f"request_id {write.request_id} was used for another {write.rpc} request; take a fresh UUID",
                request_id=write.request_id,
                rpc=write.rpc,
            )
        return Replay(receipt.response)


async def ensure_first_key(store: CredentialStore, clock: Clock, ids: IdSource, environment: str) -> str | None:
    """Make the administrator's key of a fresh installation.

    Args:
        store: where keys are kept.
        clock: for the time of creation.
        ids: source of the key's secret and id.
        environment: the ``<env>`` part of the key.

    Returns:
        The key, this once; ``None`` when the installation has keys already.
    """
    if await store.count_keys():
        return None
    return await issue_admin_key(store, clock, ids, environment, "first key of this installation")


async def issue_admin_key(store: CredentialStore, clock: Clock, ids: IdSource, environment: str, label: str) -> str:
    """Make an administrator's key of the first tenant and return it, this once; for whoever owns the store's files."""
    made = make_key(environment, ids.alphanumeric(32))
    new = NewKey(label=label, roles=(Role.ADMIN,))
    await store.put_key(_record(FIRST_TENANT, ids.uuid(), made, new, clock.now()))
    return made.key


async def issue_namespace_key(
    store: CredentialStore, clock: Clock, ids: IdSource, environment: str, namespace: str, new: NewKey
) -> str:
    """Make a key of a shared namespace and return it, this once; for whoever owns the store's files (CRP-SPEC-009).

    No RPC gives such a key: a caller makes keys of its own tenant alone, and no tenant is a shared namespace.

    Args:
        store: where keys are kept.
        clock: for the time of creation.
        ids: source of the key's secret and id.
        environment: the ``<env>`` part of the key.
        namespace: ``shared:`` and a name.
        new: what the key is for and may do.
    """
    made = make_key(environment, ids.alphanumeric(32))
    await store.put_key(_record(namespace, ids.uuid(), made, new, clock.now()))
    return made.key


def _record(tenant_id: str, key_id: str, made: MadeKey, new: NewKey, now: datetime) -> ApiKeyRecord:
    return ApiKeyRecord(
        tenant_id=tenant_id,
        key_id=key_id,
        prefix=made.prefix,
        key_hash=made.key_hash,
        label=new.label,
        roles=tuple(role.value for role in new.roles),
        created_at=now,
        expires_at=new.expires_at,
    )


def _check_policy(text: str, field: str = "policy.safety_policy") -> None:
    """Refuse a policy that no dispatch could apply (CRP-SPEC-006 facts: an unknown directive is an error)."""
    try:
        parse_policy(text)
    except PolicyError as error:
        raise _policy_refusal(error, field) from None


def _policy_refusal(error: PolicyError, field: str) -> CrpError:
    reason = ErrorReason.UNKNOWN_DIRECTIVE if error.unknown else ErrorReason.INVALID_FIELD
    known = {"known": ", ".join(error.known)} if error.unknown else {}
    told: dict[str, Any] = {"directive": error.directive} | known
    return InvalidRequestError(reason, str(error), violations=(FieldViolation(field, str(error)),), **told)
