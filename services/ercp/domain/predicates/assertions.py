"""Values that a text gives to an attribute: "the boiling point of water is 100 °C at sea level" (ADR 0070)."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from services.ercp.domain.predicates.facts import Condition, Interval, Span, Subject, ValueFact
from services.ercp.domain.predicates.model import Amount
from services.ercp.domain.predicates.naming import condition_of, words_of
from services.ercp.domain.predicates.units import in_base, unit_named

_STATED: Final = re.compile(
    r"(?i:the )?(?P<attribute>[a-z]+(?: [a-z]+)?)(?: of (?P<entity>[A-Za-z]+))? is (?P<number>\d+(?:\.\d+)?)"
    r"(?: ?(?P<unit>[°%]?[A-Za-z]+))?(?: (?:at|in) (?P<condition>[A-Za-z ]+))?"
)


def read_values(text: str, sentences: Sequence[Span]) -> Iterator[ValueFact]:
    """Yield the values that a text gives to attributes, in text order."""
    for sentence in sentences:
        for match in _STATED.finditer(text, sentence.start, sentence.end):
            unit = unit_named(match["unit"] or "") or ""
            base = in_base(Amount(Decimal(match["number"]), unit))
            yield ValueFact(
                Subject(words_of(match["entity"] or ""), words_of(match["attribute"])),
                Interval.point(base.value),
                base.dimension,
                "",
                match.group()[match.start("number") - match.start() :],
                match["number"],
                unit,
                condition_of([match["condition"] or ""]) if match["condition"] else Condition(),
                negated=False,
                approximate=False,
                span=Span(*match.span()),
                value_span=Span(match.start("number"), match.end()),
            )
