"""Which findings of the dpe service become suspicions: those about one thing, that the rules do not read otherwise.

The engine compares words and asks a model; both take two things that have nothing to do with each other for a clash now
and then. Here the rules of this service have their say (ADR 0074, 0080).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.reading.polarity import compared
from services.ercp.domain import readings
from services.ercp.domain.faults import FABRICATED_KINDS
from services.ercp.domain.findings import Finding, FindingKind
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import Sentence
from services.ercp.domain.topics import Topic, aligned, denials, topic_of, topics_of, turns

_CLASHES: Final = frozenset({FindingKind.DISTORTION, FindingKind.CONTRADICTED, FindingKind.CONTRADICTION})
_NEGATION: Final = "NEGATION_FLIP"


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the rules read it: its sentences, what each is about, what it asserts."""

    sentences: Sequence[Sentence]
    topics: Sequence[Topic]
    facts: TextFacts
    _by_text: dict[str, list[Topic]] = field(default_factory=lambda: defaultdict(list), init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep the topics by what the sentences say."""
        for sentence, topic in zip(self.sentences, self.topics, strict=True):
            self._by_text[sentence.text].append(topic)

    def topics_of(self, text: str) -> Sequence[Topic]:
        """Return what a text is about: the sentences that say it word for word, else those that it consists of."""
        return self._by_text.get(text) or topics_of(readings.sentences_of(text))

    def topic_at(self, span: tuple[int, int]) -> Topic:
        """Return what a stretch of the text is about: its sentence's topic, or a clause's own."""
        place = bisect_left(self.sentences, span[0], key=lambda each: each.start)
        if place < len(self.sentences) and self.sentences[place].start == span[0]:
            return self.topics[place]
        return topic_of(self.facts.text[slice(*span)])


def kept(findings: Sequence[Finding], reading: Reading, *, has_facts: bool) -> Iterator[Finding]:
    """Yield the findings that stand, in their order.

    Args:
        findings: of the dpe service.
        reading: of the text that they point into.
        has_facts: something was there to check the text with; else only what it says against itself is a finding.
    """
    for finding in findings:
        if not has_facts and finding.kind is not FindingKind.CONTRADICTION:
            continue
        if finding.kind is FindingKind.FABRICATION:
            if not _is_first_word(finding, reading):
                yield finding
        elif finding.kind not in _CLASHES or not finding.other or _stands(finding, reading):
            yield finding


def _is_first_word(finding: Finding, reading: Reading) -> bool:
    """Say whether a name is one word that begins its sentence: every word is written large there."""
    if finding.detail not in FABRICATED_KINDS:
        return False
    place = bisect_left(reading.sentences, finding.span[0], key=lambda each: each.start)
    is_first = place < len(reading.sentences) and reading.sentences[place].start == finding.span[0]
    return is_first and len(reading.facts.text[slice(*finding.span)].split()) == 1


def _stands(finding: Finding, reading: Reading) -> bool:
    if readings.overruled(reading.facts, finding.span, finding.other):
        return False
    claim = reading.facts.text[slice(*finding.span)]
    is_denied = denials(claim) % 2 != denials(finding.other) % 2
    if finding.detail == _NEGATION and not is_denied and not compared(claim, finding.other).turned:
        return False  # neither a denial nor a word and its opposite ("open", "closed") sets the two apart
    mine = reading.topic_at(finding.span)
    others = reading.topics_of(finding.other)
    if finding.exact:
        return any(_may_be_one(mine, each) for each in others)
    about = [each for each in others if aligned(mine, each)]
    differs = readings.amounts_differ(claim, finding.other)
    return bool(about) and (differs is not False or any(turns(mine, each) == 1 for each in about))


def _may_be_one(first: Topic, second: Topic) -> bool:
    """Say whether two sentences may be about one thing; where a subject is not plain, they may: "we", "it"."""
    return not first.subject - _UNPLAIN or not second.subject - _UNPLAIN or aligned(first, second)


_UNPLAIN: Final = frozenset({"we", "us", "you", "it", "they", "one"})
