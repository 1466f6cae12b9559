"""Phase 1, step 1.3: which communities are looked into again, and what is taken from them (SPEC-003 §5.2).

Where the specification leaves it open: *within retrieval distance* means a cosine no lower than that of the last hit
minus a slack; a retrieval that returned fewer than K facts has seen everything already and expands nothing. All thin
communities are looked into by one search; each gives its ten nearest facts per sub-query (ADR 0077).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

PARTIAL_BELOW: Final = 3
COMMUNITY_SIZE: Final = 10


def thin_communities(labels: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return up to ``limit`` communities with fewer than 3 hits, in the order of their best hit.

    Args:
        labels: the hits' communities, best hit first; empty for facts of none.
        limit: most communities to look into.
    """
    counts = Counter(label for label in labels if label)
    return tuple(label for label in counts if counts[label] < PARTIAL_BELOW)[:limit]


def nearest_by_community(rows: Iterable[Iterable[tuple[str, str, float]]]) -> dict[str, dict[str, float]]:
    """Return for each community the highest cosines of the ten facts of it that are nearest to each sub-query.

    Args:
        rows: for each sub-query ``(fact id, community, cosine)``, best first.
    """
    nearest: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        taken: Counter[str] = Counter()
        for fact_id, community, cosine in row:
            if taken[community] < COMMUNITY_SIZE:
                taken[community] += 1
                of_community = nearest[community]
                of_community[fact_id] = max(cosine, of_community.get(fact_id, cosine))
    return dict(nearest)


def expanded(hits: Mapping[str, float], floor: float) -> tuple[str, ...]:
    """Return the ids to add from one community, or nothing when fewer than 10 of it are within retrieval distance.

    Args:
        hits: cosine by fact id of the community's nearest facts.
        floor: the lowest cosine within retrieval distance.
    """
    near = tuple(fact_id for fact_id, cosine in hits.items() if cosine >= floor)
    return near if len(near) >= COMMUNITY_SIZE else ()
