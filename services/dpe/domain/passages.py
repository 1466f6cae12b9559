"""Which facts a claim is judged by (ADR 0041): those nearest to it, and those that hold what it names.

The grounding model reads a window of whole sentences, which it composes of what it is given by the claim's rarest
words. So the list is longer than a window: facts by similarity and facts that share the claim's rarest names and
numbers, in turn. One window is read of it: each more costs as much again and hardly changes a verdict (ADR 0045).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import log1p
from typing import Final

from services.common.reading.text_types import Claim, Span, Value
from services.common.reading.words import words
from services.dpe.domain.alignment import NAMES, ClaimWords, matches
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import FactClause, FactView
from services.dpe.domain.findings import AlignedValue, Evidence, NearFact
from services.dpe.domain.names import name_key

PASSAGES_CHARS: Final = 1_400
"""Two to three windows of the grounding model; from these facts it composes the one window that it reads."""
MIN_PASSAGES: Final = 3
"""So many facts are given even when they are long."""
WINDOWS_READ: Final = 1
"""Windows that the grounding model composes of them and reads."""
MAX_PASSAGES: Final = 24
MAX_SHARING: Final = 4
"""Facts that come in for a name or a number, though others are nearer."""


@dataclass(frozen=True, slots=True)
class MentionIndex:
    """Where names and numbers stand in the facts; look-ups cost what they find, however many facts there are."""

    by_word: dict[str, set[int]]
    by_value: dict[Hashable, set[int]]
    facts: int

    @classmethod
    def of(cls, views: Sequence[FactView]) -> "MentionIndex":
        """Index the facts."""
        by_word: dict[str, set[int]] = defaultdict(set)
        by_value: dict[Hashable, set[int]] = defaultdict(set)
        for index, view in enumerate(views):
            for word in words(view.fact.content):
                by_word[word.text.removesuffix("'s").removesuffix("'")].add(index)
            for value in view.values:
                for key in _value_keys(value):
                    by_value[key].add(index)
        return cls(dict(by_word), dict(by_value), len(views))

    def sharing(self, claim: Claim, among: Collection[int]) -> list[int]:
        """Return those of some facts that hold names or numbers of the claim, those that share the rarest first."""
        weights: dict[int, float] = defaultdict(float)
        for holders in chain(self._of_names(claim), self._of_values(claim)):
            weight = log1p(self.facts / len(holders)) if holders else 0.0
            for index in holders:
                weights[index] += weight
        found = (index for index in weights if index in among)
        return sorted(found, key=lambda index: (-weights[index], index))[:MAX_SHARING]

    def _of_names(self, claim: Claim) -> Iterable[set[int]]:
        for entity in claim.entities:
            parts = name_key(entity.text).split() if entity.kind in NAMES else []
            if parts:
                yield set.intersection(*(self.by_word.get(part, set()) for part in parts))

    def _of_values(self, claim: Claim) -> Iterable[set[int]]:
        for value in claim.values:
            yield set().union(*(self.by_value.get(key, set()) for key in _value_keys(value)))


def choose(nearest: Sequence[int], sharing: Sequence[int], lengths: Sequence[int]) -> tuple[int, ...]:
    """Return the facts to read, in the order of the envelope.

    Args:
        nearest: facts by similarity, nearest first.
        sharing: facts that share names or numbers, rarest first.
        lengths: characters of each fact of the envelope.
    """
    mixed = chain.from_iterable(zip_longest(nearest[:MAX_PASSAGES], sharing))
    chosen: list[int] = []
    used = 0
    for index in dict.fromkeys(index for index in mixed if index is not None):
        if len(chosen) >= MAX_PASSAGES:
            break
        if len(chosen) >= MIN_PASSAGES and used + lengths[index] > PASSAGES_CHARS:
            continue
        chosen.append(index)
        used += lengths[index]
    return tuple(sorted(chosen))


def evidence(analysis: Analysis, claim: ClaimWords, near: NearFact, aligned: Sequence[AlignedValue] = ()) -> Evidence:
    """Return a fact as evidence: the clause that says most nearly what the claim says, and the values that align.

    Args:
        analysis: so far.
        claim: the claim.
        near: the fact.
        aligned: all values of the claim that align, in whichever fact.
    """
    view = analysis.outputs.text.fact_views[near.fact_index]
    nearest = matches(claim, view.clauses)
    span = _whole_row(view.fact.content, nearest[0].clause) if nearest else Span(0, len(view.fact.content))
    here = tuple(pair for pair in aligned if pair.fact_index == near.fact_index)
    return Evidence(near.fact_index, view.fact.fact_id, span, near.raw_similarity, near.similarity, here)


_LABELLED: Final = re.compile(r"(?<![^;|\n])(?=[^;|\n]*?[^:;|\n]: [^;|\n])[^;|\n]++[;|]")


def _whole_row(content: str, clause: FactClause) -> Span:
    """Return a clause; of a row of labelled cells the row, for a cell alone says nothing."""
    start = content.rfind("\n", 0, clause.span.start) + 1
    end = content.find("\n", clause.span.end)
    line = Span(max(start, clause.sentence.start), min(len(content) if end < 0 else end, clause.sentence.end))
    return line if _LABELLED.search(content[line.start : line.end]) else clause.span


def _value_keys(value: Value) -> list[Hashable]:
    keys: list[Hashable] = [(str(value.kind), value.normal)]
    if value.number is not None:
        keys.append(value.number)
    return keys
