"""Whether everything that a text says of an entity agrees: values, events and plain statements (ERCP 1.0 §8).

Two values under different conditions are no contradiction. Linear but for a sort: all intervals of one attribute have a
value in common exactly when the greatest low bound and the least high bound have.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Interval, Span, Statement, TextFacts, ValueFact
from services.ercp.domain.predicates.model import Amount, Path
from services.ercp.domain.predicates.naming import path_words
from services.ercp.domain.predicates.ordering import order_clash
from services.ercp.domain.predicates.selection import about_entity, subject_words
from services.ercp.domain.predicates.values import TEXTUAL, agree_as_written

Clash = tuple[Span, Span, str]
"""Two places that cannot both be true, and why."""


def entity_agrees(path: Path, facts: TextFacts) -> Evaluation:
    """Say whether all that a text asserts about an entity can be true at once."""
    wanted = frozenset(path_words(path))
    values = about_entity(facts.values, path)
    statements = [
        statement for statement in facts.statements if wanted <= frozenset((*statement.subject, *statement.predicate))
    ]
    clash = value_clash(values) or statement_clash(statements) or order_clash(wanted, facts)
    if clash is not None:
        first, second, why = clash
        places = tuple(sorted({first, second}, key=lambda span: (span.start, span.end)))
        return Evaluation(Holds.FALSE, places, f"the text contradicts itself about the {said(path)}: {why}")
    spans = [fact.span for fact in values] + [statement.span for statement in statements]
    if not spans:
        return Evaluation(Holds.UNKNOWN, (), f"the text asserts nothing about the {said(path)}")
    first_spans = tuple(dict.fromkeys(sorted(spans, key=lambda span: (span.start, span.end))))[:8]
    return Evaluation(Holds.TRUE, first_spans, f"nothing that the text says of the {said(path)} contradicts the rest")


def value_clash(values: Iterable[ValueFact]) -> Clash | None:
    """Return two values of one attribute under one condition that cannot both be true."""
    groups: defaultdict[tuple[frozenset[str], frozenset[str]], list[ValueFact]] = defaultdict(list)
    for fact in values:
        groups[frozenset(subject_words(fact)), fact.condition.words].append(fact)
    for group in groups.values():
        clash = _in_group(group)
        if clash is not None:
            return clash
    return None


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
        if fact.dimension != with_unit[0].dimension:
            return _clash(with_unit[0], fact)
    return None


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
    seen: dict[tuple[frozenset[str], frozenset[str], frozenset[str]], Statement] = {}
    for statement in statements:
        key = (frozenset(statement.subject), frozenset(statement.predicate), statement.condition.words)
        other = seen.setdefault(key, statement)
        if other.negated != statement.negated:
            return other.span, statement.span, "one statement denies the other"
    return None
