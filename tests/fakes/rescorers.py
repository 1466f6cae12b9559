"""Models of the modes RERANKED and LATE_INTERACTION without weights, which remember what they were asked."""

import hashlib

import numpy as np

FINGERPRINT = f"fake@1+sha256:{'0' * 16}"


class WordReranker:
    """Scores a passage by the share of the query's words in it, or fails as it is told.

    Args:
        error: raised instead of an answer.
        gate: awaited before every answer.
    """

    def __init__(self, error=None, gate=None):
        self.error = error
        self.gate = gate
        self.calls = []

    fingerprint = FINGERPRINT

    async def score(self, pairs):
        self.calls.append(list(pairs))
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        shares = []
        for query, passage in pairs:
            asked = set(query.lower().split())
            shares.append(len(asked & set(passage.lower().split())) / max(1, len(asked)))
        return np.array(shares, dtype=np.float32)


class WordTokenVectors:
    """One unit vector per word, the same for the same word wherever it stands."""

    def __init__(self, dimension=8, error=None):
        self.dimension = dimension
        self.error = error
        self.calls = []

    fingerprint = FINGERPRINT

    async def token_vectors(self, texts):
        self.calls.append(list(texts))
        if self.error is not None:
            raise self.error
        empty = np.empty((0, self.dimension), dtype=np.float32)
        return [
            np.stack([word_vector(word, self.dimension) for word in text.lower().split()]) if text else empty
            for text in texts
        ]


def word_vector(word, dimension):
    """Return the word's unit vector."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
