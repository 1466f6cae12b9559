"""What a repeated sentence says, denied, or what it denies, said (SPEC-005 §5.3, NEGATION_FLIP, ADR 0194).

All words of content of the claim stand in one sentence, and of all that either side negates one word is negated on one
side alone: "There is a waiting time after an accident" for "There is no waiting time after an accident, and none for
members who change". What the sentence says of other things is not asked for its negations. Words that stand against
each other turn a repeated sentence, too: "at most" in the place of "at least", "forbids" in that of "allows".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.reading.lexicon import AUXILIARIES, NEGATORS
from services.common.reading.opposites import sides
from services.common.reading.text_types import Span
from services.common.reading.words import Word, words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, nearest, root
from services.dpe.domain.rules.repeats import aligned
from services.dpe.domain.rules.rows import rows_of

_READ: Final = 6
"""So many sentences, the nearest ones, are compared."""
_MIN_SAID: Final = 3
"""Words of content of a claim: fewer may be said of anything."""
_MOVED: Final = 0.15
"""Share of the claim's words of content that may stand elsewhere in the sentence."""
_MISSING: Final = 0.25
"""Share of its words that the claim may have from its question, or from a heading of the document."""
_ADDED: Final = re.compile(r"[,;:.]\s(?:and|but|so|because|since|for|as|even|which|this|the)\b|\bbecause\b", re.IGNORECASE)
_EVEN: Final = re.compile(r"\beven\s(?:if|when|though|where)\b", re.IGNORECASE)
_LEAD_IN: Final = re.compile(r"[^.;:\n]{1,80}:\s")
_NO_NEGATION: Final = re.compile(
    r"\b(?:no|not)\s(?:be\s)?(?:later|earlier|more|less|fewer|only|sooner|higher|lower|further|farther|longer)\s(?:than\b)?"
    r"|\b(?:whether\sor\snot|no\smatter|not\s(?:just|merely|necessarily|yet)|no\sone)\b|^\W{0,4}no\s?[,;:]\s"
    r"|\bnot\sexceed\w{0,3}\b",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(
    r"(?:,|\b(?:and|but|yet))\s(?:not|never)\s(?:an?|the|one|any|before|after|for|to|in|on|at|by|because|from|with|when|if)\b"
    r"|\b(?:but|and)\s(?:none|no\sother)\b",
    re.IGNORECASE,
)
"""What is set beside a statement, "and not a day longer": which of the two a claim is about is open."""
_NO_LONGER: Final = re.compile(r"\bno\slonger\b(?!\sthan)", re.IGNORECASE)
_NEVER: Final = frozenset({"never", "nor", "neither", "non"})
_EMPTY: Final = AUXILIARIES | {"ever", "also", "then", "always", "even", "yet"}
_PRONOUNS: Final = frozenset({"nothing", "nobody", "none", "nowhere"})
"""What negates a statement without a word behind it."""
_REACH: Final = 5
"""So many words behind a negation it may negate."""
_LIMITS: Final = (
    ("until", "till", "before", "prior"), ("after", "since", "from"), ("unless",), ("except", "excluding", "apart"),
    ("only",), ("if", "when", "where", "while"), ("within",), ("above", "over", "more"), ("below", "under", "less", "fewer"),
    ("most", "up"), ("least",),
)  # fmt: skip
"""What is said under one of these is not said without it; words of one group say the same."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """Words of content of a text by root, each with the negation that governs it, where one does."""

    negated: Mapping[str, tuple[Word, Word]]
    plain: Mapping[str, Word]
    unclear: frozenset[str]
    limits: frozenset[int]


def turned_word(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the word that a claim negates, or asserts, against the sentence that it repeats, or ``None``."""
    ours = claim.once(_marks)
    if ours is None or len(claim.content) < _MIN_SAID:
        return None
    parts = [part for _, part in nearest(claim.content, sources, claim.names)[:_READ]]
    found: Departure | None = None
    for source in parts:
        theirs = source.once(_marks)
        if theirs is None or not _is_said(claim, source):
            continue
        turned = [
            word
            for word in (claim.content & source.content) - ours.unclear - theirs.unclear
            if (word in ours.negated) != (word in theirs.negated)
        ]
        if not turned and ours.limits <= theirs.limits:
            return None  # a sentence says the same
        if len(turned) != 1 or ours.limits != _limits(_told_of(claim, source)):
            continue
        word = turned[0]
        found = found or _departure(claim, source, word, ours, theirs)
    return found


def _is_said(claim: Reading, source: Reading) -> bool:
    """Say whether the sentence has nearly all of the claim's words of content, in their order."""
    missing = claim.content - source.content
    if len(missing - source.known) > _MISSING * len(claim.content) or len(missing) > len(claim.content) / 2:
        return False
    beside = aligned(claim, source)
    told = [unit for unit in beside.said if unit.is_content]
    moved = sum(unit.is_content and unit.key in source.content for one in beside.differences for unit in one.said)
    return moved <= _MOVED * len(told)


def _told_of(claim: Reading, source: Reading) -> str:
    """Return the sentence without what is added behind the words of the claim, where that is no condition of them."""
    last = max((word.end for word in source.tokens if root(word.text) in claim.content), default=0)
    behind = _ADDED.search(source.text, last)
    return source.text if behind is None else source.text[: behind.start()]


def _limits(text: str) -> frozenset[int]:
    held = {word.text for word in words(_EVEN.sub(" ", text))}
    return frozenset(place for place, group in enumerate(_LIMITS) if held.intersection(group))


def _marks(reading: Reading) -> _Marks | None:
    """Return what is negated in a sentence; ``None`` where a negation governs nothing that can be told."""
    if _CONTRAST.search(reading.text) or reading.once(rows_of):
        return None
    blank = _NO_NEGATION.sub(lambda match: "\0" * len(match.group()), _NO_LONGER.sub("not       ", reading.text))
    tokens = [word for word in reading.tokens if blank[word.start] != "\0"]
    negated: dict[str, tuple[Word, Word]] = {}
    plain: dict[str, Word] = {}
    taken: set[int] = set()
    for at, word in enumerate(tokens):
        if not _negates(word, reading.text):
            continue
        behind = next(
            (place for place in range(at + 1, min(at + 1 + _REACH, len(tokens))) if _carries(tokens[place], reading.text)),
            None,
        )
        if word.text in _PRONOUNS:
            negated[word.text] = (word, word)
            continue
        if behind is None:
            return None
        taken.add(behind)
        negated[root(tokens[behind].text)] = (word, tokens[behind])
    lead = _LEAD_IN.match(reading.text)
    for at, word in enumerate(tokens):
        if at not in taken and (lead is None or word.start >= lead.end()) and _carries(word, reading.text):
            plain.setdefault(root(word.text), word)
    unclear = frozenset(negated.keys() & plain.keys())  # denied of one thing, said of another
    return _Marks(negated, plain, unclear, _limits(reading.text))


def _negates(word: Word, text: str) -> bool:
    if text[word.end : word.end + 1] == "-" and word.text != "non":
        return False  # "no-claims discount" is a name
    return (word.text in NEGATORS and word.text != "unless") or word.text in _NEVER or word.text.endswith("n't")


def _carries(word: Word, text: str) -> bool:
    return is_content(word, text) and word.text not in _EMPTY and not _negates(word, text)


def _departure(claim: Reading, source: Reading, word: str, ours: _Marks, theirs: _Marks) -> Departure:
    if word in ours.negated:
        first, last = ours.negated[word]
        said, known = claim.span(first.start, last.end), theirs.plain.get(word)
        there = source.whole if known is None else source.span(known.start, known.end)
    else:
        first, last = theirs.negated[word]
        there, own = source.span(first.start, last.end), ours.plain.get(word)
        said = claim.whole if own is None else claim.span(own.start, own.end)
    return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, said, source, there)
