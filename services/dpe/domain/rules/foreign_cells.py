"""What a claim says of a row in a column where another row has it (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0211).

"The Standard plan includes unlimited classes" beside "Plan: Standard; Classes included: 4 a week" and "Plan: Premium;
Classes included: unlimited"; "the Off-peak plan gives 1 guest pass" where its own cell says "none". The claim has to
name one row alone and to speak of the column by a word that no other head has. Two values are compared by
``changed_row``.
"""

import re
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.polarity import is_negated
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import (
    Cell,
    Row,
    gives_elsewhere,
    is_named,
    is_said_elsewhere,
    named_rows,
    one_value,
    rows_of,
    values_of,
)

_MOST_WORDS: Final = 3
"""A cell of more words is a text that nobody says in passing."""
_NO_STATES: Final = frozenset({"yes", "no", "all", "any", "other", "same", "new", "true", "false"})
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|when|where|until|except|instead|than|upgrad\w+|unlike|whereas|while|or)\b", re.IGNORECASE
)
"""A claim with one of these speaks of a case, or of two rows beside each other."""


def foreign_cell(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says of its row that the column says of other rows alone, or ``None``."""
    if is_negated(claim.text) or _CONDITION.search(claim.text):
        return None
    rows = [(row, source) for source in sources for row in source.once(rows_of)]
    named = named_rows(claim, rows)
    if len({row.name for row, _ in named}) != 1:
        return None
    own, source = named[0]
    others = [row for row, _ in rows if row.heads == own.heads and row.name != own.name]
    if any(is_named(other, own, claim) for other in others):
        return None
    for number, ours in enumerate(own.cells[1:], start=1):
        if not _is_spoken_of(ours, own, claim) or _said(ours, claim) is not None:
            continue
        for other in others:
            theirs = other.cells[number]
            place = _taken(theirs, ours, own, claim)
            if place is not None and not _is_elsewhere(own, theirs, sources):
                span = claim.span(*place)
                return Departure(DistortionType.ENTITY_SUBSTITUTED, Rule.ROW, span, source, source.span(*ours.place))
    return None


def _is_spoken_of(cell: Cell, row: Row, claim: Reading) -> bool:
    """Say whether a claim has a word of a column's head that no other head and no label has."""
    others = frozenset[str]().union(*(roots(one.head) for one in row.cells if one is not cell))
    return bool((roots(cell.head) - others - row.label) & claim.content)


def _taken(theirs: Cell, ours: Cell, own: Row, claim: Reading) -> tuple[int, int] | None:
    """Return where a claim says another row's cell, which its own row does not say."""
    if one_value(theirs) is not None and one_value(ours) is not None:
        return None
    held = frozenset[str]().union(*(roots(f"{one.head} {one.said}") for one in own.cells))
    value = one_value(theirs)
    if value is None and (roots(theirs.said) <= held or len(theirs.words) > _MOST_WORDS):
        return None
    if value is not None and any(known and agrees(value, known) for known in map(one_value, own.cells)):
        return None
    return _said(theirs, claim)


def _said(cell: Cell, claim: Reading) -> tuple[int, int] | None:
    """Return where a claim says what a cell does: its value, or all of its words."""
    value = one_value(cell)
    if value is not None:
        given = next((one for one in claim.once(values_of) if agrees(one, value)), None)
        return None if given is None else (given.start, given.end)
    state = roots(cell.said)
    if not state or state & _NO_STATES or not state <= claim.content:
        return None
    held = [word for word in claim.tokens if roots(word.text) & state]
    return held[0].start, held[-1].end


def _is_elsewhere(own: Row, theirs: Cell, sources: list[Reading]) -> bool:
    """Say whether a sentence that names the row, and is none of its table, says what the other row's cell does."""
    value = one_value(theirs)
    return is_said_elsewhere(own, theirs, sources) or (value is not None and gives_elsewhere(own, value, sources))
