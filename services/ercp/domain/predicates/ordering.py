"""Events of a text in order: what comes before what, over any number of steps (ERCP 1.0 §8 TemporalOrder)."""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Interval, Span, TextFacts, Words
from services.ercp.domain.predicates.model import Moment, Operand
from services.ercp.domain.predicates.naming import event_words, operand_words, words_of
from services.ercp.domain.predicates.selection import subject_words
from services.ercp.domain.predicates.values import CALENDAR, moment_interval

Node = frozenset[str] | tuple[Fraction, int]
"""An event by its words, or a point of time: the 0 side lies before it, the 1 side after it."""
Graph = dict[Node, dict[Node, Span | None]]
_START: Final = "<start>"
_END: Final = "<end>"
_PHASES: Final = {
    **dict.fromkeys(words_of("begin begun start commence"), _START),
    **dict.fromkeys(words_of("end finish complete conclude over"), _END),
}
"""Stems by which a text speaks of an event's start or end."""


def events_in_order(before: Operand, after: Operand, facts: TextFacts) -> Evaluation:
    """Say whether a text puts one event before another."""
    graph, events = _graph(facts, [before, after])
    first, second = _nodes(before, events), _nodes(after, events)
    names = f'"{said(before)}" before "{said(after)}"'
    if not first or not second:
        missing = said(before) if not first else said(after)
        return Evaluation(Holds.UNKNOWN, (), f'the text puts "{missing}" into no order')
    first, second = first - second or first, second - first or second
    if first & second:
        return Evaluation(Holds.UNKNOWN, (), f"the text does not tell {names} apart")
    forth = _path(graph, _ends(first, before), second)
    back = _path(graph, _ends(second, after), first)
    if back is not None and forth is not None and len(first) + len(second) > 2:  # noqa: PLR2004 - one event each
        return Evaluation(Holds.UNKNOWN, (), f"the text names several events, and for some {names} is so")
    if back is not None:
        spans = _sorted_spans([*back, *(forth or ())])
        also = " and also the other way round" if forth is not None else ""
        return Evaluation(Holds.FALSE, spans, f'the text puts "{said(after)}" before "{said(before)}"{also}')
    if forth is not None:
        return Evaluation(Holds.TRUE, _sorted_spans(forth), f"the text puts {names}")
    return Evaluation(Holds.UNKNOWN, (), f"the text does not say whether {names} is so")


def order_clash(wanted: Collection[str], facts: TextFacts) -> tuple[Span, Span, str] | None:
    """Return two places that put the same events in opposite orders, where an event is about the wanted words.

    An event has a start and an end: what is after its end cannot be before its start.
    """
    needed = frozenset(wanted)
    about = [order for order in facts.orders if needed <= {*order.before} or needed <= {*order.after}]
    if not about:
        return None
    graph, known = _phased(facts)
    knotted = _knotted(graph)
    for order in about:
        before, after = known[order.before][1], known[order.after][0]
        if before in knotted and after in knotted:
            back = _path(graph, {after}, {before})
            if back:
                return order.span, back[0], f'"{order.before_text}" before "{order.after_text}" and the other way round'
    return None


def _phased(facts: TextFacts) -> tuple[Graph, dict[Words, tuple[Node, Node]]]:
    """Return what comes before what, with a start and an end for each event, and both for every way to call one.

    "Before the work begins" and "before the work" are before its start, "after the work is complete" after its end. An
    event that is called by some words of another one, two at least, is that one when it is the only one.
    """
    graph: Graph = defaultdict(dict)
    dated = [fact for fact in facts.values if fact.dimension == CALENDAR and fact.interval and not fact.negated]
    names = [words for order in facts.orders for words in (order.before, order.after)]
    names += [event_words(" ".join(subject_words(fact))) for fact in dated]
    cores = _merged({_core(words) for words in names})
    known: dict[Words, tuple[Node, Node]] = {}
    for words in names:
        core = cores[_core(words)]
        start, end = core | {_START}, core | {_END}
        graph[start].setdefault(end, None)
        phases = {_PHASES[word] for word in words if word in _PHASES} if not core <= _PHASES.keys() else set()
        phase = phases.pop() if len(phases) == 1 else ""
        known[words] = (end if phase == _END else start, start if phase == _START else end)
    for order in facts.orders:
        before, after = known[order.before][1], known[order.after][0]
        if before != after:
            graph[before].setdefault(after, order.span)
    points: set[tuple[Fraction, int]] = set()
    for fact in dated:
        assert fact.interval is not None
        for node in known[event_words(" ".join(subject_words(fact)))]:
            points |= _timed(graph, node, fact.interval, fact.span)
    for earlier, later in pairwise(sorted(points)):
        graph[earlier].setdefault(later, None)
    return graph, known


def _core(words: Words) -> frozenset[str]:
    """Return the words of an event without those of its start and end, where any are left."""
    return frozenset(word for word in words if word not in _PHASES) or frozenset(words)


def _merged(cores: set[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
    """Return for each name of an event the fullest one, where only one holds all its words."""
    holding: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for core in cores:
        for word in core:
            holding[word].add(core)
    found = {}
    for core in cores:
        fuller = set.intersection(*(holding[word] for word in core)) - {core} if len(core) > 1 else set()
        found[core] = fuller.pop() if len(fuller) == 1 else core
    return found


def _graph(facts: TextFacts, operands: Sequence[Operand]) -> tuple[Graph, set[frozenset[str]]]:
    """Return what comes before what, and the events that have words; points of time stand in a row of their own."""
    graph: Graph = defaultdict(dict)
    events: set[frozenset[str]] = set()
    points: set[tuple[Fraction, int]] = set()
    for order in facts.orders:
        before, after = frozenset(order.before), frozenset(order.after)
        if before != after:
            graph[before].setdefault(after, order.span)
        events |= {before, after}
    for fact in facts.values:
        if fact.dimension == CALENDAR and fact.interval is not None and not fact.negated:
            event = frozenset(event_words(" ".join(subject_words(fact))))
            events.add(event)
            points |= _timed(graph, event, fact.interval, fact.span)
    for operand in operands:
        if isinstance(operand, Moment):
            interval = moment_interval(operand)
            points |= {point for point in (_start_of(interval), _end_of(interval)) if point is not None}
    row = sorted(points)
    for earlier, later in pairwise(row):
        graph[earlier].setdefault(later, None)
    return graph, events


def _timed(graph: Graph, event: Node, interval: Interval, span: Span) -> set[tuple[Fraction, int]]:
    start, end = _start_of(interval), _end_of(interval)
    if end is not None:
        graph[event].setdefault(end, span)
    if start is not None:
        graph[start].setdefault(event, span)
    return {point for point in (start, end) if point is not None}


def _start_of(interval: Interval) -> tuple[Fraction, int] | None:
    return None if interval.low is None else (interval.low, 0 if interval.low_closed else 1)


def _end_of(interval: Interval) -> tuple[Fraction, int] | None:
    return None if interval.high is None else (interval.high, 1 if interval.high_closed else 0)


def _nodes(operand: Operand, events: set[frozenset[str]]) -> set[Node]:
    """Return the events that an operand can mean: those with all its words, else the only one with some of them."""
    if isinstance(operand, Moment):
        point = _start_of(moment_interval(operand))
        assert point is not None
        return {point}
    wanted = frozenset(operand_words(operand))
    wider: set[Node] = {event for event in events if wanted <= event}
    narrower: set[Node] = {event for event in events if event and event < wanted}
    return wider or (narrower if len(narrower) == 1 else set())


def _ends(nodes: set[Node], operand: Operand) -> set[Node]:
    """Return where an operand ends: only a date has another end than its start."""
    if not isinstance(operand, Moment):
        return nodes
    point = _end_of(moment_interval(operand))
    assert point is not None
    return {point}


def _knotted(graph: Graph) -> set[Node]:
    """Return the nodes on circles and behind them: what is left when whatever nothing leads to is taken away."""
    leading = Counter(following for nexts in graph.values() for following in nexts)
    free = [node for node in graph if not leading[node]]
    left = set(leading) | set(graph)
    while free:
        node = free.pop()
        left.discard(node)
        for following in graph.get(node, {}):
            leading[following] -= 1
            if not leading[following]:
                free.append(following)
    return left


def _path(graph: Graph, starts: set[Node], goals: set[Node]) -> list[Span] | None:
    """Return the places along a shortest way from one event to another, or ``None``."""
    came: dict[Node, tuple[Node, Span | None] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        node = queue.popleft()
        if node in goals:
            return _spans_back(came, node)
        for following, span in graph.get(node, {}).items():
            if following not in came:
                came[following] = (node, span)
                queue.append(following)
    return None


def _spans_back(came: dict[Node, tuple[Node, Span | None] | None], node: Node) -> list[Span]:
    spans = []
    step = came[node]
    while step is not None:
        node, span = step
        if span is not None:
            spans.append(span)
        step = came[node]
    return spans[::-1]


def _sorted_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))
