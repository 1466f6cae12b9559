"""Hashes of ranges of a tenant's tree, out of the full subtrees that the store holds (RFC 9162 §2.1)."""

from collections.abc import Sequence

from services.common.merkle import Place, Span, consistency_spans, fold, places
from services.common.ports.sessions import TransparencyLog


async def range_hashes(log: TransparencyLog, tenant_id: str, spans: Sequence[Span]) -> list[bytes]:
    """Return the hash of each range; what several need is read once.

    Raises:
        ValueError: a range is not of the log.
    """
    parts = [places(span) for span in spans]
    wanted = list(dict.fromkeys(place for part in parts for place in part))
    found: dict[Place, bytes] = dict(zip(wanted, await log.tree_hashes(tenant_id, wanted), strict=True))
    return [fold([found[place] for place in part]) for part in parts]


async def growth_proof(log: TransparencyLog, tenant_id: str, first: int, second: int) -> tuple[bytes, ...]:
    """Return the proof that the tree of the first size begins that of the second (RFC 9162 §2.1.4).

    Raises:
        ValueError: the log is smaller than the second size, or the second than the first.
    """
    return tuple(await range_hashes(log, tenant_id, consistency_spans(first, second)))
