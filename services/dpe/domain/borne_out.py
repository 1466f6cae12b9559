"""Which clause of a fact says what a claim says, for claims that seem to contradict each other (ADR 0196).

A clause bears a claim out when it holds every term of the claim, what stands over it in its fact included, and every
amount and date on the same side, and says the same state. Facts are read for it only when two claims were found to
contradict each other; the rarest term of the claim says which of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.reading.synonyms import plain_terms
from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.differences import Content, Limited, equal_values
from services.dpe.domain.facts import FactView
from services.dpe.domain.statements import Statement, conflict, read_statement
from services.dpe.domain.states import alike

MOST_READ: Final = 32
"""Clauses that one claim is held against at most."""


@dataclass(frozen=True, slots=True)
class _Said:
    statement: Statement
    known: frozenset[str]


@dataclass(slots=True)
class FactSentences:
    """The clauses of facts by their terms, read when they are first asked for.

    Args:
        views: the facts, those that do not hold now left out.
    """

    views: Sequence[FactView]
    _said: list[_Said] = field(default_factory=list)
    _by_term: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def excuses(self, left: Statement, right: Statement) -> bool:
        """Say whether facts that do not contradict one another bear both statements out."""
        first, second = self._bearing(left), self._bearing(right)
        if first is None or second is None:
            return False
        return first is second or conflict(first, second) is None

    def _bearing(self, statement: Statement) -> Statement | None:
        if not self._by_term:
            self._read()
        content = statement.content
        listed = [self._by_term[term] for term in content.terms if term in self._by_term]
        if not content.terms or len(listed) < len(content.terms):
            return None
        rarest = min(listed, key=len)[:MOST_READ]
        return next((self._said[at].statement for at in rarest if _bears_out(self._said[at], content)), None)

    def _read(self) -> None:
        for view in self.views:
            for said in _clauses(view):
                for term in said.known:
                    self._by_term[term].append(len(self._said))
                self._said.append(said)


def _clauses(view: FactView) -> Iterator[_Said]:
    head = plain_terms(view.fact.content.split("\n", 1)[0]) if "\n" in view.fact.content else frozenset[str]()
    for clause in view.clauses:
        claim = Claim(
            "", clause.text, clause.span.start, clause.span.end, 0, ClaimType.FACTUAL, 0.0, clause.names, clause.values
        )
        over = plain_terms(view.fact.content[clause.sentence.start : clause.span.start])
        statement = read_statement(claim)
        yield _Said(statement, statement.content.terms | head | over)


def _bears_out(said: _Said, claim: Content) -> bool:
    there = said.statement.content
    return (
        claim.terms <= said.known
        and alike(claim.stands, there.stands)
        and claim.conditions == there.conditions
        and all(_holds(one, (*there.measures, *there.dates)) for one in (*claim.measures, *claim.dates))
    )


def _holds(one: Limited, known: Sequence[Limited]) -> bool:
    return any(other.side is one.side and equal_values(one.value, other.value) for other in known)
