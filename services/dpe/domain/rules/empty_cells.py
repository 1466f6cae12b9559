"""What a row says there is not, or is, said the other way round (SPEC-005 §5.3, NEGATION_FLIP, ADR 0194).

"There is a renewal commission for single trips" beside "Line: Travel, single trip; Renewal: none", and "there is none
for annual policies" beside "Line: Travel, annual; Renewal: 15 percent".
"""

import re
from typing import Final

from services.common.reading.words import Word
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, root, roots
from services.dpe.domain.rules.rows import Cell, Row, one_value, rows_of, values_of

_NOTHING: Final = re.compile(r"(?:none|nil|never|no(?:t|ne)?(?:\s[\w-]{1,20}){0,2}|excluded|[–—-])\.?", re.IGNORECASE)  # noqa: RUF001
_DENIES: Final = re.compile(
    r"\b(?:not?|none|never|nothing|without|cannot|nor|neither|unless|except|only|excluded)\b|n.t\b", re.IGNORECASE
)
_CONDITION: Final = re.compile(r"\b(?:if|unless|when|where|until|before|after|except)\b", re.IGNORECASE)
_THERE_IS_NO: Final = re.compile(
    r"\b(?:there\s(?:is|are|was|were)|has|have|had|gives?|gets?|offers?|includes?|provides?|carr(?:y|ies)|comes?\swith)"
    r"\s(?P<no>no)\s(?P<thing>\w+)",
    re.IGNORECASE,
)


def turned_cell(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return what a claim says there is, or is not, where the cell of the row that it names says otherwise."""
    if _CONDITION.search(claim.text):
        return None
    rows = [(row, source) for source in sources for row in source.once(rows_of)]
    named = [(row, source) for row, source in rows if row.label and row.label <= claim.content]
    named = [(row, source) for row, source in named if not any(row.label < other.label for other, _ in named)]
    named = named or [(row, source) for row, source in rows if (plain := _plain(row)) and plain <= claim.content]
    if len({row.label for row, _ in named}) != 1:
        return None
    denied = _THERE_IS_NO.search(claim.text)
    said = claim.content - frozenset().union(*(row.label for row, _ in named))
    for row, source in named:
        cells = [cell for cell in row.cells[1:] if (head := roots(cell.head)) and head <= said]
        if len(cells) != 1 or any(roots(cell.head) & said for cell in row.cells[1:] if cell is not cells[0]):
            continue
        own = cells[0]
        is_nothing = _NOTHING.fullmatch(own.said.strip()) is not None
        if is_nothing and not _DENIES.search(claim.text) and not claim.once(values_of):
            at = next(word for word in claim.tokens if root(word.text) in roots(own.head))
            return _departure(claim, at, source, own)
        if denied is not None and one_value(own) is not None and roots(denied["thing"]) <= roots(own.head):
            at = next(word for word in claim.tokens if word.start == denied.start("no"))
            return _departure(claim, at, source, own)
    return None


def _plain(row: Row) -> frozenset[str]:
    """Return the words of a label without what a comma adds: "glass, per event"."""
    return roots(row.cells[0].said.partition(",")[0])


def _departure(claim: Reading, at: Word, source: Reading, cell: Cell) -> Departure:
    span = claim.span(at.start, at.end)
    return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, span, source, source.span(*cell.place))
