"""From a text to its facts: the one place that runs the readers in order (ADR 0070).

Deterministic, no model. Time grows linearly with the text.
"""

from collections.abc import Sequence

from services.ercp.domain.predicates.assertions import read_values
from services.ercp.domain.predicates.chronology import read_dates, read_orders
from services.ercp.domain.predicates.facts import Span, TextFacts
from services.ercp.domain.predicates.justifying import read_justifications
from services.ercp.domain.predicates.mentions import read_all
from services.ercp.domain.predicates.statements import read_statements


def extract_facts(text: str, sentences: Sequence[Span]) -> TextFacts:
    """Read what a text asserts.

    Args:
        text: the whole text.
        sentences: its sentences in order, as offsets in code points; they do not overlap.
    """
    plain = read_statements(text, sentences)
    mentions, is_complete = read_all(text, sentences)
    values = [*read_values(text, sentences, mentions), *read_dates(text, sentences, mentions), *plain.values]
    return TextFacts(
        text,
        tuple(sentences),
        values=tuple(sorted(values, key=lambda fact: (fact.value_span.start, fact.value_span.end))),
        orders=tuple(read_orders(text, sentences)),
        justifications=tuple(read_justifications(text, sentences)),
        statements=tuple(plain.statements),
        comparisons=tuple(plain.comparisons),
        is_complete=is_complete,
    )
