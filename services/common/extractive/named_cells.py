"""Whether a question names a row and a column of a table plainly: "the contact time of Softa-Man" (ADR 0224).

The models that say whether a passage answers were fitted on sentences: a cell "15 s" under "Contact time" holds no span
of time to them. Where a question's words are all in one row, some of them a cell's and some a head's, nothing else is
meant.
"""

from collections.abc import Sequence
from typing import Final

from services.common.extractive.composing import Unit
from services.common.questions.kinds import Kind
from services.common.questions.reading import Question
from services.common.questions.terms import terms
from services.common.reading.labelled_rows import LabelledCell, labelled_row

_NO_VALUE: Final = frozenset({"", "-", "\u2013", "\u2014", "n/a", "na", "none", "?"})


def is_plainly_named(question: Question, unit: Unit) -> bool:
    """Say whether a passage is the row of which a question names a cell, with every word of its own.

    Args:
        question: as read.
        unit: the passage.
    """
    row = labelled_row(unit.passage.text)
    own = frozenset(terms(question.text))
    if not row or not own or not own <= unit.inside | unit.over:
        return False
    named = [cell for cell in row if _names(cell, own)]
    return any(_asked(cell, own) and any(other.column != cell.column for other in named) for cell in row)


def _names(cell: LabelledCell, own: frozenset[str]) -> bool:
    """Say whether what a cell says stands in the question, and names something: a number alone does not."""
    said = frozenset(terms(cell.row[cell.column]))
    return bool(said) and said <= own and any(not word.isdigit() for word in said)


def _asked(cell: LabelledCell, own: frozenset[str]) -> bool:
    """Say whether all words of a column's head stand in the question, and the cell has a value."""
    head = frozenset(terms(cell.head))
    return bool(head) and head <= own and cell.row[cell.column].strip().casefold() not in _NO_VALUE


def like_rows(question: Question, first: Unit, units: Sequence[Unit]) -> list[Unit]:
    """Return the other rows of a table that are what a question asks for as much as the first is.

    Args:
        question: as read; one that asks for a list.
        first: the row that answers best.
        units: the passages of all facts.
    """
    row, own = labelled_row(first.passage.text), frozenset(terms(question.text))
    told = [cell for cell in row[1:] if _tells(cell, question, own)]
    if question.kind is not Kind.LIST or not told:
        return []
    found: dict[str, Unit] = {}
    for unit in units:
        other = labelled_row(unit.passage.text)
        same = (
            bool(other) and other[0].heads == row[0].heads and _place(unit) == _place(first) and unit.past == first.past
        )
        if same and all(_said(other, cell) == _said(row, cell) for cell in told):
            found.setdefault(unit.passage.text, unit)
    return [unit for text, unit in found.items() if text != first.passage.text]


def _tells(cell: LabelledCell, question: Question, own: frozenset[str]) -> bool:
    """Say whether a cell holds what the rows that are asked for have in common: "Restricted: yes"."""
    head = frozenset(terms(cell.head))
    return not head & question.focus and ((bool(head) and head <= own) or _names(cell, own))


def _said(row: Sequence[LabelledCell], cell: LabelledCell) -> str:
    return row[0].row[cell.column].casefold() if cell.column < len(row) else ""


def _place(unit: Unit) -> frozenset[str]:
    """Return what stands over a row, the numbers of lines left out."""
    return frozenset(word for word in unit.over if not word.isdigit())
