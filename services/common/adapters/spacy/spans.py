"""Makes one list of entities out of what the model and the patterns found (SPEC-005 §3.2).

Pure and deterministic. Invariants of the result: ordered by start, no two overlap, ``text`` is ``source[start:end]``,
and every maximal run of digits in the source lies within exactly one entity.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from services.common.adapters.spacy.patterns import FALLBACK, FIRM, matches
from services.common.ports.recognition import Entity, EntityKind

AMOUNTS: Final = frozenset({EntityKind.MONEY, EntityKind.PERCENT, EntityKind.QUANTITY, EntityKind.NUMBER})
"""Kinds whose mention is the amount alone, without words such as "about" before it."""
_NAMES: Final = frozenset(EntityKind) - AMOUNTS - {EntityKind.DATE, EntityKind.TIME}

_DIGITS: Final = re.compile(r"\d+")
_GROUPED: Final = re.compile(r"\d+(?:[.,'\u2019]\d+)*")
_HEDGE: Final = re.compile(
    r"(?:about|approximately|around|roughly|nearly|almost|over|under|above|below|some|only|just|between|within|"
    r"the|more than|less than|fewer than|at least|at most|up to|as (?:many|much|little|few) as|no more than)\s+",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?\Z")
_EDGE: Final = " \t\r\n.,;:!?\"'\u201c\u201d\u2018\u2019()[]"
_STARTS_WORD: Final = re.compile(r"\w")


def merge(text: str, from_model: Iterable[Entity]) -> tuple[Entity, ...]:
    """Combine the model's entities with the patterns' (precedence: FIRM, model, FALLBACK, bare digits)."""
    chosen = _Chosen(text)
    for entity in matches(text, FIRM):
        chosen.offer(entity)
    for entity in from_model:
        trimmed = _trim(text, entity)
        if trimmed is not None and not chosen.offer(trimmed) and entity.kind in _NAMES:
            chosen.offer_rest(trimmed)
    for entity in matches(text, FALLBACK):
        chosen.offer(entity)
    for match in _DIGITS.finditer(text):
        chosen.offer(Entity(EntityKind.NUMBER, match.group(), match.start(), match.end()))
    return chosen.entities()


def _trim(text: str, entity: Entity) -> Entity | None:
    start, end = entity.start, entity.end
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    if entity.kind in AMOUNTS:
        while (hedge := _HEDGE.match(text, start, end)) is not None:
            start = hedge.end()
    elif entity.kind in _NAMES and (article := _ARTICLE.match(text, start, end)) is not None:
        start = article.end()
    if entity.kind in _NAMES and (possessive := _POSSESSIVE.search(text, start, end)) is not None:
        end = possessive.start()
    return _entity(text, entity.kind, start, end) if start < end else None


def _entity(text: str, kind: EntityKind, start: int, end: int) -> Entity:
    return Entity(kind, text[start:end], start, end)


class _Chosen:
    """Entities taken so far, and which code points they cover."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._taken = bytearray(len(text))
        self._entities: list[Entity] = []
        self._groups = [match.span() for match in _GROUPED.finditer(text)]
        self._group_starts = [start for start, _ in self._groups]

    def offer(self, entity: Entity) -> bool:
        """Take the entity unless it overlaps one that stands; never cut through a number."""
        start, end = self._whole_numbers(entity.start, entity.end)
        if any(self._taken[start:end]):
            return False
        self._take(entity.kind, start, end)
        return True

    def offer_rest(self, entity: Entity) -> None:
        """Take the longest part of a name that is still free, the first of equals, when it holds a word."""
        free = [part for part in self._free_parts(entity.start, entity.end) if _STARTS_WORD.search(self._text, *part)]
        if free:
            start, end = max(free, key=lambda part: part[1] - part[0])
            trimmed = _trim(self._text, _entity(self._text, entity.kind, start, end))
            if trimmed is not None:
                self.offer(trimmed)

    def entities(self) -> tuple[Entity, ...]:
        """Return what was taken, ordered."""
        return tuple(sorted(self._entities, key=lambda entity: entity.start))

    def _take(self, kind: EntityKind, start: int, end: int) -> None:
        self._taken[start:end] = b"\x01" * (end - start)
        self._entities.append(_entity(self._text, kind, start, end))

    def _whole_numbers(self, start: int, end: int) -> tuple[int, int]:
        low, high = self._number_around(start)
        if low < start and not any(self._taken[low:start]):
            start = low
        low, high = self._number_around(end)
        if low < end and not any(self._taken[end:high]):
            end = high
        return start, end

    def _number_around(self, position: int) -> tuple[int, int]:
        """Return the number that a cut at ``position`` would split, or an empty span."""
        index = bisect_left(self._group_starts, position) - 1
        if index >= 0 and position < self._groups[index][1]:
            return self._groups[index]
        return position, position

    def _free_parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        position = start
        while position < end:
            if self._taken[position]:
                position += 1
                continue
            stop = position
            while stop < end and not self._taken[stop]:
                stop += 1
            yield position, stop
            position = stop
