"""What ``groundtrail stores copy`` does with an engine beside the facts: fill it, tell what it holds (ADR 0186)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.common.counting import counted
from services.common.ports.facts import FactStore
from services.common.ports.vector_holding import HeldVectors, VectorHolding


@dataclass(frozen=True, slots=True)
class FilledVectors:
    """One tenant's vectors in the engines of both sides; ``None`` = a side has none.

    Attributes:
        sent: how many vectors the target's engine was given.
    """

    source: HeldVectors | None
    target: HeldVectors | None
    sent: int

    @property
    def equal(self) -> bool:
        """Whether the target's engine holds what its facts have. The source's may lack what was never asked for."""
        return self.target is None or self.target.equal

    def told(self) -> dict[str, Any]:
        """Return what ``--json`` tells."""
        return {"sent": self.sent, "from": _told(self.source), "to": _told(self.target)}


async def held_by(facts: FactStore, tenant_id: str) -> HeldVectors | None:
    """Return what the engine of a store holds of a tenant; ``None`` without one."""
    return await facts.held_vectors(tenant_id) if isinstance(facts, VectorHolding) else None


async def filled(facts: FactStore, tenant_id: str, source: HeldVectors | None) -> FilledVectors:
    """Fill the engine of a store with a tenant's vectors, and read them back."""
    sent = await facts.fill_engine(tenant_id) if isinstance(facts, VectorHolding) else 0
    return FilledVectors(source, await held_by(facts, tenant_id), sent)


def lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield what people are told of the engines."""
    before, after = told["from"], told["to"]
    if before is not None and before["hash"] != before["facts_hash"]:
        yield f"{before['engine']} had {before['vectors']} of {counted(before['facts'], 'vector')}"
    if after is not None:
        same = "=" if after["hash"] == after["facts_hash"] else "differs from"
        count = f"{after['vectors']} of {counted(after['facts'], 'vector')}, {told['sent']} sent"
        there = f"{after['hash']} " if same != "=" else ""
        yield f"vectors {after['facts_hash']} {same} {there}in {after['engine']}: {count}"


def _told(held: HeldVectors | None) -> dict[str, Any] | None:
    if held is None:
        return None
    facts, engine = held.hashes
    counts = {"engine": held.engine, "facts": held.facts, "vectors": held.held}
    return counts | {"facts_hash": facts, "hash": engine}
