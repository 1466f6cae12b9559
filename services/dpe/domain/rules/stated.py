"""What a sentence says of a thing in each of its cases (SPEC-005 §5.3, MODALITY_ALTERED, NEGATION_FLIP, ADR 0095).

"Taxis are allowed in the lane and prohibited in the square" says one thing of taxis in the lane and another of taxis in
the square. A claim with the very words of one case says the same of it, or the opposite, in whatever words: "is not
permitted" is "forbidden", and "may not be used" denies "nobody is barred from using it". Where any other word differs
nothing is said.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.reading.lexicon import NEGATORS
from services.common.reading.opposites import sides
from services.common.reading.text_types import Span
from services.common.reading.words import Word
from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.modality import APART, Force, meant_forces
from services.dpe.domain.rules.reading import Reading, act_root, is_content, root, statements

_STATE: Final = re.compile(
    r"\b(?:is|are|was|were|and|but|or)\s(?P<said>(?P<not>not\s)?(?P<word>[a-z]{4,16}))\b", re.IGNORECASE
)
_PAST: Final = re.compile(r"\b(?:was|were)\b", re.IGNORECASE)
_PAST_CHARS: Final = 5
_AXES: Final = frozenset(
    {"approval", "ruling", "presence", "inclusion", "access", "activity", "law", "validity", "eligibility"}
    | {"possibility", "truth", "safety", "profit"}
)
"""What stands against each other behind "is": "included" and "excluded", "valid" and "void"."""
_JOINED: Final = re.compile(r",?\s(?:and|but|or|while|whereas)\s|[;,]\s", re.IGNORECASE)
_ELLIPTIC: Final = re.compile(r"\b(?:and|but|or)\s$", re.IGNORECASE)
_TELLING: Final = frozenset(
    {"before", "after", "until", "from", "within", "without", "above", "below", "under", "over", "between", "during"}
    | {
        "outside",
        "off",
        "through",
        "up",
        "down",
        "out",
        "further",
        "other",
        "own",
        "same",
        "some",
        "few",
        "most",
        "more",
    }
    | {"only", "once", "again", "both", "such", "very", "too"}
)
"""Words without content that one case may have and another not."""
_WHOEVER: Final = frozenset({"everybody", "everyone", "anybody", "anyone", "people", "person", "persons"})
"""Whoever it is said of, where nobody is named."""
_OPEN: Final = re.compile(
    r"\b(?:except|unless|only|even|apart\sfrom|other\sthan|save\sfor|instead|rather|if|because|so\sthat|not\sall|not\severy)\b",
    re.IGNORECASE,
)
"""What limits a statement, or says why: more than what is said of a case."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What is said of one case.

    Attributes:
        case: roots of the words that it is said of, in order, with the prepositions that tell cases apart.
        told: the force that it is said with, or the axis of two opposites with the side; comparable where alike.
        at: the words that say it.
    """

    case: tuple[str, ...]
    told: Force | tuple[str, bool]
    at: Span


def changed_statement(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of a case the opposite of what its facts say of it, or ``None``."""
    for ours in claim.once(_stated):
        found = [(one, source) for source in _parts(sources) for one in source.once(_stated) if one.case == ours.case]
        against = [(one, source) for one, source in found if _opposes(ours, one)]
        if against and not any(one.told == ours.told for one, _ in found):
            one, source = against[0]
            is_force = isinstance(ours.told, Force)
            kind = DistortionType.MODALITY_ALTERED if is_force else DistortionType.NEGATION_FLIP
            rule = Rule.MODALITY if is_force else Rule.NEGATION
            own, there = claim.span(ours.at.start, ours.at.end), source.span(one.at.start, one.at.end)
            return Departure(kind, rule, own, source, there, is_same=True)
    return None


def told_statement(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences that say of every case of a claim what it says, where none says the opposite; or none."""
    said, bearing = claim.once(_stated), list[Reading]()
    for ours in said:
        found = [(one, source) for source in _parts(sources) for one in source.once(_stated) if one.case == ours.case]
        own = [source for one, source in found if one.told == ours.told]
        if not own or any(_opposes(ours, one) for one, _ in found):
            return ()
        bearing += own
    return tuple(bearing)


def _parts(sources: list[Reading]) -> Iterator[Reading]:
    return (part for source in sources for part in source.once(statements))


def _opposes(one: Stated, other: Stated) -> bool:
    if isinstance(one.told, Force) or isinstance(other.told, Force):
        return frozenset({one.told, other.told}) in APART
    return one.told[0] == other.told[0] and one.told[1] is not other.told[1]


@dataclass(frozen=True, slots=True)
class _Cue:
    told: Force | tuple[str, bool]
    start: int
    end: int


def _stated(reading: Reading) -> tuple[Stated, ...]:
    """Return what a sentence says of each of its cases; none where a condition or an exception limits it."""
    text = reading.text
    cues = _cues(text)
    if not cues or _OPEN.search(text) or any(True for _ in conditions(text)):
        return ()
    found: list[Stated] = []
    start, begun = 0, cues[0].start  # of the words that stand before what is said of them
    for cue, later in zip(cues, [*cues[1:], None], strict=True):
        end, following = len(text), start
        if later is not None:
            joint = _last_joint(text, cue.end, later.start)
            if joint is None:
                return ()
            is_elliptic = _ELLIPTIC.search(text, cue.end, later.start) is not None
            end, following = joint.start(), start if is_elliptic else joint.end()
        case = (*_roots(reading, start, begun, is_first=True), *_roots(reading, cue.end, end))
        said = tuple(one for one in case if one is not None)
        if len(said) < max(1, len(case)):
            return ()
        tense = ("was",) if _PAST.search(text, max(0, cue.start - _PAST_CHARS), cue.end) else ()
        found.append(Stated((*said, *tense), cue.told, Span(cue.start, cue.end)))
        if later is not None and following != start:
            start, begun = following, later.start
    return tuple(found)


def _last_joint(text: str, start: int, end: int) -> re.Match[str] | None:
    return max(_JOINED.finditer(text, max(0, start - 1), end), key=lambda one: one.start(), default=None)


def _cues(text: str) -> list[_Cue]:
    """Return what says something of a case, in order: forces, and words that stand against each other."""
    found = [_Cue(force, start, end) for force, start, end in meant_forces(text)]
    for match in _STATE.finditer(text):
        side = next((one for one in sides(match["word"])[0] if one.axis in _AXES), None)
        start = match.start("said")
        if side is not None and not any(one.start < match.end() and start < one.end for one in found):
            found.append(_Cue((side.axis, side.is_first is (match["not"] is None)), start, match.end()))
    return sorted(found, key=lambda one: one.start)


def _roots(reading: Reading, start: int, end: int, *, is_first: bool = False) -> Iterator[str | None]:
    """Yield the roots of a stretch, and ``None`` for a negation of its own.

    What denies the subject is no such negation: "nobody may" is read as a force.
    """
    before = ""
    for at, word in enumerate(one for one in reading.tokens if start <= one.start and one.end <= end):
        if word.text != "without" and (word.text in NEGATORS or word.text.endswith("n't")):
            if not (is_first and word.text in _DENYING):
                yield None
        elif word.text == "from" and at == 0 and not is_first and not _is_value_behind(reading.text, word):
            continue  # "banned from the beach", "barred from using the lift"
        elif word.text in _TELLING or (is_content(word, reading.text) and not _is_whoever(word.text, before)):
            yield act_root(word.text) if word.text.endswith("ing") else root(word.text)
        before = word.text


def _is_whoever(word: str, before: str) -> bool:
    """Say whether a word names nobody: "everybody", and the second one of "no one"."""
    return word in _WHOEVER or (word == "one" and before == "no")


_DENYING: Final = frozenset({"no", "nobody", "none", "neither", "nothing"})


def _is_value_behind(text: str, word: Word) -> bool:
    """Say whether a number or a day stands behind a word: "allowed from 8 pm"."""
    behind = text[word.end :].lstrip()
    return not behind[:1].islower()
