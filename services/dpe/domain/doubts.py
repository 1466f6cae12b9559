"""What keeps a claim from being borne out by a probability alone (ADR 0231).

An encoder measures how much a fact's words overlap with the claim's, also where one of them says the opposite in other
words ("pets are covered" beside "animals are not insured"), where the claim has a value that no fact has, and where it
says nothing at all ("OK"). None of these shows the claim wrong; each leaves it open.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.answer_words import answer_word, only_answers
from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import NEGATORS
from services.common.reading.polarity import is_negated, negated_words
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import content_stems, words
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.asked_places import joined
from services.dpe.domain.facts import FactView
from services.dpe.domain.findings import Doubt, DoubtKind, NearFact
from services.dpe.domain.rules.excepted import leaves_out
from services.dpe.domain.rules.reading import Reading

_MOST_WORDS: Final = 8
"""So many words without a verb are an answer whose words a document should have."""
_LETTERS_OF_NOTHING: Final = 2
_GRANTING: Final = frozenset(
    """
    covered covers insured included reimbursed refunded refundable allowed permitted accepted admitted
    offered available possible valid eligible entitled deductible reimbursable
    """.split()  # noqa: SIM905 - a list would be six times as long
)
_GRANTING_IF_NEGATED: Final = frozenset({"cover", "include", "insure", "allow", "permit", "accept", "offer"})
""""Six months' cover" grants nothing, and "includes A and B" lists; "does not cover" denies."""
_DENYING: Final = frozenset(
    """
    excluded exclusion exclusions forbidden prohibited banned refused rejected uncovered uninsured ineligible
    unavailable impossible invalid inadmissible
    """.split()  # noqa: SIM905
)
_OF_CASES: Final = re.compile(
    r"\b(?:unless|except\w*|only|if|when|where|whether|until|till|other|otherwise|without|apart|but|although|though"
    r"|however|provided|subject|both|some|most|fully|partly|partially|always|necessarily|automatically)\b",
    re.IGNORECASE,
)
"""With one of these a text speaks of cases, and both sides may be true."""


def doubt_of(analysis: Analysis, claim: Claim, passages: Sequence[NearFact], decided: int) -> Doubt | None:
    """Return why a probability alone does not bear a claim out, or ``None``.

    Args:
        analysis: with values found in no fact.
        claim: one that a model finds supported.
        passages: the facts that were read for it.
        decided: index of the fact that bore it out most.
    """
    unknown = _unknown_values(analysis, claim, passages)
    if unknown:
        return Doubt(DoubtKind.VALUE_UNKNOWN, tuple(value.text for value in unknown))
    if _says_nothing(analysis, claim, passages):
        return Doubt(DoubtKind.WORDS_UNKNOWN, (claim.text.strip(),))
    fact = analysis.input.facts[decided].content
    turned = _turned(claim.text, fact)
    if turned is not None:
        return Doubt(DoubtKind.SAID_OTHERWISE, turned, decided)
    exception = leaves_out(Reading.of(claim.text, 0), Reading.of(fact, 0))
    if exception:
        return Doubt(DoubtKind.EXCEPTED, (exception,), decided)
    return _added(analysis, claim)


_MORE: Final = re.compile(
    r"\b(?:additional(?:ly)?|extra|further|more|another|added|besides|plus|bonus|top|also|too|instead)\b", re.IGNORECASE
)
_ADDED: Final = re.compile(r"\s(?P<more>additional|extra|further|more)\b", re.IGNORECASE)
_MOST_BEHIND: Final = 24


def _added(analysis: Analysis, claim: Claim) -> Doubt | None:
    """Return the doubt of a value that its fact adds and the claim gives as it is: "3 additional days" as "3 days"."""
    if _MORE.search(f"{claim.text} {analysis.input.query or ''}"):
        return None
    for pair in analysis.outputs.attribution.alignments.get(claim.claim_id, ()):
        if pair.equal and not pair.derivation and pair.fact_index is not None and pair.claimed.unit:
            content = analysis.input.facts[pair.fact_index].content
            there = content[pair.known.start : pair.known.end + _MOST_BEHIND]
            more = _ADDED.search(there)
            if more is not None and not re.search(r"\bthan\b", there, re.IGNORECASE):
                said = content[pair.known.start : max(pair.known.start + more.end(), pair.known.end)]
                return Doubt(DoubtKind.ADDED, (said,), pair.fact_index)
    return None


def _unknown_values(analysis: Analysis, claim: Claim, passages: Sequence[NearFact]) -> list[Value]:
    """Return the values that stage 3a found in no fact, nor do the facts that were read have them."""
    found = analysis.outputs.fabrication.found or ()
    places = {
        (item.entity.start, item.entity.end) for item in found if item.claim_id == claim.claim_id and item.normalised
    }
    values = [value for value in claim.values if (value.start, value.end) in places]
    if not values:
        return []
    views = [analysis.outputs.text.fact_views[near.fact_index] for near in passages]
    return [value for value in values if not any(is_known(value, view) for view in views)]


def is_known(value: Value, view: FactView) -> bool:
    """Say whether a fact has a value, or a range that it lies in: "5 kg" in "4-7 kg"."""
    if any(agrees(value, each) for each in view.values):
        return True
    return any(
        low.unit == value.unit == high.unit
        and None not in (low.magnitude, value.magnitude, high.magnitude)
        and low.magnitude <= value.magnitude <= high.magnitude  # type: ignore[operator]
        and joined(view.fact.content, 0, (low, high))
        for low, high in pairwise(view.values)
    )


def _says_nothing(analysis: Analysis, claim: Claim, passages: Sequence[NearFact]) -> bool:
    """Say whether a few words without value and verb stand in none of the facts that were read."""
    said = words(claim.text)
    if claim.values or len(said) > _MOST_WORDS or any(word.text in NEGATORS for word in said):
        return False
    if answer_word(claim.text) is not None or only_answers(claim.text) is not None or finite_verb_at(said) is not None:
        return False
    own = content_stems(claim.text)
    if not own:
        return sum(char.isalnum() for char in claim.text) <= _LETTERS_OF_NOTHING
    return all(own.isdisjoint(analysis.outputs.text.fact_views[near.fact_index].stems) for near in passages)


def _turned(claim: str, fact: str) -> tuple[str, str] | None:
    """Return what a claim grants and its fact denies, or the other way round, in the words of both."""
    if _OF_CASES.search(claim) or _OF_CASES.search(fact):
        return None
    ours, theirs = _sides(claim), _sides(fact)
    if len(set(ours.values())) != 1 or len(set(theirs.values())) != 1:
        return None
    (said, grants), (known, granted) = next(iter(ours.items())), next(iter(theirs.items()))
    return (_told(said, grants), _told(known, granted)) if grants is not granted else None


def _told(word: str, grants: bool) -> str:
    return word if grants is (word not in _DENYING) else f"not {word}"


def _sides(text: str) -> dict[str, bool]:
    """Return the words that grant or deny, each with whether it grants: "not insured" does not, "not excluded" does."""
    negated = negated_words(text)
    said = [
        word.text
        for word in words(text)
        if word.text in _GRANTING or word.text in _DENYING or word.text in _GRANTING_IF_NEGATED & negated
    ]
    if negated & {word for word in said if said.count(word) > 1}:
        return {}  # "not insured … insured": which of the two is denied is not told by the words
    if len(said) == 1 and is_negated(text):
        negated |= {said[0]}  # "No pet is covered"
    return {word: (word not in _DENYING) is not (word in negated) for word in said}
