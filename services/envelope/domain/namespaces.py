"""Whose knowledge a tenant reads: its own, and the shared namespaces that the operator granted to it (CRP-SPEC-009).

A shared namespace is a tenant of the store whose id begins with ``shared:``. Tenants never share an index, a state or a
community: each namespace keeps its own, and only what was read is put together.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

SHARED_PREFIX: Final = "shared:"
EVERYBODY: Final = "*"
_SEPARATOR: Final = "/"


def is_shared(tenant_id: str) -> bool:
    """Say whether this is a shared namespace."""
    return tenant_id.startswith(SHARED_PREFIX)


def shown_namespace(tenant_id: str) -> str:
    """Return what readers are told of where a fact stands: the shared namespace, or nothing for the tenant's own."""
    return tenant_id if is_shared(tenant_id) else ""


class Namespaces:
    """Who may read what.

    Args:
        grants: for each shared namespace the tenants that read it; ``*`` = every tenant.
    """

    def __init__(self, grants: Mapping[str, Sequence[str]]) -> None:
        self._grants = {namespace: frozenset(tenants) for namespace, tenants in sorted(grants.items())}

    def shared_with(self, tenant_id: str) -> tuple[str, ...]:
        """Return the shared namespaces that the tenant reads, sorted. A namespace reads none but itself."""
        if is_shared(tenant_id):
            return ()
        return tuple(
            namespace for namespace, tenants in self._grants.items() if not tenants.isdisjoint({EVERYBODY, tenant_id})
        )

    def readable(self, tenant_id: str) -> tuple[str, ...]:
        """Return everything that the tenant reads, its own first."""
        return (tenant_id, *self.shared_with(tenant_id))


def qualified(tenant_id: str, label: str) -> str:
    """Return a community's name among all that one build reads: equal labels of two namespaces are two communities."""
    return f"{tenant_id}{_SEPARATOR}{label}" if label and is_shared(tenant_id) else label


def labels_in(tenant_id: str, communities: Sequence[str]) -> tuple[str, ...]:
    """Return the labels among qualified names that are communities of this namespace."""
    if not is_shared(tenant_id):
        return tuple(name for name in communities if not is_shared(name))
    start = f"{tenant_id}{_SEPARATOR}"
    return tuple(name[len(start) :] for name in communities if name.startswith(start))


def labels_asked(tenant_id: str, communities: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that a caller's filter names in this namespace; one without a namespace means any."""
    plain = [name for name in communities if not is_shared(name)]
    return tuple(dict.fromkeys((*plain, *labels_in(tenant_id, communities))))


def combined_state(own: str, shared: Mapping[str, str]) -> str:
    """Return one state hash over several: the own one as it is when there is no other (SPEC-003 §11.3).

    Args:
        own: ``sha256:`` and 64 hex digits.
        shared: the same for each shared namespace.
    """
    if not shared:
        return own
    text = "|".join([own, *(f"{namespace}={shared[namespace]}" for namespace in sorted(shared))])
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
