"""Which facts of a text speak about an attribute, and under which of their conditions (ADR 0070)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from services.ercp.domain.predicates.facts import Condition, Selection, TextFacts, ValueFact, Words
from services.ercp.domain.predicates.model import Path
from services.ercp.domain.predicates.naming import path_words, words_of

_LIMITING: Final = frozenset(words_of("maximum minimum average total"))
"""The maximum load is no load."""


def about_attribute(facts: TextFacts, path: Path) -> list[ValueFact]:
    """Return the facts about an attribute, in text order; none when it is unclear which ones are meant.

    "The boiling point" is water's as long as the text gives nothing else a boiling point; ``deadline`` is the project's
    as long as only one thing has a deadline.
    """
    subjects = _subjects(facts)
    wanted = frozenset(path_words(path))
    last = words_of(path.segments[-1])
    exact: list[ValueFact] = []
    shorter: list[ValueFact] = []
    longer: dict[frozenset[str], list[ValueFact]] = {}
    of_last = 0
    for place in subjects.comparable(wanted):
        fact, own, is_last = facts.values[place], subjects.sets[place], _ends_with(subjects.words[place], last)
        of_last += is_last
        if own == wanted:
            exact.append(fact)
        elif own < wanted <= own | fact.condition.words:
            # "The number of players in a team" belongs to the team: what names the entity is no condition.
            exact.append(replace(fact, condition=Condition()))
        elif is_last and own < wanted:
            shorter.append(fact)
        elif is_last:
            longer.setdefault(own, []).append(fact)
    is_shared = subjects.count_ending(last) > of_last
    near = [*exact, *([] if is_shared else shorter)]
    if len(longer) == 1 and (not is_shared or len(path.segments) > 1):
        # "The bridge" is the canal bridge when the text knows no other; the shipping cost is not the cost.
        own, found = next(iter(longer.items()))
        more = own - wanted
        if not more & _LIMITING and (not near or more <= frozenset(found[0].subject.entity)):
            near += found
    return sorted(near, key=lambda fact: fact.value_span.start)


class _Subjects:
    """What the values of a text are of, so that those of one thing are found without a walk through all of them."""

    def __init__(self, values: Sequence[ValueFact]) -> None:
        self.words = [subject_words(fact) for fact in values]
        self.sets = [frozenset(words) for words in self.words]
        self._holding: dict[str, list[int]] = {}
        for place, own in enumerate(self.sets):
            for word in own:
                self._holding.setdefault(word, []).append(place)
        self._by_rarest: dict[str, list[int]] = {}
        for place, own in enumerate(self.sets):
            rarest = min(own, key=lambda word: (len(self._holding[word]), word), default="")
            self._by_rarest.setdefault(rarest, []).append(place)
        self._endings: dict[int, Counter[Words]] = {}

    def comparable(self, wanted: frozenset[str]) -> list[int]:
        """Return the places of the values whose subject is within the words or around them, in order."""
        inside = [place for word in (*wanted, "") for place in self._by_rarest.get(word, ())]
        around = min((self._holding.get(word, []) for word in wanted), key=len, default=range(len(self.sets)))
        found = {place for place in inside if self.sets[place] <= wanted}
        return sorted(found.union(place for place in around if self.sets[place] >= wanted))

    def count_ending(self, last: Words) -> int:
        """Return how many subjects end with the words."""
        counted = self._endings.get(len(last))
        if counted is None:
            ends = (words[len(words) - len(last) :] for words in self.words if len(words) >= len(last))
            counted = self._endings[len(last)] = Counter(ends)
        return counted[last]


def _subjects(facts: TextFacts) -> _Subjects:
    found = facts.selected.get(_Subjects)
    if not isinstance(found, _Subjects):
        found = facts.selected[_Subjects] = _Subjects(facts.values)
    return found


def about_entity(facts: TextFacts, path: Path) -> list[ValueFact]:
    """Return the facts about an entity and all its attributes, or about one attribute of it, in text order."""
    wanted = frozenset(path_words(path))
    chosen = {id(fact) for fact in about_attribute(facts, path)}
    return [
        fact
        for fact in facts.values
        if id(fact) in chosen or (fact.subject.entity and wanted <= frozenset(subject_words(fact)))
    ]


def selected(facts: TextFacts, path: Path, condition: Condition) -> Selection:
    """Return the facts about an attribute that hold under a condition, and whether they were stated for it.

    A fact without a condition holds under every one that no other fact speaks of; one under another condition says
    nothing.
    """
    found = facts.selected.get((_Conditions, path))
    if not isinstance(found, _Conditions):
        found = facts.selected[_Conditions, path] = _Conditions(about_attribute(facts, path))
    return found.under(condition)


class _Conditions:
    """The facts about one attribute, so that those under a condition are found without a walk through all of them."""

    def __init__(self, values: Sequence[ValueFact]) -> None:
        plain = [fact for fact in values if not fact.condition.words]
        self._plain = _selection(plain, is_stated=True)
        self._any = self._plain if plain else _selection(values, is_stated=False)
        self._known: dict[frozenset[str], Selection] = {}
        self._holding: dict[str, list[ValueFact]] = {}
        for fact in values:
            for word in fact.condition.words:
                self._holding.setdefault(word, []).append(fact)

    def under(self, condition: Condition) -> Selection:
        if not condition.words:
            return self._any
        found = self._known.get(condition.words)
        if found is None:
            near = min((self._holding.get(word, []) for word in condition.words), key=len)
            stated = [fact for fact in near if condition.words <= fact.condition.words]
            found = _selection(stated, is_stated=True) if stated else self._plain
            self._known[condition.words] = found
        return found


def _selection(values: Sequence[ValueFact], *, is_stated: bool) -> Selection:
    places = ((fact.span.start, fact.span.end) for fact in values)
    return Selection(values, is_stated, all(first <= second for first, second in pairwise(places)))


def subject_words(fact: ValueFact) -> Words:
    """Return the stems of a fact's entity and attribute, in this order."""
    return (*fact.subject.entity, *fact.subject.attribute)


def _ends_with(words: Words, last: Words) -> bool:
    return len(words) >= len(last) and words[len(words) - len(last) :] == last
