"""What the facts deny or forbid, asserted among other things (SPEC-005 §5.3, NEGATION_FLIP, ADR 0190).

"It applies on Rowan and Alder wards. It does not apply to the day unit." A claim that it "applies on Rowan and Alder
wards and in the day unit" is nearest to the first sentence, and everything that the second one denies is in it.
"""

import re
from typing import Final

from services.common.reading.lexicon import NEGATORS
from services.common.reading.words import words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, pieces, roots

_FORBIDDEN: Final = re.compile(
    r"\b(?:is|are)\s(?:strictly\s|also\s)?(?:prohibited|forbidden|banned|excluded"
    r"|not\s(?:allowed|permitted|possible|covered|included|available|eligible))\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:do|does|did|is|are|was|were|will|may|must|can|shall|should)\snot\b|\bcannot\b", re.IGNORECASE
)
_LIMITED: Final = re.compile(
    r"\b(?:if|unless|when|where|while|before|after|until|till|except|only|without|than|more|less|least|most|yet|also"
    r"|already|alone|both|all|every|each|always|necessarily|who|which|that|because|so)\b",
    re.IGNORECASE,
)
"""What is denied under a condition, or in part, is not denied."""
_OPPOSED: Final = re.compile(
    r"\b(?:prohibited|forbidden|banned|excluded|except|apart|unless|without|only|instead|rather|unlike|neither|nor|no"
    r"|none|never|excluding)\b",
    re.IGNORECASE,
)
_MIN_CONTENT: Final = 3
_AGENT: Final = re.compile(r"\sby\s")


def denied_part(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim without any denial has all the words of what a sentence denies, or ``None``."""
    if _OPPOSED.search(claim.text) or any(word.text in NEGATORS or word.text.endswith("n't") for word in claim.tokens):
        return None
    for source in sources:
        for denied, at in source.once(_denials):
            if denied <= claim.content and not _is_asserted(denied, sources):
                held = [word for word in claim.tokens if roots(word.text) & denied]
                span = claim.span(held[0].start, held[-1].end)
                return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, span, source, source.span(*at))
    return None


def _denials(source: Reading) -> tuple[tuple[frozenset[str], tuple[int, int]], ...]:
    """Return what each piece of a sentence denies without a condition, with its place in the sentence."""
    found: list[tuple[frozenset[str], tuple[int, int]]] = []
    for piece in pieces(source):
        match = _FORBIDDEN.search(piece.text) or _DENIED.search(piece.text)
        if match is None or _LIMITED.search(piece.text):
            continue
        behind = _AGENT.split(piece.text[match.end() :], maxsplit=1)[0]
        denied = roots(piece.text[: match.start()]) | roots(behind)
        if len(denied) >= _MIN_CONTENT:
            start = piece.start - source.start
            found.append((denied, (start, start + len(piece.text))))
    return tuple(found)


def _is_asserted(content: frozenset[str], sources: list[Reading]) -> bool:
    """Say whether a sentence without a denial says the same."""
    return any(
        content <= source.content and not any(word.text in NEGATORS for word in words(source.text))
        for source in sources
        if not _FORBIDDEN.search(source.text)
    )
