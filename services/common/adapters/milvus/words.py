"""Keyword search over rows of Milvus, which has no BM25 of its own in all versions that we serve (ADR 0060).

Each row holds hashes of its distinct words, by which Milvus finds it, and a line that says how often it has each, from
which the very formula of the other stores is computed here.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.adapters.memory.bm25 import K1, LEAST_IDF, B
from services.common.keywords import Stemming, keywords

MOST_HASHES: Final = 4_096
"""Distinct words by which one row can be found (Milvus's limit of an array)."""
MANY: Final = 0
"""Hash that stands in a row with more distinct words than that; such a row is looked at in every keyword search."""
MOST_TERMS_CHARS: Final = 65_535
CONSIDERED_WORDS: Final = 64
"""Distinct words of a query that are looked at when all of them together are in more rows than may be fetched."""


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """What a row keeps of its words.

    Attributes:
        hashes: of the distinct words; none is ``MANY`` but where not all fit.
        terms: ``,hash=count`` for each distinct word, in hexadecimal digits; empty where not all fit.
        length: words of the text.
    """

    hashes: list[int]
    terms: str
    length: int


def word_hash(word: str) -> int:
    """Return a number for a word: 63 bits, never ``MANY``."""
    return (int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) >> 1) or 1


def encoded_words(text: str, stemming: Stemming) -> EncodedWords:
    """Return what a row keeps of a text's words."""
    counts = Counter(keywords(text, stemming))
    hashes = [word_hash(word) for word in counts]
    terms = "".join(f"{_term(number)}{count:x}" for number, count in zip(hashes, counts.values(), strict=True))
    if len(hashes) > MOST_HASHES or len(terms) > MOST_TERMS_CHARS:
        return EncodedWords([MANY, *hashes[: MOST_HASHES - 1]], "", counts.total())
    return EncodedWords(hashes, terms, counts.total())


def query_words(query: str, stemming: Stemming) -> list[str]:
    """Return the distinct words of a query, in its order."""
    return list(dict.fromkeys(keywords(query, stemming)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that holds a word of the query.

    Attributes:
        key: its key.
        terms: as kept; empty where they could not be.
        length: words of its text.
        words: of its text, in the place of ``terms``.
    """

    key: str
    terms: str
    length: int
    words: tuple[str, ...] = ()

    def counts(self, query: Sequence[str]) -> dict[str, int]:
        """Return how often it has each word of a query that it has."""
        if not self.terms:
            found = Counter(self.words)
            return {word: found[word] for word in query if word in found}
        return {word: count for word in query if (count := _count(self.terms, word))}


def score(
    candidates: Iterable[Candidate], query: Sequence[str], frequencies: dict[str, int], facts: int, mean_length: float
) -> dict[str, float]:
    """Return BM25 by key, as ``memory.bm25.rank`` computes it.

    Args:
        candidates: what to score.
        query: distinct words.
        frequencies: in how many facts of the tenant each word is.
        facts: facts of the tenant.
        mean_length: words of a fact, on average.
    """
    weights = {word: idf(facts, frequencies[word]) for word in query if frequencies.get(word)}
    scores: dict[str, float] = {}
    for candidate in candidates:
        counts = candidate.counts(query)
        total = 0.0
        for word in query:
            if word in counts and word in weights:
                frequency = counts[word]
                saturation = frequency + K1 * (1 - B + B * candidate.length / mean_length)
                total += weights[word] * frequency * (K1 + 1) / saturation
        if counts:
            scores[candidate.key] = total
    return scores


def idf(facts: int, holding: int) -> float:
    """Return what a word weighs."""
    return max(math.log((facts - holding + 0.5) / (holding + 0.5)), LEAST_IDF)


def most(weight: float) -> float:
    """Return more than a word of that weight can add to any score."""
    return weight * (K1 + 1)


def _term(number: int) -> str:
    return f",{number >> 15:012x}="


def _count(terms: str, word: str) -> int:
    term = _term(word_hash(word))
    at = terms.find(term)
    if at < 0:
        return 0
    start = at + len(term)
    end = terms.find(",", start)
    return int(terms[start:] if end < 0 else terms[start:end], 16)
