"""Which statements of a window are held against which earlier ones (SPEC-005 §8.2, steps 6.1 and 6.2; ADR 0037).

Two statements belong together when they share a name, a number, a date or a word of content that is not everywhere.
Linear in the statements and their shared words: postings are joined by NumPy, never pair by pair.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.dpe.domain.statements import Statement

Indices = NDArray[np.int64]
Feature = tuple[str, Hashable]

COMMON: Final = 20
"""What more earlier statements share than this, or than twice the root of their number, brings none of them in."""
NEAREST: Final = 16
"""Earlier statements that one statement is held against at most, those that share the rarest first."""
_SUBJECT: Final = "subject"
_AT_ONCE: Final = 1_024
"""Statements that are joined at once: memory stays bounded however long the answer is."""


def related(current: Sequence[Statement], earlier: Sequence[Statement]) -> Indices:
    """Return the pairs that belong together, shape ``(pairs, 2)``, ordered: index in ``current``, in ``earlier``."""
    known: dict[Feature, int] = {}
    features = [_features(statement) for statement in earlier]
    for feature in chain.from_iterable(features):
        known.setdefault(feature, len(known))
    owner, posted = _postings([[known[feature] for feature in each] for each in features])
    found = [np.empty((0, 2), dtype=np.int64)]
    if len(owner):
        index = _Index.of(owner, posted, [feature[0] == _SUBJECT for feature in known], len(earlier))
        for start in range(0, len(current), _AT_ONCE):
            block = current[start : start + _AT_ONCE]
            asking, asked = _postings(
                [[known[feature] for feature in _features(statement) if feature in known] for statement in block]
            )
            found.append(_nearest(*index.joined(asking, asked)) + np.array([start, 0]))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class _Index:
    """The earlier statements by feature: those of feature ``f`` are ``owner[first[f] : first[f] + taken[f]]``."""

    owner: Indices
    first: Indices
    taken: Indices
    weights: NDArray[np.float64]
    statements: int

    @classmethod
    def of(cls, owner: Indices, posted: Indices, is_subject: Sequence[bool], statements: int) -> "_Index":
        counts = np.bincount(posted, minlength=len(is_subject))
        # A whole subject that is stated again and again counts with its latest statements; no other common feature.
        limit = max(COMMON, 2 * isqrt(statements))
        taken = np.where(counts <= limit, counts, np.where(np.array(is_subject), limit, 0))
        first = np.cumsum(counts) - taken
        return cls(owner[np.argsort(posted, kind="stable")], first, taken, np.log1p(statements / counts), statements)

    def joined(self, asking: Indices, asked: Indices) -> tuple[Indices, Indices, NDArray[np.float64]]:
        """Return the pairs of asking and earlier statement that meet, with the weight of what they share."""
        sizes = self.taken[asked]
        mention = np.repeat(np.arange(len(asked)), sizes)
        within = np.arange(len(mention)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        met = self.owner[self.first[asked][mention] + within]
        codes, places = np.unique(asking[mention] * self.statements + met, return_inverse=True)
        shared = np.bincount(places, weights=self.weights[asked][mention], minlength=len(codes)).astype(np.float64)
        return codes // self.statements, codes % self.statements, shared


def _nearest(lefts: Indices, rights: Indices, shared: NDArray[np.float64]) -> Indices:
    """Keep for each statement the earlier ones that it shares most with; of equals the earliest."""
    order = np.lexsort((rights, -shared, lefts))
    lefts, rights = lefts[order], rights[order]
    kept = np.arange(len(lefts)) - np.searchsorted(lefts, lefts) < NEAREST
    lefts, rights = lefts[kept], rights[kept]
    order = np.lexsort((rights, lefts))
    return np.stack((lefts[order], rights[order]), axis=1)


def _features(statement: Statement) -> list[Feature]:
    """Return what a statement can share: content words, names, values, and its whole subject."""
    found: list[Feature] = [("stem", stem) for stem in sorted(statement.stems)]
    found += [("axis", side.axis) for side in sorted(statement.sides)]
    found += [("name", name) for name in sorted(statement.names)]
    found += [("value", key) for key in sorted({(str(value.kind), value.normal) for value in statement.values})]
    if statement.stems:
        found.append((_SUBJECT, statement.subject))
    return list(dict.fromkeys(found))


def _postings(listed: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    """Return statement and feature of every mention."""
    lengths = [len(each) for each in listed]
    owners = np.repeat(np.arange(len(listed), dtype=np.int64), lengths)
    return owners, np.fromiter(chain.from_iterable(listed), dtype=np.int64, count=sum(lengths))
