"""Two parties that changed places around a preposition (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

"The lessor insures on behalf of the lessee" and "the lessee insures on behalf of the lessor" share all words, and a
sentence may begin with either phrase. Where claim and sentence have a preposition of direction once each, and what
follows it in the one stands outside it in the other, both ways and in the same part, the two were exchanged.
"""

from typing import Final

from services.common.reading.lexicon import AUXILIARIES, FINITE_VERBS, PREPOSITIONS
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, nearest_to, root

_DIRECTIONS: Final = frozenset({"by", "to", "from", "behalf", "name", "instead", "against"})
"""Words behind which another party means another thing; of "behalf", "name" and "instead" the "of" belongs to them."""
_WITH_OF: Final = frozenset({"behalf", "name", "instead"})
_BOUNDARIES: Final = (
    AUXILIARIES | FINITE_VERBS | PREPOSITIONS | {"and", "or", "but", "if", "when", "who", "which", "that", "unless"}
)
_PHRASE: Final = 4
"""Words that a noun phrase behind a preposition has at most."""
_READ: Final = 3
_NEAR: Final = 0.8
"""Share of a claim's words of content that the sentence holds; less is another sentence, of which nothing is known."""


def exchanged_phrases(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where two parties of a sentence stand in each other's place around a preposition, or ``None``."""
    own = claim.once(_phrases)
    if not own:
        return None
    for _, source in nearest_to(claim, sources)[:_READ]:
        if len(claim.content & source.known) < _NEAR * len(claim.content):
            continue
        theirs = source.once(_phrases)
        for direction, (said, place) in own.items():
            known, there = theirs.get(direction, (frozenset[str](), (0, 0)))
            if _is_exchange(claim, source, direction, said - known, known - said):
                return Departure(
                    DistortionType.ENTITY_SUBSTITUTED, Rule.PARTIES, claim.span(*place), source, source.span(*there)
                )
    return None


def _is_exchange(claim: Reading, source: Reading, direction: str, said: frozenset[str], known: frozenset[str]) -> bool:
    """Say whether what only the claim has behind a preposition is, in the sentence, where the other is in the claim."""
    if not said or not known or not said <= source.content or not known <= claim.content:
        return False
    return _around(claim, known, direction) == _around(source, said, direction)


def _around(reading: Reading, wanted: frozenset[str], direction: str) -> frozenset[str]:
    """Return behind which other prepositions some words stand; none where they are no part of such a phrase."""
    return frozenset(
        other for other, (held, _) in reading.once(_phrases).items() if other != direction and held & wanted
    )


def _phrases(reading: Reading) -> dict[str, tuple[frozenset[str], tuple[int, int]]]:
    """Return the words of content behind each preposition of direction that stands once, and their place."""
    tokens = reading.tokens
    found: dict[str, tuple[frozenset[str], tuple[int, int]]] = {}
    twice: set[str] = set()
    for at, word in enumerate(tokens):
        if word.text not in _DIRECTIONS:
            continue
        first = at + 1
        if word.text in _WITH_OF:
            if first >= len(tokens) or tokens[first].text != "of":
                continue
            first += 1
        held = []
        for one in tokens[first : first + _PHRASE]:
            if one.text in _BOUNDARIES or _is_apart(reading.text, tokens[first].start, one.start):
                break
            held.append(one)
        roots = frozenset(root(one.text) for one in held if is_content(one, reading.text))
        if word.text in found:
            twice.add(word.text)
        elif roots:
            found[word.text] = roots, (held[0].start, held[-1].end)
    return {direction: phrase for direction, phrase in found.items() if direction not in twice}


def _is_apart(text: str, start: int, end: int) -> bool:
    return any(mark in text[start:end] for mark in ",;:()")
