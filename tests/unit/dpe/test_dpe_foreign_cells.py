"""What a claim says of a row that only another row's cell says (ADR 0211)."""

from services.dpe.domain.rules.empty_cells import turned_cell
from services.dpe.domain.rules.foreign_cells import foreign_cell
from tests.each import each
from tests.unit.dpe.test_dpe_columns import found

PLANS = (
    "Fees: Plan: Off-peak; Monthly fee: £24; Classes included: 2 a week; Guest passes: none",
    "Fees: Plan: Standard; Monthly fee: £38; Classes included: 4 a week; Guest passes: 1 a month",
    "Fees: Plan: Premium; Monthly fee: £55; Classes included: unlimited; Guest passes: 3 a month",
)


@each(
    ("claim", "expected"),
    [
        ("The Standard plan includes unlimited classes and costs £38.", ("unlimited", "4 a week")),
        ("Classes on Off-peak are unlimited.", ("unlimited", "2 a week")),
        ("The Off-peak plan gives 1 guest pass a month.", ("1", "none")),
        ("The Premium plan includes 4 classes a week.", ("4", "unlimited")),
        ("The Premium plan includes unlimited classes.", None),
        ("The Standard plan gives 1 guest pass a month.", None),
        ("The Standard plan includes 2 classes a week.", None),  # two values: ``changed_row``
        ("The Standard plan does not include unlimited classes.", None),
        ("If you upgrade from Standard, classes are unlimited.", None),
        ("Standard and Premium differ: classes are unlimited on Premium.", None),
        ("The Standard plan has an unlimited number of lockers.", None),
        ("Classes are unlimited.", None),
        ("The Standard plan has unlimited swimming besides its classes.", None),
        ("Off-peak members may use the guest area for 1 hour.", None),
    ],
)
def test_the_cell_of_another_row(claim, expected):
    assert found(foreign_cell, claim, *PLANS) == expected


def test_a_word_that_the_row_has_in_another_cell_is_not_taken():
    own = "Plan: Standard; Classes included: 4 a week; Lockers: unlimited"
    other = "Plan: Premium; Classes included: unlimited; Lockers: 1"
    claim = "Standard has unlimited classes."
    assert found(foreign_cell, claim, own, other) is None
    assert found(foreign_cell, claim, own.replace("unlimited", "2"), other) is not None


def test_a_claim_about_two_rows_takes_nothing_from_either():
    rows = (PLANS[1], PLANS[2].replace("Premium", "Premium Plus"))
    claim = "Plus members of Premium have unlimited classes beside those of Standard."
    assert found(foreign_cell, claim, *rows) is None
    assert found(foreign_cell, "Standard members have unlimited classes.", *rows) is not None


def test_what_a_sentence_says_of_all_rows_is_taken_from_none():
    claim = "The Standard plan includes unlimited classes."
    assert found(foreign_cell, claim, *PLANS, "In August all plans include unlimited classes.") is None


def test_what_a_sentence_says_of_the_row_is_not_taken_from_another_row():
    claim = "The Off-peak plan gives 1 guest pass in its first month."
    assert found(foreign_cell, claim, *PLANS) is not None
    assert found(foreign_cell, claim, *PLANS, "Members of the Off-peak plan get 1 guest pass when they join.") is None


@each(
    ("claim", "expected"),
    [
        ("The Premium plan gives no guest passes.", ("no", "3 a month")),
        ("Premium comes with no guest passes.", ("no", "3 a month")),
        ("The Off-peak plan gives no guest passes.", None),
        ("The Premium plan gives no lockers.", None),
    ],
)
def test_no_such_thing_beside_a_cell_that_counts_it(claim, expected):
    assert found(turned_cell, claim, *PLANS) == expected
