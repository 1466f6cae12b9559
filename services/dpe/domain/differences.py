"""What two statements have in common and in what they differ (SPEC-005 §5.4, §8.2; ADR 0196).

Two statements are laid side by side: terms, values and names that stand on both sides are equal, and what is left over
is a difference. A difference in what limits a statement (time, condition, group, product, place, version, measure)
makes it speak of another thing; a value, a name or a state of what is otherwise the same is what they contradict each
other in. So there is a contradiction where exactly one thing differs, and that one says something.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees, comparable
from services.common.reading.bounds import Bound, limit_of
from services.common.reading.places import NUMBERED, label_of
from services.common.reading.synonyms import APART, KINDS, SPARE, VERBS, plain_terms
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import Word, words
from services.dpe.domain.alignment import ALIGNABLE
from services.dpe.domain.conditions import Kind, conditions
from services.dpe.domain.states import Standing, standing

_LETTER: Final = re.compile(r"(?<=[^.!?:\s]\s)[A-Z]\b(?!\.)|\b[IVX]{2,5}\b")
_WITHIN_CHARS: Final = 24
_TELLING: Final = frozenset(
    {"before", "after", "until", "till", "since", "other", "another", "next", "previous", "first", "second", "third"}
    | {"new", "old", "former", "following", "above", "below", "over", "without", "outside", "inside", "more", "less"}
    | {"same", "abroad", "except", "while", "very", "early", "late", "non", "others", "together"}
)
"""Words without content of their own that tell cases apart: "before the retrofit", "without a router"."""
_BEFORE_VALUE: Final = re.compile(
    r"\s(?:(?:the|an?|just|only|about|(?:the )?(?:end|start|beginning) of|than|on|in|by|at|of) )*$"
)
_COMPOUND: Final = re.compile(r"\b(?:move|check|opt|log|buy|phase|ramp|run)-(?:in|out|up|down)\b", re.IGNORECASE)
_ENDS_AFTER: Final = re.compile(r"\b(?:expires?|ends?|lapses?|out)\safter\s$", re.IGNORECASE)
_EDGE: Final = re.compile(
    r"\b(?:start|end|beginning|close)\sof\s(?=(?:the\s)?(?:\d|year|month|week|quarter|[A-Z][a-z]{2,8}\s\d"
    r"|January|February|March|April|May|June|July|August|September|October|November|December))"
)
_EDGE_BEFORE: Final = re.compile(r"\b(?P<edge>start|end|beginning|close)\sof\s(?:the\s)?$")
_SIDE_BEFORE: Final = re.compile(r"\b(?P<side>since|after|before|until|till)\s(?:the\s)?$", re.IGNORECASE)
_SIDES: Final = {"since": "behind", "after": "behind", "before": "ahead", "until": "ahead", "till": "ahead"}
_SET_APART: Final = re.compile(r"(?:,|\band|\bbut)\snot\b", re.IGNORECASE)
_GLUED: Final = re.compile(r"\d[A-Z]")
"""A name that reads like a measure, "3G"."""
_UNIT_BEHIND: Final = re.compile(r"\s(?:[A-Z]{1,2}|Nm|k[A-Z]|dB)\b(?!\.)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_BEFORE_YEAR: Final = re.compile(
    r"\b(?:in|since|before|after|until|till|by|from|during|of|for|the|its|their|our|his|her)\s$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Limited:
    """A value with the side that it is named on, a negator taken in, and which end of a time it means."""

    value: Value
    side: Bound | None
    edge: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """A statement as it is laid beside another.

    Attributes:
        terms: of its words, those of one family as one, and of what names a thing: letters, codes, numbers of things.
        measures: amounts, counts and shares.
        dates: dates and times.
        telling: words without content that tell cases apart, those aside that say the side of a value.
        conditions: terms of what it holds under.
        context: terms of what else limits it in its sentence.
        stands: its state, force and polarity, without the negation that a value's side has taken in.
        kinds: terms of words that stand beside a name and say what kind of thing it is, "the Allnet S tariff".
        verbs: what its light words say: having, getting, giving, needing, beginning.
        tense: "past" of what only held, "present" of what only holds, as far as an auxiliary says; else empty.
        sets_apart: it says itself what it is not, "by the nurse, not the surgeon".
    """

    terms: frozenset[str]
    measures: tuple[Limited, ...]
    dates: tuple[Limited, ...]
    telling: frozenset[str]
    conditions: frozenset[str]
    context: frozenset[str]
    stands: Standing
    kinds: frozenset[str]
    sets_apart: bool
    verbs: frozenset[str]
    tense: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What is left over where nothing sets two statements apart.

    Attributes:
        measures: the one amount of each that differs, or ``None``.
        dates: the one date of each that differs, or ``None``.
        ours: terms of the one alone.
        theirs: terms of the other alone.
        counts: an amount stands on both sides, so that a date says when it was counted.
    """

    measures: tuple[Limited, Limited] | None
    dates: tuple[Limited, Limited] | None
    ours: frozenset[str]
    theirs: frozenset[str]
    counts: bool = False


def contexts(claims: Sequence[Claim], text: str) -> list[str]:
    """Return for each claim the words of its sentence that limit it: what stands before it, and a condition behind it.

    Args:
        claims: of one text, in order.
        text: the text that their offsets are in.
    """
    found: list[str] = []
    for at, claim in enumerate(claims):
        first = at
        while first and claims[first - 1].sentence_index == claim.sentence_index and at - first < _NEAR_CLAIMS:
            first -= 1
        before = text[claims[first].start : claim.start]
        following = claims[at + 1] if at + 1 < len(claims) else None
        is_kept = (
            following is not None
            and following.sentence_index == claim.sentence_index
            and _KEPT_TO.search(text, claim.end, following.start)
        )
        found.append(f"{before} {following.text}" if is_kept and following is not None else before)
    return found


_NEAR_CLAIMS: Final = 4
_KEPT_TO: Final = re.compile(r"\b(?:while|when|where|if|unless|as|once|until|whenever)\b", re.IGNORECASE)


def read_content(claim: Claim, antecedent: frozenset[str] = frozenset(), context: str = "") -> Content:
    """Read a claim; ``antecedent`` is what its pronoun stands for, ``context`` what of its sentence limits it."""
    text = claim.text
    stands = standing(_EDGE.sub(_blank, text))
    tokens = words(text)
    values = [replace(one, start=one.start - claim.start, end=one.end - claim.start) for one in claim.values]
    named, measures, dates, negators = set[str](), list[Limited](), list[Limited](), 0
    rest = stands.rest
    for shifted, value in zip(values, claim.values, strict=True):
        unit = _UNIT_BEHIND.match(text, shifted.end)
        limit = limit_of(text, 0, replace(shifted, end=unit.end()) if unit and not value.unit else shifted)
        if value.kind in {EntityKind.DATE, EntityKind.TIME} or _is_year(text, shifted):
            dates.append(Limited(value, limit[0] if limit else None, _edge_of(text, shifted)))
        elif (
            value.kind not in ALIGNABLE
            or _GLUED.fullmatch(value.text)
            or label_of(text, 0, shifted) not in {"", NUMBERED}
            or _names(text, shifted)
        ):
            named.add(value.normal.casefold())
        else:
            ends = _ENDS_AFTER.search(text[max(0, shifted.start - _WITHIN_CHARS) : shifted.start])
            measures.append(Limited(value, limit[0] if limit and not ends else None))
        negators += limit is not None and limit[1]
        rest = rest[: shifted.start] + " " * (shifted.end - shifted.start) + rest[shifted.end :]
    named |= {
        f"#{match.group()}" for match in _LETTER.finditer(rest) if not _UNIT_BEHIND.match(text, match.start() - 1)
    }
    named |= {match.group().casefold() for match in _COMPOUND.finditer(text)}
    governed = frozenset[str]().union(*(plain_terms(each) for each in _governed(text)))
    return Content(
        plain_terms(rest) | named | {term for stem in antecedent for term in plain_terms(stem)},
        tuple(measures),
        tuple(dates),
        _telling(text, stands.rest, tokens, values),
        governed,
        plain_terms(context),
        replace(stands, negated=stands.negated != (negators % 2 == 1)),
        _kinds(text, tokens),
        bool(_SET_APART.search(text)),
        _verbs(text, stands.rest, tokens),
        _tense(text),
    )


def _edge_of(text: str, value: Value) -> str:
    """Return which end of a time a date means, or which side of it: "the end of 2022", "since 2022", "before 2022"."""
    before = text[max(0, value.start - _WITHIN_CHARS) : value.start]
    edge = _EDGE_BEFORE.search(before)
    if edge is not None:
        return edge["edge"].lower()
    side = _SIDE_BEFORE.search(before)
    return "" if side is None else _SIDES[side["side"].lower()]


def differences(left: Content, right: Content) -> Difference | None:
    """Return in what two statements differ; ``None`` = they speak of different things, or nobody can say."""
    if _are_apart(left, right):
        return None
    ours, theirs = left.terms - right.terms, right.terms - left.terms
    # "Adhesive 40 cures" names by a number that "it takes Adhesive 40 two hours" seems to count.
    mine, others = (
        _not_named(left.measures, theirs | _normals(right.dates)),
        _not_named(right.measures, ours | _normals(left.dates)),
    )
    measures = _left_over(mine, others)
    dates = _left_over(
        _not_named(left.dates, theirs | _normals(right.measures)),
        _not_named(right.dates, ours | _normals(left.measures)),
    )
    if measures and measures[0] and not comparable(measures[0][0].value, measures[1][0].value):
        return None
    if measures is None or dates is None or max(len(measures[0]), len(dates[0])) > 1:
        return None
    ours -= _normals((*right.measures, *right.dates))
    theirs -= _normals((*left.measures, *left.dates))
    spare = ours & (SPARE | left.kinds), theirs & (SPARE | right.kinds)
    if not all(spare):
        ours, theirs = ours - spare[0], theirs - spare[1]
    return Difference(_pair(*measures), _pair(*dates), ours, theirs, bool(mine) and not measures[0])


def _normals(values: Sequence[Limited]) -> frozenset[str]:
    return frozenset(one.value.normal for one in values)


def _not_named(measures: Sequence[Limited], named: frozenset[str]) -> list[Limited]:
    return [one for one in measures if one.value.normal not in named]


def _are_apart(left: Content, right: Content) -> bool:
    """Say whether the words between the values make two things of what two statements speak of."""
    if not left.terms & right.terms:
        return True  # "In force since 1 July 2025." says of nothing that it is
    if left.telling != right.telling or left.conditions != right.conditions or left.context != right.context:
        return True
    if {left.tense, right.tense} == {"past", "present"}:
        return True  # what held and what holds can both be true
    mine, others = left.verbs - right.verbs, right.verbs - left.verbs
    return any(frozenset((one, other)) in APART for one in mine for other in others)


def _pair(ours: Sequence[Limited], theirs: Sequence[Limited]) -> tuple[Limited, Limited] | None:
    return (ours[0], theirs[0]) if ours and theirs else None


def _left_over(left: Sequence[Limited], right: Sequence[Limited]) -> tuple[list[Limited], list[Limited]] | None:
    """Return the values of each side that none of the other is equal to; ``None`` where this sets apart.

    It does where one side has a value more, and where equal values are named on other sides ("under 18", "from 18").
    """
    free, ours = list(right), list[Limited]()
    for one in left:
        equal = next((other for other in free if equal_values(one.value, other.value)), None)
        if equal is None:
            ours.append(one)
        elif equal.side is not one.side or equal.edge != one.edge:
            return None
        else:
            free.remove(equal)
    return (ours, free) if len(ours) == len(free) else None


def equal_values(one: Value, other: Value) -> bool:
    """Say whether two values are one, as exactly as the less exact of them is given."""
    return comparable(one, other) and (agrees(one, other) or agrees(other, one))


def _names(text: str, value: Value) -> bool:
    """Say whether a bare number names a thing: it stands behind a word that is written large, "HomeSafe 3"."""
    if value.kind is not EntityKind.NUMBER or value.unit or value.counted:
        return False
    before = words(text[max(0, value.start - _WITHIN_CHARS) : value.start])
    if not before or not value.text[:1].isdigit():
        return False
    at = max(0, value.start - _WITHIN_CHARS) + before[-1].start
    return text[at].isupper() and at > 0


def _telling(text: str, rest: str, tokens: Sequence[Word], values: Sequence[Value]) -> frozenset[str]:
    """Return the words that tell cases apart, without those that say on which side of a value a statement lies."""
    found: set[str] = set()
    starts, ends = [value.start for value in values], [value.end for value in values]
    for word in tokens:
        if word.text in _TELLING and rest[word.start] != " " and not (
            any(word.end < start <= word.end + _WITHIN_CHARS and _BEFORE_VALUE.match(text[word.end : start])
                for start in starts)
            or any(0 <= word.start - end <= _OR_MORE_CHARS for end in ends)
        ):  # fmt: skip
            found.add(word.text)
    return frozenset(found)


_OR_MORE_CHARS: Final = 5


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _tense(text: str) -> str:
    past, present = bool(_PAST.search(text)), bool(_PRESENT.search(text))
    return "" if past == present else "past" if past else "present"


_PAST: Final = re.compile(r"\b(?:was|were|had|used to)\b", re.IGNORECASE)
_PRESENT: Final = re.compile(r"\b(?:is|are|must|ha(?:s|ve)\sto|will|shall)\b", re.IGNORECASE)


def _verbs(text: str, rest: str, tokens: Sequence[Word]) -> frozenset[str]:
    """Return what the light words of a text say; "has" and "takes" do where a thing follows, not "has been"."""
    found = {VERBS[word.text] for word in tokens if word.text in VERBS}
    found -= {word.text for word in tokens if word.text in _DIRECTIONS and rest[word.start] == " "}
    found |= {"have"} if _HAS.search(text) else set()
    return frozenset(found | ({"get"} if _TAKES.search(text) else set()))


_DIRECTIONS: Final = frozenset({"up", "down", "in", "out", "on", "off"})
"""Words that are part of a phrase where one says a state: "out of order"."""
_HAS: Final = re.compile(
    r"\b(?:has|have|had)\s(?!been\b|to\b|not\b|also\b|a right\b|the right\b|\w+ed\b)", re.IGNORECASE
)
_TAKES: Final = re.compile(r"\btakes?\s(?!place\b|over\b|out\b|off\b|part\b|effect\b|on\b|up\b)", re.IGNORECASE)


def _kinds(text: str, listed: Sequence[Word]) -> frozenset[str]:
    """Return the terms of words that say what kind of thing a name beside them is."""
    found: set[str] = set()
    for at, word in enumerate(listed):
        if word.text not in KINDS:
            continue
        near = [*listed[max(0, at - _NAME_WORDS) : at], *listed[at + 1 : at + 2]]
        if any(text[one.start].isdigit() or (text[one.start].isupper() and one.start > 0) or not one.text.isalpha()
               for one in near):  # fmt: skip
            found |= plain_terms(word.text)
    return frozenset(found)


_NAME_WORDS: Final = 2


def _governed(text: str) -> list[str]:
    """Return what the conditions of a text govern; "in case 12/34" and "at once" open none."""
    found: list[str] = []
    for one in conditions(text):
        before = text[max(0, one.span.start - 3) : one.span.start].lower()
        is_name = one.cue.startswith("in case") and any(char.isdigit() for char in one.governed.split()[0])
        if one.kind is not Kind.DENIED and not is_name and before not in {"at ", "is "}:
            found.append(one.governed)
    return found


def _is_year(text: str, value: Value) -> bool:
    """Say whether a bare number is a year: it counts nothing, or stands where a year does ("in 2023 sales rose")."""
    if value.kind is not EntityKind.NUMBER or not _YEAR.fullmatch(value.text):
        return False
    return not value.counted or bool(_BEFORE_YEAR.search(text[max(0, value.start - _WITHIN_CHARS) : value.start]))
