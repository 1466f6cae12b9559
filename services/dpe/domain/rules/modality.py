"""May, must, should, need not, will (SPEC-005 §5.3, ADR 0095): the force with which the same act is said.

A claim that says "must" of what its source allows, or "will" of what it holds possible, says something else. Compared
is the force that stands before the same verb; where no verb is shared, the only force of the sentence that says the
same, a condition with a condition: "If you cannot swallow it, open it" does not forbid to open it.
"""

import re
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.dpe.domain.conditions import conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest, root, share

SAME_VERB: Final = 0.4
"""Share of the claim's words that a sentence must hold when the verb is the same."""
SAME_SENTENCE: Final = 0.6
"""The same share when it is not."""


@unique
class Force(StrEnum):
    """How an act is said."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    NEED_NOT = "NEED_NOT"
    FORBIDDEN = "FORBIDDEN"
    MIGHT = "MIGHT"
    WILL = "WILL"


_BE: Final = r"(?:is|are|was|were|be|been|being)"
_FORBIDDEN: Final = (
    rf"(?:must|shall|may|can|could) not|cannot|can't|mustn't"
    rf"|{_BE} (?:not (?:allowed|permitted)|forbidden|prohibited|banned)(?: to)?"
)
_NEED_NOT: Final = (
    r"need not|needn't|(?:(?:do|does|did) not|don't|doesn't) (?:need(?: to)?|require|have to)"
    r"|(?:needs?|requires?) no|no need (?:to|for)"
    rf"|{_BE} not (?:required|obliged|necessary|mandatory|compulsory|needed)(?: to)?|{_BE} (?:optional|voluntary)"
)
_SHOULD: Final = rf"should|ought to|{_BE} (?:recommended|advised|encouraged|advisable)(?: to)?|recommends?|advises?"
_MUST: Final = (
    rf"must|shall|ha(?:s|ve) to|needs? to|{_BE} (?:required|obliged|mandatory|compulsory|obligatory)(?: to)?|requires?"
)
_CUES: Final = (
    (Force.FORBIDDEN, _FORBIDDEN),
    (Force.NEED_NOT, _NEED_NOT),
    (Force.SHOULD, _SHOULD),
    (Force.MUST, _MUST),
    (Force.MAY, rf"may|can|{_BE} (?:allowed|permitted|entitled|free|welcome)(?: to)?"),
    (Force.MIGHT, r"might|could"),
    (Force.WILL, r"will"),
)
_CUE: Final = re.compile(
    r"\b(?:" + "|".join(f"(?P<{force.value}>{cue})" for force, cue in _CUES) + r")\b", re.IGNORECASE
)
_MONTH: Final = re.compile(r"\bMay\b(?=[\s,.]|$)")
_APART: Final = frozenset(
    frozenset(pair)
    for pair in (
        (Force.MUST, Force.MAY),
        (Force.MUST, Force.SHOULD),
        (Force.MUST, Force.NEED_NOT),
        (Force.MUST, Force.MIGHT),
        (Force.MUST, Force.FORBIDDEN),
        (Force.SHOULD, Force.NEED_NOT),
        (Force.MAY, Force.FORBIDDEN),
        (Force.WILL, Force.MIGHT),
    )
)
_WEAK_VERBS: Final = frozenset({"b", "be", "hav", "have", "do", "get", "make", "not", "also", "only", "then", "take"})


@dataclass(frozen=True, slots=True)
class _Said:
    force: Force
    start: int
    end: int
    verb: str
    conditional: bool


def changed_force(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says an act with another force than its source, or ``None``."""
    ours = _said(claim)
    if len(ours) != 1:
        return None
    own = ours[0]
    # "You can stay for at most 20 days" sets a limit rather than that it allows the stay.
    sets_limit = own.force is Force.MAY and _LIMIT.search(claim.text, own.end) is not None
    for rate, source in nearest(claim.content, sources, claim.names)[:_READ]:
        theirs = _said(source)
        same_verb = [one for one in theirs if one.verb and one.verb == own.verb]
        compared = same_verb if rate >= SAME_VERB else []
        if not compared and not sets_limit and rate >= SAME_SENTENCE and len({one.force for one in theirs}) == 1:
            compared = [one for one in theirs if one.conditional == own.conditional][:1]
        if not compared:
            continue
        if any(frozenset({own.force, one.force}) not in _APART for one in compared):
            return None
        at = compared[0]
        return Departure(
            DistortionType.MODALITY_ALTERED,
            Rule.MODALITY,
            claim.span(own.start, own.end),
            source,
            source.span(at.start, at.end),
        )
    return None


_READ: Final = 2
_LIMIT: Final = re.compile(
    r"\b(?:(?:no|not) more than|at most|up to|a maximum of|no longer than|only|at the most)\b", re.IGNORECASE
)


def _said(reading: Reading) -> list[_Said]:
    found: list[_Said] = []
    governed = [item.span for item in conditions(reading.text)]
    for cue in _CUE.finditer(reading.text):
        if _MONTH.match(reading.text, cue.start()) and cue.start() > 0:
            continue
        force = Force(cue.lastgroup or "")
        following = [word for word in reading.tokens if word.start >= cue.end()][:3]
        verb = next(
            (root(word.text) for word in following if root(word.text) not in _WEAK_VERBS and _is_act(word.text)), ""
        )
        conditional = any(span.start <= cue.start() < span.end for span in governed)
        found.append(_Said(force, cue.start(), cue.end(), verb, conditional))
    return found


def _is_act(word: str) -> bool:
    return not word.endswith("ly") and share([word], _FUNCTION) == 0.0


_FUNCTION: Final = frozenset(
    {"the", "a", "an", "to", "of", "in", "on", "at", "for", "with", "by", "be", "been", "it", "that"}
)
