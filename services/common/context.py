"""Who calls, and what the call carries: set once by the runtime's interceptors, read by every app."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

FIRST_TENANT: Final = "default"
"""Tenant of the first key of an installation, of the commands that work on its data directory, and of a local server
without credentials: who owns the machine meets the same documents and sessions in all of these."""
STANDARD_CLASS: Final = "standard"
"""The class of tenants that the settings put into no other."""


@unique
class Role(StrEnum):
    """What a credential may do; ADMIN includes REVIEWER, REVIEWER includes WRITER, WRITER includes READER."""

    READER = "reader"
    WRITER = "writer"
    REVIEWER = "reviewer"
    ADMIN = "admin"


_INCLUDES = {
    Role.READER: frozenset({Role.READER}),
    Role.WRITER: frozenset({Role.READER, Role.WRITER}),
    Role.REVIEWER: frozenset({Role.READER, Role.WRITER, Role.REVIEWER}),
    Role.ADMIN: frozenset(Role),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity that the credential proved.

    Attributes:
        tenant_id: the tenant; every read and write is confined to it.
        scope: what session tokens are bound to: the API key's prefix (``crp_gw_<env>_`` and 8 characters) or
            ``jwt:<subject>``.
        roles: granted roles, as given (``allows`` applies inclusion).
        subject: who this is, for the audit trail: the key id, or the JWT's subject.
    """

    tenant_id: str
    scope: str
    roles: frozenset[Role]
    subject: str

    def allows(self, role: Role) -> bool:
        """Say whether any granted role includes ``role``."""
        return any(role in _INCLUDES[granted] for granted in self.roles)


@dataclass(frozen=True, slots=True)
class CallContext:
    """One RPC's context.

    Attributes:
        caller: the proven identity.
        request_id: ``x-request-id`` of the caller, or a fresh UUID; appears in logs, errors and downstream calls.
        rpc: full method name, ``/crp.dpe.v1.ProvenanceService/Analyze``.
        deadline: event-loop time (``loop.time()``) at which the caller stops waiting; ``None`` when unlimited.
        credential: the raw ``authorization`` value, forwarded to downstream services and never logged.
        tenant_class: of the caller's tenant, by the settings; a label of metrics.
    """

    caller: Caller
    request_id: str
    rpc: str
    deadline: float | None = None
    credential: str = field(default="", repr=False)
    tenant_class: str = STANDARD_CLASS


_current: ContextVar[CallContext] = ContextVar("groundtrail_call")


def current_call() -> CallContext:
    """Return the context of the RPC being served.

    Raises:
        LookupError: outside an RPC.
    """
    return _current.get()


def set_current_call(context: CallContext) -> None:
    """Bind the context to the running task; the runtime's interceptor does this once per RPC."""
    _current.set(context)


_spender: ContextVar[str] = ContextVar("groundtrail_spender", default="")


def spend_for(scope: str) -> None:
    """Have what the running task takes of language models counted for a credential; its tasks inherit it."""
    _spender.set(scope)


def spender() -> str:
    """Return the credential that what runs now is counted for; empty where nothing is counted."""
    return _spender.get()
