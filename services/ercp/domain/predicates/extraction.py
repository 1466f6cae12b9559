"""From a text to its facts: the one place that runs the readers in order (ADR 0070).

Deterministic, no model. Time grows linearly with the text.
"""

from collections.abc import Sequence

from services.ercp.domain.predicates.assertions import read_values
from services.ercp.domain.predicates.facts import Span, TextFacts


def extract_facts(text: str, sentences: Sequence[Span]) -> TextFacts:
    """Read what a text asserts.

    Args:
        text: the whole text.
        sentences: its sentences in order, as offsets in code points; they do not overlap.
    """
    return TextFacts(text, tuple(sentences), values=tuple(read_values(text, sentences)))
