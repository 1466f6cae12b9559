"""How a document's facts compare with those of the tenant's other sources: the same, or other values (ADR 0113)."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from services.common.computing import compute
from services.common.encoding import sha256_hex
from services.common.ports.facts import FactFilter, FactHit, FactStatus, FactStore, Vectors
from services.envelope.domain.disagreements import disagreement
from services.envelope.domain.duplicates import differ_in_values
from services.envelope.domain.ingestion_report import LISTED, LikeFact, OtherSources
from services.envelope.domain.similarity import DUPLICATE_COSINE

NEAREST: Final = 6
"""Stored facts that each fact is compared with; those of its own source among them do not count."""
RELATED_COSINE: Final = 0.80
"""Below it two facts are on different things, whatever their words."""
_AT_ONCE: Final = 256
_CURRENT: Final = FactFilter(statuses=(FactStatus.ACTIVE,))


async def compare(
    store: FactStore, tenant_id: str, source_id: str, facts: Sequence[tuple[str, str]], vectors: Vectors
) -> OtherSources:
    """Look for each fact's like among the tenant's current facts of other sources.

    Args:
        store: searched, never written.
        tenant_id: whose facts.
        source_id: the facts' own source, which does not count.
        facts: ids and texts.
        vectors: theirs, one a row.
    """
    found: list[LikeFact] = []
    for start in range(0, len(facts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        hits = await store.search(tenant_id, np.asarray(vectors[some]), limit=NEAREST, where=_CURRENT)
        found += await compute(_like, source_id, facts[some], hits)
    duplicates = [one for one in found if one.values is None]
    disagreements = [one for one in found if one.values is not None]
    return OtherSources(tuple(duplicates[:LISTED]), len(duplicates), tuple(disagreements[:LISTED]), len(disagreements))


def _like(source_id: str, facts: Sequence[tuple[str, str]], hits: Sequence[Sequence[FactHit]]) -> list[LikeFact]:
    """Return of each fact its best duplicate and its first disagreement, if it has them."""
    found = []
    for (fact_id, content), nearest in zip(facts, hits, strict=True):
        others = [hit for hit in nearest if hit.fact.source_id != source_id and hit.score >= RELATED_COSINE]
        content_hash = sha256_hex(content) if others else ""
        for likeness in (_duplicate(content, content_hash, others), _disagreement(content, others)):
            if likeness is not None:
                hit, is_exact, values = likeness
                found.append(
                    LikeFact(
                        fact_id,
                        content,
                        hit.fact.fact_id,
                        hit.fact.source_id,
                        hit.fact.content,
                        hit.score,
                        is_exact,
                        values,
                    )
                )
    return found


def _duplicate(content: str, content_hash: str, others: Iterable[FactHit]) -> tuple[FactHit, bool, None] | None:
    near = None
    for hit in others:
        if hit.fact.content_hash == content_hash:
            return hit, True, None
        if near is None and hit.score > DUPLICATE_COSINE and not differ_in_values(content, hit.fact.content):
            near = hit, False, None
    return near


def _disagreement(content: str, others: Iterable[FactHit]) -> tuple[FactHit, bool, tuple[str, str]] | None:
    for hit in others:
        values = disagreement(content, hit.fact.content)
        if values is not None:
            return hit, False, values
    return None
