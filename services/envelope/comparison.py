"""How a document's facts compare with those of the tenant's other sources: the same, or other values (ADR 0113)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from services.common.computing import compute
from services.common.encoding import sha256_hex
from services.common.ports.facts import FactFilter, FactHit, FactStatus, FactStore, Vectors
from services.envelope.domain.conflicts import Pairs
from services.envelope.domain.duplicates import Statements
from services.envelope.domain.ingestion_report import LISTED, LikeFact, OtherSources
from services.envelope.domain.similarity import DUPLICATE_COSINE
from services.envelope.domain.subjects import Stated, SubjectIndex

NEAREST: Final = 8
"""Stored facts that each fact is compared with; those of its own source among them do not count."""
RELATED_COSINE: Final = 0.80
"""Below it two facts do not say the same, whatever their words."""
SPEAKS_OF_COSINE: Final = 0.5
"""Below it two facts have no sentence on one thing: of several sentences in a fact, others may be on something else."""
_AT_ONCE: Final = 256
_CURRENT: Final = FactFilter(statuses=(FactStatus.ACTIVE,))


async def compare(
    store: FactStore,
    subjects: SubjectIndex,
    tenant_id: str,
    source_id: str,
    facts: Sequence[Stated],
    vectors: Vectors,
) -> OtherSources:
    """Look for each fact's like among the tenant's current facts of other sources.

    Args:
        store: searched, never written.
        subjects: what facts speak of, as far as it is known.
        tenant_id: whose facts.
        source_id: the facts' own source, which does not count.
        facts: what the document says.
        vectors: theirs, one a row.
    """
    found: list[LikeFact] = []
    for start in range(0, len(facts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        hits = await store.search(tenant_id, np.asarray(vectors[some]), limit=NEAREST, where=_CURRENT)
        found += await compute(_like, subjects, source_id, facts[some], hits)
    duplicates = [one for one in found if one.values is None]
    disagreements = [one for one in found if one.values is not None]
    return OtherSources(tuple(duplicates[:LISTED]), len(duplicates), tuple(disagreements[:LISTED]), len(disagreements))


def _like(
    subjects: SubjectIndex, source_id: str, facts: Sequence[Stated], hits: Sequence[Sequence[FactHit]]
) -> list[LikeFact]:
    """Return of each fact its best duplicate and its first disagreement, if it has them."""
    others = [
        [hit for hit in nearest if hit.fact.source_id != source_id and hit.score >= SPEAKS_OF_COSINE]
        for nearest in hits
    ]
    related = [[hit for hit in nearest if hit.score >= RELATED_COSINE] for nearest in others]
    duplicates = _duplicates([fact.text for fact in facts], related)
    pairs = Pairs(subjects)
    found = []
    for place, fact in enumerate(facts):
        if place in duplicates:
            hit, is_exact = duplicates[place]
            found.append(_like_fact(fact, hit, is_exact=is_exact))
        for hit in others[place]:
            other = hit.fact
            sides = pairs.between(fact, Stated(other.fact_id, other.source_id, other.content, other.source_location))
            if sides is not None:
                found.append(_like_fact(fact, hit, values=(sides[0].text, sides[1].text)))
                break
    return found


def _duplicates(contents: Sequence[str], others: Sequence[Sequence[FactHit]]) -> dict[int, tuple[FactHit, bool]]:
    """Return by place the same text elsewhere, else the nearest that says the same with the same values."""
    found: dict[int, tuple[FactHit, bool]] = {}
    near: list[tuple[int, FactHit]] = []
    for place, hits in enumerate(others):
        content_hash = sha256_hex(contents[place]) if hits else ""
        exact = next((hit for hit in hits if hit.fact.content_hash == content_hash), None)
        if exact is not None:
            found[place] = exact, True
        else:
            near += [(place, hit) for hit in hits if hit.score > DUPLICATE_COSINE]
    texts = [*(contents[place] for place, _ in near), *(hit.fact.content for _, hit in near)]
    firsts = np.arange(len(near))
    differs = Statements(texts).differ(firsts, firsts + len(near)) if near else ()
    for (place, hit), apart in zip(near, differs, strict=True):
        if not apart:
            found.setdefault(place, (hit, False))
    return found


def _like_fact(
    fact: Stated, hit: FactHit, *, is_exact: bool = False, values: tuple[str, str] | None = None
) -> LikeFact:
    other = hit.fact
    near = other.fact_id, other.source_id, other.content, hit.score
    return LikeFact(fact.fact_id, fact.text, *near, is_exact=is_exact, values=values)
