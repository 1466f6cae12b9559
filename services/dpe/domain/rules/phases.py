"""Before, during and after a time that has a name (SPEC-005 §5.3, ADR 0158).

A claim that says of one phase what its source says of another speaks of another time. Compared are the words behind the
preposition, where both say nearly the same besides; a sentence that has the claim's phase too makes it no departure.
"Thereafter" opens a phase of its own: what stands behind it is not said of the length of time before it.
"""

import re
from typing import Final

from services.common.reading.polarity import is_negated
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest_to, roots, share

SAME: Final = 0.5
"""Share of the rest of the claim that the source must say."""
_READ: Final = 3
_PHASES: Final = (
    ("before", r"before|prior to|ahead of|in advance of"),
    ("during", r"during|throughout|in the course of|while (?:in|on|under)"),
    ("after", r"after|following|upon completion of|on completion of|once"),
)
_PHASE: Final = re.compile(
    r"\b(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _PHASES) + r")\s+"
    r"(?:(?:the|an?|his|her|their|your|its|our|that|this|any|first|whole|entire)\s+)*"
    r"(?P<what>[a-z][\w-]*(?:\s+(?!(?:of|for|in|on|at|is|are|has|have|the|a|an|to|by|and|or|with|without|you|we|they|he|she|it|i)\b)[a-z][\w-]*)?)",
    re.IGNORECASE,
)
_THEREAFTER: Final = re.compile(
    r"[;,.]\s+(?:and\s+)?(?:thereafter|after that|afterwards|from then on|subsequently|then)\b"
    r",?\s+(?P<later>[^;.]{3,200})",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    r"\b(?:for|in|during|within|over)\s+(?:up to\s+)?(?:the\s+)?first\b|\bup to\b|\bat first\b|\binitially\b",
    re.IGNORECASE,
)


def changed_phase(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of one phase what its source says of another, or ``None``."""
    own = claim.once(_phases)
    near = [one for _, one in nearest_to(claim, sources)[:_READ]]
    for phase, what, start, end in own:
        rest = claim.content - what
        known = [
            (other, source, at, to)
            for source in sources
            for other, named, at, to in source.once(_phases)
            if what & named
        ]
        if not rest or any(other == phase for other, *_ in known):
            continue
        told = [source for _, source, *_ in known]
        if any(_BY_ADVERB[phase].search(one.text) for one in _with_next(told, sources)):
            continue
        for _, source, at, to in known:
            if (
                source in near
                and share(rest, source.known) >= SAME
                and is_negated(claim.text) == is_negated(source.text)
            ):
                return Departure(
                    DistortionType.RELATION_ALTERED, Rule.ORDER, claim.span(start, end), source, source.span(at, to)
                )
    return None


_BY_ADVERB: Final = {
    "before": re.compile(r"\b(?:before(?:hand)?|earlier|previously|in advance)\b(?!\s+the\b)", re.IGNORECASE),
    "during": re.compile(r"\b(?:meanwhile|in the meantime|at the same time)\b", re.IGNORECASE),
    "after": re.compile(
        r"\b(?:afterwards?|after that|later|thereafter|from then on|goes on|continues?)\b", re.IGNORECASE
    ),
}
"""What names a phase without its noun: "during treatment and for six months afterwards"."""


def _with_next(told: list[Reading], sources: list[Reading]) -> list[Reading]:
    """Return sentences with those that follow them."""
    places = {(one.fact_index, one.place + step) for one in told for step in (0, 1)}
    return [one for one in sources if (one.fact_index, one.place) in places]


def _phases(reading: Reading) -> tuple[tuple[str, frozenset[str], int, int], ...]:
    """Return the phases of a sentence: which of the three, of what, and where it stands."""
    found = []
    for match in _PHASE.finditer(reading.text):
        # The first noun names it: "the probation period" and "probation" are one.
        what = roots(match["what"].split()[0]) or roots(match["what"])
        if what and match.lastgroup is not None:
            name = next(name for name, _ in _PHASES if match[name])
            found.append((name, what, match.start(), match.end()))
    return tuple(found)


def moved_to_first(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of a first stretch of time what its source says of what comes after it, or ``None``."""
    first = _FIRST.search(claim.text)
    if first is None or is_negated(claim.text):
        return None
    for _, source in nearest_to(claim, sources)[:_READ]:
        cut = _THEREAFTER.search(source.text)
        if cut is None:
            continue
        earlier, later = roots(source.text[: cut.start()]), roots(cut["later"])
        told, own = claim.content & (later - earlier), claim.content & (earlier - later)
        # The claim has the time of the one and the words of the other.
        verbs = own - _times(source.text[: cut.start()])
        if len(told) >= _MIN_TOLD and len(told) > len(verbs):
            return Departure(
                DistortionType.RELATION_ALTERED,
                Rule.ORDER,
                claim.span(first.start(), first.end()),
                source,
                source.span(cut.start("later"), cut.end("later")),
            )
    return None


_MIN_TOLD: Final = 2
_LENGTH: Final = re.compile(
    r"\b(?:[\w-]+\s+)?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?:\s+of\s+\w+)?", re.IGNORECASE
)


def _times(text: str) -> frozenset[str]:
    """Return the roots of the lengths of time of a text, with what they are lengths of."""
    return frozenset[str]().union(*(roots(match.group()) for match in _LENGTH.finditer(text)))
