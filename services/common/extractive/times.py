"""What holds at the time that a question names: "What will sick pay be from March 2027?" (ADR 0224).

The envelope holds facts that are not valid yet, marked with the day on which they begin. A question about a time is
read without the words of the time, such a fact counts as current for it, and what is quoted says from when it holds.
Where the time begins before that day, or is reckoned from today, what holds until then is quoted as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from services.common.extractive.composing import ASKS_PAST, Asked, Extract, Source, composed, units_of
from services.common.questions.terms import terms
from services.common.questions.times import AskedTime, asked_time
from services.common.reading.dates import MONTHS
from services.common.reading.labelled_rows import labelled_row

_LEAST_SHARED: Final = 0.6
"""Share of the words, numbers left out, that two passages on the same thing have in common."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A question as it is answered.

    Attributes:
        asked: without the words of a time to come.
        sources: those that begin by then count as current.
        time: that the question names; ``None`` where nothing begins by then.
    """

    asked: Asked
    sources: Sequence[Source]
    time: AskedTime | None = None


def timed(asked: Asked, sources: Sequence[Source]) -> Timed:
    """Read the time of a question; without one, or where nothing is to begin by then, all stays as it is."""
    if all(each.holds_from is None for each in sources):
        return Timed(asked, sources)
    time = asked_time(asked.question)
    if time is None or not any(_begins(each, time) for each in sources):
        # What is to come is nothing of the past, though neither is current.
        past = ASKS_PAST.search(asked.question) is not None
        return Timed(asked, [each for each in sources if not (past and each.holds_from is not None)])
    current = [replace(each, stale=False) if _begins(each, time) else each for each in sources]
    return Timed(replace(asked, question=time.rest), current, time)


def _begins(source: Source, time: AskedTime) -> bool:
    """Say whether a fact that is not valid yet begins by the end of a time."""
    return source.holds_from is not None and (time.last is None or source.holds_from <= time.last)


def held_then(found: Extract, question: Timed, most: int) -> Extract:
    """Return an answer with what holds at the time that is asked about; what is to come is told with its first day.

    Args:
        found: as it was composed.
        question: what was asked.
        most: passages.
    """
    by_id = {each.fact_id: each for each in question.sources}
    told: dict[tuple[str, str], None] = {}
    for passage, fact_id in zip(found.passages, found.fact_ids, strict=True):
        source = by_id[fact_id]
        told.update(dict.fromkeys(_in_order((passage, source), question)))
    kept = list(told)[:most]
    if not any(by_id[fact_id].holds_from for _, fact_id in kept):
        return found
    texts = [_dated(passage, by_id[fact_id]) for passage, fact_id in kept]
    return Extract(composed(texts), tuple(passage for passage, _ in kept), tuple(fact_id for _, fact_id in kept))


def _in_order(chosen: tuple[str, Source], question: Timed) -> list[tuple[str, str]]:
    """Return what holds at a time, the earlier first; of two that differ the one that holds all that time alone."""
    time = question.time
    other = _counterpart(*chosen, question.sources, time) if time is not None else None
    if time is None or other is None:
        return [(chosen[0], chosen[1].fact_id)]
    pair = sorted((chosen, other), key=lambda each: each[1].holds_from or date.min)
    begins = pair[-1][1].holds_from
    whole = time.first is not None and begins is not None and begins <= time.first
    return [(passage, source.fact_id) for passage, source in (pair[-1:] if whole else pair)]


def _counterpart(passage: str, source: Source, sources: Sequence[Source], time: AskedTime) -> tuple[str, Source] | None:
    """Return what says the same thing with another value at the other time; ``None`` where nothing does."""
    best: tuple[float, str, Source] | None = None
    for unit in units_of(sources):
        other = sources[unit.fact]
        if (other.holds_from is None) == (source.holds_from is None) or other.location != source.location:
            continue
        if other.holds_from is not None and not _begins(other, time):
            continue
        shared = _shared(passage, unit.passage.text)
        if shared >= _LEAST_SHARED and (best is None or shared > best[0]):
            best = (shared, unit.passage.text, other)
    return best[1:] if best is not None else None


def _shared(one: str, other: str) -> float:
    """Return how far two passages are on the same thing, 0.0-1.0; rows are where their names and heads are the same."""
    row, beside = labelled_row(one), labelled_row(other)
    if row or beside:
        same = bool(row and beside) and (row[0].heads, row[0].label) == (beside[0].heads, beside[0].label)
        return 1.0 if same else 0.0
    first, second = _words(one), _words(other)
    whole = max(len(first), len(second))
    return len(first & second) / whole if whole else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in terms(text) if not word[0].isdigit())


def _dated(passage: str, source: Source) -> str:
    """Return a passage, behind its first day where it is to come: the only words that no document wrote."""
    day = source.holds_from
    return passage if day is None else f"From {day.day} {MONTHS[day.month - 1].capitalize()} {day.year}: {passage}"
