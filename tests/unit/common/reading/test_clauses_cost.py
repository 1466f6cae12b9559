"""A sentence of thousands of coordinators is cut in linear time, and conditions still bind what is joined to them."""

import time

import pytest

from services.common.reading.clauses import clauses

PIECE = "two hundred and "


def seconds(times):
    text = PIECE * times
    began = time.process_time()
    clauses(text, 0, len(text))
    return time.process_time() - began


@pytest.mark.timed
def test_coordinators_without_a_clause_cost_time_in_proportion():
    seconds(100)
    assert seconds(4_000) < 9 * max(seconds(1_000), 0.01)


def test_what_a_condition_governs_is_not_cut_from_it():
    text = "It is paid if the form is signed and the police were told."
    assert len(clauses(text, 0, len(text))) == 1
    behind = "Without a form, nothing is paid and the file is closed."
    assert [behind[span.start : span.end] for span in clauses(behind, 0, len(behind))] == [
        "Without a form, nothing is paid",
        "the file is closed.",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Late guests are not admitted, and a guest who leaves before the end may not return.", 2),
        ("Members may swim at any time, and guests who bring a voucher must pay 5 euros.", 2),
        ("It is kept by the guard, and the case which the guard may open.", 1),
        ("A form is signed by the owner and a tenant who has not been told.", 1),
        ("It goes to the owner and a person who pays.", 1),
    ],
)
def test_a_subject_with_a_relative_clause_begins_a_statement_where_it_has_a_verb_of_its_own(text, count):
    assert len(clauses(text, 0, len(text))) == count
