"""What the readers of values share: where the walk through a sentence stands, and the fact that a bound value makes.

A value's conditions stand before its clause ("At sea level, …"), with its subject, or behind the value.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from services.ercp.domain.predicates.facts import Condition, Interval, Span, ValueFact, Words
from services.ercp.domain.predicates.mentions import Mention
from services.ercp.domain.predicates.naming import condition_of
from services.ercp.domain.predicates.phrases import CONDITION, NO_CONDITION
from services.ercp.domain.predicates.printing import plain
from services.ercp.domain.predicates.subjects import NounPhrase
from services.ercp.domain.predicates.values import CALENDAR, about

Bound = tuple[ValueFact, NounPhrase, int]
"""A value that was bound, to what, and where what belongs to it ends."""
REACH: Final = 240
"""So many characters of a clause are read before and after a value."""
_WHEN: Final = re.compile(
    r"(?:\s*+,)?+\s*+\b(?P<phrase>(?:when|if|whenever|as\s+long\s+as|provided|where|given)\s[^,.;()]{1,120}(?:(?<=\d)[.,](?=\d)[^,.;()]{1,40})?)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Walk:
    """Where the walk through a sentence stands.

    Attributes:
        start: where the clause begins.
        verb: the clause's last verb, and
        subject_end: where its first verb begins.
        leads: conditions that stand before: "At sea level, …".
        is_asserted: False in a clause that only supposes or denies.
        last: the value that was bound last, and
        last_end: where what belongs to it ends.
    """

    text: str
    sentence: Span
    start: int
    known: Words
    verb: re.Match[str] | None = None
    subject_end: int = -1
    leads: list[str] = field(default_factory=list)
    is_asserted: bool = True
    last: ValueFact | None = None
    last_end: int = -1
    last_phrase: NounPhrase | None = None
    is_again: bool = False
    earlier: ValueFact | None = None
    facts: list[ValueFact] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Link:
    """How a value is tied to its subject."""

    relation: str
    approximate: bool


def made_fact(
    walk: Walk, mention: Mention, phrase: NounPhrase, link: Link, end: int, condition: Condition | None = None
) -> Bound:
    """Return the fact that a bound value makes, with the conditions before and behind it.

    Args:
        walk: where the sentence stands.
        mention: the value.
        phrase: what it belongs to.
        link: how it is tied to that.
        end: where the value with its adjective ends.
        condition: the condition to take in place of those that are written here.
    """
    after, end = _conditions_after(walk, end)
    if condition is None:
        condition = condition_of([*walk.leads, phrase.condition, *after])
    interval = _interval(mention, link)
    amount = mention.amount if link.relation in {"=", "!="} else None
    fact = ValueFact(
        subject=phrase.subject,
        interval=interval,
        dimension=mention.dimension,
        text="",
        written=walk.text[mention.span.start : mention.span.end],
        number=plain(amount.number) if amount else "",
        unit=mention.amount.unit if mention.amount else "",
        condition=condition,
        negated=link.relation == "!=",
        approximate=link.approximate,
        span=Span(_trimmed(walk), max(end, mention.span.end)),
        value_span=mention.span,
        bound=plain(mention.amount.number) if mention.amount and amount is None else "",
    )
    return fact, phrase, end


def _trimmed(walk: Walk) -> int:
    start = walk.start
    while start < walk.sentence.end and walk.text[start] in " ,(\n\t":
        start += 1
    return start


def _conditions_after(walk: Walk, end: int) -> tuple[list[str], int]:
    """Return the phrases that limit a value, and where the last one ends; a converted value in brackets is skipped."""
    found: list[str] = []
    limit = min(end + REACH, walk.sentence.end)
    place = end
    bracket = re.compile(r"\s*\([^()]{1,60}\)").match(walk.text, place, limit)
    if bracket is not None:
        place = bracket.end()
    for pattern in (CONDITION, CONDITION, _WHEN):
        match = pattern.match(walk.text, place, limit)
        if match is None:
            continue
        place = match.end()
        if not NO_CONDITION.fullmatch(match["phrase"]):
            found.append(match["phrase"])
    # What is in the brackets is read on its own.
    return found, end if bracket is not None else place


def _interval(mention: Mention, link: Link) -> Interval:
    """Return the values that a value with its comparison leaves open."""
    value = mention.interval
    match link.relation:
        case "<":
            return Interval(high=value.low, high_closed=False)
        case "<=":
            return Interval(high=value.high, high_closed=value.high_closed)
        case ">":
            return Interval(low=value.high, low_closed=mention.dimension == CALENDAR)
        case ">=":
            return Interval(low=value.low)
        case _:
            return about(mention.amount) if link.approximate and mention.amount else value
