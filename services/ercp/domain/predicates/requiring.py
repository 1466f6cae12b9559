"""From a sentence that demands something to its predicate, where that is plain (ERCP 1.0 §2 constraint duality).

"The deadline must be at most 30 days" is ``LessThan(deadline, 30 day, inclusive=true)``. A sentence that says two
things, or nothing that a rule reads, gives no predicate.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from services.ercp.domain.predicates.extraction import extract_facts
from services.ercp.domain.predicates.facts import Comparison, OrderFact, Span, Subject, TextFacts, ValueFact
from services.ercp.domain.predicates.model import Predicate, PredicateError
from services.ercp.domain.predicates.naming import WORD, stem_of
from services.ercp.domain.predicates.parsing import parse_predicate, parse_text
from services.ercp.domain.predicates.phrases import DIMENSIONS, LEXICAL
from services.ercp.domain.predicates.values import ABOUT_TOLERANCE, CALENDAR, TEXTUAL

_SIGNS: Final = {
    "<": ("LessThan", False),
    "<=": ("LessThan", True),
    ">": ("GreaterThan", False),
    ">=": ("GreaterThan", True),
    "=": ("Equal", False),
    "!=": ("NotEqual", False),
}
_NAMES: Final = " ".join([*LEXICAL.values(), *DIMENSIONS.values(), "maximum minimum temperature material"])


def requirement_in(sentence: str) -> Predicate | None:
    """Return the predicate that a sentence states in words, or ``None`` when it is not plain which one.

    Args:
        sentence: one sentence, such as the ``nl_text`` of a constraint.
    """
    with suppress(PredicateError):
        return parse_text(sentence)  # "BoilingPointAtSeaLevel ≈ 100 °C" (§12)
    facts = extract_facts(sentence, [Span(0, len(sentence))])
    found = [
        *(_of_value(fact, facts) for fact in facts.values),
        *(_of_comparison(comparison, sentence) for comparison in facts.comparisons),
        *(_of_order(order) for order in facts.orders),
    ]
    return found[0] if len(found) == 1 else None


def path_of(subject: Subject, text: str) -> str:
    """Return an entity and its attribute as a path, in the words of the text where they stand there."""
    surfaces: dict[str, str] = {}
    for word in WORD.findall(f"{_NAMES} {text}"):
        surfaces.setdefault(stem_of(word), word.lower())
    parts = (subject.entity, subject.attribute)
    return ".".join("_".join(_clean(surfaces.get(word, word) for word in words)) for words in parts if words)


def demand_of(fact: ValueFact, text: str) -> Predicate | None:
    """Return the predicate that demands of another text what this fact asserts; ``None`` where no predicate can."""
    args: dict[str, object] = {"left": path_of(fact.subject, text)}
    name = "NotEqual" if fact.negated else "Equal"
    if fact.dimension == CALENDAR:
        return None  # when something happened is an order of events, or a date that only its day tells
    if fact.dimension == TEXTUAL:
        args["right"] = fact.text
    elif fact.number:
        args |= {"right": fact.number, "unit": fact.unit}
        if fact.approximate:
            args["tolerance"] = ABOUT_TOLERANCE
    else:
        bound = _bound(fact)
        if bound is None:
            return None
        name, inclusive, number = bound
        args |= {"right": number, "unit": fact.unit, "inclusive": inclusive}
    if fact.condition.words:
        args["condition"] = fact.condition.text
    return _parsed(name, args)


def _of_value(fact: ValueFact, facts: TextFacts) -> Predicate | None:
    return demand_of(fact, facts.text)


def _bound(fact: ValueFact) -> tuple[str, bool, str] | None:
    """Return operator, inclusiveness and number of "at most 30 days"; a range of two has no one predicate."""
    assert fact.interval is not None
    if not fact.bound or (fact.interval.low is None) == (fact.interval.high is None):
        return None
    if fact.interval.low is None:
        return "LessThan", fact.interval.high_closed, fact.bound
    return "GreaterThan", fact.interval.low_closed, fact.bound


def _of_comparison(comparison: Comparison, text: str) -> Predicate | None:
    name, inclusive = _SIGNS[comparison.relation]
    left, right = path_of(comparison.left, text), path_of(comparison.right, text)
    if name in {"Equal", "NotEqual"}:
        right = right if "." in right else f"{right}.value"
        return _parsed(name, {"left": left, "right": right})
    return _parsed(name, {"left": left, "right": right, "inclusive": inclusive})


def _of_order(order: OrderFact) -> Predicate | None:
    return _parsed("TemporalOrder", {"before": order.before_text, "after": order.after_text})


def _clean(words: Iterable[str]) -> list[str]:
    return ["".join(char for char in re.split("['\u2019]", word)[0] if char.isalnum()) for word in words]


def _parsed(name: str, args: dict[str, object]) -> Predicate | None:
    try:
        return parse_predicate(name, args)
    except PredicateError:
        return None
