"""Text that speaks to a language model rather than to a reader: how instructions are injected (SPEC-003 §16, ADR 0113).

The search itself is that of every service, ``services.common.injection``; here stands from which weight a document's
report tells of what it found. Words that are quoted or reported keep too little of their weight: a manual of security
holds the same words, and is none.
"""

from typing import Final

from services.common.injection.searching import find_injections

OVERRIDES: Final = "overrides instructions"
FORGES: Final = "forges a speaker"
ROLE: Final = "changes the model's role"
EXFILTRATES: Final = "asks for secrets"
CONTROLS: Final = "holds characters that hide or turn text"
STEERS: Final = "tells a model what to answer"
TOLD_FROM: Final = 0.5
"""Least weight of a match that is told of."""
MAX_CHARS: Final = 100_000


def why_suspected(text: str) -> tuple[str, ...]:
    """Return what in a text speaks to a model; nothing for ordinary text. Linear in it."""
    found = find_injections(text[:MAX_CHARS])
    if found.score < TOLD_FROM:
        return ()
    return tuple(dict.fromkeys(match.tells for match in found.matches if match.weight >= TOLD_FROM))
