"""What a repeated sentence says, denied, or what it denies, said (SPEC-005 §5.3, NEGATION_FLIP, ADR 0194).

All words of content of the claim stand in one sentence, and of all that either side negates one word is negated on one
side alone: "There is a waiting time after an accident" for "There is no waiting time after an accident, and none for
members who change". What the sentence says of other things is not asked for its negations. Words that stand against
each other turn a repeated sentence, too: "at most" in the place of "at least", "forbids" in that of "allows".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.lexicon import AUXILIARIES, NEGATORS
from services.common.reading.opposites import sides
from services.common.reading.polarity import is_negated
from services.common.reading.words import Word, words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, nearest_to, root, share, statements
from services.dpe.domain.rules.repeats import Difference, Unit, aligned, content_of, nearest_parts, values_agree
from services.dpe.domain.rules.rows import rows_of

_READ: Final = 6
"""So many sentences, the nearest ones, are compared."""
_MIN_SAID: Final = 2
_FEW: Final = 2
"""So few words of content may be said of anything, and so large a share of all words has to be repeated then."""
_COPIED: Final = 0.6
_ADJUNCT: Final = re.compile(r"(?:In|For|Under|At|On|During|With|When|If|Where)\s[^,;:]{2,80},\s")
_MOVED: Final = 0.15
"""Share of the claim's words of content that may stand elsewhere in the sentence."""
_MISSING: Final = 0.25
"""Share of its words that the claim may have from its question, or from a heading of the document."""
_ADDED: Final = re.compile(
    r"[,;:.]\s(?:and|but|so|because|since|for|as|even|which|this|the)\b|\bbecause\b", re.IGNORECASE
)
_EVEN: Final = re.compile(r"\beven\s(?:if|when|though|where)\b", re.IGNORECASE)
_LEAD_IN: Final = re.compile(r"[^.;:\n]{1,80}:\s")
_NO_NEGATION: Final = re.compile(
    r"\b(?:no|not)\s(?:be\s)?(?:later|earlier|more|less|fewer|only|sooner|higher|lower|further|farther)\s(?:than\b)?"
    r"|\b(?:no|not)\s(?:longer\sthan|(?:be\s)?(?:older|younger)\sthan)\b"
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
_DOUBLE: Final = re.compile(r"\b(?:not|never|no|cannot)\b[^.;:,]{1,80}\bwithout\b", re.IGNORECASE)
"""What is denied without something is allowed with it."""
_FORBIDS: Final = re.compile(r"\b(?:forbidden|prohibited|banned)\b", re.IGNORECASE)
"""These deny an act as "may not" does."""
_NEVER: Final = frozenset({"never", "nor", "neither", "non"})
_EMPTY: Final = AUXILIARIES | {"ever", "also", "then", "always", "even", "yet", "longer"}
_PRONOUNS: Final = frozenset({"nothing", "nobody", "none", "nowhere"})
"""What negates a statement without a word behind it."""
_REACH: Final = 5
"""So many words behind a negation it may negate."""
_LIMITS: Final = (
    ("until", "till", "before", "prior"), ("after", "since", "from"), ("unless",), ("except", "excluding", "apart"),
    ("only",), ("if", "when", "where", "while"), ("within",), ("above", "over", "more"),
    ("below", "under", "less", "fewer"), ("most", "up"), ("least",),
)  # fmt: skip
"""What is said under one of these is not said without it; words of one group say the same."""


_PAIRS: Final = """
    most/least before/after above/below over/under more/less more/fewer first/last longer/shorter
    earlier/later with/without minimum/maximum higher/lower always/never inside/outside left/right start/end
    begin/end begins/ends starts/ends earned/lost longest/shortest highest/lowest early/late internal/external
    upper/lower same/another same/different increase/decrease best/worst older/younger largest/smallest
    larger/smaller entry/exit arrival/departure admission/discharge domestic/foreign weekdays/weekends
    summer/winter day/night gross/net import/export
    imports/exports inbound/outbound permanent/temporary morning/evening morning/afternoon north/south
    east/west voluntary/compulsory minor/major
"""
_OPPOSED: Final = frozenset(frozenset(pair.split("/")) for pair in _PAIRS.split())
"""Words of which one is never said for the other."""
_MIN_REST: Final = 3
_SAME: Final = 0.85
_FEW_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class _Marks:
    """Words of content of a text by root, each with the negation that governs it, where one does."""

    negated: Mapping[str, tuple[Word, Word]]
    plain: Mapping[str, Word]
    unclear: frozenset[str]
    limits: frozenset[int]


def turned_word(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the word that a claim negates, or asserts, against the sentence that it repeats, or ``None``."""
    for said in claim.once(_statements):
        ours = said.once(_marks)
        if ours is None or len(said.content) < _MIN_SAID:
            continue
        found: Departure | None = None
        for _, source in nearest_to(said, sources)[:_READ]:
            if not _is_held(said, source):
                continue
            told = _told_of(said, source)
            theirs = told.once(_marks)
            if theirs is None or not _is_said(said, told) or (said is not claim and theirs.limits):
                continue
            if (_FORBIDS.search(said.text) is None) != (_FORBIDS.search(told.text) is None):
                continue
            turned = _turned(said, ours, told, theirs)
            if not turned and ours.limits <= theirs.limits:
                return None  # a sentence says the same
            if len(turned) == 1 and ours.limits == theirs.limits and is_negated(said.text) != is_negated(told.text):
                found = found or _departure(said, told, turned[0], ours, theirs)
        if found is not None:
            return found
    return None


def opposed_word(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the one word of a repeated sentence for which a claim has its opposite, or ``None``."""
    parts = [part for source in sources for part in source.once(statements)]
    for beside in nearest_parts(claim, sources):
        source = beside.source
        there = content_of(beside.known) | source.known
        differing = [one for one in beside.differences if one.said and one.known]
        opposed = [(one, pair) for one in differing if (pair := _opposites(one)) is not None]
        if beside.copied < _COPIED or len(opposed) != 1:
            continue
        one, (said, known) = opposed[0]
        others = [other for other in differing if other is not one and other.told - there and other.there]
        rest = content_of(beside.said) - one.told
        if others or len(rest) < _MIN_REST or share(rest, there) < _SAME or not values_agree(claim, source):
            continue
        if any(said.key in part.content and share(rest, part.known) >= _SAME for part in parts):
            continue
        if is_negated(claim.text) == is_negated(source.text):
            kind, rule, end = _altered(beside.said, said)
            own, there_at = claim.span(said.word.start, end), source.span(*known.place)
            return Departure(kind, rule, own, source, there_at)
    return None


def _altered(units: Sequence[Unit], said: Unit) -> tuple[DistortionType, Rule, int]:
    """Return what an opposite alters, the bound of a value behind it or what is said, and where its words end."""
    at = units.index(said)
    bounded = next((unit for unit in units[at + 1 : at + 3] if unit.value is not None), None)
    if bounded is None or bounded.value is None:
        return DistortionType.NEGATION_FLIP, Rule.NEGATION, said.word.end
    is_time = bounded.value.kind in {EntityKind.DATE, EntityKind.TIME}
    kind = DistortionType.DATE_SHIFTED if is_time else DistortionType.MAGNITUDE_ALTERED
    return kind, Rule.BOUND, bounded.word.end


def _opposites(one: Difference) -> tuple[Unit, Unit] | None:
    """Return the word of the claim and the opposite that stands in its place, where each has hardly more words."""
    spoken = {unit.word.text for unit in (*one.said, *one.known)}
    if max(len(one.said), len(one.known)) > _FEW_WORDS or "until" in spoken:  # "not until after" is "not before"
        return None
    for said in one.said:
        for known in one.known:
            if said.value is None and known.value is None and _are_opposed(said.word.text, known.word.text):
                return said, known
    return None


def _are_opposed(one: str, other: str) -> bool:
    if frozenset({one, other}) in _OPPOSED:
        return True
    left, right = sides(one)[0], sides(other)[0]
    return any(side.axis == opposite.axis and side.is_first != opposite.is_first for side in left for opposite in right)


def _statements(claim: Reading) -> tuple[Reading, ...]:
    """Return a claim, and what is left of it behind what it begins with: "In health insurance, children have ..."."""
    adjunct = _ADJUNCT.match(claim.text)
    return (claim,) if adjunct is None else (claim, claim.part(adjunct.end(), len(claim.text)))


def _turned(claim: Reading, ours: _Marks, source: Reading, theirs: _Marks) -> list[str]:
    clear = (claim.content & source.content) - ours.unclear - theirs.unclear
    return [word for word in sorted(clear) if (word in ours.negated) != (word in theirs.negated)]


def _is_held(claim: Reading, source: Reading) -> bool:
    """Say whether the sentence, and what stands over it, hold the claim's words of content, a few aside."""
    missing = claim.content - source.content
    return len(missing - source.known) <= _MISSING * len(claim.content) and len(missing) <= len(claim.content) / 2


def _is_said(claim: Reading, source: Reading) -> bool:
    """Say whether the sentence has nearly all of the claim's words of content, in their order."""
    beside = aligned(claim, source)
    told = [unit for unit in beside.said if unit.is_content]
    if any(one.told - source.known and one.there - claim.content for one in beside.differences):
        return False  # of another thing
    moved = sum(unit.is_content and unit.key in source.content for one in beside.differences for unit in one.said)
    return moved <= _MOVED * len(told) and (len(told) > _FEW or beside.copied >= _COPIED)


def _told_of(claim: Reading, source: Reading) -> Reading:
    """Return the sentence without its lead-in, and without what is added behind the words of the claim.

    A condition that stands behind them is left: it may be theirs.
    """
    last = max((word.end for word in source.tokens if root(word.text) in claim.content), default=0)
    behind, lead = _ADDED.search(source.text, last), _LEAD_IN.match(source.text)
    start, end = 0 if lead is None else lead.end(), len(source.text) if behind is None else behind.start()
    if start >= end or (start, end) == (0, len(source.text)):
        return source
    told = source.part(start, end)
    return replace(told, context=told.context | source.content)


_MORE_THAN: Final = re.compile(r"\b(?:longer|later|further|greater|higher)\sthan\b", re.IGNORECASE)


def _limits(text: str) -> frozenset[int]:
    held = {word.text for word in words(_EVEN.sub(" ", text))} | ({"more"} if _MORE_THAN.search(text) else set())
    return frozenset(place for place, group in enumerate(_LIMITS) if held.intersection(group))


def _marks(reading: Reading) -> _Marks | None:
    """Return what is negated in a sentence; ``None`` where a negation governs nothing that can be told."""
    if _CONTRAST.search(reading.text) or _DOUBLE.search(reading.text) or reading.once(rows_of):
        return None
    blank = _NO_NEGATION.sub(lambda match: "\0" * len(match.group()), reading.text)
    tokens = [word for word in reading.tokens if blank[word.start] != "\0"]
    negated: dict[str, tuple[Word, Word]] = {}
    plain: dict[str, Word] = {}
    taken: set[int] = set()
    for at, word in enumerate(tokens):
        if not _negates(word, reading.text):
            continue
        behind = next(
            (
                place
                for place in range(at + 1, min(at + 1 + _REACH, len(tokens)))
                if _carries(tokens[place], reading.text)
            ),
            None,
        )
        if word.text in _PRONOUNS:
            negated[word.text] = (word, word)
            continue
        if behind is None:
            return None
        taken.add(behind)
        negated[root(tokens[behind].text)] = (word, tokens[behind])
    for at, word in enumerate(tokens):
        if at not in taken and _carries(word, reading.text):
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
