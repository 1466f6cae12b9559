"""Proofs out of the full subtrees that the store holds (RFC 9162 §2.1)."""

from services.common.merkle import consistency_spans
from services.common.ports.transparency_log import TransparencyLog
from services.dag.log_keeper import span_hashes


async def growth_proof(log: TransparencyLog, tenant_id: str, first: int, second: int) -> tuple[bytes, ...]:
    """Return the proof that the tree of the first size begins that of the second (RFC 9162 §2.1.4).

    Raises:
        ValueError: the log is smaller than the second size, or the second than the first.
    """
    return tuple(await span_hashes(log, tenant_id, consistency_spans(first, second)))
