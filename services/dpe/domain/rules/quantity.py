"""All, most, some, none (SPEC-005 §5.3, ADR 0095): of how many of the same things the same is said."""

import re
from typing import Final

from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest_to, pieces, roots, share

SAME: Final = 0.5
"""Share of the claim's words that the source's clause, with what stands over it, must hold."""
_NUMERAL: Final = (
    r"(?:\d{1,9}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty)"
)
_ALL: Final = re.compile(
    r"\b(?P<cue>all|every|each|everyone|everybody|always|without exception)\b(?: (?:of|the|its|our|their|these|those))*"
    r"(?P<noun>(?: [\w-]+){1,3})?",
    re.IGNORECASE,
)
_NONE: Final = re.compile(
    r"\b(?P<cue>none|no|nobody|never)\b(?: (?:of|the))*(?P<noun>(?: [\w-]+){1,3})?", re.IGNORECASE
)
_PART: Final = re.compile(
    rf"\b(?:(?<!at )(?<!at the )most|some|several|(?<!how )many|few|half|a third|a quarter|the majority|a majority"
    rf"|a minority|not all|not every|nearly all|almost all|nearly every|almost every|usually|(?<!how )often|sometimes"
    rf"|rarely|{_NUMERAL} (?:out )?of (?:the "
    rf"|its |our |their |all )?{_NUMERAL}|(?:of|out of) (?:the |our |its |their )?"
    rf"{_NUMERAL}\b[^,.;]{{0,40}}, {_NUMERAL})\b",
    re.IGNORECASE,
)
_EVERY_PERIOD: Final = re.compile(
    r"\b(?:every|each)\s+(?:\w+\s+)?(?:second|minute|hour|day|night|week|weekend|month|quarter|year|time|evening|morning"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
    re.IGNORECASE,
)
_BUT: Final = re.compile(r"\b(?:except|but|apart from|other than|excluding|save|including)\b", re.IGNORECASE)


def changed_quantity(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of all, or of none, what its source says of some, or ``None``."""
    own = _whole(claim)
    if own is None or _PART.search(claim.text) or _BUT.search(claim.text):
        return None
    span, noun, is_all = own
    said = (claim.content - noun) or claim.content
    for rate, source in nearest_to(claim, sources)[:1]:
        clauses = [one for one in pieces(source) if _PART.search(one.text)] or [source]
        for clause in clauses:
            part = _PART.search(clause.text)
            whole = source if rate >= SAME else clause
            if part is None or share(said, clause.known | (whole.content if len(clauses) == 1 else frozenset())) < SAME:
                continue
            if noun and not noun & source.known:
                continue
            if is_all and _speaks_of_all(clause, said):
                return None
            return Departure(
                DistortionType.QUANTIFIER_ALTERED,
                Rule.QUANTIFIER,
                claim.span(span.start, span.end),
                source,
                clause.span(part.start(), part.end()),
            )
    return None


def _whole(claim: Reading) -> tuple[Span, frozenset[str], bool] | None:
    """Return the one word of a claim that speaks of all or of none, and what of."""
    text = _EVERY_PERIOD.sub(lambda match: " " * len(match.group()), claim.text)
    found = [(match, True) for match in _ALL.finditer(text)] + [(match, False) for match in _NONE.finditer(text)]
    if len(found) != 1:
        return None
    match, is_all = found[0]
    return Span(match.start("cue"), match.end("cue")), roots(match["noun"] or ""), is_all


def _speaks_of_all(clause: Reading, said: frozenset[str]) -> bool:
    """Say whether the clause says it of all after all: "most have a plan, all have a box"."""
    return any(_ALL.search(one.text) and share(said, one.content) >= SAME for one in pieces(clause))
