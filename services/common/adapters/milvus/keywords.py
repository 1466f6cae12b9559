"""Keyword search: which rows are fetched, and when the result is exact.

Up to ``candidates`` rows that hold any word of the query are fetched and scored, so the result is exact. Where there
are more, those with the rarest words are, as long as they are together not more than that. What is left out are facts
that hold nothing but common words of the query; none of them can score more than the weights of these words allow, so
the result is exact also then unless the last hit scores less than that.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from services.common.adapters.milvus.database import Level, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import filter_condition, searched_text_of
from services.common.adapters.milvus.reads import ALIVE
from services.common.adapters.milvus.schema import Collections
from services.common.adapters.milvus.tenants import View
from services.common.adapters.milvus.words import (
    CONSIDERED_WORDS,
    MANY,
    Candidate,
    idf,
    most,
    query_words,
    score,
    word_hash,
)
from services.common.keywords import Stemming, keywords
from services.common.ports.facts import FactFilter

_FIELDS = ("key", "terms", "length")


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """Scores and keys, best first; whether no other fact can belong among them."""

    ranked: list[tuple[float, str]]
    exact: bool


class KeywordSearch:
    """Searches all collections.

    Args:
        database: open.
        collections: that hold facts.
        candidates: most rows to fetch for one search.
        stemming: that the rows were written with.
    """

    def __init__(self, database: MilvusDatabase, collections: Collections, candidates: int, stemming: Stemming) -> None:
        self._database = database
        self._collections = collections
        self._most = candidates
        self._stemming = stemming

    async def search(self, view: View, query: str, limit: int, where: FactFilter) -> KeywordHits:
        """Return the best ``limit`` facts by BM25; ``where`` holds retrievable statuses alone."""
        wanted = query_words(query, self._stemming)
        weight = view.standing.weight
        if not wanted or not weight.facts:
            return KeywordHits([], exact=True)
        holding = f"{view.visible}{ALIVE} and {_holds_any(wanted)}"
        matching = holding + filter_condition(where)
        if await self._count(holding, view.level) <= self._most:
            return await self._exact(view, wanted, holding, matching, limit)
        return await self._bounded(view, wanted[:CONSIDERED_WORDS], filter_condition(where), limit)

    async def _exact(self, view: View, wanted: Sequence[str], holding: str, matching: str, limit: int) -> KeywordHits:
        everyone = await self._candidates(holding, view.level)
        frequencies = dict.fromkeys(wanted, 0)
        for candidate in everyone:
            for word in candidate.counts(wanted):
                frequencies[word] += 1
        if matching != holding:
            keys = {row["key"] for row in await self._rows(matching, ("key",), view.level)}
            everyone = [candidate for candidate in everyone if candidate.key in keys]
        return KeywordHits(self._best(view, everyone, wanted, frequencies, limit), exact=True)

    async def _bounded(self, view: View, wanted: Sequence[str], condition: str, limit: int) -> KeywordHits:
        facts = view.standing.weight.facts
        counts = await asyncio.gather(
            *(self._count(f"{view.visible}{ALIVE} and {_holds_any([word])}", view.level) for word in wanted)
        )
        frequencies = {word: count for word, count in zip(wanted, counts, strict=True) if count}
        rare: list[str] = []
        room = self._most
        for word in sorted(frequencies, key=lambda one: frequencies[one]):
            if frequencies[word] > room:
                break
            rare.append(word)
            room -= frequencies[word]
        common = [word for word in frequencies if word not in rare]
        if rare:
            where = f"{view.visible}{condition} and {_holds_any(rare)}"
        else:
            where = f"{view.visible}{condition} and {_holds_all(common)}"
            if await self._count(where, view.level) < limit:
                where = f"{view.visible}{condition} and {_holds_any(common)}"
        ranked = self._best(view, await self._candidates(where, view.level), wanted, frequencies, limit)
        beyond = sum(most(idf(facts, frequencies[word])) for word in common)
        exact = len(ranked) == limit and ranked[-1][0] > beyond and bool(rare)
        return KeywordHits(ranked, exact)

    def _best(
        self,
        view: View,
        candidates: Sequence[Candidate],
        wanted: Sequence[str],
        frequencies: dict[str, int],
        limit: int,
    ) -> list[tuple[float, str]]:
        weight = view.standing.weight
        scores = score(candidates, wanted, frequencies, weight.facts, weight.words / max(weight.facts, 1))
        pairs = [(value, key) for key, value in scores.items()]
        return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:limit]

    async def _candidates(self, where: str, level: Level) -> list[Candidate]:
        rows = await self._rows(where, _FIELDS, level)
        long = [row["key"] for row in rows if not row["terms"]]
        read: dict[str, tuple[str, ...]] = {}
        for name in self._collections.facts if long else ():
            condition = f"key in {json.dumps(long)}"
            for row in await self._database.all_rows(name, condition, ("key", "body"), level, 100):
                read[row["key"]] = tuple(keywords(searched_text_of(row), self._stemming))
        return [Candidate(row["key"], row["terms"], row["length"], read.get(row["key"], ())) for row in rows]

    async def _rows(self, where: str, fields: Sequence[str], level: Level) -> list[Row]:
        found = await asyncio.gather(
            *(self._database.rows(name, where, fields, level, self._most) for name in self._collections.facts)
        )
        return [row for rows in found for row in rows]

    async def _count(self, where: str, level: Level) -> int:
        return sum([await self._database.count(name, where, level) for name in self._collections.facts])


def _holds_any(wanted: Sequence[str]) -> str:
    return f"array_contains_any(words, {[MANY, *map(word_hash, wanted)]})"


def _holds_all(wanted: Sequence[str]) -> str:
    return f"array_contains_all(words, {[word_hash(word) for word in wanted]})"
