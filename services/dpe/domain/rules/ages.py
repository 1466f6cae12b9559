"""How old something may be, or has to be, in whatever words (SPEC-005 §5.3, DATE_SHIFTED, ADR 0095).

"Not older than three months", "from within the last three months" and "at most three months old" set one limit. A claim
about the same thing with another length, or with the other side, says something else, though none of the words differ
that a sentence of the facts would have to share.
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.bounds import Bound
from services.common.reading.lexicon import NEGATORS
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.common.reading.words import word_texts
from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import values_of

_TIME: Final = frozenset({"second", "month"})
_REACH: Final = 40
_BEFORE: Final = tuple(
    (re.compile(rf"\b(?:{pattern})\s$", re.IGNORECASE), side, is_age)
    for pattern, side, is_age in (
        (r"(?:no|not(?:\sbe)?|never(?:\sbe)?)\solder\sthan|younger\sthan", Bound.AT_MOST, True),
        (r"(?:no|not(?:\sbe)?|never(?:\sbe)?)\syounger\sthan|older\sthan", Bound.AT_LEAST, True),
        (
            r"(?:with)?in\sthe\s(?:last|past|previous|preceding)|from\sthe\s(?:last|past|previous|preceding)",
            Bound.AT_MOST,
            True,
        ),
        (r"(?:during|over)\sthe\s(?:last|past|previous|preceding)", Bound.AT_MOST, True),
        (r"(?:no|not)\smore\sthan|at\s(?:the\s)?most|up\sto|less\sthan|a\smaximum\sof", Bound.AT_MOST, False),
        (r"(?:no|not)\sless\sthan|at\s(?:the\s)?least|more\sthan|a\sminimum\sof", Bound.AT_LEAST, False),
    )
)
"""Words before a length of time, with the side, and whether they speak of an age by themselves."""
_OLD: Final = re.compile(r"\s(?:old|of\sage|ago)\b", re.IGNORECASE)
_OR_OLDER: Final = re.compile(r"\s(?:old\s)?(?:or|and)\s(?:older|more|over)\b", re.IGNORECASE)
_OR_YOUNGER: Final = re.compile(r"\s(?:old\s)?(?:or|and)\s(?:younger|newer|less)\b|\sold\sat\smost\b", re.IGNORECASE)
_OWN_WORDS: Final = roots(
    "old older age ages aged ago young younger new newer last past previous preceding recent date dated month months"
    " year years week weeks day days maximum minimum least most issued taken made dating within"
)

Age = tuple[Bound, Value]


def changed_age(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim limits the age of a thing otherwise than its source, or ``None``."""
    for (side, value), source in _beside(claim, sources):
        known = source.once(_ages)
        if any(limit is side and agrees(value, other) for limit, other in known):
            continue
        same = next((other for limit, other in known if limit is side), None)
        turned = next((other for limit, other in known if limit is not side and agrees(value, other)), None)
        there = same or (turned if len(known) == 1 else None)
        if there is not None:
            own, place = claim.span(value.start, value.end), source.span(there.start, there.end)
            return Departure(DistortionType.DATE_SHIFTED, Rule.BOUND, own, source, place, is_same=True)
    return None


def told_age(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences by whose limits those of a claim hold, where it says nothing besides; or none."""
    ages = claim.once(_ages)
    if not ages or len(ages) != len(claim.once(values_of)):
        return ()
    pairs = [
        (age, source)
        for age, source in _beside(claim, sources)
        if any(limit is age[0] and agrees(age[1], other) for limit, other in source.once(_ages))
    ]
    told = {id(age) for age, _ in pairs}
    return tuple(source for _, source in pairs) if all(id(age) in told for age in ages) else ()


def _beside(claim: Reading, sources: list[Reading]) -> Iterator[tuple[Age, Reading]]:
    """Yield the limits of a claim, each with the sentences that limit the age of what it speaks of."""
    ages = claim.once(_ages)
    if not ages or any(True for _ in conditions(claim.text)):
        return
    named = claim.content - _OWN_WORDS - roots(" ".join(value.text for _, value in ages))
    asked = roots(claim.asked) - _OWN_WORDS if not scan_values(claim.asked) else frozenset[str]()
    for source in sources:
        is_of_it = named <= source.known if named else bool(asked & source.content)
        if is_of_it and source.once(_ages) and not any(True for _ in conditions(source.text)):
            yield from ((age, source) for age in ages)


def _ages(reading: Reading) -> tuple[Age, ...]:
    """Return the limits of an age that a sentence sets, each with its length."""
    found: list[Age] = []
    for value in reading.once(values_of):
        side = _side(reading.text, value) if value.unit in _TIME and not value.per else None
        if side is not None:
            found.append((side, value))
    return tuple(found)


def _side(text: str, value: Value) -> Bound | None:
    behind = text[value.end : value.end + _REACH]
    if _OR_OLDER.match(behind):
        return Bound.AT_LEAST
    if _OR_YOUNGER.match(behind):
        return Bound.AT_MOST
    before = text[max(0, value.start - _REACH) : value.start]
    for pattern, side, is_age in _BEFORE:
        match = pattern.search(before)
        if match is not None and (is_age or _OLD.match(behind)):
            return side.other if _is_denied(before[: match.start()]) else side
    return None


def _is_denied(before: str) -> bool:
    """Say whether the last words before a limit deny it: "must not be at least", "not from within"."""
    return any(word in NEGATORS for word in word_texts(before)[-_NEAR:])


_NEAR: Final = 2
