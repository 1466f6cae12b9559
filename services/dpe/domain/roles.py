"""Who does what to whom: parties that changed places (SPEC-005 §5.3, ENTITY_SUBSTITUTED).

"The lessor pays for repairs, and the lessee pays for insurance" does not bear out "the lessee pays for repairs", though
every word of it stands there; nor does "Oracle sued Google" bear out "Google sued Oracle". In doubt nothing is said.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.ports.recognition import Entity
from services.common.reading.clauses import finite_verb_at
from services.common.reading.polarity import is_negated
from services.common.reading.words import content_stems, normal_text, words
from services.dpe.domain.facts import FactClause
from services.dpe.domain.names import name_key

_SYMMETRIC: Final = re.compile(
    r"\b(?:with|and|or|together|alongside|between|both|each other|jointly|as well as|married|met|merged|equals?)\b",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    r"\b(?:is|are|was|were|be|been|being)(?=\s+(?:\w+ly\s+)?\w+(?:ed|en|wn|ht|ld|ne|de)(?P<end>)\b)", re.IGNORECASE
)
_AGENT: Final = re.compile(r"\bby\b", re.IGNORECASE)


def subject_and_rest(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the stems before and behind the first finite verb; ``None`` without one."""
    tokens = words(text)
    at = finite_verb_at(tokens)
    if not at:
        return None
    return content_stems(text[: tokens[at].start]), content_stems(text[tokens[at].end :])


def crossed(claim: str, clauses: Sequence[FactClause]) -> FactClause | None:
    """Return the clause whose subject the claim takes for another clause's; mostly ``None``.

    Args:
        claim: the claim's text.
        clauses: clauses of one sentence of a fact.
    """
    own = subject_and_rest(claim)
    read = [(clause, parts) for clause in clauses if (parts := subject_and_rest(clause.text)) is not None]
    if own is None or len(read) < 2 or _is_passive(claim):  # noqa: PLR2004 - two make a crossing
        return None
    for clause, (subject, rest) in read:
        others = [parts for other, parts in read if other is not clause]
        telling_subject = subject.difference(*(parts[0] for parts in others))
        telling_rest = rest.difference(*(parts[1] for parts in others))
        for other_subject, other_rest in others:
            claims_it = telling_subject and telling_subject <= own[0] and not other_subject - subject & own[0]
            said_of_other = other_rest - rest
            crosses = said_of_other and said_of_other <= own[1] and not telling_rest & own[1]
            if claims_it and crosses and is_negated(claim) == is_negated(clause.text):
                return clause
    return None


def _is_passive(text: str) -> bool:
    """Say whether a passive is followed by its agent in the same line: only the first of a line need look for it."""
    line_end = -1
    for passive in _PASSIVE.finditer(text):
        if passive.end("end") > line_end:
            break_at = text.find("\n", passive.end("end"))
            line_end = break_at if break_at >= 0 else len(text)
            if _AGENT.search(text, passive.end("end"), line_end):
                return True
    return False


def swapped(claim: str, names: Sequence[Entity], clause: FactClause) -> tuple[Entity, Entity] | None:
    """Return a name of the claim and the one of the clause that stands in its place, or ``None``.

    Both stand in both, each in the other's place; the first has offsets in the answer, the second in the fact.

    Args:
        claim: the claim's text.
        names: its names.
        clause: the clause that says nearly the same.
    """
    if _SYMMETRIC.search(claim) or _SYMMETRIC.search(clause.text):
        return None
    known = f" {_plain(clause.text)} "
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            left, right = name_key(first.text), name_key(second.text)
            text = f" {_plain(claim)} "
            turned = text.replace(f" {left} ", " \0 ").replace(f" {right} ", f" {left} ").replace("\0", right)
            if left != right and text != known and turned == known:
                return first, _in_clause(second, clause)
    return None


def _in_clause(name: Entity, clause: FactClause) -> Entity:
    """Return the name as it stands in the clause, with offsets in the fact."""
    wanted, held = name_key(name.text).split(), words(clause.text)
    plain = [word.text.removesuffix("'s") for word in held]
    at = next((place for place in range(len(plain)) if plain[place : place + len(wanted)] == wanted), None)
    start, end = (0, len(clause.text)) if at is None else (held[at].start, held[at + len(wanted) - 1].end)
    if at is not None and held[at + len(wanted) - 1].text.endswith("'s"):
        end -= 2
    return Entity(name.kind, clause.text[start:end], clause.span.start + start, clause.span.start + end)


def _plain(text: str) -> str:
    return " ".join(word.text.removesuffix("'s") for word in words(normal_text(text)))
