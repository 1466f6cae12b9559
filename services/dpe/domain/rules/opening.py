"""On which days something is open (SPEC-005 §5.3, NEGATION_FLIP, ADR 0218).

"Open Monday to Friday, and on Saturday from 9 to noon. We are closed on Sundays and public holidays." Days are read out
of ranges and lists, each with the state that is said of it; who says "open on Sundays" says the opposite, though the
sentence that is nearest to it says "open". Days of a season, of a condition, or a part of a day are left to others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots

_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY: Final = rf"(?P<day>{'|'.join(_NAMES)})s?"
_RANGE: Final = re.compile(
    rf"\b{_DAY}\s?(?:to|through|until|till|-|\u2013)\s?(?P<last>{'|'.join(_NAMES)})s?\b", re.IGNORECASE
)
_ONE: Final = re.compile(rf"\b{_DAY}\b", re.IGNORECASE)
_GROUPS: Final = (
    (re.compile(r"\bweekdays?\b", re.IGNORECASE), frozenset(_NAMES[:5])),
    (re.compile(r"\bweekends?\b", re.IGNORECASE), frozenset(_NAMES[5:])),
    (re.compile(r"\b(?:public|bank)\sholidays?\b", re.IGNORECASE), frozenset({"holiday"})),
    (re.compile(r"\b(?:daily|every\sday|each\sday|seven\sdays|7\sdays|all\sweek)\b", re.IGNORECASE), frozenset(_NAMES)),
)
_EXCEPT: Final = re.compile(
    r"\b(?:except|excluding|apart\sfrom|other\sthan|but(?=\s(?:not\s)?(?:on\s)?\w+days?\b))", re.IGNORECASE
)
_STATE: Final = re.compile(
    r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)\b(?:(?P<open>open(?=\W|$)|opens(?=\son\s\w{3,6}days\b))"
    r"(?!-|\s(?:to|for|by|with|question|until|air)\b)"
    r"|(?:closed|shut)(?!\s(?:to|for|by|with|until|early|late|at|from|between|over|during|down)\b)\b"
    r"|(?:closes|shuts)(?=\son\s\w{3,6}days\b))",
    re.IGNORECASE,
)
_HOLIDAY_ON_DAY: Final = re.compile(
    rf"\bholidays?\s(?:(?:falls?\s)?on\s)?(?:an?\s)?(?:{'|'.join(_NAMES)})|\b(?:{'|'.join(_NAMES)})s?\s(?:that|which)?\s?(?:is|are)?\s?(?:an?\s)?"
    r"(?:public|bank)\sholiday",
    re.IGNORECASE,
)
_PIECES: Final = re.compile(
    r"[.;]\s|[.;]$|,\s(?:and|but|while|whereas)\s|\s(?:but|while|whereas)\s|,\s(?=on\s\w+day)", re.IGNORECASE
)
_AT_TIMES: Final = re.compile(
    r"\b(?:if|unless|when|only|summer|winter|spring|autumn|season\w{0,4}|first|second|third|last|next|every\sother"
    r"|alternate|some|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|august|sept(?:ember)?|october|november"
    r"|december|christmas|easter)\b|\bnew\syear",
    re.IGNORECASE,
)
_IN_PART: Final = re.compile(r"\b(?:mornings?|afternoons?|evenings?|nights?|lunch\w{0,4}|noon|midday)\b", re.IGNORECASE)
_HOURS: Final = re.compile(r"\b(?:at|after|before|by|until|till|from|between|past)\b|\d", re.IGNORECASE)
_ITSELF: Final = roots("we us our office shop store clinic practice branch company firm centre center surgery house")
"""What an organisation calls itself where its text says "we"."""
DAY_WORDS: Final = roots(
    f"{' '.join(_NAMES)} open opens closed closes shut shuts weekday weekdays weekend weekends public bank holiday"
    " holidays daily day days week seven all every each"
) | {"7"}
_MOST_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class _Opening:
    """A state, and the days that it is said of.

    Attributes:
        subject: roots of what is open; empty where the text says "we", or nothing.
        start: in the sentence, with ``end``.
    """

    is_open: bool
    days: frozenset[str]
    subject: frozenset[str]
    start: int
    end: int


def closed_day(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says "open" of a day that is "closed" in its source, or the other way round, or ``None``."""
    ours = _said(claim)
    if ours is None:
        return None
    known = list(_about(ours, sources))
    same = {day for _, one in known if one.is_open == ours.is_open for day in one.days}
    against = ((source, one) for source, one in known if one.is_open != ours.is_open and (one.days & ours.days) - same)
    source, theirs = next(against, (None, None))
    if source is None or theirs is None:
        return None
    own, there = claim.span(ours.start, ours.end), source.span(theirs.start, theirs.end)
    return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, own, source, there, is_same=True)


def opening_days(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences about days by which what a claim says of days holds; none where they do not say it."""
    ours = _said(claim)
    if ours is None or claim.content - ours.subject - DAY_WORDS:
        return ()  # what else it says of the days is not borne out by them
    known = list(_about(ours, sources))
    same = {day for _, one in known if one.is_open == ours.is_open for day in one.days}
    other = {day for _, one in known if one.is_open != ours.is_open for day in one.days}
    if not ours.days <= same - other:
        return ()
    return tuple(source for source in sources if source.once(_openings))


def _said(claim: Reading) -> _Opening | None:
    """Return the one state that a claim says of days, whole days and no more."""
    limited = any(pattern.search(claim.text) for pattern in (_AT_TIMES, _IN_PART, _EXCEPT, _HOLIDAY_ON_DAY))
    if limited or len(claim.text) > _MOST_CHARS or _HOURS.search(_without_ranges(claim.text)):
        return None
    listed = claim.once(_openings)
    return listed[0] if len(listed) == 1 and listed[0].days else None


def _without_ranges(text: str) -> str:
    return _RANGE.sub(" ", text)


def _about(ours: _Opening, sources: list[Reading]) -> Iterator[tuple[Reading, _Opening]]:
    """Yield what sentences say of the same thing: of what is named, or else of the house itself."""
    listed = [(source, one) for source in sources for one in source.once(_openings) if one.days]
    same = [(source, one) for source, one in listed if ours.subject and one.subject == ours.subject]
    house = [(source, one) for source, one in listed if not one.subject and ours.subject <= _ITSELF | source.context]
    yield from same or house


def _openings(sentence: Reading) -> tuple[_Opening, ...]:
    """Return the states of a sentence with their days; a piece without a state goes on with the one before."""
    found: list[_Opening] = []
    state: tuple[bool, frozenset[str]] | None = None
    start = 0
    text = sentence.text[:_MOST_CHARS]
    for end in (*(match.start() for match in _PIECES.finditer(text)), len(text)):
        piece = text[start:end]
        states = list(_STATE.finditer(piece))
        is_limited = _AT_TIMES.search(piece) is not None or _HOLIDAY_ON_DAY.search(piece) is not None
        if len(states) == 1 and not is_limited:
            state = (
                bool(states[0]["open"]) != is_negated(piece),
                _subject(piece[: states[0].start()]),
            )
        elif states or is_limited:
            state = None
        if state is not None and (state[0] or not _IN_PART.search(piece)):
            at = start + len(piece) - len(piece.lstrip(" ,;."))
            said, others = _days(piece)
            found += [_Opening(state[0], said, state[1], at, end)] if said else []
            found += [_Opening(not state[0], others, state[1], at, end)] if others else []
        start = end
    return tuple(found)


def _subject(before: str) -> frozenset[str]:
    text = _ONE.sub(" ", _RANGE.sub(" ", before))
    for pattern, _ in _GROUPS:
        text = pattern.sub(" ", text)
    return roots(text)


def _days(piece: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the days of a piece, and those that are excepted from them."""
    excepted = _EXCEPT.search(piece)
    if excepted is None:
        return days_of(piece), frozenset()
    before, behind = piece[: excepted.start()], piece[excepted.end() :]
    others = days_of(behind)
    has_own = "(" in behind or (
        _HOURS.search(behind) is not None and _HOURS.search(_without_ranges(before)) is not None
    )
    return days_of(before) - others, frozenset() if has_own else others  # "except on Saturdays from 10 to 18"


def days_of(piece: str) -> frozenset[str]:
    """Return the days of the week that a text names, those of ranges and groups included; "holiday" is one."""
    found: set[str] = set()
    for match in _RANGE.finditer(piece):
        first, last = _NAMES.index(match["day"].lower()), _NAMES.index(match["last"].lower())
        found.update(_NAMES[at % 7] for at in range(first, first + (last - first) % 7 + 1))
    found.update(match["day"].lower() for match in _ONE.finditer(_without_ranges(piece)))
    for pattern, days in _GROUPS:
        if pattern.search(piece):
            found |= days
    return frozenset(found)


def days_at(text: str) -> list[tuple[Span, frozenset[str]]]:
    """Return the days that a text names, each range, day and group with where it stands."""
    spans = [Span(*match.span()) for match in _RANGE.finditer(text)]
    bare = _RANGE.sub(lambda match: " " * len(match.group()), text)
    for pattern in (_ONE, *(pattern for pattern, _ in _GROUPS)):
        spans += [Span(*match.span()) for match in pattern.finditer(bare)]
    return [(span, days_of(text[span.start : span.end])) for span in spans]
