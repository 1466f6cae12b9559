"""From errors to constraints: each with words and a predicate, at most n per error (ERCP 1.0 §2, §3.4, §7; ADR 0074).

Excerpts come from texts that a model wrote. They are data: cut, cleaned of control characters and of line breaks, and
never anything but an operand.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.checking import CONSTRAINT_PREFIX, QUESTION
from services.ercp.domain.faults import REPORTED_FROM
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.predicates import Holds, Predicate, PredicateName, evaluate
from services.ercp.domain.records import Constraint, Evidence, Fault, Source
from services.ercp.domain.vocabulary import ConstraintType, Detector, ErrorType, Priority

MAX_QUOTE_CHARS: Final = 300
MAX_NL_CHARS: Final = 2_000
SECOND_BEST: Final = 0.9
"""What a further constraint of an error is less sure by: it says the same in a weaker way."""
_FORM_CLAIM: Final = "the answer is written in complete sentences"


def extract(faults: Sequence[Fault], text: str, most_per_error: int, name: str) -> tuple[Constraint, ...]:
    """Return the constraints that follow from errors, in the order of the errors, each predicate once.

    Args:
        faults: what was found.
        text: what they point into.
        most_per_error: ``max_constraints_per_error``.
        name: of this extraction; the constraints' ids follow from it.
    """
    found: dict[str, Constraint] = {}
    for number, fault in enumerate(faults):
        proposals = list(_proposals(fault, text))[:most_per_error]
        for place, (predicate, words) in enumerate(proposals):
            form = readings.form_of(predicate)
            factor = 1.0 if place == 0 else SECOND_BEST
            constraint = Constraint(
                constraint_id=derived_uuid(name, "constraint", str(number), str(place)),
                type=_type_of(fault, predicate),
                nl_text=words[:MAX_NL_CHARS],
                predicate=form,
                priority=_priority_of(fault),
                source=Source(_detector_of(fault), fault.error_id),
                confidence=round(fault.confidence * factor, 6),
            )
            known = found.get(form.key)
            if known is None or (known.confidence or 0.0) < (constraint.confidence or 0.0):
                found[form.key] = constraint
    return tuple(found.values())


def _proposals(fault: Fault, text: str) -> Iterator[tuple[Predicate, str]]:
    """Yield predicates with their words, the one that mends the error most directly first."""
    if any(each.source.startswith(CONSTRAINT_PREFIX) for each in fault.evidence):
        return  # the constraint that it denies is in force already
    excerpt = quoted(fault.excerpt or _nearest(fault, text))
    match fault.type:
        case ErrorType.FACTUAL_INCORRECT | ErrorType.CONTRADICTION if fault.confidence < REPORTED_FROM:
            yield from _agreement(excerpt, fault.evidence)  # a doubt demands no value (ADR 0179)
        case ErrorType.FACTUAL_INCORRECT:
            yield from _about(fault, text, _from_evidence(fault.evidence))
            yield from _agreement(excerpt, fault.evidence)
        case ErrorType.CONTRADICTION:
            yield from _from_evidence([each for each in fault.evidence if each.source == QUESTION])
            yield from _agreement(excerpt, fault.evidence)
        case ErrorType.MISSING_JUSTIFICATION if asked := _asked(fault):
            words = f'Give the reason that the question asks for: "{asked}"'
            yield from _worded(readings.no_contradiction(topic(asked)), words)
        case ErrorType.MISSING_JUSTIFICATION:
            yield from _worded(readings.has_justification(excerpt), "")
        case ErrorType.AMBIGUITY:
            words = f'Say plainly, in one reading only, what this means: "{excerpt}"'
            yield from _worded(readings.no_contradiction(topic(excerpt)), words)
        case ErrorType.SYNTAX_ERROR:
            words = "Write the answer in complete sentences of readable text, with every bracket and quotation closed."
            yield from _worded(readings.has_justification(_FORM_CLAIM), words)


def _asked(fault: Fault) -> str:
    """Return the question whose reason is missing (§12); empty where a claim of the text lacks its own."""
    return next((quoted(each.excerpt) for each in fault.evidence if each.source == QUESTION), "")


def _from_evidence(evidence: Sequence[Evidence]) -> Iterator[tuple[Predicate, str]]:
    """Yield what the evidence asserts as a demand: its values, then its orders of events."""
    for each in evidence:
        if not each.excerpt:
            continue
        facts = readings.facts_of(each.excerpt, readings.sentences_of(each.excerpt))
        demands = [predicate for _, predicate in readings.equalities(facts)]
        demands += [predicate for _, predicate in readings.orders(facts)]
        for predicate in demands:
            yield predicate, f'{readings.words_of(predicate)} The source says: "{quoted(each.excerpt)}"'


def _about(fault: Fault, text: str, demands: Iterator[tuple[Predicate, str]]) -> Iterator[tuple[Predicate, str]]:
    """Yield the demands that do not read another part of the text than the wrong one as their breach.

    "The capacity of a car is 60" is about "each car carries 80", and not about "two cars share a cable".
    """
    facts = None
    for predicate, words in demands:
        if facts is None:
            facts = readings.facts_of(text, readings.sentences_of(text))
        answer = evaluate(predicate, facts)
        span = fault.span
        astray = span is not None and all(place.end <= span[0] or span[1] <= place.start for place in answer.evidence)
        if answer.holds is not Holds.FALSE or not astray:
            yield predicate, words


def _agreement(excerpt: str, evidence: Sequence[Evidence]) -> Iterator[tuple[Predicate, str]]:
    """Yield that a text agrees with itself about what the excerpt speaks of."""
    other = next((quoted(each.excerpt) for each in evidence if each.excerpt), "")
    reason = f'These do not agree: "{other}" and "{excerpt}"' if other else f'This does not hold: "{excerpt}"'
    facts = readings.facts_of(excerpt, readings.sentences_of(excerpt))
    names = list(readings.entities(facts))
    if not names and other:
        names = list(readings.entities(readings.facts_of(other, readings.sentences_of(other))))
    found = [each for name in names if (each := readings.no_contradiction(name)) is not None]
    if not found and (shared := topic(excerpt, other)):  # a name that begins with a number is none
        found = [each for each in [readings.no_contradiction(shared)] if each is not None]
    for predicate in found:
        yield predicate, f"{readings.words_of(predicate)} {reason}"


def _worded(predicate: Predicate | None, words: str) -> Iterator[tuple[Predicate, str]]:
    if predicate is not None:
        yield predicate, words or readings.words_of(predicate)


def topic(excerpt: str, other: str = "") -> str:
    """Return words that two statements share, or the first telling ones of one, as a name for NoContradiction."""
    mine = [word for word in _plain_words(excerpt) if len(word) > 3]  # noqa: PLR2004 - shorter words rarely tell
    theirs = set(_plain_words(other))
    shared = [word for word in mine if word in theirs]
    return "_".join(dict.fromkeys(shared or mine[:3]))[:100]


def _plain_words(text: str) -> list[str]:
    return ["".join(char for char in word if char.isalnum()).lower() for word in text.split()]


def quoted(text: str) -> str:
    """Return an excerpt as it may stand in a constraint: one line, no control or direction marks, of bounded length."""
    kept = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_text(char))
    short = " ".join(kept.split()).replace('"', "'")
    return short if len(short) <= MAX_QUOTE_CHARS else f"{short[: MAX_QUOTE_CHARS - 1].rstrip()}…"


def _is_text(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}


def _nearest(fault: Fault, text: str) -> str:
    return text[slice(*fault.span)] if fault.span is not None else text[:MAX_QUOTE_CHARS]


def _type_of(fault: Fault, predicate: Predicate) -> ConstraintType:
    if fault.type in {ErrorType.AMBIGUITY, ErrorType.SYNTAX_ERROR}:
        return ConstraintType.STYLE
    if predicate.name is PredicateName.TEMPORAL_ORDER:
        return ConstraintType.TEMPORAL
    return ConstraintType.FACTUAL if fault.type is ErrorType.FACTUAL_INCORRECT else ConstraintType.PREDICATE


def _priority_of(fault: Fault) -> Priority:
    if fault.type in {ErrorType.AMBIGUITY, ErrorType.SYNTAX_ERROR}:
        return Priority.LOW
    grave = {ErrorType.CONTRADICTION, ErrorType.FACTUAL_INCORRECT}
    return Priority.HIGH if fault.type in grave else Priority.MEDIUM


def _detector_of(fault: Fault) -> Detector:
    """Return the firmest of an error's detectors."""
    firmness = (Detector.SOLVER, Detector.FACT_CHECK, Detector.RULE, Detector.NLI, Detector.HEADS)
    return next((each for each in firmness if each in fault.detected_by), Detector.RULE)
