"""Whether everything that a text says of an entity agrees: values, events and plain statements (ERCP 1.0 §8).

Two values under different conditions are no contradiction. Linear but for a sort: all intervals of one attribute have a
value in common exactly when the greatest low bound and the least high bound have.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import (
    Evaluation,
    Holds,
    Interval,
    Span,
    Statement,
    TextFacts,
    ValueFact,
    Words,
)
from services.ercp.domain.predicates.model import Amount, Path
from services.ercp.domain.predicates.naming import path_words
from services.ercp.domain.predicates.ordering import order_clash
from services.ercp.domain.predicates.selection import about_entity
from services.ercp.domain.predicates.units import PER, above_line, are_inverse, dimension_of
from services.ercp.domain.predicates.values import ABOUT, TEXTUAL, agree_as_written

Clash = tuple[Span, Span, str]
"""Two places that cannot both be true, and why."""


def entity_agrees(path: Path, facts: TextFacts) -> Evaluation:
    """Say whether all that a text asserts about an entity can be true at once."""
    wanted = frozenset(path_words(path))
    values = about_entity(facts, path)
    statements = [
        statement for statement in facts.statements if wanted <= frozenset((*statement.subject, *statement.predicate))
    ]
    clash = value_clash(values) or statement_clash(statements) or order_clash(wanted, facts)
    if clash is not None:
        first, second, why = clash
        places = tuple(sorted({first, second}, key=lambda span: (span.start, span.end)))
        return Evaluation(Holds.FALSE, places, f"the text contradicts itself about the {said(path)}: {why}")
    if not facts.is_complete:
        return Evaluation(Holds.UNKNOWN, (), "the text holds more amounts and dates than are read")
    spans = [fact.span for fact in values] + [statement.span for statement in statements]
    if not spans:
        return Evaluation(Holds.UNKNOWN, (), f"the text asserts nothing about the {said(path)}")
    first_spans = tuple(dict.fromkeys(sorted(spans, key=lambda span: (span.start, span.end))))[:8]
    return Evaluation(Holds.TRUE, first_spans, f"nothing that the text says of the {said(path)} contradicts the rest")


def contradictions(facts: TextFacts) -> tuple[Clash, ...]:
    """Return the places of a text that cannot both be true, whatever they are about, in text order.

    One pass over the facts, where ``entity_agrees`` for every entity in turn would be a pass for each.
    """
    found = [clash for group in _groups(facts.values) if (clash := _in_group(group)) is not None]
    found += statement_clashes(facts.statements)
    order = order_clash((), facts)
    return tuple(sorted([*found, *([order] if order else [])], key=lambda clash: (clash[1].start, clash[0].start)))


def value_clash(values: Iterable[ValueFact]) -> Clash | None:
    """Return two values of one attribute under one condition that cannot both be true."""
    return next((clash for group in _groups(values) if (clash := _in_group(group)) is not None), None)


def _groups(values: Iterable[ValueFact]) -> Iterable[list[ValueFact]]:
    """Put the facts about one thing under one condition together; "the bridge" is the one bridge that was named."""
    groups: defaultdict[tuple[frozenset[str], Words, frozenset[str]], list[ValueFact]] = defaultdict(list)
    full: defaultdict[tuple[str, Words], set[frozenset[str]]] = defaultdict(set)
    for fact in values:
        if fact.subject.entity:
            full[fact.subject.entity[-1], fact.subject.attribute].add(frozenset(fact.subject.entity))
    owners: defaultdict[Words, set[frozenset[str]]] = defaultdict(set)
    for fact in values:
        if fact.subject.entity:
            owners[fact.subject.attribute].add(frozenset(fact.subject.entity))
    for fact in values:
        entity = frozenset(fact.subject.entity)
        if not entity and len(fact.subject.attribute) > 1 and len(owners[fact.subject.attribute]) == 1:
            # "The planned pace" is the runner's when the text knows no other.
            entity = next(iter(owners[fact.subject.attribute]))
        named = full[fact.subject.entity[-1], fact.subject.attribute] if fact.subject.entity else set()
        longer = {other for other in named if entity < other}
        whole = longer.pop() if len(longer) == 1 else entity
        groups[whole, fact.subject.attribute, fact.condition.words].append(fact)
    return groups.values()


def _in_group(group: Sequence[ValueFact]) -> Clash | None:
    plain = [fact for fact in group if not fact.negated]
    denied = [fact for fact in group if fact.negated]
    numbers = [fact for fact in plain if fact.interval is not None]
    texts = [fact for fact in plain if fact.dimension == TEXTUAL]
    clash = _different_dimensions(numbers) or _disjoint(numbers) or _different_texts(texts)
    if clash is not None:
        return clash
    asserted = {_written(fact): fact for fact in plain if fact.interval is None or fact.interval.is_point}
    for fact in denied:
        other = asserted.get(_written(fact))
        if other is not None:
            return other.span, fact.span, f"{other.written} is asserted and denied"
    return None


def _written(fact: ValueFact) -> tuple[str, object]:
    return (fact.dimension, fact.text or (fact.interval.low if fact.interval else None))


def _different_dimensions(facts: Sequence[ValueFact]) -> Clash | None:
    with_unit = [fact for fact in facts if fact.unit]
    for fact in with_unit[1:]:
        if fact.dimension != with_unit[0].dimension and not _are_rates(with_unit[0], fact):
            return _clash(with_unit[0], fact)
    return None


def _are_rates(first: ValueFact, second: ValueFact) -> bool:
    """Say whether two values of different dimensions may be one: 20 mg and 20 mg per day, a pace and its speed."""
    if are_inverse(first.dimension, second.dimension):
        return not _inverse_differs(first, second)
    has_line = (PER in first.unit) != (PER in second.unit)
    return has_line and dimension_of(above_line(first.unit)) == dimension_of(above_line(second.unit))


def _inverse_differs(first: ValueFact, second: ValueFact) -> bool:
    """Say whether a pace of 5 min/km and a speed of 20 km/h are two: their product is not one, rounding aside."""
    ends = (each.interval.low for each in (first, second) if each.interval is not None and each.interval.is_point)
    known = [each for each in ends if each is not None]
    return len(known) == 2 and abs(known[0] * known[1] - 1) > ABOUT  # noqa: PLR2004 - one of each


def _disjoint(facts: Sequence[ValueFact]) -> Clash | None:
    by_dimension: defaultdict[str, list[ValueFact]] = defaultdict(list)
    for fact in facts:
        by_dimension[fact.dimension].append(fact)
    for same in by_dimension.values():
        clash = _first_disjoint(same)
        if clash is not None:
            return clash
    return None


def _first_disjoint(facts: Sequence[ValueFact]) -> Clash | None:
    """Return the first fact that has no value in common with those before it, and one of them that excludes it."""
    common = Interval()
    low_holder = high_holder = facts[0]
    for fact in facts:
        assert fact.interval is not None
        met = common.intersection(fact.interval)
        if not met.is_empty:
            if met.low != common.low or met.low_closed != common.low_closed:
                low_holder = fact
            if met.high != common.high or met.high_closed != common.high_closed:
                high_holder = fact
            common = met
            continue
        other = high_holder if not _meets(fact, high_holder) else low_holder
        if not _agree(fact, other):
            return _clash(other, fact)
    return None


def _meets(first: ValueFact, second: ValueFact) -> bool:
    assert first.interval is not None
    assert second.interval is not None
    return first.interval.meets(second.interval)


def _agree(first: ValueFact, second: ValueFact) -> bool:
    """Say whether two values in different units are one value, rounded."""
    if not first.number or not second.number:
        return False
    amounts = (Amount(Decimal(fact.number), fact.unit) for fact in (first, second))
    return agree_as_written(*amounts)


def _different_texts(facts: Sequence[ValueFact]) -> Clash | None:
    for fact in facts[1:]:
        if fact.text != facts[0].text:
            return _clash(facts[0], fact)
    return None


def _clash(first: ValueFact, second: ValueFact) -> Clash:
    return first.span, second.span, f"{first.written} against {second.written}"


def statement_clash(statements: Iterable[Statement]) -> Clash | None:
    """Return two statements of which one denies the other."""
    return next(iter(statement_clashes(statements)), None)


def statement_clashes(statements: Iterable[Statement]) -> list[Clash]:
    """Return the statements of which one denies an earlier one."""
    found: list[Clash] = []
    seen: dict[tuple[frozenset[str], frozenset[str]], Statement] = {}
    for statement in statements:
        key = (frozenset((*statement.subject, *statement.predicate)), statement.condition.words)
        other = seen.setdefault(key, statement)
        if other.negated != statement.negated:
            found.append((other.span, statement.span, "one statement denies the other"))
    return found
