"""The sentences of facts as the rules read them, with what stands over each (ADR 0095)."""

from dataclasses import replace
from typing import Final

from services.common.reading.text_types import Span
from services.dpe.domain.facts import FactView
from services.dpe.domain.rules.reading import Reading, nearest, roots

_HEAD_CHARS: Final = 120
_READ_CHARS: Final = 2_000
"""So much of a sentence is read: bounded work on hostile texts."""
_SENTENCES: Final = 40
"""So many sentences, the nearest ones, are held against a claim."""
_PRONOUNS: Final = frozenset({"it", "they", "he", "she", "this", "these", "those", "both"})
_SUBJECT_WORDS: Final = 8


def read_claim(text: str, start: int, context: frozenset[str] = frozenset(), asked: str = "") -> Reading:
    """Return a claim as the rules read it.

    Args:
        text: of the claim.
        start: where it begins in the answer.
        context: stems of what its pronoun stands for.
        asked: the question that it answers.
    """
    return replace(Reading.of(text[:_READ_CHARS], start, context), asked=asked[:_READ_CHARS])


def read_sources(view: FactView, index: int) -> list[Reading]:
    """Return the sentences of a fact; over each stand the fact's first words and the sentence before it.

    Where a sentence has a pronoun for its subject, the sentence before it belongs to it.
    """
    content = view.fact.content
    spans = list(dict.fromkeys(clause.sentence for clause in view.clauses)) or [Span(0, len(content))]
    head = roots(content[spans[0].start : spans[0].end][:_HEAD_CHARS].split(". ")[0].split("\n")[0])
    found: list[Reading] = []
    for place, span in enumerate(spans):
        before = found[-1].content if found else frozenset[str]()
        over = head if place else frozenset[str]()
        text = content[span.start : min(span.end, span.start + _READ_CHARS)]
        read = Reading.of(text, span.start, over | before, index, place, over)
        if any(word.text in _PRONOUNS for word in read.tokens[:_SUBJECT_WORDS]):
            read = Reading.of(text, span.start, over | before, index, place, over | before)
        found.append(read)
    return found


def chosen_sources(claim: Reading, sources: list[Reading]) -> list[Reading]:
    """Return the sentences that the rules hold a claim against, in the order of the facts."""
    if len(sources) <= _SENTENCES:
        return sources
    kept = [one for _, one in nearest(claim.content, sources, claim.names)[:_SENTENCES]]
    return sorted(kept, key=lambda one: (one.fact_index, one.place))
