"""Rows of a table as facts have them: cells with the heads of their columns and their places."""

import pytest

from services.common.reading.labelled_rows import labelled_row
from services.dpe.domain.facts import EnvelopeFact, read_fact

STORED = "Storage: Category: Controlled drugs; Location: Steel cabinet ."


def test_what_stands_over_a_table_is_no_head_and_cells_end_before_their_stop():
    row = labelled_row(STORED, 7)
    assert [(cell.head, STORED[cell.start - 7 : cell.end - 7], cell.column) for cell in row] == [
        ("category", "Controlled drugs", 0),
        ("location", "Steel cabinet", 1),
    ]
    assert {cell.label for cell in row} == {"Controlled drugs"}
    assert {cell.heads for cell in row} == {("category", "location")}
    assert {cell.row for cell in row} == {("Controlled drugs", "Steel cabinet")}


@pytest.mark.parametrize(
    "line", ["Category: Drugs", "Category: Drugs, Location: Here", "Note; Category: Drugs", "a; b", ""]
)
def test_a_line_without_two_cells_and_a_mark_between_is_no_row(line):
    assert labelled_row(line) == ()


def test_a_colon_in_a_later_cell_is_its_own():
    row = labelled_row("Plan: Studio; Hours: Mon: 9; Batch: 100")
    assert [cell.head for cell in row] == ["plan", "hours", "batch"]
    assert row[1].row == ("Studio", "Mon: 9", "100")


def _stretches(fact):
    return [one.stretch for one in read_fact(0, EnvelopeFact("", fact), ()).places]


def test_a_label_is_of_all_values_behind_it_unless_a_verb_says_something_of_the_first():
    labelled = _stretches("Bereavement: five days for a parent; they may take two days for a grandparent.")
    told = _stretches("Bereavement: staff gets five days for a parent; they may take two days for a grandparent.")
    assert ["bereav" in one for one in labelled] == [True, True]
    assert ["bereav" in one for one in told] == [True, False]
