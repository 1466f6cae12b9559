"""Words of another place in a sentence that is otherwise repeated (SPEC-005 §5.3, RELATION_ALTERED, ADR 0180).

A claim that repeats a sentence of its facts but for one stretch, in which it says what the facts say elsewhere, takes
that from another clause, row or party: "at most twice per trip" where the sentence has "twice per calendar year" and
trips are spoken of in others. So does one in which two stretches of the sentence changed places: "borne by the
department and not by the Group" for "by the Group and not by the department". What stands nowhere in the facts may be
another word for the same, and is left to the encoders.
"""

from collections.abc import Sequence
from typing import Final

from services.common.reading.agreement import agrees, comparable
from services.common.reading.lexicon import FINITE_VERBS
from services.common.reading.text_types import Value
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.repeats import Difference, Unit, is_whoever, nearest_parts
from services.dpe.domain.rules.rows import values_of

EXCHANGED: Final = 0.6
REPLACED: Final = 0.7
"""Shares of the claim's words that stand in the sentence in the same order, from which on two stretches that changed
places, and one whose words are of another place, count; on both halves of the corpus and the development pairs no true
answer of level LOW is so near to its source with either."""
_OPENING: Final = 2
"""Words with which a sentence begins its subject."""
_PAIR: Final = 2
_FEW: Final = 3
"""Words of a stretch."""


def displaced(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return words of a claim that its facts have in another place than the sentence that it repeats, or ``None``."""
    if not claim.tokens:
        return None
    beside = nearest_parts(claim, sources)
    best = max(beside, key=lambda one: one.copied, default=None)
    if best is None or best.copied < EXCHANGED:
        return None
    stretches = [one for one in best.differences if one.said and one.known]
    found = _exchanged(stretches)
    if found is None and best.copied >= REPLACED:
        found = _replaced(claim, best.source, stretches, sources)
    if found is None:
        return None
    source = best.source
    return Departure(
        DistortionType.RELATION_ALTERED,
        Rule.DISPLACED,
        claim.span(found.said[0].word.start, found.said[-1].word.end),
        source,
        source.span(found.known[0].word.start, found.known[-1].word.end),
    )


def _exchanged(stretches: Sequence[Difference]) -> Difference | None:
    """Return a stretch that changed places with another one, where nothing else differs.

    "A leak within 5 days, a fire within 14" for "a fire within 14 days, a leak within 5": what belongs to both moved.
    """
    differing = [one for one in stretches if one.told or one.there]
    if len(differing) != _PAIR:
        return None
    one, other = differing
    return one if one.told & other.there and other.told & one.there else None


def _replaced(
    claim: Reading, source: Reading, stretches: Sequence[Difference], sources: Sequence[Reading]
) -> Difference | None:
    """Return a few words that stand elsewhere in place of a few that the claim says nowhere; no subject, no verb.

    Where a value differs elsewhere in the sentence, the claim is about something else.
    """
    opening = claim.tokens[_OPENING].start if len(claim.tokens) > _OPENING else 0
    elsewhere = frozenset[str]().union(*(one.content for one in sources))
    values = [value for one in sources for value in one.once(values_of)]
    own = source.once(values_of)
    for one in stretches:
        if one.said[0].word.start < opening or max(len(one.said), len(one.known)) > _FEW:
            continue  # the subject may be called otherwise, and what is told in other words is a paraphrase
        if any(unit.word.text in FINITE_VERBS for unit in one.said):
            continue
        if is_whoever(claim, [unit.word for unit in one.said if unit.is_content]):
            continue
        replaced = [unit.value for unit in one.said if unit.value is not None]
        if not all(_is_among(value, own) for value in claim.once(values_of) if value not in replaced):
            continue
        told = (one.told - source.known) & elsewhere
        others = [each for each in stretches if each is not one and each.told - source.known and each.there]
        is_value = not others and any(_is_among(value, values) for value in _apart(replaced, one.known))
        if one.there - claim.content and (told or is_value):
            return one
    return None


def _apart(replaced: Sequence[Value], known: Sequence[Unit]) -> list[Value]:
    """Return the values of a claim in whose place the sentence has others that measure the same."""
    there = [unit.value for unit in known if unit.value is not None]
    return [value for value in replaced if any(comparable(value, one) and not agrees(value, one) for one in there)]


def _is_among(value: Value, others: Sequence[Value]) -> bool:
    return any(agrees(value, other) for other in others)
