"""Events of a text in order: what comes before what, over any number of steps (ERCP 1.0 §8 TemporalOrder)."""

from collections import defaultdict, deque
from collections.abc import Collection, Sequence

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, OrderFact, Span, TextFacts, Words
from services.ercp.domain.predicates.model import Moment, Operand
from services.ercp.domain.predicates.naming import operand_words

Event = frozenset[str]


def events_in_order(before: Operand, after: Operand, facts: TextFacts) -> Evaluation:
    """Say whether a text puts one event before another."""
    graph, events = _graph(facts.orders)
    first, second = _nodes(before, events), _nodes(after, events)
    names = f'"{said(before)}" before "{said(after)}"'
    if not first or not second:
        missing = said(before) if not first else said(after)
        return Evaluation(Holds.UNKNOWN, (), f'the text puts "{missing}" into no order')
    if first & second:
        return Evaluation(Holds.UNKNOWN, (), f"the text does not tell {names} apart")
    back = _path(graph, second, first)
    forth = _path(graph, first, second)
    if back is not None:
        spans = _sorted_spans([*back, *(forth or ())])
        also = " and also the other way round" if forth is not None else ""
        return Evaluation(Holds.FALSE, spans, f'the text puts "{said(after)}" before "{said(before)}"{also}')
    if forth is not None:
        return Evaluation(Holds.TRUE, _sorted_spans(forth), f"the text puts {names}")
    return Evaluation(Holds.UNKNOWN, (), f"the text does not say whether {names} is so")


def order_clash(wanted: Collection[str], orders: Sequence[OrderFact]) -> tuple[Span, Span, str] | None:
    """Return two places that put the same events in opposite orders, where an event is about the wanted words."""
    graph, _ = _graph(orders)
    needed = frozenset(wanted)
    for order in orders:
        before, after = frozenset(order.before), frozenset(order.after)
        if not needed <= before and not needed <= after:
            continue
        back = _path(graph, {after}, {before})
        if back is not None:
            return order.span, back[0], f'"{order.before_text}" before "{order.after_text}" and the other way round'
    return None


def _graph(orders: Sequence[OrderFact]) -> tuple[dict[Event, dict[Event, Span]], set[Event]]:
    graph: defaultdict[Event, dict[Event, Span]] = defaultdict(dict)
    events: set[Event] = set()
    for order in orders:
        before, after = frozenset(order.before), frozenset(order.after)
        if before != after:
            graph[before].setdefault(after, order.span)
        events |= {before, after}
    return graph, events


def _nodes(operand: Operand, events: set[Event]) -> set[Event]:
    """Return the events that an operand can mean: the same words, else one that says more, when it is the only one."""
    if isinstance(operand, Moment):
        wanted = frozenset((f"{operand.at:%Y-%m-%d}",))
        return {wanted} & events
    words: Words = operand_words(operand)
    wanted = frozenset(words)
    if wanted in events:
        return {wanted}
    wider = {event for event in events if wanted < event}
    narrower = {event for event in events if event < wanted}
    for candidates in (wider, narrower):
        if len(candidates) == 1:
            return candidates
    return set()


def _path(graph: dict[Event, dict[Event, Span]], starts: set[Event], goals: set[Event]) -> list[Span] | None:
    """Return the places along a shortest way from one event to another, or ``None``."""
    came: dict[Event, tuple[Event, Span] | None] = dict.fromkeys(starts)
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


def _spans_back(came: dict[Event, tuple[Event, Span] | None], node: Event) -> list[Span]:
    spans = []
    step = came[node]
    while step is not None:
        node, span = step
        spans.append(span)
        step = came[node]
    return spans[::-1]


def _sorted_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))
