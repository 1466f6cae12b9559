"""The supervisor's three changes to a problem that cannot be solved as it stands (ERCP 1.0 §3.6, §9 step 9; ADR 0072).

All three are rules: what a generator wrote never becomes the problem that it is asked next.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.ercp.domain.records import Constraint

REFRAMED: Final = (
    "Answer in short sentences, each with its reason. Say only what the given facts bear out, and say plainly where "
    "they leave something open."
)
PARTS_HEAD: Final = "Answer these parts one after the other, each by itself:"
MAX_PARTS: Final = 5
MAX_DESCRIPTION_CHARS: Final = 100_000
_MIN_PART_WORDS: Final = 3
_QUESTION: Final = re.compile(r"(?<=[?;])\s+|\n+")
_JOINED: Final = re.compile(
    r"(?:,|(?<!\s))\s++and\s++(?=(?:why|how|what|when|where|which|who|whether|does|do|is|are|can|could|should|must|will|"
    r"describe|explain|compare|state|give|name|list)\b)",
    re.IGNORECASE,
)


def victim(core: Sequence[Constraint]) -> Constraint | None:
    """Return the constraint of an unsatisfiable core to relax, or ``None`` when all are immutable.

    The lowest priority goes first, then what is least sure (what the caller brought is sure), then what came last.
    """
    free = [
        (each.priority.weight, 1.0 if each.confidence is None else each.confidence, -place, each)
        for place, each in enumerate(core)
        if not each.immutable
    ]
    return min(free, key=lambda entry: entry[:3])[3] if free else None


def reframed(description: str, topics: Sequence[str] = ()) -> str:
    """Return the question in a form that asks for less at a time."""
    care = f" Take care with: {', '.join(dict.fromkeys(topics))}." if topics else ""
    question = description.removesuffix(REFRAMED).strip()
    return f"{question}\n\n{REFRAMED}{care}"[:MAX_DESCRIPTION_CHARS]


def decomposed(description: str, most: int = MAX_PARTS) -> str:
    """Return the question in numbered parts; one that has none is asked for its facts first and then as it was."""
    parts = _parts(description)[:most]
    if len(parts) < 2:  # noqa: PLR2004 - one part is no decomposition
        whole = " ".join(description.split())
        parts = [f"What do the given facts say on this question: {whole}", f"What follows from that: {whole}"]
    numbered = "\n".join(f"({number}) {part}" for number, part in enumerate(parts, start=1))
    return f"{PARTS_HEAD}\n{numbered}"[:MAX_DESCRIPTION_CHARS]


def _parts(description: str) -> list[str]:
    found = []
    for sentence in _QUESTION.split(description):
        for part in _JOINED.split(sentence):
            clean = " ".join(part.split()).strip(" ,;")
            if len(clean.split()) >= _MIN_PART_WORDS:
                found.append(clean)
    return found
