"""Whose knowledge a store has: offered by those that keep tenants' ids as they are."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class TenantListing(Protocol):
    """Errors as in ``FactStore``."""

    async def tenants(self) -> list[str]:
        """Return the ids of all tenants that have facts or tombstones, ordered."""
        ...
