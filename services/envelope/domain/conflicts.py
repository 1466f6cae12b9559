"""Current facts that give different values for the same thing, so that nobody takes one for the only truth.

One rule for what an envelope holds (ADR 0109) and for what an ingestion brings beside what is stored (ADR 0113). Two
sentences disagree when they say their values of the same thing (``subjects``) and exactly one of the values differs:
where two do, they speak of two cases ("up to 2 kg 5 euros, up to 5 kg 9 euros"). They speak of the same thing when
their content words with those of their headings are the same; between documents also when the words alone are, and one
of them has no heading. A paraphrase in other words is not found; what is found is meant to be right. Linear in the
text: sentences meet by what they speak of, none is compared with every other.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.reading.text_types import Value
from services.envelope.domain.subjects import Saying, Stated, Subject, SubjectIndex, read_sayings, states_the_same

MAX_CONFLICTS: Final = 20
MAX_SUBJECT_CHARS: Final = 120
_MOST_SAID: Final = 3
"""Different values for one thing up to which sources disagree; more of them are a series: chapters, rows, examples."""
_ROW: Final = re.compile(r"^[^.]{0,200}?\w: [^;]{1,200}; ")


@dataclass(frozen=True, slots=True)
class Side:
    """What one fact says: the value as it writes it, with offsets in its content."""

    fact_id: str
    source_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that give different values for the same thing, one side for each value, in the order of the facts.

    Attributes:
        subject: the sentence of the first, its value left out.
    """

    subject: str
    sides: tuple[Side, ...]

    @property
    def is_between_sources(self) -> bool:
        """Say whether two documents disagree, rather than one with itself."""
        return len({side.source_id for side in self.sides}) > 1


def find_conflicts(facts: Sequence[Stated]) -> tuple[Conflict, ...]:
    """Return what the facts disagree on, between documents first, else in their order; at most ``MAX_CONFLICTS``."""
    found = list(_found([saying for fact in facts for saying in read_sayings(fact)]))
    return tuple(sorted(found, key=lambda conflict: not conflict.is_between_sources)[:MAX_CONFLICTS])


class Pairs:
    """Compares facts of different sources by twos; each is read once at most, its values only where words are shared.

    For one call: it holds what it has read.

    Args:
        subjects: what facts speak of, as far as it is known already.
    """

    def __init__(self, subjects: SubjectIndex | None = None) -> None:
        self._rough = SubjectIndex() if subjects is None else subjects
        self._read: dict[str, list[Saying]] = {}

    def between(self, first: Stated, second: Stated) -> tuple[Side, Side] | None:
        """Return what two facts disagree on first, if they do."""
        if set(self._rough.of(first)).isdisjoint(self._rough.of(second)):
            return None
        found = next(_found([*self._sayings(first), *self._sayings(second)], only_between=True), None)
        if found is None:
            return None
        ours = next(side for side in found.sides if side.source_id == first.source_id)
        theirs = next(side for side in found.sides if side.source_id != first.source_id)
        return ours, theirs

    def _sayings(self, fact: Stated) -> list[Saying]:
        if fact.fact_id not in self._read:
            self._read[fact.fact_id] = read_sayings(fact)
        return self._read[fact.fact_id]


def _found(sayings: Iterable[Saying], *, only_between: bool = False) -> Iterator[Conflict]:
    """Yield what sentences disagree on, each set of sides once."""
    whole: dict[tuple[object, ...], list[Saying]] = defaultdict(list)
    alone: dict[Subject, list[Saying]] = defaultdict(list)
    for saying in sayings:
        about = saying.subject
        whole[saying.with_heading, about.negated, about.bounds, about.measures].append(saying)
        alone[about].append(saying)
    known: set[frozenset[tuple[str, int]]] = set()
    for group, is_strict in [*((group, False) for group in whole.values()), *((one, True) for one in alone.values())]:
        if len(group) > 1 and (not is_strict or _one_has_no_heading(group)):
            for conflict in _disagreeing(group):
                sides = frozenset((side.fact_id, side.start) for side in conflict.sides)
                if sides not in known and (conflict.is_between_sources or not (is_strict or only_between)):
                    known.add(sides)
                    yield conflict


def _one_has_no_heading(group: Sequence[Saying]) -> bool:
    """Say whether of the same words some stand under one heading and the others under none."""
    headings = {saying.heading for saying in group}
    return frozenset() in headings and len(headings) == 2  # noqa: PLR2004 - one and none


def _disagreeing(group: Sequence[Saying]) -> Iterator[Conflict]:
    """Yield what sentences on one thing disagree on: one place, all other values the same."""
    for together in _of_one_series(group):
        for place in range(len(together[0].values)):
            alike: dict[tuple[str, ...], list[Saying]] = defaultdict(list)
            for saying in together:
                alike[saying.others(place)].append(saying)
            for sayings in alike.values():
                sides = _apart(sayings, place)
                if not 1 < len(sides) <= _MOST_SAID or len({saying.fact.fact_id for saying in sides}) == 1:
                    continue
                # Rows of one document with the same labels stand in two tables rather than against each other.
                if len({saying.fact.source_id for saying in sides}) > 1 or not _ROW.match(sides[0].sentence):
                    sided = tuple(_side(saying, saying.values[place]) for saying in sides)
                    yield Conflict(_subject(sides[0], sides[0].values[place]), sided)


def _of_one_series(group: Sequence[Saying]) -> list[list[Saying]]:
    """Return groups of sentences that do not speak of different parties or products; at most ``_MOST_SERIES``."""
    series: list[list[Saying]] = []
    for saying in group:
        own = next((one for one in series if not saying.is_apart(one[0])), None)
        if own is not None:
            own.append(saying)
        elif len(series) < _MOST_SERIES:
            series.append([saying])
    return [one for one in series if len(one) > 1]


_MOST_SERIES: Final = 8


def _apart(sayings: Sequence[Saying], place: int) -> list[Saying]:
    """Return the first sentence for each value; one more than may disagree where there are so many."""
    found: list[Saying] = []
    for saying in sayings:
        if not any(states_the_same(saying.values[place], one.values[place]) for one in found):
            found.append(saying)
            if len(found) > _MOST_SAID:
                break
    return found


def _side(saying: Saying, value: Value) -> Side:
    start, end = saying.offset + value.start, saying.offset + value.end
    return Side(saying.fact.fact_id, saying.fact.source_id, saying.fact.text[start:end].strip(), start, end)


def _subject(saying: Saying, value: Value) -> str:
    text = " ".join(f"{saying.sentence[: value.start]}\u2026{saying.sentence[value.end :]}".split())
    return text if len(text) <= MAX_SUBJECT_CHARS else f"{text[: MAX_SUBJECT_CHARS - 1]}\u2026"
