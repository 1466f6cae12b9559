"""Which statements of a draft something bears out, and which stand on the answerer's word alone (ADR 0185).

That nothing speaks against a statement is no ground for it. Grounds are, the firmest first: a passage says it word for
word; the provenance engine finds each of its claims supported by the facts; all its values keep what was learned from a
fact; it was put before the answerer with the demand for its ground, and was written again. What a caller demands is
none (ADR 0078). Pure and linear in the texts.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from services.common.encoding import sha256_hex
from services.common.grounding.words import stems
from services.ercp.domain import readings
from services.ercp.domain.faults import MAX_EXCERPT_CHARS
from services.ercp.domain.findings import ClaimSupport
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import Constraint, ConstraintOutcome, OpenGround, Sentence
from services.ercp.domain.vocabulary import Detector, Standing

MOST_PUT: Final = 40
"""So many statements are put before the answerer at once; the rest follow with the next candidate."""
MOST_ROUNDS: Final = 6
"""So often are statements put before it in one run; what is new in later candidates stays open."""
UNBORNE: Final = "nothing that was given bears it out"


def open_grounds(
    sentences: Sequence[Sentence],
    supports: Sequence[ClaimSupport],
    given: Iterable[Sentence],
    reckoned: Collection[int] = (),
) -> tuple[OpenGround, ...]:
    """Return the statements of a draft that nothing given bears out, in text order.

    Args:
        sentences: of the draft.
        supports: what the provenance engine says of its claims.
        given: the sentences of the passages that it was held against.
        reckoned: numbers of the sentences all of whose values keep what was learned from a fact.
    """
    verbatim = {statement_key(each.text) for each in given}
    supports = sorted(supports, key=lambda each: each.span)
    starts = [each.span[0] for each in supports]
    found = []
    for number, sentence in enumerate(sentences):
        claims = supports[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        if number in reckoned or not asserts(sentence) or (claims and all(each.is_supported for each in claims)):
            continue
        key = statement_key(sentence.text)
        if key not in verbatim:
            excerpt = sentence.text[:MAX_EXCERPT_CHARS]
            found.append(OpenGround(key, (sentence.start, sentence.end), excerpt, UNBORNE))
    return tuple(found)


def reckoned(
    facts: TextFacts, constraints: Sequence[Constraint], outcomes: Sequence[ConstraintOutcome]
) -> frozenset[int]:
    """Return the numbers of the sentences all of whose values keep a constraint that was learned from a fact."""
    learned = {each.constraint_id for each in constraints if each.source.detected_by is Detector.FACT_CHECK}
    kept = [each for each in outcomes if each.constraint_id in learned and each.standing is Standing.KEPT]
    places = sorted({(place.start, place.end) for each in kept for place in each.places})
    if not places:
        return frozenset()
    mentions = readings.mentions_of(facts)
    return frozenset(
        number
        for number, listed in enumerate(mentions)
        if listed and all(meets_any((each.span.start, each.span.end), places) for each in listed)
    )


def asserts(sentence: Sentence) -> bool:
    """Say whether a sentence holds something that can be wrong: a statement, or a number in an instruction."""
    words = stems(sentence.text)
    if not words or sentence.text.rstrip().endswith("?"):
        return False
    return sentence.states or any(word[0].isdigit() for word in words)


def statement_key(text: str) -> str:
    """Return the same text for two sentences of the same words in the same order, inflections aside."""
    return sha256_hex(" ".join(stems(text)).encode("utf-8", "surrogatepass"))


def fresh(found: Iterable[OpenGround], put: Iterable[OpenGround]) -> tuple[OpenGround, ...]:
    """Return the statements that were not put before the answerer yet, each once, at most ``MOST_PUT``."""
    known = {each.key for each in put}
    new = dict[str, OpenGround]()
    for each in found:
        if each.key not in known:
            new.setdefault(each.key, each)
    return tuple(new.values())[:MOST_PUT]


def meets_any(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Say whether a span meets one of several that are in order and apart from each other."""
    at = bisect_left(spans, span)
    return any(span[0] < end and start < span[1] for start, end in spans[max(0, at - 1) : at + 1])


def confirmed(found: Iterable[OpenGround], put: Iterable[OpenGround]) -> tuple[bool, ...]:
    """Say of each statement whether it was put before the answerer before it was written again."""
    known = {each.key for each in put}
    return tuple(each.key in known for each in found)
