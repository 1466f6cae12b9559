"""A negation that a claim turns round, with the words on both sides (SPEC-005 §5.3, NEGATION_FLIP, ADR 0095).

What is said under a condition, and what is excepted, is taken out before polarity is compared: "not paid unless" and
"paid if" go together. A clause that says the same unturned clears the claim, however many are turned.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.lexicon import NEGATORS, STOPWORDS
from services.common.reading.polarity import Comparison, compared, denies_too_much, is_negated, negated_words
from services.common.reading.text_types import Span
from services.common.reading.words import Word, containment, content_stems, jaccard, stem, words
from services.dpe.domain.alignment import ClaimWords, Match, on_other_sides
from services.dpe.domain.conditions import governed_conditions, without_conditions
from services.dpe.domain.rules.reading import root, roots

FLIP_OVERLAP: Final = 0.6
"""Jaccard overlap of content words from which on a difference in negation is a flip."""
CLEARED: Final = 0.6
"""Share of an unturned clause's words in the claim from which on it bears the claim out."""
_CLAUSES_READ: Final = 8
"""So many clauses, the nearest ones, are compared for their polarity."""
_AS_NEAR: Final = 0.1
"""Overlaps that differ by no more are the same."""
_EXCEPTED: Final = re.compile(
    r"\b(?:except(?: for| on| in| at| by| with)?|excluding|including|apart from|other than|with the exception of"
    r"|save(?: for| by)?|aside from)\s[^,.;:]{1,80}",
    re.IGNORECASE,
)
_CONTRASTED: Final = re.compile(
    r"(?:,|\band|\bbut)\snot\s(?:an?|the|one|any|before|after|for|to|in|on|at|by|because|from|with"
    r"|allowed|permitted|required)\s[^,.;:]{1,80}",
    re.IGNORECASE,
)
"""What is set beside a statement, "and not a day longer": it negates no verb."""


@dataclass(frozen=True, slots=True)
class Flip:
    """The clause that a claim turns round, and the words that do; offsets in answer and fact."""

    match: Match
    claimed: Span
    known: Span


def flipped(claim: ClaimWords, nearest: Sequence[Match]) -> Flip | None:
    """Return how a claim turns the clauses round that say nearly the same, or ``None``."""
    if _CLIPPED.search(claim.claim.text) or _TWO_SIDED.search(claim.claim.text):
        return None
    read = [
        (match, _compared(claim.claim.text, match.clause.text))
        for match in _about_the_same(claim, nearest)
        if not _CLIPPED.search(match.clause.text)
        and not _of_another_case(claim.claim.text, match.clause.text)
        and not denies_too_much(match.clause.text, claim.claim.text)
    ]
    near = [(match, jaccard(how.aligned(claim.stems), match.clause.stems), how) for match, how in read]
    best = max((overlap for _, overlap, _ in near), default=0.0)
    # "After 12 months it is not paid" and "within 12 months it is paid" do not contradict each other.
    if best < FLIP_OVERLAP or any(
        on_other_sides(claim.claim, match.clause) for match, overlap, _ in near if overlap == best
    ):
        return None
    for match, overlap, how in near:
        if not how.turned and (
            overlap >= max(FLIP_OVERLAP, best - _AS_NEAR)
            or containment(match.clause.stems, how.aligned(claim.stems)) >= CLEARED
        ):
            return None
    match, _, how = next(item for item in near if item[1] >= max(FLIP_OVERLAP, best - _AS_NEAR))
    if not how.instead and not _negates_shared(claim.claim.text, match.clause.text):
        return None
    ours, theirs = _turning(claim.claim.text, match.clause.text, how)
    return Flip(match, _shifted(ours, claim.claim.start), _shifted(theirs, match.clause.span.start))


def _negates_shared(claim: str, clause: str) -> bool:
    """Say whether one of the two negates a word of both that the other does not: what only one says denies nothing.

    "Paid on photographs, without an inspection" does not deny that it is paid on photographs.
    """
    ours, theirs = (frozenset(map(root, negated_words(text))) for text in (claim, clause))
    return bool((ours ^ theirs) & roots(claim) & roots(clause))


_CLIPPED: Final = re.compile(
    r"(?:\bnot|\bcannot|n['’]t)(?:\s(?:be|been|so|either|one|any|have|do|all))?\s?[.;,!]?\s*$",  # noqa: RUF001
    re.IGNORECASE,
)
"""A negation whose verb stands elsewhere: "the car allowance is not", "low-dose aspirin need not be"."""
_TWO_SIDED: Final = re.compile(
    r"\b(?:but|yet)\s(?:(?:can|may|must|will|shall|need|does|do|did|is|are|was|were)\s?(?:not\b|n['’]t)|never\b)"  # noqa: RUF001
    r"|(?<=\w),?\s(?:while|whereas)\b[^.;]{1,120}(?:\bnot\b|\bcannot\b|n['’]t\b|\bleft\sout\b)",  # noqa: RUF001
    re.IGNORECASE,
)
"""A claim that says one thing and denies another: of which of the two a clause speaks is open."""
_ONLY: Final = re.compile(r"\bonly\b", re.IGNORECASE)
_SAME_CASE: Final = 0.8


def _of_another_case(claim: str, clause: str) -> bool:
    """Say whether one has "only" for what the other negates: "not paid, except on termination", "paid only on it"."""
    if bool(_ONLY.search(claim)) == bool(_ONLY.search(clause)) and not _ONLY.search(clause):
        return False
    ours, theirs = (content_stems(" ".join(governed_conditions(text))) for text in (claim, clause))
    if ours and theirs:
        return jaccard(ours, theirs) < _SAME_CASE
    limited = clause if _ONLY.search(claim) else claim
    return bool(_EXCEPTED.search(limited)) or "unless" in limited.lower()


def _compared(claim: str, clause: str) -> Comparison:
    """Compare the two with and without their conditions and exceptions: only what is turned in both is turned."""
    plain, whole = compared(said_plainly(claim), said_plainly(clause)), compared(claim, clause)
    is_exception = any(
        containment(content_stems(match.group()), content_stems(claim)) >= CLEARED
        for match in _EXCEPTED.finditer(clause)
    )
    return replace(whole, turned=plain.turned and whole.turned and not is_exception)


def said_plainly(text: str) -> str:
    """Return a text without its conditions, exceptions and contrasts; offsets stay what they were."""
    for pattern in (_EXCEPTED, _CONTRASTED):
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return without_conditions(text)


def _about_the_same(claim: ClaimWords, nearest: Sequence[Match]) -> list[Match]:
    """Return the clauses that agree with the claim in the most values: "version 5.2" is not told by "version 5.1"."""
    read = list(nearest[:_CLAUSES_READ])
    agreeing = [
        sum(1 for value in claim.claim.values if any(agrees(value, known) for known in match.clause.values))
        for match in read
    ]
    most = max(agreeing, default=0)
    return [match for match, count in zip(read, agreeing, strict=True) if count == most]


def _turning(claim: str, clause: str, how: Comparison) -> tuple[Span, Span]:
    """Return the words that turn the two against each other: opposites, or a negation and what the other has for it."""
    ours, theirs = words(claim), words(clause)
    for one, other in how.instead.items():
        left, right = _with_stem(ours, one), _with_stem(theirs, other)
        if left is not None and right is not None:
            return Span(left.start, left.end), Span(right.start, right.end)
    if is_negated(claim):
        negated, plain = _negation(ours), theirs
        return negated[0], _counterpart(negated[1], plain, clause)
    negated, plain = _negation(theirs), ours
    return _counterpart(negated[1], plain, claim), negated[0]


def _negation(tokens: Sequence[Word]) -> tuple[Span, str]:
    """Return the negating word up to the word that it negates, and that word's stem."""
    at = next((place for place, word in enumerate(tokens) if word.text in NEGATORS), None)
    if at is None:
        return Span(tokens[0].start, tokens[-1].end), ""
    negated = next((word for word in tokens[at + 1 :] if word.text not in STOPWORDS), None)
    end = tokens[at].end if negated is None else negated.end
    return Span(tokens[at].start, end), "" if negated is None else stem(negated.text)


def _counterpart(wanted: str, tokens: Sequence[Word], text: str) -> Span:
    found = _with_stem(tokens, wanted)
    return Span(0, len(text)) if found is None else Span(found.start, found.end)


def _with_stem(tokens: Sequence[Word], wanted: str) -> Word | None:
    return next((word for word in tokens if wanted and stem(word.text) == wanted), None)


def _shifted(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
