"""Rows that are chosen by an amount, and cells of ranges and of several columns (SPEC-005 §5.3, ADR 0232)."""

from services.common.documents.facts.leaning import group_leaning
from services.common.reading.values import scan_values
from services.dpe.domain.rules.banded_rows import changed_banded_row
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.rows import changed_row, placed_rows
from tests.each import each
from tests.unit.dpe.test_dpe_first_tries import verdicts

OVER = "Zelopram, How much to give: "
DOSES = tuple(
    f"{OVER}Age: {age}; Body weight: {weight}; Single dose: {dose}; Maximum in 24 hours: {most} doses"
    for age, weight, dose, most in (
        ("3 to 11 months", "6-9 kg", "2.5 ml", 4),
        ("1 to 3 years", "10-15 kg", "5 ml", 4),
        ("4 to 6 years", "16-21 kg", "7.5 ml", 4),
        ("7 to 11 years", "22-39 kg", "10 ml", 3),
        ("12 years and over", "40 kg and more", "15 ml", 3),
    )
)
TIMES = "Visiting rules, Visiting times: "
WARDS = (
    f"{TIMES}Ward: Intensive care; Weekdays, Weekends: 15:00-17:00; Visitors: 2",
    f"{TIMES}Ward: Maternity; Weekdays: 10:00-12:00; Weekends: 14:00-18:00; Visitors: 3",
)


def sources(facts):
    return [Reading.of(fact, 0, fact_index=at) for at, fact in enumerate(facts)]


def known(claim, facts, asked=""):
    """Return what the row of the claim has in place of what it gives, or ``None``."""
    reading = Reading.of(claim, 0)
    if asked:
        object.__setattr__(reading, "asked", asked)
    found = changed_banded_row(reading, sources(facts))
    return None if found is None else found.source.text[found.known.start : found.known.end]


@each(
    "claim, stands",
    [
        ("A five-year-old gets 5 ml per dose.", "7.5 ml"),
        ("A five-year-old gets 7.5 ml per dose.", None),
        ("A child of 12 kg is given 2.5 ml at a time.", "5 ml"),
        ("A child of 12 kg is given 5 ml at a time.", None),
        ("An eight-year-old may have up to four doses in 24 hours.", "3 doses"),
        ("An eight-year-old may have up to three doses in 24 hours.", None),
        ("A patient of 50 kg gets 10 ml.", "15 ml"),
        ("A five-year-old gets 6 ml per dose.", None),  # stands in no row
        ("A five-year-old gets more than 5 ml per dose.", None),
        ("A five-year-old may not have 5 ml.", None),
        ("A five-year-old of 12 kg gets 10 ml.", None),  # two rows
        ("A child gets 5 ml per dose.", None),
    ],
)
def test_the_row_is_the_one_that_holds_the_amount(claim, stands):
    assert known(claim, DOSES) == stands


def test_the_amount_may_stand_in_the_question():
    assert known("5 ml per dose.", DOSES, "How much does a five-year-old get?") == "7.5 ml"


TAX = tuple(
    f"Income tax: Band: {at}; Profit: {profit} EUR; Rate: {rate}; Tax in the band: {tax}"
    for at, profit, rate, tax in ((0, "up to 9,000", "0%", "0"), (1, "9,001 to 28,000", "14%", "2,660"))
)
CARE = tuple(
    f"Descaling: Hardness: {hard}; Level: {level}; Descale: at least every {often}"
    for hard, level, often in (("soft", 1, "6 months"), ("medium", 2, "3 months"))
)


@each(
    "claim, facts",
    [
        ("9,001 to 28,000 EUR at 14%: 2,660.", TAX),  # a sum is what a row gives, not what chooses it
        ("Of 2,660 EUR at 14%.", TAX),
        ("Soft water is of level 2, so descale every 3 months.", CARE),
        ("A child of two years sleeps 5 months.", DOSES),  # no value of another column
    ],
)
def test_what_a_row_gives_chooses_none(claim, facts):
    assert known(claim, facts) is None


def test_bands_that_overlap_choose_none():
    rows = ("Care: Age: 1 to 5 years; Dose: 5 ml", "Care: Age: 3 to 9 years; Dose: 7 ml")
    assert known("A four-year-old gets 7 ml.", rows) is None
    assert known("A two-year-old gets 7 ml.", rows) == "5 ml"


def test_a_column_that_some_rows_do_not_limit_chooses_none():
    rows = ("Plans: Plan: A; Term: 2 to 4 years; Price: 5 ml", "Plans: Plan: B; Term: unlimited; Price: 9 ml")
    assert known("For three years it takes 9 ml.", rows) is None


@each(
    "claim, stands",
    [
        ("In intensive care you can visit from 2 pm to 6 pm at weekends.", "15:00-17:00"),
        ("In intensive care you can visit from 3 pm to 5 pm at weekends.", None),
        ("In intensive care you can visit until 6 pm.", None),  # one end alone
    ],
)
def test_a_range_of_another_row(claim, stands):
    found = changed_row(Reading.of(claim, 0), sources(WARDS))
    assert (None if found is None else found.source.text[found.known.start : found.known.end]) == stands


def test_a_cell_that_spans_columns_stands_in_each():
    rows = [row for row, _ in placed_rows(sources(WARDS))]
    assert [row.heads for row in rows] == [("ward", "weekdays", "weekends", "visitors")] * 2
    assert [cell.said for cell in rows[0].cells] == ["Intensive care", "15:00-17:00", "15:00-17:00", "2"]


PUMP = ("The pump may be operated at 5 to 40 degrees Celsius.",)
SETS = ("The set must be changed every 72 hours; for lipids, every 24 hours.",)
ALARMS = ("The fire alarm cannot be switched off. All other alarms can be muted for 2 minutes.",)
DOOR = ("If the alarm sounds, stop the infusion before opening the door.",)
HANDS = ("Disinfect your hands before putting on gloves.",)
PHONE = ("Department: Radiology; Phone extension: 2310; Appointment: yes",)
BLOOD = ("Blood collection: Saturday: 08:00-10:00; Phone: 2140",)


@each(
    "facts, claim, contradicted",
    [
        (DOSES, "A five-year-old gets 5 ml per dose.", True),
        (PUMP, "It must not be operated at 45 degrees Celsius.", False),
        (PUMP, "It may be operated at 45 degrees Celsius.", True),
        (SETS, "For lipids the set must be changed every 24 hours.", False),
        (("Food is served on every ward except Oncology.",), "Food is served on Oncology.", True),
        (ALARMS, "The fire alarm can be muted for 2 minutes.", True),
        (ALARMS, "The door alarm can be muted for 2 minutes.", False),
        (DOOR, "Open the door first, then stop the infusion.", True),
        (DOOR, "Stop the infusion first, then open the door.", False),
        (HANDS, "Put on gloves before disinfecting your hands.", True),
        (PHONE, "The extension of Radiology is 2310.", False),
        (BLOOD, "On Saturday blood is collected between 8 and 10 am.", False),
    ],
)
async def test_what_a_hospital_tried(facts, claim, contradicted):
    assert ("CONTRADICTED" in await verdicts(claim, *facts)) is contradicted


@each(
    "text, normal",
    [
        ("up to 1 in 1,000 people", "0.1 %"),
        ("one in 10,000", "0.01 %"),
        ("1 in 100,000 patients", "0.001 %"),
        ("between 8 and 10 am", "08:00"),
        ("8-10am", "08:00"),
        ("from 9 to 5 pm", "09:00"),
        ("from 10 to 11 pm", "22:00"),
        ("11 to 1 pm", "11:00"),
        ("rooms 8 and 10 am", "8"),
        ("5 in 2024", "5"),
    ],
)
def test_what_is_read(text, normal):
    assert scan_values(text)[0].normal == normal


def test_what_others_may_is_kept_with_the_one_that_may_not():
    assert group_leaning(["The fire alarm cannot be muted.", "All other alarms can be muted."]) == [
        "The fire alarm cannot be muted. All other alarms can be muted."
    ]
