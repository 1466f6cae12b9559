"""Two attributes of a text beside each other, each by the value that is said of it (ADR 0116, 0117).

The words that tell one attribute from the other find its value. Where a text gives two values of a kind and one is
plainly of one attribute, the other value is of the other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from services.common.reading.intervals import APART
from services.common.reading.nearness import said_of
from services.common.reading.places import Place
from services.common.reading.terms import terms
from services.ercp.domain.predicates.aligning import MARGIN, NEAR, Measure, measure_of, places_of, words_of_path
from services.ercp.domain.predicates.describing import demand, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.model import Path, Predicate, PredicateName
from services.ercp.domain.predicates.values import CALENDAR, YEARLY

_SHARED_WEIGHT: Final = 0.5
_TWO: Final = 2
_DATED: Final = terms("date deadline start end release launch departure arrival delivery due birthday expiry renewal")
_APART_WORDS: Final = terms("interval gap distance pause time between cycle period apart")
_ALIKE: Final = tuple(
    terms(words)
    for words in (
        "old older previous predecessor former prior earlier last",
        "new newer next successor upcoming coming current",
        "weekend weekends saturday sunday",
        "weekday weekdays monday friday",
        "read reading",
        "write writing",
    )
)
"""Words that tell attributes from each other and may stand for one another."""
_RELATIONS: Final[Mapping[PredicateName, tuple[str, ...]]] = {
    PredicateName.EQUAL: ("=",),
    PredicateName.NOT_EQUAL: ("<", ">"),
    PredicateName.LESS_THAN: ("<",),
    PredicateName.GREATER_THAN: (">",),
}


def judge_attributes(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Compare two attributes where the text plainly gives both, by values of one kind."""
    assert isinstance(predicate.left, Path)
    assert isinstance(predicate.right, Path)
    own, others = (terms(words_of_path(path).replace("_", " ")) for path in (predicate.left, predicate.right))
    by_kind = defaultdict[str, list[tuple[Place, Measure]]](list)
    for place in places_of(facts):
        measure = measure_of(place.value)
        if measure is not None and not place.negated and not place.label and _is_asked(measure, own | others):
            by_kind[measure.kind].append((place, measure))
    pairs = [pair for found in by_kind.values() if (pair := _pair(found, own, others)) is not None]
    if len(pairs) != 1:
        return _open(predicate)
    (first, mine), (second, theirs) = pairs[0]
    if first.side is not second.side or mine.per != theirs.per:
        return _open(predicate)
    if mine.per == APART and not (own | others) & _APART_WORDS:
        mine, theirs = theirs, mine  # how often is the inverse of how far apart
    why = f"the text says {first.value.text} and {second.value.text}, demanded is {demand(predicate)}"
    spans = sorted((Span(one.value.start, one.value.end) for one in (first, second)), key=lambda span: span.start)
    return Evaluation(_holds(predicate, mine.amount, theirs.amount), tuple(spans), why)


def _is_asked(measure: Measure, words: frozenset[str]) -> bool:
    """Say whether a value may be of attributes with these words: a date is only of what has a date."""
    return measure.kind not in {CALENDAR, YEARLY} or bool(words & _DATED)


def _holds(predicate: Predicate, mine: Fraction, theirs: Fraction) -> Holds:
    sign = "=" if mine == theirs else "<" if mine < theirs else ">"
    allowed = _RELATIONS[predicate.name] + (("=",) if predicate.inclusive else ())
    return Holds.TRUE if sign in allowed else Holds.FALSE


def _pair(
    found: Sequence[tuple[Place, Measure]], own: frozenset[str], others: frozenset[str]
) -> tuple[tuple[Place, Measure], tuple[Place, Measure]] | None:
    """Return the values of one kind that are of the two attributes."""
    first, second = _nearest(found, own, others), _nearest(found, others, own)
    if first is not None and second is not None:
        return (first, second) if first is not second else None
    if len(found) != _TWO or (first is None and second is None):
        return None
    known = first or second
    rest = found[1] if known is found[0] else found[0]
    # The other value must have something of what is asked, as its unit or its words.
    if not (rest[1].kind or (own & others) & (rest[0].sentence | rest[0].heading)):
        return None
    return (first, rest) if first is not None else (rest, second)  # type: ignore[return-value]


def _nearest(
    found: Sequence[tuple[Place, Measure]], own: frozenset[str], others: frozenset[str]
) -> tuple[Place, Measure] | None:
    """Return the value of which the words are said that tell an attribute from the other, when it is the only one."""
    telling, against, shared = own - others, others - own, own & others
    if not telling:
        return None
    total = len(telling) + _SHARED_WEIGHT * len(shared)
    weights = dict.fromkeys(sorted(shared), _SHARED_WEIGHT)
    scored = sorted(
        (
            (
                sum(_said(term, each[0]) for term in telling)
                + said_of(weights, each[0])
                - sum(1 for term in against if _variants(term) & each[0].stretch),
                -number,
            )
            for number, each in enumerate(found)
        ),
        reverse=True,
    )
    best = scored[0][0]
    if best < NEAR * total or (len(scored) > 1 and best - scored[1][0] < MARGIN * total):
        return None
    return found[-scored[0][1]]


def _said(term: str, place: Place) -> float:
    return max(said_of({each: 1.0}, place) for each in sorted(_variants(term)))


def _variants(term: str) -> frozenset[str]:
    return next((alike for alike in _ALIKE if term in alike), frozenset({term}))


def _open(predicate: Predicate) -> Evaluation:
    return Evaluation(
        Holds.UNKNOWN, (), f"no two values of the text are plainly those that are compared: {said(predicate.left)}"
    )
