"""Plain text whose numbered clauses and headings stand below each other without a blank line."""

import pytest

from services.common.documents.document import BlockKind
from services.common.documents.facts.chunking import chunk
from services.common.documents.markdown import read_markdown
from services.common.documents.plain import read_text
from services.common.documents.plain.clauses import clause_numbers

POLICY = """WEIR VALLEY HOSPITALS
ANNUAL LEAVE POLICY
This policy is effective from 1 April 2027.

1. Entitlement
1.1 Full-time staff have 27 days of annual leave a year.
1.2 Staff with more than ten years of service have 33 days of annual leave
a year.
2. Requests
2.1 Leave is requested at least 6 weeks in advance.
"""


def blocks(text):
    return [(block.kind.name[0], block.level, block.text) for block in read_text(text).blocks]


def test_clauses_right_below_their_headings():
    assert blocks(POLICY) == [
        ("H", 1, "WEIR VALLEY HOSPITALS ANNUAL LEAVE POLICY"),
        ("P", 0, "This policy is effective from 1 April 2027."),
        ("H", 2, "1. Entitlement"),
        ("P", 0, "1.1 Full-time staff have 27 days of annual leave a year."),
        ("P", 0, "1.2 Staff with more than ten years of service have 33 days of annual leave a year."),
        ("H", 2, "2. Requests"),
        ("P", 0, "2.1 Leave is requested at least 6 weeks in advance."),
    ]
    assert [block.place.path for block in read_text(POLICY).blocks][:4] == ["lines 1-2", "line 3", "line 5", "line 6"]


def test_each_clause_is_a_fact_under_its_heading():
    facts = chunk(read_text(POLICY), lambda text: len(text.split()))
    name = "WEIR VALLEY HOSPITALS ANNUAL LEAVE POLICY"
    assert [(fact.section.rpartition("# ")[2], fact.content) for fact in facts] == [
        (name, f"{name}: This policy is effective from 1 April 2027."),
        ("1. Entitlement", "1. Entitlement: 1.1 Full-time staff have 27 days of annual leave a year."),
        (
            "1. Entitlement",
            "1. Entitlement: 1.2 Staff with more than ten years of service have 33 days of annual leave a year.",
        ),
        ("2. Requests", "2.1 Leave is requested at least 6 weeks in advance."),
    ]


@pytest.mark.parametrize("line", ["1. Spaces", "1 Spaces", "\u00a7 1 Spaces"])
def test_a_numbered_heading_right_above_its_text(line):
    text = f"{line}\nEach flat has one space. Guests park in the\nstreet.\n{line.replace('1', '2')}\nCars may load."
    assert blocks(text) == [
        ("H", 2, line),
        ("P", 0, "Each flat has one space. Guests park in the street."),
        ("H", 2, line.replace("1", "2")),
        ("P", 0, "Cars may load."),
    ]


def test_headings_of_several_numbers_have_their_levels():
    text = "3. Passwords\n3.1 Length\nThey have at least 14 characters.\n3.2 Change\nThey are changed once a year.\n"
    assert [one for one in blocks(text) if one[0] == "H"] == [
        ("H", 2, "3. Passwords"),
        ("H", 3, "3.1 Length"),
        ("H", 3, "3.2 Change"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The pot holds\n1.5 litres of water, or\n2.5 of milk that was boiled.",
        "Prices rose by\n1.1 million euros and fell again.",
        "Bring to a boil the water of the well with\n1.1 spoons of salt.",
    ],
)
def test_a_figure_at_the_beginning_of_a_line_begins_no_clause(text):
    assert blocks(text) == [("P", 0, " ".join(text.split()))]


def test_a_step_that_is_wrapped_before_a_name_is_no_heading():
    text = (
        "1. The fee is paid to the bank of\nMunich before the end of May.\n2. It is paid back by that of\nBerlin later."
    )
    assert blocks(text) == [
        ("L", 0, "The fee is paid to the bank of Munich before the end of May."),
        ("L", 0, "It is paid back by that of Berlin later."),
    ]


@pytest.mark.parametrize("read", [read_text, read_markdown])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_line_in_capitals_with_a_number_is_the_heading_of_what_is_not(read, gap):
    """Whether a blank line stands below it, a sentence, or words without a full stop."""
    lines = [
        "Rules",
        "",
        "1.1 MINUTES OF THE GENERAL MEETING",
        "Taken by *the* secretary",
        "",
        "1.2 DAYS",
        "Two a year",
    ]
    text = "\n".join(lines).replace("\nT", f"{gap}T")
    found = [(block.kind.name[0], block.level, block.text) for block in read(text).blocks]
    assert found[1:] == [
        ("H", 3, "1.1 MINUTES OF THE GENERAL MEETING"),
        ("P", 0, "Taken by *the* secretary" if read is read_text else "Taken by the secretary"),
        ("H", 3, "1.2 DAYS"),
        ("P", 0, "Two a year"),
    ]


def test_headings_in_capitals_above_clauses_and_lists_of_markdown():
    text = "1.1 MINUTES\n1.1.1 They are kept.\nFor ever.\n\n1.2 VOTES\n\n- one a member\n- one a guest\n"
    assert [(block.kind.name[0], block.text) for block in read_markdown(text).blocks] == [
        ("H", "1.1 MINUTES"),
        ("P", "1.1.1 They are kept. For ever."),
        ("H", "1.2 VOTES"),
        ("L", "one a member"),
        ("L", "one a guest"),
    ]


@pytest.mark.parametrize("read", [read_text, read_markdown])
@pytest.mark.parametrize(
    "text",
    [
        "The club meets at\n12 MAIN STREET\nSpringfield",  # a house
        "It rose to\n1.1 KG NET\nIn May",  # a measurement
        "Read\n1.1 GENERAL TERMS\nand what follows",  # goes on
        "Note that\n1.1 GENERAL TERMS\nAND WHAT FOLLOWS",  # what follows is in capitals
        "Last comes\n1.1 GENERAL TERMS",  # nothing below
        "The gym\n9.99 EUROS PER MONTH\nCancel at any time",  # an amount: it counts on from nothing
        "The yard\n2.5 HOURS FREE PARKING\nIt is open",
        "The hall\n12.30 DOORS OPEN\nIt begins at one",
    ],
)
def test_other_lines_in_capitals_head_nothing(read, text):
    counted = f"1.2 fees are due.\n\n{text}"
    assert not any(block.kind is BlockKind.HEADING for block in read(counted).blocks)


def test_no_heading_is_made_within_code_notes_and_items_of_markdown_or_of_a_number_of_one_part():
    texts = ["```\n1.1 GENERAL\nIt is\n```", "- 1.1 GENERAL\n  It is", "See[^1] the\n2. GENERAL\nIt is"]
    text = "\n\n".join([*texts, "1.2 fees are due.", "[^1]: 1.1 GENERAL\n    It is\n"])
    assert not any(block.kind is BlockKind.HEADING for block in read_markdown(text).blocks)


def test_the_line_below_a_numbered_one_begins_large_or_with_a_figure():
    wide = "Rooms are let to members and to guests of members for as long as they want."
    for below, is_heading in (("of members are paid at once.", False), ("9:00 is when they are paid.", True)):
        found = blocks(f"{wide}\n1. Fees for guests\n{below}\n2. Deposits\nThey are given back.\n")
        assert (("H", 2, "1. Fees for guests") in found) is is_heading


def test_steps_without_headings_stay_steps():
    assert blocks("1. Stop it.\n2. Check it.\n") == [("L", 0, "Stop it."), ("L", 0, "Check it.")]


def test_a_title_in_small_letters_above_the_first_heading():
    text = "Weir Valley\nOvertime policy\n\n1. Approval\n\nOvertime is approved in advance.\n"
    assert blocks(text)[:2] == [("H", 1, "Weir Valley Overtime policy"), ("H", 2, "1. Approval")]
    assert read_text(text).title == "Weir Valley Overtime policy"
    assert blocks("Things to bring\n\n1. Passport\n\n2. Ticket\n")[0] == ("P", 0, "Things to bring")


def test_which_numbers_count_on():
    lines = [
        "2. Rent",
        "2.1 It is due.",
        "2.2 It is low.",
        "2.2.1 a",
        "2.2.2 b",
        "4.5 litres",
        "7.1 million",
        "3.1 x",
        "3.2 y",
    ]
    assert clause_numbers(lines) == {(2, 1), (2, 2), (2, 2, 1), (2, 2, 2), (3, 1), (3, 2)}


def test_measurements_that_count_on_are_no_clauses():
    assert clause_numbers(["The weight rose from", "1.1 kg to", "1.2 kg, then", "1.3 kg."]) == frozenset()
    assert clause_numbers(["1.1 hours before", "1.2 hours after", "1.3 % of", "1.4 MB"]) == frozenset()
    assert clause_numbers(["1.1 Hours of work", "1.2 Days of rest"]) == {(1, 1), (1, 2)}
    assert clause_numbers(["1.1 HOURS OF WORK", "1.2 DAYS OF REST"]) == {(1, 1), (1, 2)}
    assert clause_numbers(["IT ROSE FROM", "1.1 KG TO", "1.2 KG, THEN"]) == frozenset()
    assert len(blocks("It rose from\n1.1 kg to\n1.2 kg in May.")) == 1
