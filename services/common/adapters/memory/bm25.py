"""BM25 over a handful of texts, with the constants of SQLite's FTS5, so that both stores rank alike."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Final

from services.common.keywords import Stemming, keywords

K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""What a word that most texts contain still counts, as in FTS5."""


def rank(texts: Mapping[str, str], query: str, stemming: Stemming = Stemming.ENGLISH) -> dict[str, float]:
    """Return the score of every text that holds a word of ``query``; higher is better."""
    counts = {key: Counter(keywords(text, stemming)) for key, text in texts.items()}
    mean_length = sum(count.total() for count in counts.values()) / max(len(counts), 1)
    scores: dict[str, float] = {}
    for word in dict.fromkeys(keywords(query, stemming)):
        holders = [key for key, count in counts.items() if word in count]
        idf = _idf(len(counts), len(holders))
        for key in holders:
            frequency = counts[key][word]
            saturation = frequency + K1 * (1 - B + B * counts[key].total() / mean_length)
            scores[key] = scores.get(key, 0.0) + idf * frequency * (K1 + 1) / saturation
    return scores


def _idf(total: int, holding: int) -> float:
    return max(math.log((total - holding + 0.5) / (holding + 0.5)), LEAST_IDF)
