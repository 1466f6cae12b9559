"""What a table says of another column, row or state, what is denied among other things, things of one name."""

import pytest

from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Rule
from services.dpe.domain.rules.bearers import changed_bearer
from services.dpe.domain.rules.codes import changed_code
from services.dpe.domain.rules.columns import changed_column, changed_state, foreign_state
from services.dpe.domain.rules.denials import denied_case, denied_part
from services.dpe.domain.rules.sources import read_claim, read_sources
from services.dpe.domain.rules.subjects import changed_subject
from tests.each import each
from tests.fakes.dpe_world import analyse


def found(rule, claim, *facts):
    """Return the words of claim and fact that a rule names, or ``None``."""
    views = [read_fact(number, EnvelopeFact(str(number), text), ()) for number, text in enumerate(facts)]
    sources = [one for number, view in enumerate(views) for one in read_sources(view, number)]
    departure = rule(read_claim(claim, 0), sources)
    if departure is None:
        return None
    fact = facts[departure.source.fact_index]
    return claim[departure.claimed.start : departure.claimed.end], fact[departure.known.start : departure.known.end]


VARIANTS = (
    "Minutes, two variants: Cost; Variant A: €186,000; Variant B: €274,000",
    "Minutes, two variants: Duration of works; Variant A: 9 weeks; Variant B: 14 weeks",
)


@each(
    ("claim", "expected"),
    [
        ("Variant A costs €274,000.", ("€274,000", "€186,000")),
        ("Variant A costs €186,000.", None),
        ("Variant B costs €274,000.", None),
        ("The works of variant B take a duration of 9 weeks.", ("9 weeks", "14 weeks")),
        ("Variant A costs €88,000 less than variant B.", None),
        ("Variant A costs €186,000 and variant B €274,000.", None),
        ("One variant costs €274,000.", None),
        ("Variant B costs €274,000, and variant A costs less.", None),
    ],
)
def test_a_value_of_another_column(claim, expected):
    assert found(changed_column, claim, *VARIANTS) == expected


PLANS = (
    "Gym, Plans: Monthly price; Basic: £19; Plus: £29; Max: £45",
    "Gym, Plans: Classes; Basic: 2; Plus: 5; Max: unlimited",
)


@each(
    ("claim", "expected"),
    [
        ("Plus costs £45 per month.", ("£45", "£29")),
        ("Plus costs £29 per month.", None),
        ("Plus costs £16 less than Max, which is £45.", None),
        ("The sauna costs £45.", None),
    ],
)
def test_a_row_that_alone_measures_so_need_not_be_named(claim, expected):
    assert found(changed_column, claim, *PLANS) == expected


def test_where_two_rows_measure_so_the_claim_has_to_name_one():
    rows = (*PLANS, "Gym, Plans: Joining fee; Basic: £0; Plus: £10; Max: £20")
    assert found(changed_column, "Plus costs £45.", *rows) is None
    assert found(changed_column, "Plus has a monthly price of £45.", *rows) == ("£45", "£29")


PAPERS = "Rules: Calculators are permitted in Paper 2 but not in Paper 1."


@each(
    ("claim", "is_denied"),
    [
        ("Calculators are permitted in Paper 1.", True),
        ("Calculators are permitted in Paper 2.", False),
        ("Calculators are not permitted in Paper 1.", False),
        ("Calculators are permitted in Paper 2, and Paper 1 is harder.", False),
        ("Paper 1 lasts two hours.", False),
    ],
)
def test_of_a_case_that_is_left_out_nothing_is_asserted(claim, is_denied):
    assert (found(denied_case, claim, PAPERS) is not None) is is_denied


def test_a_column_that_is_spoken_of_in_part_is_no_wrong_one():
    row = "Services: Service: File store; Availability target: 99.2%; Credit if missed: 3%"
    assert (
        found(changed_column, "Missing the availability target for the file store gives a credit of 3%.", row) is None
    )


ACTIONS = (
    "Actions: No.: 1; Action: Replace the valve of compressor A; Owner: Frostek; State: Done",
    "Actions: No.: 2; Action: Escalate to a second number after one unanswered alarm; Owner: IT; State: In progress",
    "Actions: No.: 3; Action: Voltage monitor on the main supply; Owner: Depot manager; State: Open",
)


@each(
    ("claim", "expected"),
    [
        ("The alarm that escalates to a second number after one unanswered alarm has been completed.",
         ("has been completed", "In progress")),
        ("The voltage monitor on the main supply was finished.", ("was finished", "Open")),
        ("The voltage monitor on the main supply has not been completed.", None),
        ("The voltage monitor on the main supply is still open.", None),
        ("To replace the valve of compressor A is still open.", ("is still open", "Done")),
        ("To replace the valve of compressor A is done.", None),
        ("All actions have been completed.", None),
    ],
)  # fmt: skip
def test_a_state(claim, expected):
    assert found(changed_state, claim, *ACTIONS) == expected


STOCK = (
    "Report, Products: Customer: Westlea; Product: Influenza vaccine; Units: 1,240; Decision: Destroy",
    "Report, Products: Customer: Novik; Product: Typhoid vaccine; Units: 230; Decision: Destroy",
    "Report, Products: Customer: Novik; Product: Rabies vaccine; Units: 95; Decision: Pending",
)


@each(
    ("claim", "expected"),
    [
        ("The rabies vaccine of Novik is to be destroyed.", ("destroyed", "Pending")),
        ("The typhoid vaccine of Novik is to be destroyed.", None),
        ("The rabies vaccine of Novik is not to be destroyed.", None),
        ("About the rabies vaccine of Novik the decision is pending.", None),
        ("The rabies vaccine and the typhoid vaccine of Novik are to be destroyed.", None),
        ("The vaccines are to be destroyed.", None),
    ],
)
def test_a_state_of_other_rows(claim, expected):
    assert found(foreign_state, claim, *STOCK) == expected


WARDS = "It applies on Rowan and Alder wards. It does not apply to the day unit, nor to patients on dialysis."
CARS = (
    "Electric cars may be charged only at the two posts in the yard; charging from private sockets in the basement "
    "garage is prohibited by the insurer."
)


@each(
    ("claim", "fact", "is_denied"),
    [
        ("The protocol applies on Rowan and Alder wards and in the day unit.", WARDS, True),
        ("The protocol applies on Rowan and Alder wards, but not in the day unit.", WARDS, False),
        ("The protocol applies on Rowan and Alder wards.", WARDS, False),
        ("Cars may be charged from private sockets in the basement garage.", CARS, True),
        ("Cars charged from private sockets in the basement garage are in breach, so it is prohibited.", CARS, False),
        ("The desk is open on Sundays in May.", "The desk is not open on Sundays in May if it rains.", False),
        (
            "Negative results may be released early.",
            "If the control fails, negative results may not be released early.",
            False,
        ),
        ("Pets of guests are welcome.", "Pets are not permitted.", False),
        ("Luggage may weigh 30 kg.", "Luggage must not exceed 30 kg.", False),
        ("A bridge is unable to carry heavy lorries.", "The bridge cannot carry heavy lorries.", False),
        ("A teacher's leave to use a phone ends with looking up words.", "Teachers do not look at a phone.", False),
    ],
)
def test_what_is_denied_among_other_things(claim, fact, is_denied):
    assert (found(denied_part, claim, fact) is not None) is is_denied


def test_what_another_sentence_asserts_is_not_denied():
    both = "The policy does not cover water damage abroad.", "Plus: the policy covers water damage abroad."
    assert found(denied_part, "The policy covers water damage abroad.", *both) is None


COLD = ("Compressor B trips after a voltage dip.", "Compressor A starts automatically but delivers little.")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Compressor A tripped after a voltage dip.", ("Compressor A", "Compressor B")),
        ("Compressor B tripped after a voltage dip.", None),
        ("Compressor C tripped after a voltage dip.", None),
        ("A compressor tripped after a voltage dip.", None),
        ("Compressor A starts automatically.", None),
    ],
    ids=["other", "own", "unknown", "none", "own-again"],
)
def test_things_told_apart_by_a_letter(claim, expected):
    assert found(changed_code, claim, *COLD) == expected


def test_what_is_said_of_both_is_said_of_neither_alone():
    both = ("Compressor A trips after a voltage dip in summer.", "Compressor B trips after a voltage dip.")
    assert found(changed_code, "Compressor A trips after a voltage dip.", *both) is None


WHO = (
    "A registered nurse who has passed the N-112 assessment within two years may insert the cannula.",
    "A healthcare assistant may record the intake.",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("A healthcare assistant who has passed the N-112 assessment may insert the cannula.", ("assistant", "nurse")),
        ("A nurse who has passed the N-112 assessment may insert the cannula.", None),
    ],
    ids=["another", "the same"],
)
def test_who_may_stands_before_the_relative_clause(claim, expected):
    assert found(changed_bearer, claim, *WHO) == expected


CARE = (
    "Care and return: The library sharpens blades and replaces worn belts at its own cost; the member pays for damage.",
    "The member reports faults to the desk.",
)


@each(
    ("claim", "expected"),
    [
        ("The member sharpens blades and replaces worn belts at its own cost.", ("member", "library")),
        ("The library sharpens blades and replaces worn belts at its own cost.", None),
        ("The caretaker sharpens blades and replaces worn belts at its own cost.", None),
        ("The member sharpens blades.", None),
        ("It sharpens blades and replaces worn belts at its own cost.", None),
    ],
)
def test_another_subject_of_what_is_repeated(claim, expected):
    assert found(changed_subject, claim, *CARE) == expected


def test_one_of_two_subjects_is_no_other():
    facts = "The tenant or the landlord pays the yearly cost of cleaning the roof.", "The tenant keeps a key."
    assert found(changed_subject, "The tenant pays the yearly cost of cleaning the roof.", *facts) is None


LIMITS = (
    "Region: Germany; Hotel limit per night: €140; Meal allowance per day: €28; Approver: team lead",
    "Region: Switzerland; Hotel limit per night: CHF 220; Meal allowance per day: CHF 62; Approver: head of finance",
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("In Switzerland, a hotel may cost up to CHF 62 a night.", ("CHF 62", "CHF 220")),
        ("The hotel limit in Switzerland is CHF 62 per night.", ("CHF 62", "CHF 220")),
        ("For meals in Germany you get €140 per day.", ("€140", "€28")),
        ("For meals in Germany you get €28 per day.", None),
        ("Guests of a hotel in Germany get €28 a day for meals.", None),  # words of both
        ("In Germany you get €28.", None),  # of neither
        ("The limit in Switzerland is CHF 62.", None),  # one word of three
        ("In Germany a night in a hotel may cost €140 and meals €28 a day.", None),
    ],
)
def test_a_column_is_called_by_half_of_its_words_of_which_one_is_its_own(claim, expected):
    assert found(changed_column, claim, *LIMITS) == expected


@pytest.mark.parametrize(
    ("row", "claim"),
    [
        ("Town: Oslo; Price members: £5; Price for adult guests: £9", "The price in Oslo is £9."),
        ("School: Oak; Opening time: 8:00; Closing time: 20:00", "Oak is open until 20:00."),
        ("Plan: Lite; Old price: £12; New price: £15", "Lite now costs £15, up from the old rate."),
        (
            "Project: Survey; Planned hours of work: 40 h; Actual: 55 h",
            "The survey took 55 hours of work, not as planned.",
        ),
        ("Item: Film; Daily fine: £0.50; Maximum fine per day: £3", "For a film the fine is £0.50 per day."),
        ("Work: Tunnel; Planned cost of work: €9; Actual: €8", "The tunnel cost €8, less than planned, all work done."),
    ],
)
def test_what_may_be_said_of_its_own_column_is_no_wrong_one(row, claim):
    assert found(changed_column, claim, row) is None


def test_a_column_is_called_where_a_claim_names_several_kinds_of_the_others():
    row = "Plan: Trip; Limit Basic: €100; Limit Comfort: €200; Hotel cap night: €80; Meals: €30"
    asked = "On a Basic or Comfort trip the hotel cap a night is"
    assert found(changed_column, f"{asked} €30.", row) is not None
    assert found(changed_column, f"{asked} €80.", row) is None
    assert found(changed_column, "On a Basic or Comfort trip the limit is €100.", row) is None


def test_a_row_whose_name_holds_anothers_is_the_one_that_is_named():
    rows = (
        "Ticket: Day ticket; Price for club members: £6; Price for guests: £9",
        "Ticket: Family day ticket; Price for club members: £9; Price for guests: £14",
    )
    assert found(changed_column, "A family day ticket costs club members £9.", *rows) is None
    assert found(changed_column, "A family day ticket costs club members £14.", *rows) == ("£14", "£9")


async def test_that_a_value_is_of_another_column_is_said_where_another_rule_only_doubts_it():
    row = "Fees: Procedure: Spaying; Dog: €290; Cat: €145; Rabbit: €160"
    done = await analyse("Spaying a rabbit costs €145.", row, "Fees: Procedure: Castration; Dog: €210; Rabbit: €110")
    assert [item.rule for item in done.analysis.outputs.distortion.found] == [Rule.ROW]
