"""Before and after (SPEC-005 §5.3, ADR 0095): the order in which a source has two things happen.

Read where the source is a sequence: numbered steps, or sentences with words of order. Each of two things is found in
the one piece of the sequence that holds most of its words; where that is open, nothing is said.
"""

import re
from typing import Final

from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, pieces, roots, share

FOUND: Final = 0.5
"""Share of a thing's words that a piece must hold."""
_TIME: Final = r"(?! (?:the first|\d|[€£$]|\w+ (?:days?|weeks?|months?|years?|hours?|minutes?)\b))"
_BEFORE: Final = re.compile(rf"\b(?:before|prior to|ahead of|precedes?)\b{_TIME}", re.IGNORECASE)
_AFTER: Final = re.compile(rf"\b(?:after|once(?! (?:an?|per|every|each|in)\b)|follows)\b{_TIME}", re.IGNORECASE)
_FIRST_THEN: Final = re.compile(
    r"\bfirst(?:ly)?,? (?P<one>[^,;.]{3,80}),? (?:and )?then,? (?P<two>[^,;.]{3,80})"
    r"|(?:^|[,;.:]\s)(?P<former>[^,;.:]{3,80}) first,? (?:and )?(?:only )?then,? (?P<latter>[^,;.]{3,80})",
    re.IGNORECASE,
)
_THEN_FIRST: Final = re.compile(
    r"\b(?:then|next|afterwards|finally|lastly|subsequently|first|until|before)\b", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"(?:^|\s)(?:step )?\d{1,2}[.)]\s", re.IGNORECASE)
_TURNING: Final = re.compile(r"\b(?:before|until|prior to)\b", re.IGNORECASE)


def changed_order(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim has two things in another order than its source, or ``None``."""
    for order in _orders(claim):
        found = _places(order, sources)
        if found is not None and found[0] > found[1]:
            return Departure(DistortionType.RELATION_ALTERED, Rule.ORDER, order.cue, found[2], found[2].whole)
        turned = _turned(order, claim, sources)
        if turned is not None:
            return turned
    return None


def _turned(order: "_Order", claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the sentence that says "the one before the other" of what a claim says the other way round."""
    found: Departure | None = None
    for source in sources:
        theirs = source.once(_orders)
        if len(theirs) != 1 or is_negated(source.text) != is_negated(claim.text):
            continue
        known = theirs[0]
        if min(_likeness(order.first, known.first), _likeness(order.second, known.second)) >= _SAME_THING:
            return None  # "after each use" stands there as well as "before each use"
        crossed = min(_likeness(order.first, known.second), _likeness(order.second, known.first))
        straight = max(_likeness(order.first, known.first), _likeness(order.second, known.second))
        if crossed >= _SAME_THING and straight < FOUND:
            kind = DistortionType.RELATION_ALTERED
            found = found or Departure(kind, Rule.ORDER, claim.whole, source, source.whole, is_same=True)
    return found


_SAME_THING: Final = 0.6
"""Share of the words of either side that the other must hold."""


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return min(share(one, other), share(other, one))


class _Order:
    """A claim that one thing comes before another."""

    __slots__ = ("cue", "first", "second")

    def __init__(self, first: frozenset[str], second: frozenset[str], cue: Span) -> None:
        self.first = first - second
        self.second = second - first
        self.cue = cue


def _orders(claim: Reading) -> tuple[_Order, ...]:
    listed = _FIRST_THEN.search(claim.text)
    if listed:
        one, two = listed["one"] or listed["former"], listed["two"] or listed["latter"]
        return (_Order(roots(one), roots(two), claim.span(*listed.span())),)
    cues = sorted(
        [(match, True) for match in _BEFORE.finditer(claim.text)]
        + [(match, False) for match in _AFTER.finditer(claim.text)],
        key=lambda item: item[0].start(),
    )
    found: list[_Order] = []
    for at, (cue, is_before) in enumerate(cues[:_MAX_CUES]):
        if cue.start() == 0:
            left, _, right = claim.text[cue.end() :].partition(",")
            one, two = roots(right), roots(left)
        else:
            end = cues[at + 1][0].start() if at + 1 < len(cues) else len(claim.text)
            # What follows a comma is said of the whole: "returned after the lease ends, less the cost of damage".
            behind = claim.text[cue.end() : end].partition(",")[0]
            one, two = roots(_CASE.sub("", claim.text[: cues[0][0].start()])), roots(behind)
        if one - two and two - one:
            found.append(_Order(*((one, two) if is_before else (two, one)), claim.span(*cue.span())))
    return tuple(found)


_MAX_CUES: Final = 4
_CASE: Final = re.compile(r"^\s*(?:if|when|whenever|in case of|in the event of)\b[^,;.]{3,80},\s", re.IGNORECASE)
"""The case of which a sentence gives the order: "If the alarm sounds, stop it before opening the door"."""


def _places(order: _Order, sources: list[Reading]) -> tuple[int, int, Reading] | None:
    """Return where the two things stand in the one source that holds both, and that source's sentence."""
    by_fact: dict[int, list[Reading]] = {}
    for source in sources:
        by_fact.setdefault(source.fact_index, []).append(source)
    for listed in by_fact.values():
        ordered = sorted(listed, key=lambda one: one.start)
        text = " ".join(one.text for one in ordered)
        if not _THEN_FIRST.search(text) and len(_NUMBERED.findall(text)) < _MIN_STEPS:
            continue
        steps = [piece for one in ordered for piece in pieces(one) if not _is_title(piece, one)]
        first, second = _place(order.first, order.second, steps), _place(order.second, order.first, steps)
        if first is None or second is None or first == second:
            continue
        if any(_TURNING.search(steps[at].text) for at in (first, second)):
            continue
        return first, second, steps[second]
    return None


def _is_title(piece: Reading, sentence: Reading) -> bool:
    """Say whether a piece opens its fact and tells of no step: a heading, or what stands before a colon."""
    opens = sentence.place == 0 and piece.start == sentence.start
    return opens and (len(piece.tokens) < _MIN_STEP_WORDS or sentence.text[len(piece.text) :].startswith(":"))


_MIN_STEP_WORDS: Final = 5
_MIN_STEPS: Final = 2


def _place(wanted: frozenset[str], other: frozenset[str], steps: list[Reading]) -> int | None:
    """Return the number of the first piece that holds most of the words, and no more of the other thing's."""
    rates = [share(wanted, step.content) for step in steps]
    best = max(rates, default=0.0)
    if best < FOUND:
        return None
    listed = [at for at, rate in enumerate(rates) if rate == best and share(other, steps[at].content) < best]
    return listed[0] if listed else None
