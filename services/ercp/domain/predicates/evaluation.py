"""Whether a text obeys a predicate: TRUE and FALSE with the places that show it, otherwise UNKNOWN (ERCP 1.0 §7, §8).

TRUE needs an assertion of the text that fits and none that does not; FALSE needs one that does not fit. Text that says
nothing about the predicate never changes the answer (ADR 0070).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

from services.common.reading.ratios import SHARE
from services.ercp.domain.predicates import choices, listing, relating, sequence, texts, together
from services.ercp.domain.predicates.agreement import entity_agrees
from services.ercp.domain.predicates.assured import assured, may_be_same, unless_unread
from services.ercp.domain.predicates.dated_steps import by_days
from services.ercp.domain.predicates.describing import demand, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Interval, Selection, Span, TextFacts, ValueFact
from services.ercp.domain.predicates.model import Amount, Operand, Path, Predicate, PredicateName, Range, Steps, Text
from services.ercp.domain.predicates.naming import condition_of, path_words, words_of
from services.ercp.domain.predicates.ordering import events_in_order
from services.ercp.domain.predicates.reasons import claim_is_justified
from services.ercp.domain.predicates.selection import selected
from services.ercp.domain.predicates.sifting import MANY, MOST_SHOWN, Sieve
from services.ercp.domain.predicates.units import (
    CURRENCIES,
    DIMENSIONLESS,
    PER,
    above_line,
    are_inverse,
    dimension_of,
    in_base,
)
from services.ercp.domain.predicates.values import (
    CALENDAR,
    TEXTUAL,
    Constant,
    agree_as_written,
    constant_of,
    demanded,
    same_text,
    year_of,
)

_MAX_EVIDENCE: Final = MOST_SHOWN
_WAYS: Final = {
    "<": frozenset("<"), "<=": frozenset("<="), ">": frozenset(">"), ">=": frozenset(">="), "=": frozenset("="),
    "!=": frozenset("<>"),
}  # fmt: skip
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGN_OF: Final = {
    (PredicateName.EQUAL, False): "=",
    (PredicateName.NOT_EQUAL, False): "!=",
    (PredicateName.LESS_THAN, False): "<",
    (PredicateName.LESS_THAN, True): "<=",
    (PredicateName.GREATER_THAN, False): ">",
    (PredicateName.GREATER_THAN, True): ">=",
}
_COMPARING: Final = frozenset({*(name for name, _ in _SIGN_OF), PredicateName.BETWEEN})
_EQUALITY: Final = frozenset({PredicateName.EQUAL, PredicateName.NOT_EQUAL})


def evaluate(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Say whether a text obeys a predicate: by what it asserts in so many words, else by what stands in its place.

    A text is held against a constraint several times, before and after its analysis: the answer is made once.

    Args:
        predicate: what is demanded.
        facts: what ``extract_facts`` read in the text.

    Returns:
        TRUE, FALSE or UNKNOWN, the places it rests on, and one sentence that says why.
    """
    key = (evaluate, predicate)
    found = facts.selected.get(key)
    if not isinstance(found, Evaluation):
        found = facts.selected[key] = _evaluated(predicate, facts)
    return found


def _evaluated(predicate: Predicate, facts: TextFacts) -> Evaluation:
    answer = evaluate_plainly(predicate, facts)
    if answer.holds is not Holds.UNKNOWN and not (answer.holds is Holds.TRUE and together.is_total(predicate)):
        return answer
    further = _further(predicate) if _is_unsaid(predicate, facts) else None
    found = answer if further is None else further(predicate, facts)
    return found if found.holds is not Holds.UNKNOWN else answer


def evaluate_plainly(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Say the same by the plain assertions of the text alone: for demands that were drawn from another text."""
    return _RULES[predicate.name](predicate, facts)


def _is_unsaid(predicate: Predicate, facts: TextFacts) -> bool:
    """Say whether no plain assertion is of the attribute, or only what is for a period or sets a limit.

    What is stated under another condition, or left open in so many words, stays open.
    """
    if predicate.name not in _COMPARING or not isinstance(predicate.left, Path) or together.is_total(predicate):
        return True
    if isinstance(predicate.right, Text) and choices.has_number(predicate.right.text):
        return True  # a number that is a name is none that is compared
    chosen = _chosen(predicate, predicate.left, facts).facts
    return all(
        fact.bound
        or (fact.condition.words and fact.condition.words <= _PERIODS)
        or (_is_rate(predicate) and _period(fact, facts))  # "£550 a year", where a year is demanded
        or facts.text[fact.span.start : fact.value_span.start].rstrip().endswith(":")  # "Rent for the flat: €840"
        for fact in chosen
    )


_PERIODS: Final = frozenset(words_of("per second minute hour day night week month quarter year"))


def _is_rate(predicate: Predicate) -> bool:
    return isinstance(predicate.right, Amount) and PER in predicate.right.unit


def _further(predicate: Predicate) -> Callable[[Predicate, TextFacts], Evaluation] | None:
    """Return how a predicate is held against what stands in its place (ADR 0116)."""
    if predicate.name is PredicateName.TEMPORAL_ORDER:
        return sequence.judge
    if predicate.name not in _COMPARING:
        return None
    if isinstance(predicate.right, Text):
        return choices.judge_equality
    if isinstance(predicate.right, Path):
        return relating.judge_attributes
    if together.is_total(predicate):
        return together.judge_total
    return together.judge_share if together.is_share(predicate) else listing.judge


def _compare(predicate: Predicate, facts: TextFacts) -> Evaluation:
    assert isinstance(predicate.left, Path)
    assert predicate.right is not None
    if isinstance(predicate.right, Path):
        compared = _stated_comparison(predicate, predicate.right, facts)
        if compared is not None:
            return compared
    chosen = _chosen(predicate, predicate.left, facts)
    if not chosen.facts:
        return _unknown(f"the text gives no value for the {said(predicate.left)}{_under(predicate)}")
    if isinstance(predicate.right, Path):
        return _compare_attributes(predicate, chosen.facts, facts)
    right = constant_of(predicate.right)
    assert right is not None
    chosen = assured(predicate, chosen, facts)
    if not chosen.facts:
        return _unknown(f"what the text says of the {said(predicate.left)} is not plainly its value")

    def holds_of(fact: ValueFact) -> Holds:
        is_open = may_be_same(predicate.right, fact)
        return Holds.UNKNOWN if is_open else _one(predicate, right, fact)

    if len(chosen.facts) < MANY:
        answer = _joined(predicate, _decisive(chosen, holds_of), is_stated=chosen.is_stated)
        return unless_unread(answer, predicate, facts)
    answers = _sieve(chosen).telling(predicate, right, holds_of, ahead=0 if chosen.is_stated else _MAX_EVIDENCE)
    return _joined(predicate, answers, is_stated=chosen.is_stated)


def _stated_comparison(predicate: Predicate, right: Path, facts: TextFacts) -> Evaluation | None:
    """Hold "the cost is less than the budget" against a predicate that compares the two."""
    assert isinstance(predicate.left, Path)
    left_words, right_words = frozenset(path_words(predicate.left)), frozenset(path_words(right))
    answers: list[tuple[Span, Holds]] = []
    for comparison in facts.comparisons:
        sides = tuple(frozenset((*side.entity, *side.attribute)) for side in (comparison.left, comparison.right))
        relation = comparison.relation
        if sides == (right_words, left_words):
            relation = _TURNED.get(relation, relation)
        elif sides != (left_words, right_words):
            continue
        answers.append((comparison.span, _follows(predicate, relation)))
    for wanted in (Holds.FALSE, Holds.TRUE):
        spans = [span for span, holds in answers if holds is wanted]
        if spans:
            why = f"the text compares the {said(predicate.left)} with the {said(right)}, {_demand(predicate)}"
            return Evaluation(wanted, _spans(spans), why)
    return None


def _follows(predicate: Predicate, relation: str) -> Holds:
    """Say what a stated relation means for the demanded one, over the three ways in which two values can stand."""
    stated = _WAYS[relation]
    demand_sign = _SIGN_OF[predicate.name, predicate.inclusive]
    demanded_ways = _WAYS[demand_sign]
    if stated <= demanded_ways:
        return Holds.TRUE
    return Holds.UNKNOWN if stated & demanded_ways else Holds.FALSE


def _chosen(predicate: Predicate, path: Path, facts: TextFacts) -> Selection:
    return selected(facts, path, condition_of([predicate.condition]))


def _sieve(chosen: Selection) -> Sieve:
    """Return the sieve of what was chosen, made once."""
    found = chosen.made.get(Sieve)
    if not isinstance(found, Sieve):
        found = chosen.made[Sieve] = Sieve(chosen.facts)
    return found


def _one(predicate: Predicate, right: Constant, fact: ValueFact) -> Holds:
    """Hold one fact against a comparison with a constant."""
    if fact.dimension != right.dimension:
        return _other_dimension(predicate, fact)
    if right.dimension == TEXTUAL:
        is_same = same_text(fact.text, right.text)
        return _as_equality(predicate, is_same=is_same, negated=fact.negated)
    assert fact.interval is not None
    if predicate.name not in _EQUALITY:
        return Holds.UNKNOWN if fact.negated else _inside(fact.interval, demanded(predicate, right))
    allowed = demanded(predicate, right)
    if _is_same_amount(predicate.right, fact):
        return _as_equality(predicate, is_same=True, negated=fact.negated)
    if fact.approximate:
        inside = Holds.TRUE if fact.interval.meets(allowed) else Holds.FALSE
    else:
        inside = _inside(fact.interval, allowed)
    if inside is Holds.UNKNOWN:
        return inside
    return _as_equality(predicate, is_same=inside is Holds.TRUE, negated=fact.negated)


def _other_dimension(predicate: Predicate, fact: ValueFact) -> Holds:
    """Hold kilograms against days: no value of another dimension is the one demanded; a bare number may be."""
    if fact.negated or predicate.name is PredicateName.NOT_EQUAL:
        return Holds.UNKNOWN
    year = year_of(predicate.right) if fact.dimension == CALENDAR else None
    if year is not None:
        return _inside(fact.interval or Interval(), demanded(replace(predicate, right=None), Constant(year, CALENDAR)))
    bare_number = isinstance(predicate.right, Amount) and not predicate.right.unit
    if bare_number and fact.number and isinstance(predicate.right, Amount):
        is_same = predicate.name is PredicateName.EQUAL and Decimal(fact.number) == predicate.right.number
        return Holds.TRUE if is_same else Holds.UNKNOWN
    if fact.dimension == DIMENSIONLESS and not fact.unit:
        return Holds.UNKNOWN
    is_open = _is_rate_of(predicate.right, fact) or (
        predicate.name is not PredicateName.EQUAL and (_is_money(predicate, fact) or _is_share(predicate, fact))
    )
    return Holds.UNKNOWN if is_open else Holds.FALSE


def _is_share(predicate: Predicate, fact: ValueFact) -> bool:
    """Say whether one of the two alone is a share: "10 % but at least €250" is what its whole makes of it."""
    right = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    return isinstance(right, Amount) and SHARE in {right.unit, fact.unit}


def _is_money(predicate: Predicate, fact: ValueFact) -> bool:
    """Say whether both are amounts of money: in another currency one is more or less by its rate alone."""
    right = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    return isinstance(right, Amount) and above_line(right.unit) in CURRENCIES and above_line(fact.unit) in CURRENCIES


def _is_rate_of(right: Operand | None, fact: ValueFact) -> bool:
    """Say whether of two values one is the other per something, or its inverse: 20 mg per day, 5 min/km."""
    if not isinstance(right, Amount):
        return False
    base = in_base(right)
    lines = (PER in right.unit) != (PER in fact.unit)
    same_above = dimension_of(above_line(right.unit)) == dimension_of(above_line(fact.unit))
    return (lines and same_above) or are_inverse(base.dimension, fact.dimension)


def _as_equality(predicate: Predicate, *, is_same: bool, negated: bool) -> Holds:
    if negated and not is_same:
        return Holds.UNKNOWN
    wants_same = predicate.name is PredicateName.EQUAL
    return Holds.TRUE if (is_same != negated) == wants_same else Holds.FALSE


def _is_same_amount(right: Operand | None, fact: ValueFact) -> bool:
    if not isinstance(right, Amount) or not fact.number:
        return False
    return agree_as_written(right, Amount(Decimal(fact.number), fact.unit))


def _inside(stated: Interval, allowed: Interval) -> Holds:
    if stated.within(allowed):
        return Holds.TRUE
    return Holds.UNKNOWN if stated.meets(allowed) else Holds.FALSE


def _compare_attributes(predicate: Predicate, lefts: Sequence[ValueFact], facts: TextFacts) -> Evaluation:
    assert isinstance(predicate.right, Path)
    others = _chosen(predicate, predicate.right, facts)
    rights = others.facts
    if not rights:
        return _unknown(f"the text gives no value for the {said(predicate.right)}{_under(predicate)}")
    pairs = product(lefts[:_MAX_EVIDENCE], rights[:_MAX_EVIDENCE])
    answers = [
        (left, _pair(predicate, left, right) if _period(left, facts) == _period(right, facts) else Holds.UNKNOWN)
        for left, right in pairs
    ]
    evaluation = _joined(predicate, answers, is_stated=others.is_stated)
    spans = _spans([*evaluation.evidence, *(fact.span for fact in rights)]) if evaluation.evidence else ()
    return Evaluation(evaluation.holds, spans, evaluation.why)


def _period(fact: ValueFact, facts: TextFacts) -> str:
    """Return the period that stands behind an amount: 90 euros a month are not less than 500 a year."""
    behind = _BEHIND.match(facts.text, fact.value_span.end)
    return "" if behind is None else behind["period"].lower()


_BEHIND: Final = re.compile(
    r"\s(?:an?|each|every)\s(?P<period>second|minute|hour|day|night|week|month|quarter|year)\b", re.IGNORECASE
)


def _pair(predicate: Predicate, left: ValueFact, right: ValueFact) -> Holds:
    """Hold two facts against each other as the predicate demands."""
    if left.negated or right.negated:
        return Holds.UNKNOWN
    if left.dimension != right.dimension:
        return Holds.FALSE if predicate.name is PredicateName.EQUAL else Holds.UNKNOWN
    if left.dimension == TEXTUAL:
        if predicate.name not in _EQUALITY:
            return Holds.UNKNOWN
        return _as_equality(predicate, is_same=same_text(left.text, right.text), negated=False)
    first, second = left.interval, right.interval
    assert first is not None
    assert second is not None
    return _pair_of_intervals(predicate, first, second)


def _pair_of_intervals(predicate: Predicate, first: Interval, second: Interval) -> Holds:
    if predicate.name in _EQUALITY:
        is_same = first.is_point and first == second
        if not is_same and first.meets(second):
            return Holds.UNKNOWN
        return _as_equality(predicate, is_same=is_same, negated=False)
    if predicate.name is PredicateName.GREATER_THAN:
        first, second = second, first
    return _below(first, second, inclusive=predicate.inclusive)


def _below(first: Interval, second: Interval, *, inclusive: bool) -> Holds:
    """Say whether every value of the first lies below every value of the second."""
    touching = not inclusive and first.high_closed and second.low_closed
    if _under_bound(first.high, second.low, equal=not touching):
        return Holds.TRUE
    if first.low is None or second.high is None:
        return Holds.UNKNOWN
    touching = inclusive and first.low_closed and second.high_closed
    return Holds.FALSE if first.low > second.high or (first.low == second.high and not touching) else Holds.UNKNOWN


def _under_bound(high: Fraction | None, low: Fraction | None, *, equal: bool) -> bool:
    return high is not None and low is not None and (high < low or (high == low and equal))


def _decisive(chosen: Selection, holds_of: Callable[[ValueFact], Holds]) -> Iterator[tuple[ValueFact, Holds]]:
    """Yield what facts say until it decides: more places do not fit than are shown, and no earlier one can follow."""
    wrong: set[tuple[int, int]] = set()
    for fact in chosen.facts:
        holds = holds_of(fact)
        yield fact, holds
        if holds is Holds.FALSE:
            wrong.add((fact.span.start, fact.span.end))
        if chosen.in_order and len(wrong) > _MAX_EVIDENCE:
            return


def _joined(predicate: Predicate, answers: Iterable[tuple[ValueFact, Holds]], *, is_stated: bool) -> Evaluation:
    """Join what the single facts say: one that does not fit decides, unless it speaks of another condition."""
    found = list(answers)
    wrong = [fact for fact, holds in found if holds is Holds.FALSE]
    right = [fact for fact, holds in found if holds is Holds.TRUE]
    subject = said(predicate.left)
    if not is_stated and (wrong or not right):
        under_what = ", ".join(dict.fromkeys(fact.condition.text for fact, _ in found[:_MAX_EVIDENCE]))
        return _unknown(f"the text gives the {subject} only under other conditions: {under_what}")
    if wrong:
        return Evaluation(
            Holds.FALSE, _spans(fact.span for fact in wrong), f"{_values(subject, wrong)}, {_demand(predicate)}"
        )
    if right:
        return Evaluation(
            Holds.TRUE, _spans(fact.span for fact in right), f"{_values(subject, right)}, {_demand(predicate)}"
        )
    return _unknown(f"what the text says of the {subject} leaves it open, {_demand(predicate)}")


def _values(subject: str, facts: Sequence[ValueFact]) -> str:
    written = dict.fromkeys(("not " if fact.negated else "") + fact.written for fact in facts[:_MAX_EVIDENCE])
    return f"the text gives the {subject} as {', '.join(written)}"


def _demand(predicate: Predicate) -> str:
    return f"demanded is {demand(predicate)}"


def _under(predicate: Predicate) -> str:
    return f" under the condition {predicate.condition}" if predicate.condition else ""


def _spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    distinct = sorted({(span.start, span.end) for span in spans})[:_MAX_EVIDENCE]
    return tuple(Span(start, end) for start, end in distinct)


def _unknown(why: str) -> Evaluation:
    return Evaluation(Holds.UNKNOWN, (), why)


def _entity(predicate: Predicate, facts: TextFacts) -> Evaluation:
    assert isinstance(predicate.left, Path)
    return entity_agrees(predicate.left, facts)


def _order(predicate: Predicate, facts: TextFacts) -> Evaluation:
    assert predicate.right is not None
    answer = events_in_order(predicate.left, predicate.right, facts)
    if answer.holds is not Holds.UNKNOWN:
        return answer
    return by_days(predicate.left, predicate.right, facts) or answer


def _reason(predicate: Predicate, facts: TextFacts) -> Evaluation:
    return claim_is_justified(predicate.left, facts)


def _in_words(_: Predicate, __: TextFacts) -> Evaluation:
    return _unknown("no rule understands the words; only the entailment model was asked")


def _sequence(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold every step against the next one: all must come in order, and one that does not breaks the whole."""
    assert isinstance(predicate.left, Steps)
    pairs = pairwise(predicate.left.texts)
    answers = [evaluate(Predicate(PredicateName.TEMPORAL_ORDER, Text(one), Text(other)), facts) for one, other in pairs]
    wrong = next((each for each in answers if each.holds is Holds.FALSE), None)
    if wrong is not None:
        return wrong
    if all(each.holds is Holds.TRUE for each in answers):
        spans = _spans(span for each in answers for span in each.evidence)
        return Evaluation(Holds.TRUE, spans, "the text names the steps in this order")
    return _unknown(next(each.why for each in answers if each.holds is Holds.UNKNOWN))


_RULES: Final[Mapping[PredicateName, Callable[[Predicate, TextFacts], Evaluation]]] = {
    PredicateName.EQUAL: _compare,
    PredicateName.NOT_EQUAL: _compare,
    PredicateName.LESS_THAN: _compare,
    PredicateName.GREATER_THAN: _compare,
    PredicateName.NO_CONTRADICTION: _entity,
    PredicateName.TEMPORAL_ORDER: _order,
    PredicateName.HAS_JUSTIFICATION: _reason,
    PredicateName.BETWEEN: _compare,
    PredicateName.ONE_OF: choices.judge_choice,
    PredicateName.CONTAINS: texts.judge,
    PredicateName.NOT_CONTAINS: texts.judge,
    PredicateName.COUNT: texts.judge,
    PredicateName.MATCHES: texts.judge,
    PredicateName.IN_WORDS: _in_words,
    PredicateName.SEQUENCE: _sequence,
}
