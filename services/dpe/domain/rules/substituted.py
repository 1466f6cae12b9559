"""One thing or value of a repeated sentence in place of another (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0193).

A claim that repeats a sentence of its facts but for one stretch, and gives every value as the sentence does, says of
one thing what the facts say of another. Two names of one thing stand in such a place as well: it is clear that they
are two where both are names, where they are kinds of one thing ("sick leave" for "annual leave"), or where a sentence
of the facts has both. What is clear decides; what is not counts where the entailment model contradicts the claim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from services.common.reading.agreement import agrees, comparable
from services.common.reading.bounds import bound_of
from services.common.reading.lexicon import AUXILIARIES, FINITE_VERBS, PREPOSITIONS, STOPWORDS
from services.common.reading.ordinals import ORDINALS
from services.common.reading.text_types import Value
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.names import akin, name_key
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, share, statements
from services.dpe.domain.rules.repeats import (
    Alignment,
    Difference,
    Unit,
    content_of,
    is_whoever,
    nearest_parts,
    units_of,
    values_agree,
)
from services.dpe.domain.rules.rows import values_of

REPEATED: Final = 0.6
"""Share of the claim's units that stand in the sentence in the same order, from which on the rest is a difference."""
_NEARLY_ALL: Final = 0.75
"""The same share, from which on two things count that may be one."""
_SAME: Final = 0.8
"""Share of the claim's other words of content that the sentence, or what stands over it, holds."""
_MIN_REPEATED: Final = 3
_FEW: Final = 3
"""Words of content of a thing."""
_ENDS: Final = frozenset(
    {"when", "if", "or", "and", "which", "who", "that", "then", "because", "unless", "where", "but", "while", "after"}
    | {"before", "without", "with", "as", "so"}
)
"""Words at which a thing ends."""
_MEASURING: Final = frozenset(
    {"less", "fewer", "more", "least", "most", "same", "own", "one", "other", "another"}
    | {"first", "second", "third", "last", "next", "former", "latter"}
)
"""Words with which no thing is named."""
_EXCEPTED: Final = re.compile(r"\b(?:except(?:ing)?|exception|excluding|other than|apart from)\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?:the\s|The\s)?[A-Z][\w'’&-]*(?:\s(?:of\s|for\s|the\s)?[A-Z][\w'’&-]*){0,5}(?:['’]s)?")  # noqa: RUF001


def substituted_thing(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the thing of which a claim says what a sentence that it repeats says of another, or ``None``."""
    parts = [part for source in sources for part in source.once(statements)]
    for beside in (one for one in nearest_parts(claim, sources) if one.copied >= REPEATED):
        for one in _differences(beside):
            told, there = content_of(one.said), content_of(one.known)
            rest = _without(beside.said, one.said)
            if (
                _are_things(claim, beside.source, one)
                and not told & there
                and not told <= beside.source.known
                and not there <= claim.content
                and values_agree(claim, beside.source)
                and not any(told <= part.known and share(content_of(rest), part.known) >= _SAME for part in parts)
                and not _is_heading(beside.source, one.known)
            ):
                if is_whoever(claim, [unit.word for unit in one.said if unit.is_content]) or _are_one(
                    _text(claim, one.said), _text(beside.source, one.known)
                ):
                    continue
                if _are_two(claim, beside, one, parts):
                    return _departure(DistortionType.ENTITY_SUBSTITUTED, Rule.NAME, claim, beside.source, one)
                if beside.copied >= _NEARLY_ALL and not _has_other(beside, one):
                    found = _departure(DistortionType.ENTITY_SUBSTITUTED, Rule.DISPLACED, claim, beside.source, one)
                    return replace(found, is_guess=True)
    return None


def substituted_value(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the value that a claim has in the place of another one of a sentence that it repeats, or ``None``."""
    if not claim.once(values_of):
        return None
    parts = [part for source in sources for part in source.once(statements)]
    for beside in (one for one in nearest_parts(claim, sources) if one.copied >= REPEATED):
        for one in _differences(beside):
            said, known = _only_value(one.said), _only_value(one.known)
            if said is None or known is None or not comparable(said, known) or agrees(said, known):
                continue
            given = [value for value in claim.once(values_of) if value is not said]
            there = beside.source.once(values_of)
            rest = _without(beside.said, one.said)
            if (
                _EXCEPTED.search(claim.text) is None
                and not _has_other(beside, one)
                and all(any(_stand_alike(claim, value, beside.source, other) for other in there) for value in given)
                and not any(agrees(said, other) for other in there)
                and bound_of(claim.text, 0, said) == bound_of(beside.source.text, 0, known)
                and not any(
                    share(content_of(rest), part.known) >= _SAME
                    and any(agrees(said, other) for other in part.once(values_of))
                    for part in parts
                )
            ):
                return _departure(DistortionType.NUMBER_CHANGED, Rule.VALUE, claim, beside.source, one)
    return None


def substituted_ordinal(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the ordinal that a claim has in the place of another one of a sentence that it repeats, or ``None``.

    Only words: "the second evening" for "the first". Beside ordinals in figures they are values.
    """
    parts = [part for source in sources for part in source.once(statements)]
    for beside in (one for one in nearest_parts(claim, sources) if one.copied >= _NEARLY_ALL):
        for one in beside.differences:
            said, known = (" ".join(unit.word.text for unit in units) for units in (one.said, one.known))
            if said not in ORDINALS or known not in ORDINALS or said == known:
                continue
            rest = content_of(_without(beside.said, one.said))
            if not any(
                share(rest, part.known) >= _SAME and said in {word.text for word in part.tokens} for part in parts
            ):
                return _departure(DistortionType.NUMBER_CHANGED, Rule.VALUE, claim, beside.source, one)
    return None


def _differences(beside: Alignment) -> Iterator[Difference]:
    """Yield what the claim has in the place of something, where nearly all else of it is said there."""
    there = content_of(beside.known) | beside.source.known
    for one in beside.differences:
        said, known = _phrase(one.said), _phrase(one.known)
        told = content_of(said)
        rest = content_of(beside.said) - told
        if told and content_of(known) and len(rest) >= _MIN_REPEATED and share(rest, there) >= _SAME:
            yield Difference(said, known, one.said_at, one.known_at)


def _without(units: Sequence[Unit], left_out: Sequence[Unit]) -> list[Unit]:
    """Return units without values and without some others."""
    return [unit for unit in units if unit.value is None and unit not in left_out]


def _phrase(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    end = next((at for at, unit in enumerate(units) if at and unit.word.text in _ENDS), len(units))
    return units[:end]


def _are_things(claim: Reading, source: Reading, one: Difference) -> bool:
    units = (*one.said, *one.known)
    if max(len(content_of(one.said)), len(content_of(one.known))) > _FEW:
        return False
    if one.said[0].word.text in PREPOSITIONS or one.known[0].word.text in PREPOSITIONS:
        return False
    if any(unit.value is not None or unit.word.text in _MEASURING for unit in units):
        return False
    return not _has_verb(one.said, one.known, claim.text) and not _has_verb(one.known, one.said, source.text)


def _has_verb(units: Sequence[Unit], others: Sequence[Unit], text: str) -> bool:
    """Say whether words hold a verb: "claims" is none as a name, nor before the noun of a thing ("claims handler")."""
    for at, unit in enumerate(units):
        is_name = text[unit.word.start].isupper() and unit.word.start > 0
        if unit.word.text in AUXILIARIES:
            return True
        if unit.word.text in FINITE_VERBS and not is_name:
            is_first = any(later.is_content for later in units[at + 1 :])
            if not is_first or any(other.word.text in FINITE_VERBS for other in others):
                return True
    return False


def _is_heading(source: Reading, known: Sequence[Unit]) -> bool:
    """Say whether the words are those of a lead-in: "Bereavement: policies of a couple continue"."""
    return known[0].word.start == 0 and source.text[known[-1].word.end :].startswith(":")


def _are_two(claim: Reading, beside: Alignment, one: Difference, parts: Sequence[Reading]) -> bool:
    """Say whether it is clear that the two things are two."""
    ours, theirs = _text(claim, one.said), _text(beside.source, one.known)
    if _NAMED.fullmatch(ours) and _NAMED.fullmatch(theirs) and one.said_at and one.known_at:
        return True
    told, there = content_of(one.said), content_of(one.known)
    is_known = any(told <= part.content for part in parts)
    if is_known and any(told <= part.content and there <= part.content for part in parts):
        return True
    behind = one.said_at + len(one.said)
    if _has_same_place(beside, one, parts):
        return True
    if behind >= len(beside.said) or not beside.said[behind].is_content or not one.said[-1].is_content:
        return False
    kind = beside.said[behind].key
    return any(_is_kind(one.said[-1].key, kind, part) for part in parts)


def _has_same_place(beside: Alignment, one: Difference, parts: Sequence[Reading]) -> bool:
    """Say whether the facts say the same of the one elsewhere: "the operator is liable for", "the visitor is ..."."""
    behind = one.said_at + len(one.said)
    run = tuple(unit.key for unit in beside.said[behind - 1 : behind + _RUN])
    if len(run) <= _RUN or not one.said[-1].is_content:
        return False
    for part in parts:
        keys = [unit.key for unit in part.once(units_of)] if part is not beside.source else []
        if any(tuple(keys[at : at + len(run)]) == run for at in range(len(keys) - len(run) + 1)):
            return True
    return False


_RUN: Final = 3
"""So many words behind a thing say what is said of it."""


def _are_one(ours: str, theirs: str) -> bool:
    """Say whether two phrases are spellings, forms or abbreviations of one."""
    one, other = name_key(ours).replace(" ", ""), name_key(theirs).replace(" ", "")
    return one == other or akin(ours, theirs) or _abbreviates(ours, theirs) or _abbreviates(theirs, ours)


def _abbreviates(short: str, whole: str) -> bool:
    """Say whether a word is made of the first letters of others, a last one of its own aside: "the SIU"."""
    letters = "".join(word[0] for word in name_key(whole).split() if word not in STOPWORDS)
    key = name_key(short)
    return len(letters) > 1 and key.startswith(letters) and len(key) <= len(letters) + 1


def _is_kind(telling: str, kind: str, part: Reading) -> bool:
    """Say whether a sentence has the two words side by side, as "sick leave"."""
    keys = [unit.key for unit in part.once(units_of)]
    return (telling, kind) in pairwise(keys)


def _has_other(beside: Alignment, value: Difference) -> bool:
    """Say whether another thing, too, stands in the place of something of the sentence."""
    there = content_of(beside.known) | beside.source.known
    return any(
        one.told and one.there and one.said_at != value.said_at and not one.told <= there for one in beside.differences
    )


def _stand_alike(claim: Reading, value: Value, source: Reading, other: Value) -> bool:
    """Say whether two values agree and are the same side of what they bound."""
    return agrees(value, other) and bound_of(claim.text, 0, value) == bound_of(source.text, 0, other)


def _only_value(units: Sequence[Unit]) -> Value | None:
    """Return the value of a stretch that is one value and no other word of content."""
    content = [unit for unit in units if unit.is_content]
    return content[0].value if len(content) == 1 else None


def _text(reading: Reading, units: Sequence[Unit]) -> str:
    return reading.text[units[0].word.start : units[-1].word.end]


def _departure(kind: DistortionType, rule: Rule, claim: Reading, source: Reading, one: Difference) -> Departure:
    return Departure(
        kind,
        rule,
        claim.span(one.said[0].word.start, one.said[-1].word.end),
        source,
        source.span(one.known[0].word.start, one.known[-1].word.end),
    )
