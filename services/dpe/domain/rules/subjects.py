"""Who does it, in a sentence that is repeated otherwise (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0190).

"The member sharpens blades and replaces worn belts at its own cost" repeats word for word what is said of the library,
and the member is somebody else in these facts.
"""

from typing import Final

from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, root, statements
from services.dpe.domain.rules.repeats import is_whoever
from services.dpe.domain.rules.rows import joined

_OPENING: Final = 4
"""Words of a subject, its article among them."""
_MIN_REPEATED: Final = 4
"""Words of content behind the subject that a claim has to repeat."""


def changed_subject(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the subject that a claim puts in the place of another, where all else is repeated, or ``None``."""
    parts = [part for source in sources for part in source.once(statements)]
    for size in range(1, min(_OPENING, len(claim.tokens)) + 1):
        own, repeated = claim.tokens[size - 1], claim.tokens[size:]
        if sum(is_content(word, claim.text) for word in repeated) < _MIN_REPEATED:
            return None
        if not is_content(own, claim.text) or not own.text.isalpha() or is_whoever(claim, [own]):
            continue
        told = joined(word.text for word in repeated)
        for part in parts:
            before = joined(word.text for word in part.tokens).partition(told)
            known = part.tokens[before[0].count(" ") - 1] if before[1] and before[0].strip() else None
            if (
                known is not None
                and is_content(known, part.text)
                and known.text.isalpha()
                and root(known.text) not in claim.content
                and root(own.text) not in part.content
                and any(root(own.text) in other.content for other in parts if other is not part)
            ):
                own_span = claim.span(own.start, own.end)
                there = part.span(known.start, known.end)
                return Departure(DistortionType.ENTITY_SUBSTITUTED, Rule.PARTIES, own_span, part, there)
    return None
