"""The words of facts that an answer carries and a stored report does not (ADR 0097).

They are added after the report was hashed. What is hashed and kept names facts and offsets, so that erasing a source
takes its words away.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from crp.dpe.v1 import claim_pb2, report_pb2

from services.common.reading.sentences import sentences
from services.dpe.domain.facts import EnvelopeFact

MAX_OMITTED_CHARS: Final = 240
"""So much is quoted of a fact that was left out."""


def add_quotes(message: report_pb2.DpeReport, facts: Iterable[EnvelopeFact]) -> None:
    """Give every piece of evidence the words that its offsets name, and every omission the fact's beginning."""
    contents = {fact.fact_id: fact.content for fact in facts}
    for item in _evidence(message):
        if item.fact_id in contents:
            item.quote = contents[item.fact_id][item.fact_span.start : item.fact_span.end]
    for omission in message.omissions:
        if omission.fact_id in contents:
            omission.quote = beginning(contents[omission.fact_id])


def beginning(content: str) -> str:
    """Return the first sentence, or as much of it as is quoted."""
    head = content[: 4 * MAX_OMITTED_CHARS]
    first = next(iter(sentences(head)), None)
    text = head if first is None else head[first.start : first.end]
    return text if len(text) <= MAX_OMITTED_CHARS else f"{text[: MAX_OMITTED_CHARS - 1]}…"


def _evidence(message: report_pb2.DpeReport) -> Iterator[claim_pb2.Evidence]:
    for claim in message.claims:
        yield from claim.attribution.evidence if claim.HasField("attribution") else ()
        yield from claim.judgement.evidence if claim.HasField("judgement") else ()
