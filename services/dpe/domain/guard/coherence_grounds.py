"""What an answer is held against, as the provenance stages take it (Director-AI page, D2; ADR 0122).

A fact that is longer than a passage is cut between its sentences, so that a claim meets the passage that speaks of it
and not a page; evidence is given with offsets in the fact as its caller has it. The prompt is an earlier text of the
conversation: what it states is compared with what the answer states, by rules and by the entailment model. Linear in
the texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.ports.recognition import Entity
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Span
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.prior_texts import PriorWindow

PASSAGE_CHARS: Final = 700
"""A fact up to this length stays whole; of a longer one a passage ends with the sentence that fills it."""
QUERY_CHARS: Final = 600
"""What is asked is told to the grounding model beside each claim; of a longer prompt its questions are."""
GUARD_ID: Final = "guard"
"""Session and window of an analysis that belongs to none."""


@dataclass(frozen=True, slots=True)
class GroundText:
    """A fact to check against; ``entities`` are ``None`` where nobody has looked for them, offsets are in ``content``.

    Attributes:
        superseded: it does not hold now.
    """

    text_id: str
    content: str = field(repr=False)
    entities: tuple[Entity, ...] | None = None
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Grounds:
    """Facts cut into passages; passage number n stands at ``starts[n]`` of ``texts[owners[n]]``."""

    texts: tuple[GroundText, ...]
    facts: tuple[EnvelopeFact, ...]
    owners: tuple[int, ...]
    starts: tuple[int, ...]

    def place(self, fact_index: int, span: Span) -> tuple[str, Span]:
        """Return the id of the fact that a passage is of, and a stretch of the passage as one of the fact."""
        by = self.starts[fact_index]
        return self.texts[self.owners[fact_index]].text_id, Span(span.start + by, span.end + by)


def grounds_of(texts: Sequence[GroundText]) -> Grounds:
    """Cut facts into passages."""
    facts: list[EnvelopeFact] = []
    owners: list[int] = []
    starts: list[int] = []
    for owner, text in enumerate(texts):
        for span in _passages(text.content):
            whole = span.end - span.start == len(text.content)
            facts.append(
                EnvelopeFact(
                    f"p{len(facts) + 1}",
                    text.content[span.start : span.end],
                    entities=text.entities if whole else None,
                    superseded=text.superseded,
                )
            )
            owners.append(owner)
            starts.append(span.start)
    return Grounds(tuple(texts), tuple(facts), tuple(owners), tuple(starts))


def analysis_input(prompt: str, response: str, grounds: Grounds) -> AnalysisInput:
    """Return what the provenance stages are given: the prompt is asked, and it is what was said before."""
    prior = PriorWindow(f"{GUARD_ID}-prompt", 1, prompt)
    return AnalysisInput(
        GUARD_ID, GUARD_ID, 2, asked(prompt), response, grounds.facts, prior_windows=(prior,) if prompt.strip() else ()
    )


def asked(prompt: str) -> str:
    """Return what a prompt asks: all of a short one, the questions of a longer one, else how it begins."""
    if len(prompt) <= QUERY_CHARS:
        return prompt
    texts = [prompt[one.start : one.end] for one in sentences(prompt)]
    questions = " ".join(text for text in texts if text.rstrip(_CLOSERS).endswith("?"))
    return (questions or " ".join(texts) or prompt)[:QUERY_CHARS]


_CLOSERS: Final = "\"'”’)]}»*_` \n"  # noqa: RUF001 - typographic closers


def _passages(content: str) -> Iterator[Span]:
    if len(content) <= PASSAGE_CHARS:
        yield Span(0, len(content))
        return
    start = end = -1
    for sentence in sentences(content):
        if start >= 0 and sentence.end - start > PASSAGE_CHARS:
            yield Span(start, end)
            start = -1
        start, end = sentence.start if start < 0 else start, sentence.end
    if start >= 0:
        yield Span(start, end)
