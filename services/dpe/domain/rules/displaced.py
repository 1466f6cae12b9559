"""Words of another place in a sentence that is otherwise repeated (SPEC-005 §5.3, RELATION_ALTERED, ADR 0180).

A claim that repeats a sentence of its facts but for one stretch, in which it says what the facts say elsewhere, takes
that from another clause, row or party: "at most twice per trip" where the sentence has "twice per calendar year" and
trips are spoken of in others. So does one in which two stretches of the sentence changed places: "borne by the
department and not by the Group" for "by the Group and not by the department". What stands nowhere in the facts may be
another word for the same, and is left to the encoders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from services.common.reading.lexicon import FINITE_VERBS
from services.common.reading.words import Word
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, nearest, root, statements

EXCHANGED: Final = 0.6
REPLACED: Final = 0.7
"""Shares of the claim's words that stand in the sentence in the same order, from which on two stretches that changed
places, and one whose words are of another place, count; on both halves of the corpus and the development pairs no true
answer of level LOW is so near to its source with either."""
_READ: Final = 3
"""So many sentences, the nearest ones, are compared word by word."""
_OPENING: Final = 2
"""Words with which a sentence begins its subject."""
_PAIR: Final = 2
_FEW: Final = 3
"""Words of a stretch."""
_MOST_WORDS: Final = 120
"""Of a claim and of a sentence: bounded work."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words of the claim in the place of words of the sentence; roots of content of both."""

    said: tuple[Word, ...]
    known: tuple[Word, ...]
    told: frozenset[str]
    there: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Alignment:
    """A sentence beside the claim: the share of the claim's words that it has in the same order, and what differs."""

    copied: float
    source: Reading
    stretches: tuple[_Stretch, ...]


def displaced(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return words of a claim that its facts have in another place than the sentence that it repeats, or ``None``."""
    if not claim.tokens:
        return None
    parts = [part for source in sources for part in source.once(statements)]
    aligned = [_aligned(claim, source) for _, source in nearest(claim.content, parts, claim.names)[:_READ]]
    best = max(aligned, key=lambda one: one.copied, default=None)
    if best is None or best.copied < EXCHANGED:
        return None
    found = _exchanged(best.stretches)
    if found is None and best.copied >= REPLACED:
        elsewhere = frozenset[str]().union(*(part.content for part in parts))
        found = _replaced(claim, best, elsewhere)
    if found is None:
        return None
    source = best.source
    return Departure(
        DistortionType.RELATION_ALTERED,
        Rule.DISPLACED,
        claim.span(found.said[0].start, found.said[-1].end),
        source,
        source.span(found.known[0].start, found.known[-1].end),
    )


def _exchanged(stretches: Sequence[_Stretch]) -> _Stretch | None:
    """Return a stretch that changed places with another one, where nothing else differs.

    "A leak within 5 days, a fire within 14" for "a fire within 14 days, a leak within 5": what belongs to both moved.
    """
    differing = [one for one in stretches if one.told or one.there]
    if len(differing) != _PAIR:
        return None
    one, other = differing
    return one if one.told & other.there and other.told & one.there else None


def _replaced(claim: Reading, best: _Alignment, elsewhere: frozenset[str]) -> _Stretch | None:
    """Return a few words that stand elsewhere in place of a few that the claim says nowhere; no subject, no verb."""
    opening = claim.tokens[_OPENING].start if len(claim.tokens) > _OPENING else 0
    for one in best.stretches:
        if one.said[0].start < opening or max(len(one.said), len(one.known)) > _FEW:
            continue  # the subject may be called otherwise, and what is told in other words is a paraphrase
        if any(word.text in FINITE_VERBS for word in one.said):
            continue
        if one.there - claim.content and (one.told - best.source.known) & elsewhere:
            return one
    return None


def _aligned(claim: Reading, source: Reading) -> _Alignment:
    own, theirs = claim.tokens[:_MOST_WORDS], source.tokens[:_MOST_WORDS]
    pair = [root(word.text) for word in theirs], [root(word.text) for word in own]
    matcher = SequenceMatcher(None, *pair, autojunk=False)
    copied, stretches = 0, list[_Stretch]()
    for tag, known_from, known_to, said_from, said_to in matcher.get_opcodes():
        if tag == "equal":
            copied += said_to - said_from
        elif tag == "replace":
            said, known = own[said_from:said_to], theirs[known_from:known_to]
            stretches.append(_Stretch(said, known, _content(said, claim.text), _content(known, source.text)))
    return _Alignment(copied / len(own), source, tuple(stretches))


def _content(listed: Sequence[Word], text: str) -> frozenset[str]:
    return frozenset(root(word.text) for word in listed if is_content(word, text))
