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
from services.common.reading.agreement import MEASURED, agrees
from services.common.reading.bounds import Bound, bound_of
from services.common.reading.places import Place
from services.common.reading.ratios import SHARE
from services.common.reading.reckoning.written import measure
from services.common.reading.text_types import Claim, Span, Value
from services.common.reading.words import containment, content_stems, jaccard, normal_text
from services.dpe.domain.attachment import Passage, rival
from services.dpe.domain.cases import is_case, is_reckoned, is_whole
from services.dpe.domain.derived import derive
from services.dpe.domain.facts import FactClause, without_values
from services.dpe.domain.findings import AlignedValue
from services.dpe.domain.names import akin, name_key
from services.dpe.domain.placement import Placed, place, wanted
from services.dpe.domain.rules.name_places import in_one_place

ALIGNABLE: Final = MEASURED | {EntityKind.DATE, EntityKind.TIME}
NAMES: Final = frozenset({EntityKind.PERSON, EntityKind.ORGANISATION, EntityKind.LAW, EntityKind.LOCATION})
MIN_OVERLAP: Final = 0.5
"""Share of the claim's content words that the clause must hold before a difference counts."""
BOUND_OVERLAP: Final = 0.6
"""The same share from which on the side of an equal value is compared."""


def claim_stems(claim: Claim) -> frozenset[str]:
    """Return the stems of a claim's content words, values left out."""
    return content_stems(without_values(claim.text, Span(0, len(claim.text)), claim.values, claim.start))


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


MOST_PLACED: Final = 60
"""Values of a claim that are placed, each against every value of the facts near it."""


def align_values(
    claim: Claim, places: Sequence[Place], antecedent: frozenset[str] = frozenset(), beside: Sequence[Value] = ()
) -> list[AlignedValue]:
    """Pair each value of the claim with the value that stands in its place, equal or different (ADR 0094).

    Two values of a claim cannot both stand in the place of one: then it is open which does, and neither is reported.
    Of a claim with more than ``MOST_PLACED`` values, a table without rows, only equal values are paired.
    """
    if len(claim.values) > MOST_PLACED:
        return _equal_values(claim, places)
    in_turn = bool(_IN_TURN.search(claim.text))
    aligned: list[AlignedValue] = []
    stands = [place(want, claim, places) for want in wanted(claim, antecedent, beside)]
    for placed in stands:
        pair = _derived(claim, placed, places) or _align(placed, in_turn=in_turn)
        if pair is not None:
            aligned.append(replace(pair, is_applied=_is_applied(claim, pair, placed)))
    aligned = _with_the_odd_one(claim, stands, aligned)
    taken = Counter((pair.fact_index, pair.known) for pair in aligned if not pair.equal and not pair.derivation)
    return [pair for pair in aligned if pair.equal or pair.derivation or taken[pair.fact_index, pair.known] == 1]


def _with_the_odd_one(claim: Claim, stands: Sequence[Placed], aligned: Sequence[AlignedValue]) -> list[AlignedValue]:
    """Give a place to the one value that the facts do not state where a value that they do state was found in it.

    "20 cm beside it, 30 cm above" beside "20 cm beside it, 50 cm above": words between two values may be of either, but
    what the facts state is not what was changed. That 30 is also 50 less 20 is chance.
    """
    by_value = {placed.wanted.value: placed for placed in stands}
    displaced = [pair for pair in aligned if not pair.equal and not pair.derivation]
    if len(displaced) != 1:
        return list(aligned)
    (pair,) = displaced
    own = by_value[pair.claimed].agreeing
    odd = [
        one.wanted.value
        for one in stands
        if one.agreeing is None and measure(one.wanted.value) == measure(pair.claimed)
    ]
    if own is None or len(odd) != 1 or any(agrees(value, pair.known) for value in claim.values):
        return list(aligned)
    kept = [one for one in aligned if one.claimed not in {pair.claimed, odd[0]}]
    states = AlignedValue(pair.claimed, own.place.value, equal=True, fact_index=own.place.fact_index, is_firm=True)
    return [*kept, states, replace(pair, claimed=odd[0])]


def _is_applied(claim: Claim, pair: AlignedValue, placed: Placed) -> bool:
    """Say whether a value that differs need not be wrong: of a case, reckoned, or of too much that the fact leaves out.

    What repeats its fact nearly word for word is held against it all the same, but for what keeps to no limit in a case
    ("a patient with 68 g/l") and for the number of the whole ("of the six months, ...").
    """
    if pair.equal:
        return False
    own = replace(pair.claimed, start=pair.claimed.start - claim.start, end=pair.claimed.end - claim.start)
    is_limit = placed.wanted.side is None and placed.rival is not None and placed.rival.place.side is not None
    if is_whole(claim.text, own) or (is_limit and is_case(claim.text, own)):
        return True
    if placed.is_repeated:
        return False
    return (
        placed.said < DECIDED
        or is_reckoned(claim.text, own)
        or (placed.wanted.side is None and is_case(claim.text, own))
    )


DECIDED: Final = 0.5
"""Share of the claim's words that must be said of another value's place for the difference to decide."""


def _equal_values(claim: Claim, places: Sequence[Place]) -> list[AlignedValue]:
    known = {(place.value.kind, place.value.normal): place for place in reversed(places)}
    found = ((value, known.get((value.kind, value.normal))) for value in claim.values)
    return [
        AlignedValue(value, there.value, equal=True, fact_index=there.fact_index)
        for value, there in found
        if there is not None
    ]


def _derived(claim: Claim, placed: Placed, places: Sequence[Place]) -> AlignedValue | None:
    """Return the value with those of the facts that it follows from, or should follow from, where it stands in none."""
    if placed.agreeing is not None and not placed.is_displaced:
        return None
    found = derive(placed.wanted, claim, places)
    is_worse = found is not None and not found.equal and (placed.agreeing is not None or _is_share(placed))
    if found is None or is_worse:
        return None
    there = found.place
    facts = dict.fromkeys(one.fact_index for one in (there, *found.operands))
    return AlignedValue(placed.wanted.value, there.value, equal=found.equal, fact_index=there.fact_index, is_firm=True,
                        derivation=found.text, derived_from=tuple(facts))  # fmt: skip


def _is_share(placed: Placed) -> bool:
    """Say whether another share stands in the place of a share."""
    return placed.wanted.value.unit == SHARE and placed.is_displaced


def _align(placed: Placed, *, in_turn: bool) -> AlignedValue | None:
    value, agreeing, rival = placed.wanted.value, placed.agreeing, placed.rival
    if agreeing is None and rival is not None and placed.is_beyond:
        there = rival.place
        how = f"{value.text} {'<' if placed.wanted.beyond is Bound.AT_LEAST else '>'} {there.value.text}"
        return AlignedValue(value, there.value, equal=True, fact_index=there.fact_index, derivation=how)
    if rival is not None and placed.is_displaced and not in_turn:
        return AlignedValue(value, rival.place.value, equal=False, fact_index=rival.place.fact_index, is_firm=True)
    if agreeing is None:
        return None
    there = agreeing.place
    return AlignedValue(value, there.value, equal=True, fact_index=there.fact_index, is_firm=placed.is_firm,
                        turned=placed.is_turned)  # fmt: skip


_IN_TURN: Final = re.compile(r"\brespectively\b|\bin that order\b", re.IGNORECASE)


def misattached(
    claim: Claim, nearest: Sequence[Match], antecedent: frozenset[str] = frozenset()
) -> list[tuple[AlignedValue, FactClause]]:
    """Return values of the claim that the nearest fact says of something else, each with what stands in its place."""
    found: list[tuple[AlignedValue, FactClause]] = []
    for value in claim.values:
        there = _misattached(value, claim, antecedent, nearest) if value.kind in ALIGNABLE else None
        if there is not None:
            pair = AlignedValue(value, there[0], equal=False, fact_index=there[1].fact_index, is_firm=True)
            found.append((pair, there[1]))
    return found


def _misattached(
    value: Value, claim: Claim, antecedent: frozenset[str], nearest: Sequence[Match]
) -> tuple[Value, FactClause] | None:
    for match in nearest:
        clause = match.clause
        if match.is_copy or match.containment < MIN_OVERLAP or clause.fact_index != nearest[0].clause.fact_index:
            return None
        for known in clause.values:
            if agrees(value, known):
                own = Passage(claim.text, claim.start, claim.values, antecedent)
                other = rival(value, own, known, Passage(clause.text, clause.span.start, clause.values))
                if other is not None and not _told_by_limits(claim, value, clause, known, other):
                    return other, clause
    return None


def _told_by_limits(claim: Claim, value: Value, clause: FactClause, known: Value, other: Value) -> bool:
    """Say whether a fact's two values differ in what they limit and the claim's is as its own: "5 a day, at most 8"."""
    side, beside = (bound_of(clause.text, clause.span.start, one) for one in (known, other))
    return side is not beside and bound_of(claim.text, claim.start, value) is side


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


_TITLES: Final = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "lord", "lady", "judge"})


def _surname(name: Entity) -> str:
    """Return the one word that a person is named by beside a title, "farrant" of "Ms Farrant"; else the whole key."""
    key = name_key(name.text)
    parts = [part for part in key.split() if part not in _TITLES]
    return parts[0] if name.kind is EntityKind.PERSON and len(parts) == 1 else key


def substituted_names(claim: Claim, nearest: Match) -> list[tuple[Entity, Entity]]:
    """Return pairs of a claim's name and the one name of the same kind that the clause has in its place."""
    pairs: list[tuple[Entity, Entity]] = []
    claimed = [name for name in claim.entities if name.kind in NAMES]
    claimed_keys = {name_key(name.text) for name in claimed}
    clause_words = f" {name_key(nearest.clause.normal)} "
    for name in claimed:
        if f" {name_key(name.text)} " in clause_words or f" {_surname(name)} " in clause_words:
            continue
        free = [
            known
            for known in nearest.clause.names
            if known.kind is name.kind and name_key(known.text) not in claimed_keys
        ]
        free = [known for known in free if f" {name_key(known.text)} " not in f" {name_key(claim.text)} "]
        # "Verve Forecast Records" beside "Verve Records": a longer or a shorter form, or the people of the place.
        free = [known for known in free if not akin(name.text, known.text)]
        if len(free) == 1 and _is_in_place_of(name, claim, free[0], nearest.clause):
            pairs.append((name, free[0]))
    return pairs


def _is_in_place_of(name: Entity, claim: Claim, known: Entity, clause: FactClause) -> bool:
    """Say whether the clause says of its name what the claim says of its own."""
    there, at = clause.span.start, (name.start - claim.start, name.end - claim.start)
    return in_one_place(claim.text, at, clause.text, (known.start - there, known.end - there))
