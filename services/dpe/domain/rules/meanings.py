"""Causes and defined terms (SPEC-005 §5.3, ADR 0095): what is said to be why, and what a text calls a thing."""

import re
from typing import Final

from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest, roots, share

SAME: Final = 0.4
FOREIGN: Final = 0.34
"""Share of the cause's words below which a sentence does not hold it."""
_CAUSE: Final = re.compile(
    r"\b(?:because of|because|due to|owing to|on account of|caused by|brought about by|as a result of|thanks to"
    r"|on the grounds of|attributed to|down to|explained by|results? from|resulted from|stems? from|since|as)\b",
    re.IGNORECASE,
)
_CLAIMED_CAUSE: Final = re.compile(
    r"\b(?:because of|because|due to|owing to|on account of|caused by|brought about by|as a result of|thanks to"
    r"|on the grounds of|attributed to|(?<=put )down to|results? from|resulted from|stems? from)\b"
    r"|\bexplains?\b[^.;]{3,120}?\bby\b",
    re.IGNORECASE,
)
_MEANS: Final = re.compile(
    r"[\"'“‘]?(?P<term>[A-Za-z][\w -]{1,40}?)[\"'”’]? (?:means|refers to|is defined as|denotes|stands for|shall mean) "  # noqa: RUF001
)


def changed_cause(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim gives another cause than its source, or ``None``."""
    cue = _CLAIMED_CAUSE.search(claim.text)
    if cue is None:
        return None
    cause, effect = roots(claim.text[cue.end() :]), roots(claim.text[: cue.end()])
    cause -= effect
    giving = [one for one in sources if _CAUSE.search(one.text) and share(effect, one.known) >= SAME]
    if not cause or not giving:
        return None
    if any(share(cause, one.content) >= FOREIGN for one in giving):
        return None
    if not any(share(cause, one.content) >= 1 - FOREIGN for one in sources):
        return None
    source = nearest(effect, giving)[0][1]
    found = _CAUSE.search(source.text)
    start = found.start() if found else 0
    return Departure(
        DistortionType.RELATION_ALTERED,
        Rule.CAUSE,
        claim.span(cue.end(), len(claim.text)),
        source,
        source.span(start, len(source.text)),
    )


def changed_term(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim calls by one defined term what its source calls by another, or ``None``."""
    terms = [term for source in sources for term in source.once(_terms)]
    named = [item for item in terms if item[0] and item[0] <= claim.content]
    if len(terms) < _MIN_TERMS or len(named) != 1:
        return None
    content = claim.content - named[0][0]
    rated = sorted(((share(content, meaning - term), term, reading) for term, meaning, reading in terms), key=_by_rate)
    best, second = rated[0], rated[1]
    if best[0] < SAME or best[1] == named[0][0] or best[0] - second[0] < _MARGIN:
        return None
    # The words of the term in the answer, from the first to the last.
    held = [word for word in claim.tokens if roots(word.text) & named[0][0]]
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED,
        Rule.TERM,
        claim.span(held[0].start, held[-1].end) if held else claim.whole,
        best[2],
        best[2].whole,
    )


_MIN_TERMS: Final = 2
_MARGIN: Final = 0.15


def _by_rate(item: tuple[float, frozenset[str], Reading]) -> float:
    return -item[0]


def _terms(source: Reading) -> list[tuple[frozenset[str], frozenset[str], Reading]]:
    """Return the terms that a sentence defines with the words of what they mean."""
    found: list[tuple[frozenset[str], frozenset[str], Reading]] = []
    matches = list(_MEANS.finditer(source.text))
    for at, match in enumerate(matches):
        end = matches[at + 1].start() if at + 1 < len(matches) else len(source.text)
        part = source.part(match.start(), end)
        term = roots(match["term"].rpartition(":")[2].rpartition(",")[2])
        found.append((term, roots(source.text[match.end() : end]), part))
    return found
