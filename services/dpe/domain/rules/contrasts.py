"""What a sentence sets apart itself: "charged to the recipient, not to the sender" (SPEC-005 §5.3, ADR 0169)."""

import re
from typing import Final

from services.common.reading.polarity import is_negated
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, root, share

_BEFORE: Final = r"(?:to|by|for|from|on|in|at|with)\s"
_ARTICLE: Final = r"(?:(?:the|an?|your|our|their|its)\s)?"
_APART: Final = re.compile(
    rf"\b(?P<own>[^\W\d_]+)(?:,\s(?:and\s|but\s)?|\s(?:and|but)\s)not\s(?:{_BEFORE})?{_ARTICLE}(?P<other>[^\W\d_]+)(?=[\s.,;:]|$)",
    re.IGNORECASE,
)
_SHARED: Final = 0.75
_LEAST: Final = 2


def changed_contrast(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of a thing what its source says of the other one, "A, not B", or ``None``."""
    if is_negated(claim.text):
        return None
    for source in sources:
        for match in _APART.finditer(source.text):
            own, other = root(match["own"].lower()), root(match["other"].lower())
            rest = claim.content - {other}
            if own == other or other not in claim.content or own in claim.content or len(rest) < _LEAST:
                continue
            said = [word for word in claim.tokens if root(word.text) == other]
            if said and share(rest, source.known) >= _SHARED:
                span = claim.span(said[0].start, said[0].end)
                known = source.span(match.start("own"), match.end("own"))
                return Departure(DistortionType.ENTITY_SUBSTITUTED, Rule.NAME, span, source, known)
    return None
