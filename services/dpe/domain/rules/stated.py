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

from services.common.reading.lexicon import NEGATORS, PREPOSITIONS, STOPWORDS
from services.common.reading.opposites import sides
from services.common.reading.text_types import Span
from services.common.reading.words import Word
from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.modality import APART, Force, meant_forces
from services.dpe.domain.rules.reading import Reading, act_root, asked_roots, is_content, root, statements

_STATE: Final = re.compile(
    r"\b(?:is|are|was|were|and|but|or)\s(?P<said>(?P<not>not\s)?(?P<word>[a-z]{4,16}))\b", re.IGNORECASE
)
_PAST: Final = re.compile(r"\b(?:was|were)\b", re.IGNORECASE)
_PAST_CHARS: Final = 5
_AXES: Final = frozenset(
    {"approval", "presence", "inclusion", "access", "activity", "law", "validity", "eligibility"}
    | {"possibility", "truth", "safety", "profit"}
)
"""What stands against each other behind "is": "included" and "excluded", "valid" and "void"."""
_OF_THEIR_OWN: Final = frozenset({"approved", "confirmed", "granted", "active", "inactive"})
"""These say more or less than the words beside them: what is accepted is not yet confirmed."""
_IN_TWO_WAYS: Final = re.compile(r"\S{1,4}\sfree(?:\sto)?|could\snot", re.IGNORECASE)
"""Free of charge or allowed; unable once, or in a case that is thought of."""
_ADJUNCT: Final = re.compile(
    rf"\W*(?:{'|'.join(sorted(PREPOSITIONS))}|without|until|till|since|over|above|below|outside|inside|near|behind|beyond"
    r"|through|throughout|around|as|every|each)\b|[^,]*,",
    re.IGNORECASE,
)
"""What stands before a subject may be meant of what is said behind it as well."""
_PRONOUNS: Final = frozenset({"they", "it", "he", "she", "both", "such", "some"})
_POINTING: Final = frozenset({"this", "that", "these", "those"})
"""Pronouns where no noun follows."""
_ACT_BEHIND: Final = re.compile(r"\sto$|^(?:never|do\snot|don't|avoid)$", re.IGNORECASE)
"""A force of an act that stands behind it: "it is forbidden to swim", "do not swim"."""
_MODAL: Final = re.compile(r"may|can|must|shall", re.IGNORECASE)
_PLACE: Final = "@"
"""Stands for the preposition of a place behind "banned from"."""
_OF_PLACES: Final = frozenset({_PLACE, "in", "on", "at"})
_OF_WHOLES: Final = frozenset({"in", "by", "from"})
"""What is included in, covered by or excluded from a whole."""
_YOU: Final = "you"
_ALL: Final = "all"
_JOINED: Final = re.compile(r",?\s(?:and|but|or|while|whereas)\s|[;,]\s", re.IGNORECASE)
_ELLIPTIC: Final = re.compile(r"\b(?:and|but|or)\s$", re.IGNORECASE)
_EMPTY: Final = frozenset({"a", "an", "the", "any", "be", "been", "being", "is", "are", "am", "was", "were", "also"})
"""Words that may differ where the same is said of one case. Prepositions and persons tell cases apart."""
_OF_ALL: Final = frozenset({"all", "each", "every"})
"""Before what is said these are empty, too: "all members may" and "members may"."""
_WHOEVER: Final = frozenset(
    {"everybody", "everyone", "anybody", "anyone", "people", "person", "persons", "nobody", "none"}
)
"""Whoever it is said of, where nobody is named."""
_OPEN: Final = re.compile(
    r"\b(?:except|unless|only|even|apart\sfrom|other\sthan|save\sfor|instead|rather|if|because|so\sthat|not\sall|not\severy|there|then|here|otherwise)\b",
    re.IGNORECASE,
)
"""What limits a statement, says why, or points to a case elsewhere: more than what is said of a case."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What is said of one case.

    Attributes:
        case: roots of the words that it is said of, in order, with the prepositions that tell cases apart.
        told: the force that it is said with, or the axis of two opposites with the side; comparable where alike.
        at: the words that say it.
        who: "you", "all" of whoever it is, or "" where a subject is named or none is.
        modal: the modal verb of a denied force: "may not" is not "cannot"; "" of other words.
    """

    case: tuple[str, ...]
    told: Force | tuple[str, bool]
    at: Span
    who: str
    modal: str

    def is_of(self, other: "Stated") -> bool:
        """Say whether both are said of one case."""
        pairs = zip(self.case, other.case, strict=False)
        return (
            len(self.case) == len(other.case)
            and (self.who == other.who or not self.who or not other.who)
            and all(one == two or (_PLACE in {one, two} and {one, two} <= _OF_PLACES) for one, two in pairs)
        )

    def bears(self, other: "Stated") -> bool:
        """Say whether the same is said; two modal verbs do so only where they are one."""
        return self.told == other.told and (self.modal == other.modal or not self.modal or not other.modal)


def changed_statement(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of a case the opposite of what its facts say of it, or ``None``."""
    said, asked = _said_of(sources), claim.once(asked_roots)
    for ours in claim.once(_stated):
        found = [(one, source) for one, source in said if one.is_of(ours)]
        against = [(one, source) for one, source in found if _opposes(ours, one)]
        if against and not any(one.told == ours.told and _is_wider(one, ours, asked) for one, _ in said):
            one, source = against[0]
            is_force = isinstance(ours.told, Force)
            kind = DistortionType.MODALITY_ALTERED if is_force else DistortionType.NEGATION_FLIP
            rule = Rule.MODALITY if is_force else Rule.NEGATION
            own, there = claim.span(ours.at.start, ours.at.end), source.span(one.at.start, one.at.end)
            return Departure(kind, rule, own, source, there, is_same=True)
    return None


def told_statement(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences that say of every case of a claim what it says, where none says the opposite; or none."""
    said, bearing = _said_of(sources), list[Reading]()
    for ours in claim.once(_stated):
        found = [(one, source) for one, source in said if one.is_of(ours)]
        own = [source for one, source in found if one.bears(ours)]
        if not own or any(_opposes(ours, one) for one, _ in found):
            return ()
        bearing += own
    return tuple(bearing)


def _said_of(sources: list[Reading]) -> list[tuple[Stated, Reading]]:
    """Return what sentences say of each case; of parts between semicolons where nothing goes before."""
    return [(one, part) for source in sources for part in source.once(_parts) for one in part.once(_stated)]


def _parts(source: Reading) -> list[Reading]:
    parts = statements(source)
    return parts if len(parts) == 1 or not _ADJUNCT.match(parts[0].text) else []


def _is_wider(one: Stated, ours: Stated, asked: frozenset[str]) -> bool:
    """Say whether a sentence has all words of a case, and no more but of what is asked about."""
    held = {*one.case, *(_OF_PLACES if _PLACE in one.case else ())}
    return set(ours.case) - {_PLACE} <= held and held - set(ours.case) - STOPWORDS - {_PLACE} <= asked


def _opposes(one: Stated, other: Stated) -> bool:
    if isinstance(one.told, Force) or isinstance(other.told, Force):
        return frozenset({one.told, other.told}) in APART
    return one.told[0] == other.told[0] and one.told[1] is not other.told[1]


@dataclass(frozen=True, slots=True)
class _Cue:
    told: Force | tuple[str, bool]
    start: int
    end: int
    is_denied: bool = False


def _stated(reading: Reading) -> tuple[Stated, ...]:
    """Return what a sentence says of each of its cases; none where a condition or an exception limits it."""
    text = reading.text
    cues = _cues(reading)
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
        one = _of_case(reading, cue, (start, begun), end)
        if one is None or (len(cues) > 1 and _ADJUNCT.match(text, start, begun)):
            return ()
        found.append(one)
        if later is not None and following != start:
            start, begun = following, later.start
    return tuple(found)


def _last_joint(text: str, start: int, end: int) -> re.Match[str] | None:
    return max(_JOINED.finditer(text, max(0, start - 1), end), key=lambda one: one.start(), default=None)


def _cues(reading: Reading) -> list[_Cue]:
    """Return what says something of a case, in order: forces, and words that stand against each other.

    None where one of them may be meant in two ways: "is free", "could not".
    """
    text = reading.text
    found = [_Cue(*one) for one in meant_forces(reading)]
    if any(_IN_TWO_WAYS.fullmatch(text, one.start, one.end) for one in found):
        return []
    for match in _STATE.finditer(text):
        word = match["word"].lower()
        side = next((one for one in sides(word)[0] if one.axis in _AXES and word not in _OF_THEIR_OWN), None)
        start = match.start("said")
        if side is not None and not any(one.start < match.end() and start < one.end for one in found):
            found.append(_Cue((side.axis, side.is_first is (match["not"] is None)), start, match.end()))
    return sorted(found, key=lambda one: one.start)


def _of_case(reading: Reading, cue: _Cue, subject: tuple[int, int], end: int) -> Stated | None:
    """Return what a force or an opposite says of one case; ``None`` where a negation or a pronoun leaves it open."""
    said = reading.text[cue.start : cue.end]
    before = [word for word in reading.tokens if subject[0] <= word.start and word.end <= subject[1]]
    is_act = _ACT_BEHIND.search(said) is not None
    texts = [word.text for word in before]
    is_open = not texts or bool(_PRONOUNS.intersection(texts)) or (len(texts) == 1 and texts[0] in _POINTING)
    if is_open and not (is_act and texts in ([], ["it"])):
        return None
    if sum(text in _DENYING for text in texts) != cue.is_denied:
        return None
    who, named = _subject(before, reading.text, is_act=is_act)
    behind = list(_behind(reading, cue, end))
    if None in named or None in behind:
        return None
    tense = ("was",) if _PAST.search(reading.text, max(0, cue.start - _PAST_CHARS), cue.end) else ()
    modal = _MODAL.match(said) if cue.told is Force.FORBIDDEN else None
    case = (*(one for one in (*named, *behind) if one is not None), *tense)
    at = Span(cue.start, cue.end)
    return Stated(case, cue.told, at, who, "" if modal is None else modal.group().lower()) if case else None


def _subject(before: list[Word], text: str, *, is_act: bool) -> tuple[str, list[str | None]]:
    """Return of whom something is said, and the words that name the subject, ``None`` for a negation of its own.

    What denies the subject is no such negation: "nobody may" is read as a force.
    """
    if [word.text for word in before] == ["you"]:
        return _YOU, []
    if is_act and [word.text for word in before] == ["it"]:
        return "", []
    who, named, last = "", list[str | None](), ""
    for word in before:
        if word.text in _WHOEVER or (word.text == "one" and last == "no"):
            who = _ALL
        elif word.text == "nothing" or not (word.text in _DENYING or word.text in _EMPTY or word.text in _OF_ALL):
            named.append(_root(word, text))
        last = word.text
    return who, named


def _behind(reading: Reading, cue: _Cue, end: int) -> Iterator[str | None]:
    """Yield the words behind what is said, ``None`` for a negation."""
    stretch = [word for word in reading.tokens if cue.end <= word.start and word.end <= end]
    for at, word in enumerate(stretch):
        is_first = at == 0 and not _is_value_behind(reading.text, word)
        if is_first and isinstance(cue.told, tuple) and cue.told[0] == "inclusion" and word.text in _OF_WHOLES:
            continue
        if is_first and word.text == "from":
            if not any(one.text.endswith("ing") for one in stretch[1:2]):  # "barred from using the lift"
                yield _PLACE
        elif word.text not in _EMPTY and not (is_first and word.text == "to"):
            yield _root(word, reading.text)


def _root(word: Word, text: str) -> str | None:
    """Return the root of a word of content, any other word as it stands, ``None`` for a negation."""
    if word.text != "without" and (word.text in NEGATORS or word.text.endswith("n't")):
        return None
    if not is_content(word, text):
        return word.text
    return act_root(word.text) if word.text.endswith("ing") else root(word.text)


_DENYING: Final = frozenset({"no", "nobody", "none", "neither", "nothing"})


def _is_value_behind(text: str, word: Word) -> bool:
    """Say whether a number or a day stands behind a word, or nothing: "allowed from 8 pm"."""
    behind = text[word.end :].lstrip()
    return not behind[:1].islower()
