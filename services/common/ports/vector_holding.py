"""What a vector engine holds of a store's facts: offered by stores that have one (ADR 0186)."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class HeldVectors:
    """One tenant's vectors in an engine beside those of the facts.

    Attributes:
        engine: its name.
        facts: how many facts have a vector.
        held: how many vectors the engine has of the tenant.
        hashes: ``sha256:`` and 64 hex digits over ids and vectors, of the facts and of what the engine gives back for
            them. A vector that the engine has only scaled counts as the fact's; hashes of two engines can be compared.
    """

    engine: str
    facts: int
    held: int
    hashes: tuple[str, str]

    @property
    def equal(self) -> bool:
        """Whether the engine holds every fact's vector, and nothing else."""
        return self.held == self.facts and self.hashes[0] == self.hashes[1]


@runtime_checkable
class VectorHolding(Protocol):
    """Errors as in ``FactStore``; STORE_UNAVAILABLE also where the engine did not do what it was asked."""

    async def fill_engine(self, tenant_id: str) -> int:
        """Send the engine what it lacks, destroy what it has too much; return how many were sent. 0 without engine."""
        ...

    async def held_vectors(self, tenant_id: str) -> HeldVectors | None:
        """Read every vector of the tenant back and compare; ``None`` without an engine, or of an unknown tenant."""
        ...
