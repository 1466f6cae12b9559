"""How often (SPEC-005 §5.3, ADR 0095): "once a week", "every two months", "quarterly", as times a year."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest, nearest_to, pieces, roots, share

SAME: Final = 0.3
_YEARLY: Final = {
    "hour": 8760, "day": 365, "night": 365, "evening": 365, "morning": 365, "week": 52, "fortnight": 26, "month": 12,
    "quarter": 4, "year": 1, "annum": 1,
}  # fmt: skip
ADVERBS: Final = {
    "hourly": 8760, "daily": 365, "nightly": 365, "weekly": 52, "fortnightly": 26, "monthly": 12, "quarterly": 4,
    "yearly": 1, "annually": 1, "half-yearly": 2, "six-monthly": 2, "biannually": 2, "half-monthly": 24,
}  # fmt: skip
_COUNTS: Final = {"once": 1, "twice": 2, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_ORDINALS: Final = {
    "other": 2,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
}
_UNIT: Final = "(?P<{0}>hour|day|night|evening|morning|week|fortnight|month|quarter|year|annum)s?"
_OFTEN: Final = re.compile(
    rf"\b(?:(?P<count>once|twice|(?:one|two|three|four|five|six|ten|\d{{1,2}}) times) (?:(?:a|an|per|each|every|in a)"
    rf" {_UNIT.format('of')}|every (?P<span>two|three|four|five|six|\d{{1,2}}) {_UNIT.format('spans')})"
    rf"|(?:every|each)(?: single)? (?:(?P<nth>other|second|third|fourth|two|three|four|five|six|\d{{1,2}}) )?"
    rf"{_UNIT.format('every')}"
    rf"|(?:on )?the (?:first|last|second) day of (?:each|every|the) {_UNIT.format('day_of')}"
    r"|(?:(?P<repeated>once|twice|(?:one|two|three|four|five|six|ten|\d{1,2}) times) )?"
    r"(?P<adverb>hourly|daily|nightly|weekly|fortnightly|half-monthly|six-monthly|monthly|quarterly|half-yearly|yearly"
    r"|biannually|annually))\b(?! and a half)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Often:
    a_year: Fraction
    span: Span


def changed_frequency(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says another frequency than the part of its source that says the same, or ``None``."""
    own = _often(claim)
    if len(own) != 1:
        return _one_of_several(claim, own, sources) if own else None
    noun = _named_by(claim, own[0])
    said = claim.content - roots(claim.text[own[0].span.start : own[0].span.end])
    stating = [replace(source, context=source.head) for source in sources if source.once(_often)]
    best = nearest(said, stating, claim.names)
    if not best or share(said, best[0][1].known) < SAME:
        return None
    # Parts of one sentence share its subject, so that a claim may be told from any of them that it shares a word with.
    level = [one for one in _clauses(best[0][1]) if _often(one) and said & one.known] or [best[0][1]]
    level = [one for _, one in nearest(said, level, claim.names)]
    if any(one.a_year == own[0].a_year for piece in level for one in _often(piece)):
        return None
    if _is_of_its_end(own[0], best[0][1]):
        return None
    if noun and not _names_as_well(noun, own[0], level[0], stating):
        return None
    known = _often(level[0])[0]
    return Departure(
        DistortionType.NUMBER_CHANGED,
        Rule.FREQUENCY,
        claim.span(own[0].span.start, own[0].span.end),
        level[0],
        level[0].span(known.span.start, known.span.end),
    )


def _is_of_its_end(own: _Often, source: Reading) -> bool:
    """Say whether the last of several frequencies is the claim's: "every 72 hours; for lipids, every 24 hours"."""
    found = _often(source)
    return len(found) > 1 and found[-1].a_year == own.a_year and ";" in source.text[: found[-1].span.start]


_ATTRIBUTE: Final = re.compile(r"\b(?:the|an?|its|their|his|her|our|your|each|every|any|no)\s$", re.IGNORECASE)


def _named_by(reading: Reading, often: _Often) -> frozenset[str]:
    """Return the root of the noun that a frequency is part of the name of: "the weekly dose", "a yearly plan"."""
    word = reading.text[often.span.start : often.span.end].lower()
    if word not in ADVERBS or not _ATTRIBUTE.search(reading.text[: often.span.start]):
        return frozenset()
    following = next((one for one in reading.tokens if one.start >= often.span.end), None)
    return frozenset() if following is None else roots(following.text)


def _names_as_well(noun: frozenset[str], own: _Often, known: Reading, stating: list[Reading]) -> bool:
    """Say whether the source says how often the same noun is; a name that another sentence knows is no frequency."""
    told = any(one.a_year == own.a_year and noun <= other.content for other in stating for one in _often(other))
    return not told and any(noun == _named_by(known, one) for one in _often(known))


def _one_of_several(claim: Reading, own: list[_Often], sources: list[Reading]) -> Departure | None:
    """Return the one frequency that differs where a sentence gives as many, all others the same."""
    for rate, source in nearest_to(claim, sources)[:1]:
        theirs = _often(source)
        known = {one.a_year for one in theirs}
        changed = [one for one in own if one.a_year not in known]
        left = [one for one in theirs if one.a_year not in {said.a_year for said in own}]
        if rate >= SAME and len(own) == len(theirs) and len(changed) == len(left) == 1:
            return Departure(
                DistortionType.NUMBER_CHANGED,
                Rule.FREQUENCY,
                claim.span(changed[0].span.start, changed[0].span.end),
                source,
                source.span(left[0].span.start, left[0].span.end),
            )
    return None


_PART_OF_DAY: Final = re.compile(
    r"\b(?:in the|every|each|at) (?P<part>morning|afternoon|evening|night)s?\b", re.IGNORECASE
)


def changed_part_of_day(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim has happen in the evening what its source has happen in the morning, or ``None``."""
    own = list(_PART_OF_DAY.finditer(claim.text))
    if len(own) != 1:
        return None
    part = own[0]["part"].lower()
    rest = claim.content - roots(own[0].group())
    for rate, source in nearest(rest, sources, claim.names)[:1]:
        theirs = list(_PART_OF_DAY.finditer(source.text))
        elsewhere = any(part in (word.text for word in one.tokens) for one in sources)
        if rate >= SAME_DAY and len(theirs) == 1 and theirs[0]["part"].lower() != part and not elsewhere:
            return Departure(
                DistortionType.DATE_SHIFTED,
                Rule.VALUE,
                claim.span(*own[0].span()),
                source,
                source.span(*theirs[0].span()),
            )
    return None


SAME_DAY: Final = 0.4


def _clauses(source: Reading) -> list[Reading]:
    """Return the stretches with one frequency each; what stands before the first belongs to it."""
    found = _often(source)
    if len(found) <= 1:
        return [source]
    return [piece for piece in pieces(source) if piece.content]


def _often(reading: Reading) -> list[_Often]:
    return [_Often(_a_year(match), Span(match.start(), match.end())) for match in _OFTEN.finditer(reading.text)]


def _a_year(match: re.Match[str]) -> Fraction:
    if match["adverb"]:
        repeated = match["repeated"].split()[0] if match["repeated"] else None
        return Fraction(ADVERBS[match["adverb"].lower()] * _number(repeated))
    if match["day_of"]:
        return Fraction(_YEARLY[match["day_of"].lower()])
    if match["every"]:
        return Fraction(_YEARLY[match["every"].lower()], _number(match["nth"]))
    count = _number(match["count"].split()[0])
    unit = match["of"] or match["spans"]
    return Fraction(_YEARLY[unit.lower()] * count, _number(match["span"]))


def _number(text: str | None) -> int:
    if not text:
        return 1
    low = text.lower()
    return _COUNTS.get(low) or _ORDINALS.get(low) or (int(low) if low.isdigit() and int(low) else 1)
