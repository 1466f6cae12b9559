"""Which of two events comes first by the days that their clauses name: "the power goes off on the 4th" (ADR 0204).

The reading of ``ordering`` wants a clause with a verb that it knows and a whole date. Where it leaves an order open,
each event is sought in the only clause that has all its words, and that clause has to name one day or month.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.reading.reckoning import Stretch, stretches
from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.model import Operand, Text
from services.ercp.domain.predicates.naming import event_words, operand_words

_CLAUSE_END: Final = re.compile(r";|,\s(?:and\s|then\s|but\s|while\s)|\sand\sthen\s|:\s|\n")
_NOT_SAID: Final = re.compile(
    r"\b(?:not|[Nn]ever|may|might|could|would|[Pp]erhaps|[Pp]ossibly|[Ii]f|[Uu]nless|[Ww]hether|[Bb]efore|[Aa]fter|[Uu]ntil|by|"
    r"[Ii]nstead|planned|[Oo]riginally|cannot)\b|n['\u2019]t\b|\?"
)
"""Small letters count: "May" is a month."""
_Clause = tuple[Span, frozenset[str], Stretch]


def by_days(before: Operand, after: Operand, facts: TextFacts) -> Evaluation | None:
    """Say which of two events comes first by the days of their clauses; ``None`` where that is not plain."""
    if not isinstance(before, Text) or not isinstance(after, Text):
        return None
    first, second = _clause(before, facts), _clause(after, facts)
    if first is None or second is None or first[0] == second[0]:
        return None
    in_order = first[2].before(second[2])
    if in_order is None:
        return None
    spans = tuple(sorted((first[0], second[0]), key=lambda span: span.start))
    if in_order:
        return Evaluation(Holds.TRUE, spans, f'the text puts "{said(before)}" before "{said(after)}"')
    late = first[0]
    other = second[0]
    return Evaluation(Holds.FALSE, (other, late), f'the text puts "{said(after)}" before "{said(before)}"')


def _clause(operand: Text, facts: TextFacts) -> _Clause | None:
    wanted = frozenset(operand_words(operand))
    found = [each for each in _clauses(facts) if wanted <= each[1]]
    return found[0] if len(found) == 1 else None


def _clauses(facts: TextFacts) -> Sequence[_Clause]:
    """Return the clauses of a text that name one day or month and assert something, read once."""
    kept = facts.selected.get(by_days)
    if not isinstance(kept, tuple):
        kept = facts.selected[by_days] = tuple(_read(facts))
    return kept


def _read(facts: TextFacts) -> Iterator[_Clause]:
    days = list(stretches(facts.text))
    at = 0
    for start, end in _bounds(facts):
        while at < len(days) and days[at].span.start < start:
            at += 1
        own = []
        while at < len(days) and days[at].span.start < end:
            own.append(days[at])
            at += 1
        clause = facts.text[start:end]
        if len(own) == 1 and _NOT_SAID.search(clause) is None:
            yield Span(start, end), frozenset(event_words(clause)), own[0]


def _bounds(facts: TextFacts) -> Iterator[tuple[int, int]]:
    for sentence in facts.sentences:
        start = sentence.start
        for match in _CLAUSE_END.finditer(facts.text, sentence.start, sentence.end):
            yield start, match.start()
            start = match.end()
        yield start, sentence.end
