"""The sentences of facts as the rules read them, with what stands over each (ADR 0095)."""

from services.dpe.domain.facts import FactView
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.text_types import Span


def read_sources(view: FactView, index: int) -> list[Reading]:
    """Return the sentences of a fact; over each stand the fact's first words and the sentence before it."""
    content = view.fact.content
    spans = list(dict.fromkeys(clause.sentence for clause in view.clauses)) or [Span(0, len(content))]
    head = roots(content[spans[0].start : spans[0].end].split(". ")[0].split("\n")[0][:_HEAD_CHARS])
    found: list[Reading] = []
    for place, span in enumerate(spans):
        before = found[-1].content if found else frozenset[str]()
        context = (head | before) if place else frozenset[str]()
        found.append(Reading.of(content[span.start : span.end], span.start, context, index, place))
    return found


_HEAD_CHARS = 120
