"""What a cell says beside another one of its row or column (SPEC-005 §5.3, ADR 0190).

A table that compares stands in the facts as "Cost; Variant A: €186,000; Variant B: €274,000". A claim that names the
row and one of the columns, and gives what the row has in another column, takes it from the wrong one. A row with a
state ("Action: New valve; State: In progress") is turned by a claim that says it is done; and a claim that names one
row by its cells, and says of it what that column says of others alone ("Decision: Destroy"), takes it from these.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.common.reading.agreement import agrees, comparable
from services.common.reading.polarity import is_negated
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, root, roots
from services.dpe.domain.rules.rows import Cell, Placed, Row, joined, one_value, rows_of, telling_heads, values_of

_DONE: Final = re.compile(r"(?:done|completed?|finished|closed|implemented|resolved|carried\sout)\b", re.IGNORECASE)
_OPEN: Final = re.compile(
    r"(?:open|in\sprogress|pending|planned|not\s(?:yet\s)?(?:started|begun|done)|outstanding|ongoing|under\s?way|to\sdo)\b",
    re.IGNORECASE,
)
_SAYS_DONE: Final = re.compile(
    rf"\b(?:has|have|was|were|is|are)\s(?:now\s|already\s)?(?:been\s)?(?:now\s|already\s)?{_DONE.pattern}",
    re.IGNORECASE,
)
_SAYS_OPEN: Final = re.compile(rf"\b(?:is|are|remains?|was|were)\s(?:still\s|yet\s)?{_OPEN.pattern}", re.IGNORECASE)
_MOST_STATE_WORDS: Final = 3
"""A cell of more words is no state that rows share."""
_MANY: Final = 0.75
"""Share of a longer cell's words from which on a claim names it."""
_LONG: Final = 3
_NO_STATES: Final = frozenset({"yes", "no", "none", "all", "any", "other", "others", "same", "new", "true", "false"})


def changed_column(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the value that a claim gives for one column and the row has in another, or ``None``."""
    given = claim.once(values_of)
    if not given:
        return None
    spoken = joined(word.text for word in claim.tokens)
    rows = [(row, source) for source in sources for row in source.once(rows_of)]
    for source in sources:
        for row in source.once(rows_of):
            named = [cell for cell in row.cells[1:] if joined(cell.head.split()) in spoken]
            named = named or _variant(claim, row)
            named = named if len(named) == 1 else _called(claim, row, rows)
            if len(named) != 1 or not row.label or not (row.label <= claim.content or _is_only(row, named[0], sources)):
                continue
            known = one_value(named[0])
            for other in row.cells[1:]:
                foreign = one_value(other)
                # "Missing the availability target leads to a credit of 3%": the other column is spoken of too.
                beside = (roots(other.head) - roots(named[0].head)) & claim.content
                if known is None or foreign is None or other is named[0] or beside or not comparable(known, foreign):
                    continue
                # "£45 per month" of a row "Monthly price": what it is for may stand in the row's name.
                said = [(value, value if foreign.per else replace(value, per="")) for value in given]
                taken = [value for value, bare in said if agrees(bare, foreign) and not agrees(known, bare)]
                if taken and not any(agrees(bare, known) for _, bare in said):
                    span = claim.span(taken[0].start, taken[0].end)
                    return Departure(
                        DistortionType.NUMBER_CHANGED,
                        Rule.ROW,
                        span,
                        source,
                        source.span(*named[0].place),
                        is_same=row.label <= claim.content and not _COMPARES.search(claim.text),
                    )
    return None


def _variant(claim: Reading, row: Row) -> list[Cell]:
    """Return the cells of the columns that a claim names by the words in which their heads differ from one beside.

    Of "Limit, Basic" and "Limit, Comfort" a claim names the second by "Comfort", written as a name.
    """
    named = {root(word.text) for word in claim.tokens if claim.text[word.start].isupper()}
    heads = [roots(cell.head) for cell in row.cells]
    told = telling_heads(row)
    rests = [head - telling for head, telling in zip(heads, told, strict=True)]
    return [
        cell
        for cell, rest, telling in zip(row.cells[1:], rests[1:], told[1:], strict=True)
        if rest and telling and rests.count(rest) > 1 and telling <= named
    ]


def _called(claim: Reading, row: Row, rows: Sequence[Placed]) -> list[Cell]:
    """Return the cells of a row whose heads a claim calls by half of their words, two of which no other head has.

    "A hotel costs … a night" calls "Hotel limit per night". What is denied or compared may be said of another column.
    """
    if not row.label or not row.label <= claim.content or _COMPARES.search(claim.text):
        return []
    if any(row.label < other.label <= claim.content for other, _ in rows if other.heads == row.heads):
        return []  # "a family day ticket" is no day ticket
    told = zip(row.cells[1:], telling_heads(row)[1:], strict=True)
    return [
        cell
        for cell, telling in told
        if len((telling - _OF_UNITS) & claim.content) >= _CALLING
        and len((head := roots(cell.head)) & claim.content) >= _HALF * len(head)
    ]


_CALLING: Final = 2
_HALF: Final = 0.5
_OF_UNITS: Final = frozenset({"per"})
_COMPARES: Final = re.compile(
    r"\b(?:than|not|no|never|without|unless|if|except|outside|from|while|whereas|more|less|fewer|instead|of the)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)


def _is_only(row: Row, cell: Cell, sources: Sequence[Reading]) -> bool:
    """Say whether a column has a value of this measure in no other row: what is said of the column is of this one."""
    known, number = one_value(cell), row.cells.index(cell)
    rows = {other.cells: other for source in sources for other in source.once(rows_of) if other.heads == row.heads}
    beside = [one_value(other.cells[number]) for other in rows.values() if other.cells != row.cells]
    return (
        known is not None
        and bool(known.unit)
        and bool(beside)
        and not any(value is not None and value.unit == known.unit for value in beside)
    )


def changed_state(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim calls done what a row calls open, or the other way round, or ``None``."""
    done, still = _SAYS_DONE.search(claim.text), _SAYS_OPEN.search(claim.text)
    at = done or still
    if at is None or (done and still):
        return None
    told = (done is not None) != is_negated(claim.text)
    for cell, source in _told_of(claim, sources):
        known = True if _DONE.match(cell.said) else False if _OPEN.match(cell.said) else None
        if known is not None and known != told:
            span = claim.span(at.start(), at.end())
            return Departure(DistortionType.NEGATION_FLIP, Rule.ROW, span, source, source.span(*cell.place))
    return None


def _told_of(claim: Reading, sources: list[Reading]) -> Iterator[tuple[Cell, Reading]]:
    """Yield the cells of the row that a claim names by the other cells of it."""
    rows = [(row, source) for source in sources for row in source.once(rows_of)]
    for number in range(1, max((len(row.cells) for row, _ in rows), default=0)):
        named = _own_row(claim, rows, without=number)
        if named is not None and number < len(named[0].cells):
            yield named[0].cells[number], named[1]


def foreign_state(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says of a row that its column says of other rows alone, or ``None``."""
    if is_negated(claim.text):
        return None
    rows = [row for source in sources for row in source.once(rows_of)]
    for cell, source in _told_of(claim, sources):
        row = next(row for row in source.once(rows_of) if cell in row.cells)
        own = frozenset[str]().union(*(roots(one.said) for one in row.cells), *(roots(head) for head in row.heads))
        number = row.cells.index(cell)
        if _is_said(cell, claim) or one_value(cell) is not None:
            continue
        for other in (other.cells[number] for other in rows if other.heads == row.heads and other.cells != row.cells):
            state = roots(other.said)
            is_state = state and len(other.words) <= _MOST_STATE_WORDS and not state & _NO_STATES
            if is_state and state <= claim.content and not state & own and one_value(other) is None:
                held = [word for word in claim.tokens if roots(word.text) & state]
                span = claim.span(held[0].start, held[-1].end)
                return Departure(DistortionType.ENTITY_SUBSTITUTED, Rule.ROW, span, source, source.span(*cell.place))
    return None


def _own_row(claim: Reading, rows: Sequence[Placed], without: int = 0) -> Placed | None:
    """Return the row of which a claim says most cells, where it says more than of any other, and nothing of another.

    Args:
        claim: the claim.
        rows: of all tables.
        without: number of a column whose cells do not tell rows apart; 0 = all do.
    """
    said = [
        frozenset(at for at, cell in enumerate(row.cells) if (not without or at != without) and _is_said(cell, claim))
        for row, _ in rows
    ]
    best = max(map(len, said), default=0)
    leading = [placed for placed, cells in zip(rows, said, strict=True) if best and len(cells) == best]
    if len({row.cells for row, _ in leading}) != 1:
        return None
    chosen = leading[0][0]
    texts = {cell.words for cell in chosen.cells}
    for (row, _), cells in zip(rows, said, strict=True):
        if row.heads == chosen.heads and any(row.cells[at].words not in texts for at in cells):
            return None
    return leading[0]


def _is_said(cell: Cell, claim: Reading) -> bool:
    """Say whether a claim has the words of a cell, or most of those of a longer one."""
    content = roots(cell.said)
    if not content or all(word.isdigit() for word in content):
        return False
    shared = len(content & claim.content)
    return shared == len(content) or (len(content) >= _LONG and shared / len(content) >= _MANY)
