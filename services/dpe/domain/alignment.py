"""Lining a claim up with the clauses of its facts (SPEC-005 §5.3): what stands in whose place.

Everything here is conservative: a difference is reported only against the clause that says most nearly what the claim
says, and never when another clause that is as near bears the claim out. A verbatim copy therefore aligns with itself.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.dpe.domain.attachment import Passage, rival
from services.dpe.domain.bounds import bound_of
from services.dpe.domain.facts import MEASURED, FactClause, agrees, comparable, without_values
from services.dpe.domain.findings import AlignedValue
from services.dpe.domain.lexicon import STOPWORDS
from services.dpe.domain.names import name_key
from services.dpe.domain.polarity import is_negated
from services.dpe.domain.ratios import SHARE, TIMES
from services.dpe.domain.text_types import Claim, Span, Value
from services.dpe.domain.words import containment, content_stems, jaccard, normal_text

ALIGNABLE: Final = MEASURED | {EntityKind.DATE, EntityKind.TIME}
NAMES: Final = frozenset({EntityKind.PERSON, EntityKind.ORGANISATION, EntityKind.LAW, EntityKind.LOCATION})
MIN_OVERLAP: Final = 0.5
"""Share of the claim's content words that the clause must hold before a difference counts."""
BOUND_OVERLAP: Final = 0.6
"""The same share from which on the side of an equal value is compared."""


def claim_stems(claim: Claim) -> frozenset[str]:
    """Return the stems of a claim's content words, values left out."""
    shifted = [replace(value, start=value.start - claim.start, end=value.end - claim.start) for value in claim.values]
    return content_stems(without_values(claim.text, Span(0, len(claim.text)), shifted))


@dataclass(frozen=True, slots=True)
class Match:
    """A clause and how near it is to the claim."""

    clause: FactClause
    containment: float
    jaccard: float
    is_copy: bool


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """A claim as it is compared: content words without the words of its values and names."""

    claim: Claim
    stems: frozenset[str]
    normal: str
    antecedent: frozenset[str] = frozenset()

    @classmethod
    def of(cls, claim: Claim, antecedent: frozenset[str] = frozenset()) -> "ClaimWords":
        """Read a claim; ``antecedent`` holds the stems of what a pronoun at its beginning stands for."""
        return cls(claim, claim_stems(claim) | antecedent, normal_text(claim.text), antecedent)


def matches(claim: ClaimWords, clauses: Iterable[FactClause]) -> list[Match]:
    """Return the clauses by nearness, the nearest first; among equals the one that agrees in most values."""
    found = [
        Match(
            clause,
            containment(claim.stems, clause.stems),
            jaccard(claim.stems, clause.stems),
            clause.normal == claim.normal,
        )
        for clause in clauses
    ]
    return sorted(
        found,
        key=lambda match: (match.is_copy, match.containment, _agreeing(claim.claim, match.clause), match.jaccard),
        reverse=True,
    )


def _agreeing(claim: Claim, clause: FactClause) -> int:
    return sum(1 for value in claim.values if any(agrees(value, known) for known in clause.values))


def align_values(
    claim: Claim, nearest: Sequence[Match], antecedent: frozenset[str] = frozenset()
) -> list[AlignedValue]:
    """Pair each value of the claim with the value that stands in its place, equal or different.

    Two values of a claim cannot both stand in the place of one: then it is open which does, and neither is reported.
    """
    subject = _Subject(claim, antecedent)
    pairs = [_align(value, subject, nearest) for value in claim.values if value.kind in ALIGNABLE]
    aligned = [pair for pair in pairs if pair is not None]
    wanted = Counter(pair.known for pair in aligned if not pair.equal)
    return [pair for pair in aligned if pair.equal or wanted[pair.known] == 1]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A claim with the stems of what its pronoun stands for."""

    claim: Claim
    antecedent: frozenset[str]


def _align(value: Value, claim: _Subject, nearest: Sequence[Match]) -> AlignedValue | None:
    equal = _first_equal(value, claim, nearest)
    different = _misattached(value, claim, nearest) or _first_different(value, claim.claim, nearest)
    if equal and (different is None or equal[0] >= different[0]):
        return AlignedValue(value, equal[1], equal=True)
    return AlignedValue(value, different[1], equal=False) if different else None


def _first_equal(value: Value, claim: _Subject, nearest: Sequence[Match]) -> tuple[float, Value] | None:
    for match in nearest:
        for known in match.clause.values:
            if agrees(value, known) and _rival(value, claim, known, match) is None:
                return match.containment, known
    return None


def _misattached(value: Value, claim: _Subject, nearest: Sequence[Match]) -> tuple[float, Value] | None:
    """Return what stands in the value's place where the value itself belongs to something else of the nearest fact."""
    for match in nearest:
        if match.containment < MIN_OVERLAP or match.clause.fact_index != nearest[0].clause.fact_index:
            return None
        for known in match.clause.values:
            other = _rival(value, claim, known, match) if agrees(value, known) else None
            if other is not None:
                return match.containment, other
    return None


def _rival(value: Value, subject: _Subject, known: Value, match: Match) -> Value | None:
    if match.is_copy:
        return None
    clause, claim = match.clause, subject.claim
    return rival(
        value,
        Passage(claim.text, claim.start, claim.values, subject.antecedent),
        known,
        Passage(clause.text, clause.span.start, clause.values),
    )


def turned_bounds(claim: Claim, nearest: Sequence[Match]) -> list[tuple[Value, Value, FactClause]]:
    """Return equal values of claim and fact on opposite sides ("up to", "at least"), with the fact's clause.

    Nothing is returned for a value that some near clause also states with the claim's bound or without one, nor where
    one of the two statements is negated: "above 5 is not paid" and "up to 5 is paid" go together.
    """
    found: list[tuple[Value, Value, FactClause]] = []
    for value in claim.values:
        side = bound_of(claim.text, claim.start, value)
        if side is None or value.kind not in ALIGNABLE:
            continue
        near = [
            (match.clause, known)
            for match in nearest
            if match.containment >= BOUND_OVERLAP
            for known in match.clause.values
            if agrees(value, known)
        ]
        sides = {bound_of(clause.text, clause.span.start, known) for clause, known in near}
        if len(sides) == 1 and not sides & {side, None} and is_negated(claim.text) == is_negated(near[0][0].text):
            found.append((value, near[0][1], near[0][0]))
    return found


def _first_different(value: Value, claim: Claim, nearest: Sequence[Match]) -> tuple[float, Value] | None:
    """Return the one value of the nearest clause that stands in the value's place, or nothing when that is open.

    Values of the same kind come first; a bare number stands for a measured one only when there is none.
    """
    best = nearest[0] if nearest else None
    if best is None or best.containment < MIN_OVERLAP:
        return None
    free = [
        known
        for known in best.clause.values
        if known.kind in ALIGNABLE
        and comparable(value, known)
        and _same_place(value, claim, known, best.clause)
        and not any(agrees(other, known) for other in claim.values)
    ]
    # A date that is more precise than the source's is no other date: stage 3a traces it. "Over 300" is true of 324.
    if any((value.kind is EntityKind.DATE and agrees(known, value)) or _lies_above(known, value) for known in free):
        return None
    candidates = [known for known in free if known.kind is value.kind] or free
    return (best.containment, candidates[0]) if len(candidates) == 1 else None


def _same_place(value: Value, claim: Claim, known: Value, clause: FactClause) -> bool:
    """Say whether two values can stand in one place.

    An age behind a name ("Mr Hill, 28, was ...") counts nothing, a share of something ("60 % of all cases") is no
    change that a multiplier ("doubled") could be set against, and what a number counts ("27 counts") is no measure ("20
    years").
    """
    ours, theirs = (value, claim.text, claim.start), (known, clause.text, clause.span.start)
    if _APPOSED in {_manner(*ours), _manner(*theirs)}:
        return _manner(*ours) == _manner(*theirs)
    if bool(value.unit) != bool(known.unit) and _counts(*(theirs if value.unit else ours)):
        return False
    return not (_PART_OF in {_manner(*ours), _manner(*theirs)} and TIMES in {value.unit, known.unit})


def _counts(value: Value, text: str, offset: int) -> bool:
    """Say whether a bare number stands right before a word that tells what is counted."""
    counted = _COUNTED.match(text, value.end - offset)
    return value.kind is EntityKind.NUMBER and counted is not None and counted["word"].lower() not in STOPWORDS


_APPOSED: Final = "apposed"
_PART_OF: Final = "part of"
_OF: Final = re.compile(r"(?<!\s)\s++of\b", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\s(?P<word>[^\W\d_]+)")


def _manner(value: Value, text: str, offset: int) -> str:
    """Return how a value stands in its text: between two commas, as a part of something, or neither."""
    start, end = value.start - offset, value.end - offset
    if value.kind is EntityKind.NUMBER and text[:start].endswith(", ") and text[end : end + 1] == ",":
        return _APPOSED
    return _PART_OF if value.unit == SHARE and _OF.match(text, end) else ""


def _lies_above(known: Value, value: Value) -> bool:
    """Say whether a known value that stands alone lies above a claimed floor, and not far above it."""
    if not value.floor or known.floor or known.magnitude is None or value.magnitude is None or known.unit != value.unit:
        return False
    return value.magnitude < known.magnitude <= 2 * value.magnitude


def on_other_sides(claim: Claim, clause: FactClause) -> bool:
    """Say whether claim and clause speak of the two sides of one value, as "after 12 months" and "within 12 months"."""
    for value in claim.values:
        side = bound_of(claim.text, claim.start, value)
        for known in clause.values if side is not None else ():
            other = bound_of(clause.text, clause.span.start, known)
            if other not in {side, None} and agrees(value, known):
                return True
    return False


def nearest_for_names(claim: ClaimWords, nearest: Sequence[Match]) -> Match:
    """Return the clause that says most nearly what the claim says of whomever it names.

    The names' own words do not count: "B leads sales" is to be held against "A leads sales", not "B leads claims".
    """
    names = [entity.text for entity in claim.claim.entities if entity.kind in NAMES]
    said = claim.stems - content_stems(" ".join(names))
    if not names or not said:
        return nearest[0]
    ranked = [
        replace(match, containment=containment(said, match.clause.stems), jaccard=jaccard(said, match.clause.stems))
        for match in nearest
    ]
    # Among equals the order of ``nearest`` stands, in which a clause that holds the name comes first.
    return max(ranked, key=lambda match: match.containment)


def substituted_names(claim: Claim, nearest: Match) -> list[tuple[Entity, Entity]]:
    """Return pairs of a claim's name and the one name of the same kind that the clause has in its place."""
    pairs: list[tuple[Entity, Entity]] = []
    claimed = [name for name in claim.entities if name.kind in NAMES]
    claimed_keys = {name_key(name.text) for name in claimed}
    clause_words = f" {name_key(nearest.clause.normal)} "
    for name in claimed:
        if f" {name_key(name.text)} " in clause_words:
            continue
        free = [
            known
            for known in nearest.clause.names
            if known.kind is name.kind and name_key(known.text) not in claimed_keys
        ]
        free = [known for known in free if f" {name_key(known.text)} " not in f" {name_key(claim.text)} "]
        if len(free) == 1:
            pairs.append((name, free[0]))
    return pairs
