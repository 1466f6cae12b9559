"""Conditions and exceptions that a claim denies, turns or replaces (SPEC-005 §5.3, ADR 0095).

"Even if" where the source has "if", "unless" where it has "if", "including" where it has "except", and another
exception than the source's. A condition that is merely left out is found by ``qualifiers``.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.bounds import Bound, limit_of
from services.common.reading.clauses import finite_verb_at
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span, Value
from services.common.reading.words import words
from services.dpe.domain.conditions import Condition, Kind, conditions, without_conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, acts, nearest_to, roots, share
from services.dpe.domain.rules.rows import values_of

SAME_CONDITION: Final = 0.4
SAME_MAIN: Final = 0.3
"""Shares of words from which on two conditions, and what they are said of, are the same."""
ALIKE: Final = 0.55
"""Share of words from which on "if" and "unless" govern the same, of the same."""
OTHER_EXCEPTION: Final = 0.5
"""Share of common words below which two exceptions differ."""
_READ: Final = 4
_EXCEPT: Final = re.compile(
    r"\b(?:except(?:ed)?(?: for)?|excepting|excluding|exclusive of|apart from|other than|with the exception of"
    r"|save(?: for| by)?|aside from|barring|not including"
    r"|(?<=\w )but(?= (?!not|also|only|is|are|was|must|may|can|it|they|he|she|the|for)\w)"
    r"|exception (?:is|are)(?: made)?(?: for)?)\b(?! (?:if|when|where|that)\b)",
    re.IGNORECASE,
)
_INCLUDE: Final = re.compile(r"\b(?:including|inclusive of|as well as|even for|even in|even on)\b", re.IGNORECASE)
_EXEMPT: Final = re.compile(
    r"\b(?:is|are|be|remain)\s+(?:exempt(?:ed)?|excluded|excepted|not (?:included|covered|subject))\b", re.IGNORECASE
)
_STOP: Final = re.compile(r"[,.;:)]|\s(?:which|who|that|whose)\s")


@dataclass(frozen=True, slots=True)
class _Exception:
    """What is excepted, with the words that say so."""

    span: Span
    content: frozenset[str]


def changed_condition(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim denies or turns the condition of its source, or ``None``."""
    own = list(conditions(claim.text))
    if not own:
        return None
    main = roots(without_conditions(claim.text))
    for condition in own:
        governed = acts(condition.governed)
        for _, source in nearest_to(claim, sources)[:_READ]:
            for other in conditions(source.text):
                theirs = acts(other.governed)
                same = max(share(governed, theirs), share(theirs, governed))
                rest = roots(without_conditions(source.text)) | source.context
                if same < SAME_CONDITION or share(main, rest | theirs) < SAME_MAIN:
                    continue
                own_main = roots(without_conditions(source.text)) - theirs
                alike = min(share(governed, theirs), share(theirs, governed), share(own_main, main))
                # "Not unless the director agrees" is "only if the director agrees".
                same_main = is_negated(without_conditions(claim.text)) == is_negated(without_conditions(source.text))
                is_turned = (_turned(condition, other) and same_main) or (
                    _negated_alone(condition, other) and same_main
                )
                if _holds_a_limit(claim, condition, source, other):
                    continue
                if _denied(condition, other) or (alike >= ALIKE and is_turned):
                    return Departure(
                        DistortionType.CONDITION_ALTERED,
                        Rule.CONDITION,
                        claim.span(condition.span.start, condition.span.end),
                        source,
                        source.span(other.span.start, other.span.end),
                    )
    return None


def _holds_a_limit(claim: Reading, ours: Condition, source: Reading, theirs: Condition) -> bool:
    """Say whether a claim holds to a limit under the condition under which its source allows up to it.

    "The limit is two, even if you call before" follows from "up to two if you call before".
    """
    if ours.kind is not Kind.DENIED or is_negated(ours.governed) != is_negated(theirs.governed):
        return False
    limits = source.once(_most)
    return any(agrees(value, limit) for value in claim.once(_most) for limit in limits)


def _most(reading: Reading) -> tuple[Value, ...]:
    """Return the values of no condition that are the most there is: "no more than two", "not for longer than two"."""
    main = without_conditions(reading.text)
    held = [value for value in reading.once(values_of) if main[value.start] != " "]
    sided = [(value, limit_of(reading.text, 0, value)) for value in held]
    return tuple(value for value, limit in sided if limit is not None and limit[0] is Bound.AT_MOST)


def _denied(ours: Condition, theirs: Condition) -> bool:
    return ours.kind is Kind.DENIED and theirs.kind is not Kind.DENIED


def _turned(ours: Condition, theirs: Condition) -> bool:
    """Say whether one has "unless" where the other has "if", of the same words."""
    same_polarity = is_negated(ours.governed) == is_negated(theirs.governed)
    return {ours.kind, theirs.kind} == {Kind.IF, Kind.UNLESS} and same_polarity


def _negated_alone(ours: Condition, theirs: Condition) -> bool:
    """Say whether both have "if", and one of them before the negation of what the other has."""
    return ours.kind is theirs.kind is Kind.IF and is_negated(ours.governed) != is_negated(theirs.governed)


def changed_exception(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim includes what its source excepts, or excepts something else, or ``None``."""
    included, excepted = _excepted(claim, _INCLUDE), _excepted(claim, _EXCEPT)
    if not included and not excepted:
        return None
    own = (included or excepted)[0]
    main = claim.content - own.content
    rated = sorted(
        ((share(main, source.known), source) for source in sources if _all_exceptions(source)),
        key=lambda item: -item[0],
    )
    for rate, source in rated[:1]:
        theirs = _all_exceptions(source)
        same = [
            one for one in theirs if _jaccard(own.content, one.content) >= OTHER_EXCEPTION or own.content <= one.content
        ]
        if rate < SAME_MAIN or not own.content:
            return None
        if included:
            same = same or [one for one in theirs if share(one.content, own.content) >= OTHER_EXCEPTION]
        if bool(included) == bool(same):
            at = same[0] if same else theirs[0]
            return Departure(
                DistortionType.CONDITION_ALTERED,
                Rule.EXCEPTION,
                claim.span(own.span.start, own.span.end),
                source,
                source.span(at.span.start, at.span.end),
            )
    return None


def _all_exceptions(source: Reading) -> list[_Exception]:
    found = _excepted(source, _EXCEPT)
    for match in _EXEMPT.finditer(source.text):
        head = source.text[: match.start()]
        found.append(_Exception(Span(0, match.end()), roots(head)))
    return found


def _excepted(reading: Reading, cue: re.Pattern[str]) -> list[_Exception]:
    """Return what the cue governs: up to a comma, a relative clause or the verb."""
    found: list[_Exception] = []
    for match in cue.finditer(reading.text):
        stop = _STOP.search(reading.text, match.end())
        end = stop.start() if stop else len(reading.text)
        tokens = words(reading.text[match.end() : end])
        verb = finite_verb_at(tokens)
        if verb:
            end = match.end() + tokens[verb].start
        found.append(_Exception(Span(match.start(), end), roots(reading.text[match.end() : end])))
    return found


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
