"""Where an answer's own numbers, dates and units do not add up, read from its claims (ADR 0204)."""

from collections import defaultdict

from services.common.reading.reckoning import Line, Slip, slips_of
from services.common.reading.text_types import Value
from services.dpe.domain.analysis import Analysis


def misreckoned(analysis: Analysis) -> list[Slip]:
    """Return the slips of an answer in text order; what a fact has word for word is the fact's, and none of them."""
    text, answer = analysis.outputs.text, analysis.input.answer
    values = defaultdict[int, dict[int, Value]](dict)
    for claim in text.claims:
        values[claim.sentence_index].update((value.start, value) for value in claim.values)
    quoted = analysis.outputs.attribution.quotations
    lines = [
        Line(answer, each.start, each.end, tuple(own[at] for at in sorted(own)))
        for each in text.sentences
        if (own := values.get(each.index)) and each.index not in quoted
    ]
    return [slip for slip in slips_of(lines) if not _is_told(analysis, answer[slip.wrong.start : slip.wrong.end])]


def _is_told(analysis: Analysis, words: str) -> bool:
    """Say whether a fact has the words that do not add up."""
    return any(words in fact.content for fact in analysis.input.facts)
