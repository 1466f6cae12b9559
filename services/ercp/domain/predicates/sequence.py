"""The order in which a text names two steps: in a list, a timetable, or one sentence after the other (ADR 0116).

For TemporalOrder where no "before", "after" or "then" decides. A step is where most of its own words stand; words that
both steps share tell nothing. Sentences that speak of time otherwise stay open.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.reading.lexicon import BASE_VERBS, IMPERATIVES
from services.common.reading.terms import terms
from services.ercp.domain.predicates.aligning import Measure, measure_of, places_of
from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.layout import blocks_of
from services.ercp.domain.predicates.model import Predicate, Text
from services.ercp.domain.predicates.values import CALENDAR, CLOCK, YEARLY

_IN_ROWS: Final = 0.5
_IN_SENTENCES: Final = 0.6
"""Share of a step's own words that a row, or a sentence, must hold to be the step."""
_NOT_ORDERED: Final = re.compile(
    r"\b(?:before|after|until|once|earlier|previously|already|while|unless|if)\b|\bnot\b|n['\u2019]t\b", re.IGNORECASE
)
_OPENING: Final = re.compile(r"\s*(?:(?:then|next|now|finally|lastly|and)\b[\s,]*)*(?P<verb>[A-Za-z]+)", re.IGNORECASE)
_VERBS: Final = IMPERATIVES | BASE_VERBS
_LIGHT: Final = terms(
    "start begin end finish come go take make do get put first last step anything something stuff thing things section "
    "part"
)


def judge(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Say whether the text names one step before another, by where it names them."""
    if not isinstance(predicate.left, Text) or not isinstance(predicate.right, Text):
        return _open(predicate)
    first, second = terms(predicate.left.text) - _LIGHT, terms(predicate.right.text) - _LIGHT
    first, second = first - second, second - first
    if not first or not second:
        return _open(predicate)
    for block in blocks_of(facts):
        answer = _ordered(predicate, facts, [row.span for row in block.rows], (first, second), _IN_ROWS)
        if answer is not None:
            return answer
    if "?" in facts.text:
        return _open(predicate)
    answer = _ordered(predicate, facts, facts.sentences, (first, second), _IN_SENTENCES)
    if answer is not None and all(_is_step(facts, span) for span in answer.evidence):
        return answer
    return _timed(predicate, facts, (first, second)) or _open(predicate)


def _timed(predicate: Predicate, facts: TextFacts, events: tuple[frozenset[str], frozenset[str]]) -> Evaluation | None:
    """Order two steps by the time of day, or the date, that each one's sentence gives: "at eight", "on 3 May"."""
    said_there = [terms(facts.text[part.start : part.end]) for part in facts.sentences]
    places = [_place(event, said_there, _IN_ROWS) for event in events]
    if places[0] is None or places[1] is None or places[0] == places[1]:
        return None
    first, second = (_only_time(facts, facts.sentences[at]) for at in places if at is not None)
    if first is None or second is None or first.kind != second.kind or first.amount == second.amount:
        return None
    is_before = first.amount < second.amount
    spans = tuple(sorted((facts.sentences[at] for at in places if at is not None), key=lambda span: span.start))
    order = f'"{said(predicate.left)}" {"before" if is_before else "after"} "{_right(predicate)}"'
    return Evaluation(Holds.TRUE if is_before else Holds.FALSE, spans, f"by their times the text has {order}")


def _only_time(facts: TextFacts, sentence: Span) -> Measure | None:
    """Return the one time of day or date of a sentence."""
    found = [
        measure
        for place in places_of(facts)
        if sentence.start <= place.value.start < sentence.end
        and place.side is None
        and not place.negated
        and (measure := measure_of(place.value)) is not None
        and measure.kind in _TIMES
    ]
    return found[0] if len(found) == 1 else None


_TIMES: Final = frozenset({CLOCK, CALENDAR, YEARLY})


def _is_step(facts: TextFacts, span: Span) -> bool:
    """Say whether a sentence tells to do something next: it begins with a verb, and speaks of time in no other way."""
    sentence = facts.text[span.start : span.end]
    opening = _OPENING.match(sentence)
    if sentence.lstrip().startswith("#"):
        return True  # the heading of a section
    is_told = opening is not None and opening["verb"].lower() in _VERBS
    return is_told and _NOT_ORDERED.search(sentence) is None


def _ordered(
    predicate: Predicate,
    facts: TextFacts,
    parts: Sequence[Span],
    events: tuple[frozenset[str], frozenset[str]],
    least: float,
) -> Evaluation | None:
    said_there = [terms(facts.text[part.start : part.end]) for part in parts]
    places = [_place(event, said_there, least) for event in events]
    before, after = places
    if before is None or after is None or before == after:
        return None
    holds = Holds.TRUE if before < after else Holds.FALSE
    spans = tuple(sorted((parts[before], parts[after]), key=lambda span: span.start))
    order = f'"{said(predicate.left)}" {"before" if before < after else "after"} "{_right(predicate)}"'
    return Evaluation(holds, spans, f"the text names {order}")


def _place(event: frozenset[str], said_there: Sequence[frozenset[str]], least: float) -> int | None:
    """Return the only part that holds most of a step's words."""
    scored = sorted(((len(event & words) / len(event), -at) for at, words in enumerate(said_there)), reverse=True)
    if not scored or scored[0][0] < least:
        return None
    if len(scored) > 1 and scored[1][0] == scored[0][0]:
        return None
    return -scored[0][1]


def _right(predicate: Predicate) -> str:
    assert predicate.right is not None
    return said(predicate.right)


def _open(predicate: Predicate) -> Evaluation:
    return Evaluation(Holds.UNKNOWN, (), f'the text does not say whether "{said(predicate.left)}" comes first')
