"""How old something may be, or has to be, in whatever words (SPEC-005 §5.3, DATE_SHIFTED, ADR 0095).

"Not older than three months", "from within the last three months" and "at most three months old" set one limit. A claim
about the same thing with another length, or with the other side, says something else, though none of the words differ
that a sentence of the facts would have to share. Where a sentence says more of the thing than its age, as that it must
be vaccinated, nothing is said; "may be older" and "should be older" limit nothing.
"""

import re
from dataclasses import dataclass
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
    " only required requires accept accepted accepts acceptable refuse refused refuses reject rejected rejects valid"
    " invalid allowed admitted eligible ineligible excluded need needs"
)
_DEMANDS: Final = re.compile(r"\b(?:must|shall|has\sto|have\sto|needs?\sto|only|require[ds]?)\b", re.IGNORECASE)
"""Without one of these, or a refusal, an age tells groups apart: "children older than twelve pay the full fare"."""
_GRANTS: Final = re.compile(r"\b(?:may|can|accept\w{0,4}|valid|allowed|admitted|eligible)\b", re.IGNORECASE)
"""With one of these and no more an age is among those that are taken, and others may be."""
_REFUSES: Final = re.compile(r"\b(?:refused?|refuses|reject(?:s|ed)?|invalid|ineligible|excluded)\b", re.IGNORECASE)
_NEEDED: Final = re.compile(r"\b(?:required?|requires|need(?:s|ed)?|ha(?:s|ve)\sto)\b", re.IGNORECASE)
"""What denies these refuses nothing: "no documents older than three months are required"."""
_MAY_BE: Final = re.compile(r"\b(?:may|can|could|might)\s(?:also\s|even\s)?(?:be\s)?(?:from\s)?$", re.IGNORECASE)
_DENIED: Final = re.compile(r"(?:no|not|never)\s", re.IGNORECASE)
_LOOSE: Final = re.compile(
    r"\b(?:should|could|might|ideally|preferably|recommended|usually|normally|generally|even|also|that|which|who|whose"
    r"|without|needn['\u2019]t|need\snot|(?:not|n['\u2019]t)\s(?:need|have|required|necessar\w{1,4}|only))\b",
    re.IGNORECASE,
)
"""What is advised or left open limits nothing, and a clause besides may hold the negation."""
_LETS: Final = re.compile(r"\b(?:may|can)\sbe\s(?P<than>older|younger)\sthan\b", re.IGNORECASE)
_ACT: Final = re.compile(r"\b(?:been|be|is|are|was|were|being)\s(?:last\s)?(?P<act>[a-z]+ed)\b", re.IGNORECASE)
"""What has been done to a thing within a time is no age of the thing: "vaccinated within the last 12 months"."""


@dataclass(frozen=True, slots=True)
class _Age:
    """A limit of an age.

    Attributes:
        is_strict: the length itself is no longer within it: "less than two months old".
        is_demand: no other age is taken; else it is one that is.
    """

    side: Bound
    is_strict: bool
    value: Value
    is_demand: bool

    def is_same(self, other: "_Age") -> bool:
        """Say whether two limits are on one side at one length, whether strict or not."""
        return self.side is other.side and agrees(self.value, other.value)


def limits_age(reading: Reading) -> bool:
    """Say whether a sentence demands a limit of an age that these rules compare: "older than the rest" is none."""
    return bool(reading.once(_ages))


def changed_age(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim limits the age of a thing otherwise than its source, or ``None``.

    Nothing is said where any sentence about the thing sets the claim's limit.
    """
    listed = _beside(claim, sources)
    known = [(age, source) for source in listed for age in source.once(_ages) if age.is_demand]
    for own in claim.once(_ages):
        if any(own.is_same(other) for other, _ in known):
            continue
        there = next(((age, source) for age, source in known if _is_against(own, age, source)), None)
        if there is not None:
            (age, source), value = there, own.value
            said, place = claim.span(value.start, value.end), source.span(age.value.start, age.value.end)
            return Departure(DistortionType.DATE_SHIFTED, Rule.BOUND, said, source, place, is_same=True)
    return _let_go(claim, known)


def _let_go(claim: Reading, known: list[tuple[_Age, Reading]]) -> Departure | None:
    """Return where a claim lets a thing be older, or younger, than the limit that its source demands, or ``None``."""
    let = _LETS.search(claim.text)
    if let is None or claim.once(_ages):
        return None
    side = Bound.AT_LEAST if let["than"].lower() == "younger" else Bound.AT_MOST
    own = next((value for value in claim.once(values_of) if value.start >= let.end()), None)
    for age, source in known:
        if own is not None and age.side is side and agrees(own, age.value):
            said, place = claim.span(own.start, own.end), source.span(age.value.start, age.value.end)
            return Departure(DistortionType.DATE_SHIFTED, Rule.BOUND, said, source, place, is_same=True)
    return None


def _is_against(own: _Age, other: _Age, source: Reading) -> bool:
    """Say whether no two limits can both be; what is taken besides the limit is only where it goes beyond it."""
    if own.side is not other.side:
        return len(source.once(_ages)) == 1 and agrees(own.value, other.value)
    if own.is_demand:
        return True
    ours, theirs = own.value.magnitude, other.value.magnitude
    if own.value.unit != other.value.unit or ours is None or theirs is None:
        return False
    return ours > theirs if own.side is Bound.AT_MOST else ours < theirs


def told_age(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences by whose limits those of a claim hold, where it says nothing besides; or none."""
    ages = claim.once(_ages)
    if not ages or len(ages) != len(claim.once(values_of)):
        return ()
    listed = _beside(claim, sources)
    known = [age for source in listed for age in source.once(_ages)]
    if not all(any(_is_told(age, other) for other in known) for age in ages):
        return ()
    is_open = any(age.side is other.side and not age.is_same(other) for age in ages for other in known)
    return () if is_open else tuple(listed)


def _is_told(own: _Age, other: _Age) -> bool:
    return other.is_demand and own.is_same(other) and own.is_strict is other.is_strict


def _beside(claim: Reading, sources: list[Reading]) -> list[Reading]:
    """Return the sentences that limit the age of what a claim speaks of, and say nothing else."""
    ages = claim.once(_ages)
    if not (ages or _LETS.search(claim.text)) or any(True for _ in conditions(claim.text)):
        return []
    named = _named(claim)
    asked = roots(claim.asked) - _OWN_WORDS if not scan_values(claim.asked) else frozenset[str]()
    return [
        source
        for source in sources
        if (named <= source.content if named else bool(asked & source.content))
        and source.once(_ages)
        and _named(source) <= claim.content | asked
        and _acts(source) <= claim.content
        and not any(True for _ in conditions(source.text))
    ]


def _named(reading: Reading) -> frozenset[str]:
    return reading.content - _OWN_WORDS - roots(" ".join(one.value.text for one in reading.once(_ages)))


def _acts(reading: Reading) -> frozenset[str]:
    return roots(" ".join(match["act"] for match in _ACT.finditer(reading.text))) - _OWN_WORDS


def _ages(reading: Reading) -> tuple[_Age, ...]:
    """Return the limits of an age that a sentence sets, one for each side; none where they tell groups apart.

    "Payslips older than three months are refused" sets the other side. Which of several limits is denied is open, and
    "may be older" sets none.
    """
    text, rest = reading.text, reading.text
    found: list[tuple[Bound, bool, Value]] = []
    is_limited = False
    for value in reading.once(values_of):
        read = _side(text, value) if value.unit in _TIME and not value.per else None
        if read is None:
            continue
        side, start, end = read
        said, is_allowed = text[start : value.start], _MAY_BE.search(text[:start]) is not None
        is_denied = _DENIED.match(said) is not None
        is_strict = not is_denied and said.endswith("than ")
        if is_allowed and not is_denied and (is_strict or side is Bound.AT_LEAST):
            return ()
        is_limited |= is_allowed
        found.append((side, is_strict, value))
        rest = rest[:start] + "\0" * (end - start) + rest[end:]
    is_turned = is_negated(rest) is not (_REFUSES.search(rest) is not None)
    is_open = len({side for side, _, _ in found}) < len(found) or (is_turned and len(found) > 1)
    is_open |= is_turned and _NEEDED.search(rest) is not None
    is_demand = is_turned or is_limited or _DEMANDS.search(text) is not None
    if is_open or _LOOSE.search(text) or not (is_demand or _GRANTS.search(text)):
        return ()
    return tuple(
        _Age(side.other if is_turned else side, is_strict is not is_turned, value, is_demand)
        for side, is_strict, value in found
    )


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
