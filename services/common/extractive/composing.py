"""The built-in answerer: quotes the passages of the envelope that answer the query best (architecture decision 20).

It writes no word of its own but one fixed sentence when nothing fits, and it is deterministic: the same query, facts
and earlier answers give the same text. A passage's score is the share of the query's terms that it holds, weighted by
how rare they are among the facts, joined with its fact's relevance. Passages that speak of rules no longer in force
count for less unless the query asks about the past. What is nearly the same as a chosen or an earlier sentence is not
said again.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.extractive.sentences import CLOSING_MARKS, passages, terms

NOT_FOUND: Final = "The provided context does not contain an answer to this question."
NOTHING_NEW: Final = "The provided context does not contain anything on this question beyond the earlier answer."

LEXICAL_WEIGHT: Final = 0.65
RELEVANCE_WEIGHT: Final = 0.35
SUPERSEDED_FACTOR: Final = 0.45
STALE_FACTOR: Final = 0.30
PAST_BONUS: Final = 0.15
QUANTITY_BONUS: Final = 0.08
DUPLICATE_OVERLAP: Final = 0.80
RELATIVE_FLOOR: Final = 0.80
"""A further passage needs this share of the best one's score, or"""
NEW_TERMS: Final = 0.30
"""this share of the query's weighted terms that nothing chosen holds."""
MIN_COVERAGE: Final = 0.35
"""A passage that holds less of the query's weighted terms than this answers something else."""
_SATURATION: Final = 1.2
_LENGTH_PENALTY: Final = 0.3
"""BM25's k1 and b; b is small because passages are short anyway."""

_SUPERSEDED: Final = re.compile(
    r"\b(?:superseded|no longer (?:applies|apply|valid|in force)|repealed|abolished|withdrawn|formerly|previously|"
    r"old (?:rule|page|version|rate|policy)|at the time|used to|had to be|(?:rule|version) of (?:19|20)\d\d|"
    r"until (?:the same date|\d{1,2} \w+ (?:19|20)\d\d|\w+ \d{1,2}, (?:19|20)\d\d|(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
_ASKS_PAST: Final = re.compile(
    r"\b(?:was|were|old|earlier|former(?:ly)?|previous(?:ly)?|superseded|before|until|used to|history|historic(?:al)?|"
    r"changed?|replaced|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ASKS_QUANTITY: Final = re.compile(
    r"\b(?:how (?:much|many|long|often|high|large|old|soon|late|far)|when|deadline|limit|amount|rate|percent(?:age)?|"
    r"maximum|minimum|within|date)\b",
    re.IGNORECASE,
)
_QUANTITY: Final = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A fact to quote from; ``stale`` when a newer version of its document replaced it."""

    fact_id: str
    content: str
    relevance_score: float
    stale: bool = False


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """How long an answer may be and how good a passage has to be (0.0-1.0)."""

    max_passages: int
    min_score: float


@dataclass(frozen=True, slots=True)
class Extract:
    """A composed answer: ``passages`` are verbatim, ``fact_ids`` say where each stands; empty when nothing fits."""

    text: str
    passages: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    terms: frozenset[str]
    fact: int
    position: int
    score: float
    answers: dict[str, float]


def extract(query: str, sources: Sequence[Source], earlier: Sequence[str], limits: ExtractLimits) -> Extract:
    """Compose the answer.

    Args:
        query: the question alone.
        sources: the facts in envelope order.
        earlier: answers of earlier windows; nothing in them is said again.
        limits: bounds of the answer.
    """
    candidates = _candidates(query, sources)
    said = [frozenset(terms(passage)) for text in earlier for passage in passages(text)]
    fitting = [each for each in candidates if each.score >= limits.min_score]
    fresh = [each for each in fitting if not _repeats(each, said)]
    if not fresh:
        return Extract(NOTHING_NEW if fitting else NOT_FOUND)
    chosen = _choose(fresh, limits)
    ordered = _in_reading_order(chosen)
    return Extract(
        _compose([each.text for each in ordered]),
        tuple(each.text for each in ordered),
        tuple(sources[each.fact].fact_id for each in ordered),
    )


def _candidates(query: str, sources: Sequence[Source]) -> list[_Candidate]:
    """Return all passages with their scores, best first; ties by envelope order."""
    units = [
        (fact, position, passage, terms(passage))
        for fact, source in enumerate(sources)
        for position, passage in enumerate(passages(source.content))
    ]
    wanted = tuple(dict.fromkeys(terms(query)))
    weights = _term_weights(wanted, [found for *_, found in units])
    mean_length = sum(len(found) for *_, found in units) / max(1, len(units))
    asks_past, asks_quantity = bool(_ASKS_PAST.search(query)), bool(_ASKS_QUANTITY.search(query))
    candidates = []
    for fact, position, passage, found in units:
        coverage = _coverage(found, weights, mean_length)
        if wanted and coverage < MIN_COVERAGE:
            continue
        score = LEXICAL_WEIGHT * coverage + RELEVANCE_WEIGHT * sources[fact].relevance_score
        if asks_quantity and _QUANTITY.search(passage):
            score += QUANTITY_BONUS
        score = score + _pastness(passage) if asks_past else score * _currency(sources[fact], passage)
        answers = {term: weight for term, weight in weights.items() if term in found}
        candidates.append(_Candidate(passage, frozenset(found), fact, position, min(1.0, score), answers))
    return sorted(candidates, key=lambda each: (-each.score, each.fact, each.position))


def _term_weights(wanted: Sequence[str], documents: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return for each query term its share of the query's total rarity (BM25's idf, normalised to a sum of 1)."""
    total = len(documents)
    frequency = Counter(term for document in documents for term in set(document))
    rarity = {
        term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
        for term in wanted
        if frequency[term]
    }
    # What no fact speaks of weighs as much as the rarest that one does: it counts against every passage alike.
    rarity |= dict.fromkeys((term for term in wanted if term not in rarity), max(rarity.values(), default=1.0))
    whole = sum(rarity.values())
    return {term: value / whole for term, value in rarity.items()} if whole else {}


def _coverage(found: Sequence[str], weights: dict[str, float], mean_length: float) -> float:
    """Return the weighted share of the query's terms that the passage holds, 0.0-1.0, damped for long passages."""
    counts = Counter(found)
    damping = 1 - _LENGTH_PENALTY + _LENGTH_PENALTY * len(found) / max(1.0, mean_length)
    score = 0.0
    for term, weight in weights.items():
        count = counts[term]
        score += weight * count * (_SATURATION + 1) / (count + _SATURATION * damping) if count else 0.0
    return min(1.0, score)


def _currency(source: Source, passage: str) -> float:
    """Return how much a passage counts by what its fact says about its being in force."""
    factor = STALE_FACTOR if source.stale else 1.0
    return factor * (SUPERSEDED_FACTOR if _SUPERSEDED.search(passage) else 1.0)


def _pastness(passage: str) -> float:
    """Return what a passage gains where the query asks about the past."""
    return PAST_BONUS if _SUPERSEDED.search(passage) else 0.0


def _repeats(candidate: _Candidate, said: Sequence[frozenset[str]]) -> bool:
    return any(_overlap(candidate.terms, other) >= DUPLICATE_OVERLAP for other in said)


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of the shorter one's terms that both hold; 1.0 also when one lies within the other."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def _choose(candidates: Sequence[_Candidate], limits: ExtractLimits) -> list[_Candidate]:
    floor = max(limits.min_score, RELATIVE_FLOOR * candidates[0].score)
    chosen: list[_Candidate] = []
    answered: set[str] = set()
    for candidate in candidates:
        if len(chosen) == limits.max_passages:
            break
        new = sum(weight for term, weight in candidate.answers.items() if term not in answered)
        wanted = candidate.score >= floor or new >= NEW_TERMS
        if wanted and not _repeats(candidate, [each.terms for each in chosen]):
            chosen.append(candidate)
            answered.update(candidate.answers)
    return chosen


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the facts by their best passage, and within a fact the passages as they stand."""
    rank = {fact: order for order, fact in enumerate(dict.fromkeys(each.fact for each in chosen))}
    return sorted(chosen, key=lambda each: (rank[each.fact], each.position))


def _compose(texts: Sequence[str]) -> str:
    """Join passages with a space, or with a line break after one that has no closing mark of its own."""
    parts: list[str] = []
    for text in texts:
        if parts:
            parts.append(" " if parts[-1].rstrip(CLOSING_MARKS).endswith((".", "!", "…")) else "\n")
        parts.append(text)
    return "".join(parts)
