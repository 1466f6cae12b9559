"""Which groups are communities, and how a community is named (CRP-SPEC-009).

The community detection itself is behind a port. Everything here is deterministic: ties go by content.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MIN_COMMUNITY_SIZE: Final = 3
LABEL_FACTS: Final = 5
LABEL_KEYWORDS: Final = 3

_WORD: Final = re.compile(r"[a-z][a-z0-9]{3,}")
_STOP_WORDS: Final = frozenset(
    {
        *(
            "about",
            "above",
            "after",
            "again",
            "against",
            "also",
            "among",
            "been",
            "before",
            "being",
            "below",
            "between",
        ),
        *("both", "cannot", "could", "does", "doing", "done", "down", "during", "each", "either", "every", "from"),
        *(
            "further",
            "have",
            "having",
            "here",
            "hers",
            "into",
            "itself",
            "just",
            "like",
            "made",
            "make",
            "many",
            "more",
        ),
        *(
            "most",
            "much",
            "must",
            "need",
            "neither",
            "only",
            "other",
            "others",
            "ours",
            "over",
            "same",
            "shall",
            "should",
        ),
        *("some", "such", "than", "that", "their", "theirs", "them", "then", "there", "these", "they", "this", "those"),
        *("through", "under", "unless", "until", "upon", "used", "uses", "using", "very", "were", "what", "when"),
        *("where", "which", "while", "whom", "whose", "will", "with", "within", "without", "would", "your", "yours"),
    }
)


@dataclass(frozen=True, slots=True)
class ClusteredFact:
    """What naming a community needs of its facts; ``strength`` is the sum of its edges' weights."""

    fact_id: str
    content_hash: str
    importance_weight: float
    strength: float


def large_enough(memberships: Mapping[int, int]) -> list[list[int]]:
    """Return the communities of at least 3 nodes, each sorted, the largest first, ties by first node.

    Args:
        memberships: community number by node.
    """
    groups: dict[int, list[int]] = {}
    for node in sorted(memberships):
        groups.setdefault(memberships[node], []).append(node)
    kept = [nodes for nodes in groups.values() if len(nodes) >= MIN_COMMUNITY_SIZE]
    return sorted(kept, key=lambda nodes: (-len(nodes), nodes[0]))


def most_important(facts: Sequence[ClusteredFact]) -> tuple[str, ...]:
    """Return the ids of the 5 most important facts; among equals the best connected come first."""
    ordered = sorted(facts, key=lambda fact: (-fact.importance_weight, -fact.strength, fact.content_hash, fact.fact_id))
    return tuple(fact.fact_id for fact in ordered[:LABEL_FACTS])


def label_of(contents: Sequence[str], number: int) -> str:
    """Return a label of the dominant keywords of some facts, in ASCII: a header carries it.

    A keyword dominates by the number of facts that have it, then by its occurrences, then by the alphabet.

    Args:
        contents: texts of the most important facts.
        number: the community's number, for facts without any keyword.
    """
    spread: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for content in contents:
        words = [word for word in _WORD.findall(_ascii(content)) if word not in _STOP_WORDS]
        total.update(words)
        spread.update(set(words))
    ranked = sorted(spread, key=lambda word: (-spread[word], -total[word], word))
    chosen: list[str] = []
    for word in ranked:
        if not any(word.startswith(other) or other.startswith(word) for other in chosen):
            chosen.append(word)
    return "-".join(chosen[:LABEL_KEYWORDS]) or f"community-{number}"


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Return the labels with ``-2``, ``-3`` ... added to those that were given before."""
    taken: set[str] = set()
    result: list[str] = []
    for label in labels:
        candidate, suffix = label, 2
        while candidate in taken:
            candidate = f"{label}-{suffix}"
            suffix += 1
        taken.add(candidate)
        result.append(candidate)
    return result


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
