"""Which facts of a text speak about an attribute, and under which of their conditions (ADR 0070)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from services.ercp.domain.predicates.facts import Condition, ValueFact, Words
from services.ercp.domain.predicates.model import Path
from services.ercp.domain.predicates.naming import path_words, words_of

_LIMITING: Final = frozenset(words_of("maximum minimum average total"))
"""The maximum load is no load."""


def about_attribute(values: Sequence[ValueFact], path: Path) -> list[ValueFact]:
    """Return the facts about an attribute, in text order; none when it is unclear which ones are meant.

    "The boiling point" is water's as long as the text gives nothing else a boiling point; ``deadline`` is the project's
    as long as only one thing has a deadline.
    """
    wanted = frozenset(path_words(path))
    last = words_of(path.segments[-1])
    exact: list[ValueFact] = []
    shorter: list[ValueFact] = []
    longer: dict[frozenset[str], list[ValueFact]] = {}
    is_shared = False
    for fact in values:
        words = subject_words(fact)
        own = frozenset(words)
        if own == wanted:
            exact.append(fact)
        elif own < wanted <= own | fact.condition.words:
            # "The number of players in a team" belongs to the team: what names the entity is no condition.
            exact.append(replace(fact, condition=Condition()))
        elif not _ends_with(words, last):
            continue
        elif own < wanted:
            shorter.append(fact)
        elif own > wanted:
            longer.setdefault(own, []).append(fact)
        else:
            is_shared = True
    near = [*exact, *([] if is_shared else shorter)]
    if len(longer) == 1 and (not is_shared or len(path.segments) > 1):
        # "The bridge" is the canal bridge when the text knows no other; the shipping cost is not the cost.
        own, facts = next(iter(longer.items()))
        more = own - wanted
        if not more & _LIMITING and (not near or more <= frozenset(facts[0].subject.entity)):
            near += facts
    return sorted(near, key=lambda fact: fact.value_span.start)


def about_entity(values: Sequence[ValueFact], path: Path) -> list[ValueFact]:
    """Return the facts about an entity and all its attributes, or about one attribute of it, in text order."""
    wanted = frozenset(path_words(path))
    chosen = {id(fact) for fact in about_attribute(values, path)}
    return [
        fact
        for fact in values
        if id(fact) in chosen or (fact.subject.entity and wanted <= frozenset(subject_words(fact)))
    ]


def under(values: Sequence[ValueFact], condition: Condition) -> tuple[list[ValueFact], bool]:
    """Return the facts that hold under a condition, and whether they were stated for it.

    A fact without a condition holds under every one that no other fact speaks of; one under another condition says
    nothing.
    """
    if condition.words:
        stated = [fact for fact in values if condition.words <= fact.condition.words]
        return (stated, True) if stated else ([fact for fact in values if not fact.condition.words], True)
    plain = [fact for fact in values if not fact.condition.words]
    return (plain, True) if plain else (list(values), False)


def subject_words(fact: ValueFact) -> Words:
    """Return the stems of a fact's entity and attribute, in this order."""
    return (*fact.subject.entity, *fact.subject.attribute)


def _ends_with(words: Words, last: Words) -> bool:
    return len(words) >= len(last) and words[-len(last) :] == last
