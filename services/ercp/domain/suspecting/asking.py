"""What the models are asked about a constraint: short statements that a part of the draft bears out, or does not.

A statement is asked of the parts of the draft that are nearest to it, so that the work grows with the constraints and
not with constraints times sentences. Amounts are left to the rules: the encoder does not compare numbers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.reading.lexicon import BASE_VERBS, IMPERATIVES
from services.ercp.domain import readings
from services.ercp.domain.predicates import Options, Path, Predicate, PredicateError, Span, Steps, Text, TextFacts
from services.ercp.domain.predicates import PredicateName as Name
from services.ercp.domain.predicates.describing import said
from services.ercp.domain.records import Constraint, ConstraintOutcome
from services.ercp.domain.suspecting.absence import is_absent
from services.ercp.domain.vocabulary import Standing, Undecided

NEAREST: Final = 8
"""A statement is held against so many parts of the draft, the nearest ones by their embeddings."""
MOST_PARTS: Final = 1_000
"""Of a longer draft nothing is said to be missing."""
_MOST_PART_CHARS: Final = 1_000
_MOST_OPTIONS: Final = 8
_LINE: Final = re.compile(r"[^\n]+")
_OPEN: Final = frozenset({Undecided.NOT_STATED, Undecided.LEFT_OPEN, Undecided.NOT_UNDERSTOOD})
_DEONTIC: Final = (
    (re.compile(r"(?:\A|,)\s?please\b\s?,?\s?|,?\s?\bplease\s?(?=[.!]*\s?\Z)", re.IGNORECASE), " "),
    (re.compile(r"\A\s?(?:make\ssure|ensure)\s(?:that\s)?", re.IGNORECASE), ""),
    (re.compile(r"\b(?:must|shall|should|may|can)\sbe\b|\b(?:has|have|needs?)\sto\sbe\b", re.IGNORECASE), "is"),
    (re.compile(r"\b(?:must|shall|should|has\sto|have\sto|needs?\sto|may|can)\s", re.IGNORECASE), ""),
)
"""Of words with one blank between them."""
_DENIED: Final = re.compile(
    r"\b(?:must|shall|should|may|can|do|does|will)\s*(?:not|never)\b\s*|\b(?:cannot|can't|mustn't|shouldn't|don't|doesn't|never)\b\s*"
    r"|\A\s*(?:there\s+(?:must|shall|should|may)\s+be\s+)?no\s+(?:more\s+)?",
    re.IGNORECASE,
)
_VERBS: Final = IMPERATIVES | BASE_VERBS
_OBJECT: Final = re.compile(r"(?:the|an?|our|your|their|his|her|its|it|them|this|these|all)\b", re.IGNORECASE)
_COMPARED: Final = re.compile(r"\b(?:more|less|fewer|most|least|than|until|before|after|first|then)\b", re.IGNORECASE)


@unique
class Way(StrEnum):
    """How the answers of the models are read."""

    UNSAID = "unsaid"
    FORBIDDEN = "forbidden"
    CONTRADICTED = "contradicted"
    DENIED = "denied"
    UNCHOSEN = "unchosen"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about one constraint: statements, each held against the draft.

    Attributes:
        number: of the constraint.
        way: how the answers are read.
        statements: each held against the draft.
        is_absent: the value or the options that are demanded stand nowhere in the draft.
    """

    number: int
    way: Way
    statements: tuple[str, ...]
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What the models are asked about a draft.

    Attributes:
        parts: of the draft, in text order: its sentences, cut at line ends.
        words: of each part.
        inquiries: of the constraints that rules left open.
        is_whole: every part of the draft is among the parts.
    """

    parts: tuple[Span, ...]
    words: tuple[str, ...]
    inquiries: tuple[Inquiry, ...]
    is_whole: bool = True

    @property
    def texts(self) -> list[str]:
        """What is embedded: the parts, then the statements of all inquiries in order."""
        return [*self.words, *(statement for each in self.inquiries for statement in each.statements)]

    def nearest(self, vectors: NDArray[np.float32], most_pairs: int) -> list["Asked"]:
        """Return the statements with the parts that they are held against; those beyond so many pairs are not asked."""
        parts, statements = vectors[: len(self.words)], vectors[len(self.words) :]
        asked, at, pairs = [], 0, 0
        for inquiry in self.inquiries:
            own = statements[at : at + len(inquiry.statements)]
            at += len(inquiry.statements)
            pairs += len(own) * min(NEAREST, len(parts))
            if pairs > most_pairs:
                break
            cosines = own @ parts.T
            asked.append(Asked(inquiry, cosines, np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]))
        return asked


@dataclass(frozen=True, slots=True)
class Asked:
    """An inquiry with the cosine of every statement and part, and the nearest parts of each statement."""

    inquiry: Inquiry
    cosines: NDArray[np.float32]
    nearest: NDArray[np.intp]

    def pairs(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield what the entailment model reads: each statement and its parts, part first, then statement first."""
        for statement, parts in zip(self.inquiry.statements, self.nearest, strict=True):
            yield from ((words[part], statement) for part in parts)
            yield from ((statement, words[part]) for part in parts)


def plan(facts: TextFacts, constraints: Sequence[Constraint], outcomes: Sequence[ConstraintOutcome]) -> Plan:
    """Return what the models are asked about the constraints that rules left open; CPU work.

    Args:
        facts: of the draft.
        constraints: in force.
        outcomes: how the draft stands to each by the rules, in their order.
    """
    inquiries = []
    for number, (constraint, outcome) in enumerate(zip(constraints, outcomes, strict=True)):
        if outcome.standing is Standing.UNDECIDED and outcome.reason in _OPEN:
            inquiry = _inquiry(number, constraint, facts)
            if inquiry is not None:
                inquiries.append(inquiry)
    parts = list(_parts(facts)) if inquiries else []
    kept = parts[:MOST_PARTS]
    words = tuple(facts.text[part.start : part.end][:_MOST_PART_CHARS] for part in kept)
    return Plan(tuple(kept), words, tuple(inquiries) if kept else (), len(kept) == len(parts))


def _parts(facts: TextFacts) -> Iterator[Span]:
    """Yield the sentences of a draft, cut at line ends, without white space around them."""
    for sentence in facts.sentences:
        for match in _LINE.finditer(facts.text, sentence.start, sentence.end):
            line = match.group()
            start = match.start() + len(line) - len(line.lstrip())
            end = match.start() + len(line.rstrip())
            if any(char.isalnum() for char in facts.text[start:end]):
                yield Span(start, end)


def _inquiry(number: int, constraint: Constraint, facts: TextFacts) -> Inquiry | None:
    try:
        predicate = readings.predicate_of(constraint)
    except PredicateError:
        return None
    asked = inquiry_of(predicate, constraint.nl_text)
    return None if asked is None else Inquiry(number, *asked, is_absent=is_absent(predicate, facts))


def inquiry_of(predicate: Predicate, words: str) -> tuple[Way, tuple[str, ...]] | None:  # noqa: PLR0911 - one for each kind
    """Return what is asked about a predicate and its constraint's words; ``None`` where the models know nothing."""
    left = said(predicate.left)
    match predicate.name:
        case Name.CONTAINS | Name.NOT_CONTAINS if predicate.is_topic:
            way = Way.UNSAID if predicate.name is Name.CONTAINS else Way.FORBIDDEN
            return way, (said_there(left),)
        case Name.EQUAL if not isinstance(predicate.right, Path) and not predicate.extra:
            return Way.CONTRADICTED, (indicative(words),)
        case Name.NOT_EQUAL if isinstance(predicate.right, Text):
            return Way.FORBIDDEN, (f"The {left} is {predicate.right.text}.",)
        case Name.ONE_OF if isinstance(predicate.right, Options) and len(predicate.right.texts) <= _MOST_OPTIONS:
            return Way.UNCHOSEN, tuple(f"{left}: {option}." for option in predicate.right.texts)
        case Name.TEMPORAL_ORDER if isinstance(predicate.left, Text) and isinstance(predicate.right, Text):
            return Way.ORDERED, (_sentence(left), _sentence(predicate.right.text))
        case Name.SEQUENCE if isinstance(predicate.left, Steps):
            return Way.ORDERED, tuple(_sentence(step) for step in predicate.left.texts)
        case Name.IN_WORDS:
            return _in_words(left)
        case _:
            return None


def said_there(topic: str) -> str:
    """Return a topic as a statement: "There is a warranty.", "Make a backup.", "Somebody approved the budget."."""
    first, _, rest = topic.partition(" ")
    verb = first.lower()
    if rest and verb in _VERBS:
        return _sentence(topic)
    is_past = any(verb.endswith(end) and verb.removesuffix(end) in _VERBS for end in ("s", "es", "d", "ed"))
    return f"Somebody {topic}." if is_past and _OBJECT.match(rest) else f"There is {topic}."


def _in_words(words: str) -> tuple[Way, tuple[str, ...]] | None:
    """Ask about words that no rule understands: what they forbid, or what they state."""
    if _COMPARED.search(words):
        return None
    if _DENIED.search(words):
        return Way.FORBIDDEN, (_sentence(_DENIED.sub("", words, count=1)),)
    return Way.DENIED, (indicative(words),)


def indicative(words: str) -> str:
    """Return a demand as the statement that holds where it is kept."""
    words = " ".join(words.split())
    for pattern, instead in _DEONTIC:
        words = " ".join(pattern.sub(instead, words).split())
    return _sentence(words)


def _sentence(words: str) -> str:
    bare = " ".join(words.split()).strip(" .!")
    return f"{bare[:1].upper()}{bare[1:]}."
