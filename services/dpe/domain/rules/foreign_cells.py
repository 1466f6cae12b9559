"""What a claim says of a row in a column where another row has it (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0211).

"The Standard plan includes unlimited classes" beside "Plan: Standard; Classes included: 4 a week" and "Plan: Premium;
Classes included: unlimited"; "the Off-peak plan gives 1 guest pass" where its own cell says "none". The claim has to
name one row alone and to have a word of the column's head, which no other head has, beside what it says. Two values are
compared by ``changed_row``. It is one signal and decides nothing: how often it is right is not known.
"""

import re
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.polarity import is_negated
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import Cell, is_named, named_rows, one_value, rows_of, telling_heads, values_of

_MOST_WORDS: Final = 3
"""A cell of more words is a text that nobody says in passing."""
_NO_STATES: Final = frozenset({"yes", "no", "all", "any", "other", "same", "new", "true", "false"})
_BESIDE: Final = 2
"""So near a word of the head stands: "1 guest pass", "classes a week: 4"."""
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
    heads, held = telling_heads(own), frozenset[str]().union(*(roots(f"{one.head} {one.said}") for one in own.cells))
    outside = [one for one in sources if not one.once(rows_of)]
    for number, ours in enumerate(own.cells[1:], start=1):
        head = heads[number] & claim.content
        if not head or _said(ours, claim, head) is not None:
            continue
        for other in others:
            theirs = other.cells[number]
            place = _taken(theirs, ours, held, claim, head)
            if place is not None and not any(_says(one, theirs) for one in outside):
                known = source.span(*ours.place)
                return Departure(DistortionType.ENTITY_SUBSTITUTED, Rule.DISPLACED, claim.span(*place), source, known)
    return None


def _taken(
    theirs: Cell, ours: Cell, held: frozenset[str], claim: Reading, head: frozenset[str]
) -> tuple[int, int] | None:
    """Return where a claim says another row's cell of the column, which its own row does not say."""
    value = one_value(theirs)
    if value is not None and one_value(ours) is not None:
        return None
    if value is None and (roots(theirs.said) <= held or len(theirs.words) > _MOST_WORDS):
        return None
    return _said(theirs, claim, head)


def _says(source: Reading, cell: Cell) -> bool:
    """Say whether a sentence outside of the table says what a cell does: of all rows, perhaps."""
    value = one_value(cell)
    if value is not None:
        return any(agrees(one, value) for one in source.once(values_of))
    return roots(cell.said) <= source.content


def _said(cell: Cell, claim: Reading, head: frozenset[str]) -> tuple[int, int] | None:
    """Return where a claim says what a cell does, its value or all of its words, beside a word of the column's head."""
    value = one_value(cell)
    if value is not None:
        given = next((one for one in claim.once(values_of) if agrees(one, value)), None)
        place = None if given is None else (given.start, given.end)
    else:
        state = roots(cell.said)
        told = bool(state) and not state & _NO_STATES and state <= claim.content
        words = [word for word in claim.tokens if roots(word.text) & state] if told else []
        place = (words[0].start, words[-1].end) if words else None
    return place if place is not None and _is_beside(place, claim, head) else None


def _is_beside(place: tuple[int, int], claim: Reading, head: frozenset[str]) -> bool:
    """Say whether a word of the head stands beside a stretch, or is its subject: "unlimited classes"."""
    at = [number for number, word in enumerate(claim.tokens) if word.start < place[1] and place[0] < word.end]
    if not at:
        return False
    heads = [number for number, word in enumerate(claim.tokens) if roots(word.text) & head]
    if any(0 < number - at[-1] <= _BESIDE or 0 < at[0] - number <= _BESIDE for number in heads):
        return True
    return bool(heads) and at[0] > 0 and claim.tokens[at[0] - 1].text in {"is", "are"}
