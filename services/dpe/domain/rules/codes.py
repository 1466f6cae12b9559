"""Which of several things of one name (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0190).

"Compressor B trips; compressor A starts": what stands behind the name tells them apart, and all other words are shared.
A claim that says of A what only a sentence about B says has taken one for the other.
"""

import re
from collections import defaultdict
from typing import Final

from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, pieces, root, share

_CODED: Final = re.compile(r"\b(?P<noun>[A-Za-z][a-z]{2,30})\s(?P<code>[A-Z]\d{0,3})\b(?![.'’]\w)")  # noqa: RUF001
_NEAR: Final = 0.75
"""Share of the claim's other words that the sentence about the other one holds."""
_CLEAR: Final = 0.4
"""By so much less is said of the one that the claim names."""
_MIN_CONTENT: Final = 2


def changed_code(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the thing of which a claim says what its facts say of another one of that name, or ``None``."""
    parts = [part for source in sources for part in source.once(_coded)]
    codes: dict[str, set[str]] = defaultdict(set)
    for noun, code, _ in parts:
        codes[noun].add(code)
    for noun, code, piece in claim.once(_coded):
        if len(codes[noun]) < _MIN_CONTENT or code not in codes[noun]:
            continue
        frame = piece.content - {noun, code.lower()}
        rated = [(share(frame, part.known), known, part) for name, known, part in parts if name == noun]
        same = max((rate for rate, known, _ in rated if known == code), default=0.0)
        top, known, source = max(rated, key=lambda one: (one[1] != code, one[0]))
        if len(frame) < _MIN_CONTENT or known == code or top < _NEAR or top - same < _CLEAR:
            continue
        at = _CODED.search(piece.text)
        there = _CODED.search(source.text)
        if at is not None and there is not None:
            return Departure(
                DistortionType.ENTITY_SUBSTITUTED,
                Rule.NAME,
                piece.span(at.start("noun"), at.end()),
                source,
                source.span(there.start("noun"), there.end()),
            )
    return None


def _coded(reading: Reading) -> tuple[tuple[str, str, Reading], ...]:
    """Return the pieces of a sentence in which one coded thing stands, with the root of its name and its code."""
    found: list[tuple[str, str, Reading]] = []
    for piece in pieces(reading) if _CODED.search(reading.text) else ():
        named = [(root(match["noun"].lower()), match["code"]) for match in _CODED.finditer(piece.text)]
        if len(named) == 1 and any(
            root(word.text) == named[0][0] and is_content(word, piece.text) for word in piece.tokens
        ):
            found.append((*named[0], piece))
    return tuple(found)
