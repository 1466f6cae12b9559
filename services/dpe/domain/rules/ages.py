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
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
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
        (r"(?:no|not(?:\sbe)?)\smore\sthan|at\s(?:the\s)?most|up\sto|less\sthan|a\smaximum\sof", Bound.AT_MOST, False),
        (r"(?:no|not(?:\sbe)?)\sless\sthan|at\s(?:the\s)?least|more\sthan|a\sminimum\sof", Bound.AT_LEAST, False),
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


def limits_age(reading: Reading) -> bool:
    """Say whether a sentence demands a limit of an age that these rules compare: "older than the rest" is none."""
    return bool(reading.once(_ages))


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
    """Return the limits of an age that a sentence demands, one for each side; none where they tell groups apart.

    "Payslips older than three months are refused" sets the other side. Which of several limits is denied is open.
    """
    text, found, rest = reading.text, list[Age](), reading.text
    for value in reading.once(values_of):
        read = _side(text, value) if value.unit in _TIME and not value.per else None
        if read is not None:
            side, start, end = read
            found.append((side, value))
            rest = rest[:start] + "\0" * (end - start) + rest[end:]
    is_turned = is_negated(rest) is not (_REFUSES.search(rest) is not None)
    if len({side for side, _ in found}) < len(found) or (is_turned and len(found) > 1) or not _DEMANDS.search(text):
        return ()
    return tuple((side.other if is_turned else side, value) for side, value in found)


_DEMANDS: Final = re.compile(
    r"\b(?:must|shall|should|may|can|has\sto|have\sto|needs?\sto|only|required?|accept\w{0,4}|refus\w{1,3}|reject\w{0,3}"
    r"|valid|invalid|allowed|admitted|eligible)\b",
    re.IGNORECASE,
)
"""Without one of these an age tells groups apart: "children older than twelve pay the full fare"."""
_REFUSES: Final = re.compile(r"\b(?:refused?|refuses|reject(?:s|ed)?|invalid|ineligible|excluded)\b", re.IGNORECASE)


def _side(text: str, value: Value) -> tuple[Bound, int, int] | None:
    """Return the side of an age, and where the words stand that say it; ``None`` where a length is no age."""
    for pattern, side in ((_OR_OLDER, Bound.AT_LEAST), (_OR_YOUNGER, Bound.AT_MOST)):
        behind = pattern.match(text, value.end)
        if behind is not None:
            return side, value.start, behind.end()
    start = max(0, value.start - _REACH)
    for pattern, side, is_age in _BEFORE:
        match = pattern.search(text[start : value.start])
        if match is not None and (is_age or _OLD.match(text, value.end)):
            return side, start + match.start(), value.end
    return None
