"""Which statements are held against each other: those that give other amounts of one kind, or of which one denies.

Pure: ``plan`` names pairs of a draft's sentences, and of a draft's sentence and a passage's. The models then say how
much the two of a pair are alike and how surely one contradicts the other (ADR 0179).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.doubting.amounts import COUNT_OF, Given, agree, amounts_of, of_kind
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.records import Sentence
from services.ercp.domain.topics import Topic, aligned, is_set_apart, turns

_NEAREST: Final = 12
"""A sentence is held against so many later ones that give an amount of its kind."""
_MOST_PASSAGES: Final = 256
"""So many passage sentences that give one kind of amount are looked at."""
_UNIT_WORDS: Final = frozenset(
    words_of("unit dial scale hectare fahrenheit celsius kelvin metre foot mile pound kilogram litre minute hour")
)
"""Words by which a sentence begins that only says in what it counts: "In hectares, …"."""
_OWNED_NAME: Final = re.compile(r"\b(?i:its|their|his|her)\s+[a-z]+\s+(?P<name>[A-Z][a-z]+)\b")
_NAME_CHARS: Final = 60
"""A name behind an owner stands in so many first characters: "Her brother Argo"."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Sentences as they are compared: what each is about and which amounts it gives; ``source`` of a passage."""

    facts: TextFacts
    sentences: Sequence[Sentence]
    topics: Sequence[Topic]
    source: str = ""
    amounts: Sequence[Sequence[Given]] = field(default=())

    @classmethod
    def of(
        cls, facts: TextFacts, sentences: Sequence[Sentence], topics: Sequence[Topic], source: str = ""
    ) -> "Statements":
        """Return the statements of a text that was read."""
        return cls(facts, sentences, topics, source, amounts_of(facts))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements to be compared.

    Attributes:
        at: number of the draft's sentence; the later one of two.
        other: number of the sentence that it is held against.
        passage: number of the passage that ``other`` is in; ``None`` = the draft itself.
        kind: of the amounts that differ; empty where one denies the other.
        shared: words that tell something and stand in both.
    """

    at: int
    other: int
    passage: int | None
    kind: str
    shared: int


def plan(draft: Statements, passages: Sequence[Statements], most: int) -> list[Pair]:
    """Return at most so many pairs, those that share most words; time grows linearly with the texts; CPU work."""
    found = [*_within(draft), *_against(draft, passages)]
    found.sort(key=lambda each: (-each.shared, each.at, each.other))
    return sorted(found[:most], key=lambda each: (each.at, each.passage is not None, each.passage or 0, each.other))


def _within(draft: Statements) -> Iterator[Pair]:
    places = defaultdict[str, list[int]](list)
    for at, given in enumerate(draft.amounts):
        for kind in {each.kind for each in given}:
            places[kind].append(at)
    names = [_names(sentence) for sentence in draft.sentences]
    for kind, numbers in places.items():
        own = {at: of_kind(draft.amounts[at], kind) for at in numbers}
        for place, first in enumerate(numbers):
            for second in islice(numbers, place + 1, place + 1 + _NEAREST):
                if names[first] == names[second] and _give_otherwise(draft, first, second, own[first], own[second]):
                    yield Pair(second, first, None, kind, _shared(draft.topics[first], draft.topics[second], kind))
    yield from _turned(draft)


def _turned(draft: Statements) -> Iterator[Pair]:
    """Yield neighbors about one thing of which one denies."""
    for second, topic in enumerate(draft.topics):
        for first in range(max(0, second - _NEAREST), second):
            other = draft.topics[first]
            if turns(other, topic) == 1 and aligned(other, topic) and not _turned_subjects(other, topic):
                yield Pair(second, first, None, "", _shared(other, topic))


def _turned_subjects(first: Topic, second: Topic) -> bool:
    """Say whether what is opposite names two things: a free key and a paid key."""
    return bool(first.subject - second.subject) and bool(second.subject - first.subject)


def _give_otherwise(draft: Statements, first: int, second: int, mine: Sequence[Given], theirs: Sequence[Given]) -> bool:
    return (
        not agree(mine, theirs)
        and _may_be_one(draft.topics[first], draft.topics[second])
        and not readings.apart(draft.facts, draft.sentences[first], draft.sentences[second])
    )


def _may_be_one(first: Topic, second: Topic) -> bool:
    """Say whether nothing plain sets apart what two sentences are about: subject, circumstances, "the older one"."""
    if is_set_apart(first, second):
        return False
    if _elsewhen(first, second) or _elsewhen(second, first):
        return False
    if not first.subject or not second.subject:
        return True
    return first.subject <= second.words or second.subject <= first.words


def _elsewhen(first: Topic, second: Topic) -> bool:
    """Say whether the first begins with a circumstance that the second does not speak of: "In flight", "At 7 °C"."""
    lead = first.lead
    if not lead or lead & _UNIT_WORDS:
        return False
    told = {word for word in lead if word[0].isalnum()}
    numbers = {word for word in told if word[0].isdigit()}
    return not told & second.words or (bool(numbers) and not numbers <= second.words)


def _names(sentence: Sentence) -> frozenset[str]:
    return frozenset(match["name"] for match in _OWNED_NAME.finditer(sentence.text, 0, _NAME_CHARS))


def _shared(first: Topic, second: Topic, kind: str = "") -> int:
    """Return how many telling words two sentences share, besides what their amounts count."""
    return len((first.telling & second.telling) - {kind.removeprefix(COUNT_OF)})


def _against(draft: Statements, passages: Sequence[Statements]) -> Iterator[Pair]:
    known = defaultdict[str, list[tuple[int, int]]](list)
    for number, passage in enumerate(passages):
        for at, given in enumerate(passage.amounts):
            for kind in {each.kind for each in given}:
                if len(known[kind]) < _MOST_PASSAGES:
                    known[kind].append((number, at))
    for at, given in enumerate(draft.amounts):
        for kind in sorted({each.kind for each in given}):
            mine = of_kind(given, kind)
            open_ones = [
                each
                for each in mine
                if not any(agree([each], of_kind(passages[n].amounts[k], kind)) for n, k in known[kind])
            ]
            if not open_ones:
                continue
            best = _best(draft, at, passages, known[kind], kind)
            if best is not None:
                number, other, shared = best
                yield Pair(at, other, number, kind, shared)


def _best(
    draft: Statements, at: int, passages: Sequence[Statements], known: Sequence[tuple[int, int]], kind: str
) -> tuple[int, int, int] | None:
    """Return the passage sentence that shares most words, if it shares one and nothing sets the two apart."""
    mine = draft.topics[at]
    told = [
        (_shared(mine, passages[number].topics[other], kind), number, other)
        for number, other in known
        if not is_set_apart(mine, passages[number].topics[other])
    ]
    shared, number, other = max(told, key=lambda each: (each[0], -each[1], -each[2]), default=(0, 0, 0))
    return (number, other, shared) if shared else None
