"""Two claims side by side: what makes them speak of two things, and what they contradict each other in (ADR 0196)."""

import re
from pathlib import Path

import pytest

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.bounds import Bound
from services.common.reading.sentences import sentences
from services.common.reading.synonyms import plain_terms
from services.common.reading.text_types import ClaimType
from services.dpe.domain.borne_out import FactSentences
from services.dpe.domain.differences import differences
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import ContradictionReason, ContradictionSeverity
from services.dpe.domain.pairing import related
from services.dpe.domain.segmentation import segment
from services.dpe.domain.statements import conflict, open_question, read_statements
from services.dpe.domain.states import standing, turned
from tests.each import each

ROOT = Path(__file__).parents[3]
RECORD = ROOT / "docs" / "adr" / "0196-where-one-thing-differs.md"
VALUES, DATES = ContradictionReason.VALUES_DIFFER, ContradictionReason.DATES_DIFFER
NEGATED, OPPOSITE = ContradictionReason.NEGATED, ContradictionReason.OPPOSITE_WORDS
NAMES = ContradictionReason.NAMES_DIFFER


def statements(text):
    return read_statements(segment(text, sentences(text), None).claims, text)


def between(first, second):
    """Return the conflicts of the claims of two texts, those of the second with the first, as stage 6 has them."""
    found = [conflict(now, before) for now in statements(second) for before in statements(first)]
    return [item for item in found if item is not None]


@each(
    ("first", "second", "reason"),
    [
        ("The dog tax is due on 15 February.", "The dog tax is due on 15 May.", DATES),
        ("The tunnel opened in 2012.", "The opening of the tunnel was in 2015.", DATES),
        ("Ward 5 of the hospital has 28 beds.", "There are 32 beds on the hospital's ward 5.", VALUES),
        ("The free edition allows at most 10 users.", "Up to 25 users can work with the free edition.", VALUES),
        ("The scrap rate must not exceed 2 percent.", "A scrap rate of up to 5 percent is tolerated.", VALUES),
        ("The lift carries no more than 6 tonnes.", "The lift carries 8 tonnes.", VALUES),
        ("Sales fell by 3 percent.", "Sales rose by 3.5 percent.", VALUES),
        ("The Allnet S tariff includes 5 GB of data.", "Allnet S includes 8 GB of data.", VALUES),
        ("Tokens expire after 60 minutes.", "A token is valid for 24 hours.", VALUES),
        ("Subletting is allowed.", "Subletting is not allowed.", NEGATED),
        ("Cameras may be used in the hall.", "No cameras may be used in the hall.", NEGATED),
        ("A permit is needed for sheds.", "Sheds do not need a permit.", NEGATED),
        ("The scanner is out of order.", "The scanner is in working order.", OPPOSITE),
        ("The licence agreement is in force.", "The licence agreement has expired.", OPPOSITE),
        ("The board approved the loan.", "The loan was turned down by the board.", OPPOSITE),
        ("The mayor of Vallmar is Anke Berg.", "Vallmar's mayor is Dieter Rasch.", NAMES),
        ("The call returns XML.", "The call returns JSON only.", NAMES),
        ("Line 4 is restarted by the operators.", "Only the foreman restarts line 4.", NAMES),
        ("The landlord pays for the sweep.", "The sweep is at the tenant's expense.", NAMES),
        ("The roof is made of slate.", "The roof is made of copper.", NAMES),
        ("The bolt has to be tightened to 85 Nm.", "A torque of 120 Nm is required for tightening the bolt.", VALUES),
        ("The lease runs until the end of 2028.", "The lease expires on 30 June 2027.", DATES),
        ("The form is explained by the surgeon.", "The form is explained by the nurse and not by the surgeon.", NAMES),
        ("It was the court that closed the file in 2012.", "The court closed the file in 2015.", DATES),
    ],
)
def test_one_thing_and_another_value_date_state_or_name(first, second, reason):
    assert [item.reason for item in between(first, second)] == [reason]
    assert [item.reason for item in between(second, first)] == [reason]


@each(
    ("first", "second"),
    [
        # Another year, version, product, group, condition or document, with another value.
        ("In 2020, the terminal handled 310 ships.", "In 2021, the terminal handled 356 ships."),
        ("The fee was 4 euros in 2023.", "In 2024 the fee was 5 euros."),
        ("The fee is 5 euros.", "In 2019, the fee was 4 euros."),
        ("In 2019, two shops opened.", "In 2020, two shops opened."),
        ("Release 7 needs Java 11.", "Release 8 does not need Java 11."),
        ("HomeSafe 3 insures burst pipes.", "HomeSafe 1 does not insure burst pipes."),
        ("Under state A, claims lapse after ten years.", "Under state B, claims lapse after five years."),
        ("Children under 18 are insured.", "Children aged 18 and over are not insured."),
        ("Before the repair, the pump used 20 kWh.", "After the repair, the pump used 12 kWh."),
        ("If it rains, the ride costs 5 euros.", "If it snows, the ride costs 9 euros."),
        ("With caching enabled, the page loads in 2 seconds.", "With caching disabled, the page loads in 9 seconds."),
        ("Tenants with a balcony may keep a plant.", "Tenants without a balcony may not keep a plant."),
        ("The heating capacity of the unit is 8 kW.", "The cooling capacity of the unit is 6 kW."),
        ("The gross profit was 19 million euros.", "The net profit was 4 million euros."),
        ("The tablet contains 25 mg of salt.", "The forte tablet contains 50 mg of salt."),
        ("The ship is 120 metres long.", "The ship is 18 metres wide."),
        ("The sensitivity of the test is 88 percent.", "The specificity of the test is 95 percent."),
        ("The total length of the bolt is 65 mm.", "The clamp length of the bolt is 40 mm."),
        ("In 2023 sales rose.", "In 2024 sales fell."),
        ("The fund received 2 million euros.", "The fund paid out 1 million euros."),
        ("The clinic keeps 40 beds.", "The clinic needs 60 beds."),
        ("The school takes 20 pupils a year.", "The school has 640 pupils."),
        ("The battery lasts 6 hours.", "The battery charges in 2 hours."),
        ("The course starts at 9 am.", "The course ends at 4 pm."),
        ("In season, a room costs 120 euros.", "Out of season, a room costs 70 euros."),
        ("The trip up takes 20 minutes.", "The trip down takes 12 minutes."),
        ("The former director is Helen Marsh.", "The director is Robert Lyle."),
        ("The company has 300 employees.", "The company had 280 employees in 2020."),
        # What stands before a claim in its sentence, or a condition behind it, is another.
        ("Cabin Economy: one bag is allowed, and guests may use the lounge.",
         "Cabin Business: two bags are allowed, and guests may not use the lounge."),
        ("The boiler keeps 14 degrees while the door is open.", "The boiler keeps 21 degrees while the fan is on."),
        # Both can be true.
        ("The fund holds at least 5 million euros.", "The fund holds at most 8 million euros."),
        ("The lift carries no more than 8 tonnes.", "The lift carries 6 tonnes."),
        ("The shop may be open.", "The shop may be closed."),
        ("The loan was not approved.", "The loan was not rejected."),
        ("Some branches are open.", "Some branches are closed."),
        ("You may pay in cash.", "You need not pay in cash."),
        ("The board met on 4 March.", "The board met on 8 April."),
        ("Ms Adler attended the meeting.", "Mr Roth attended the meeting."),
        ("The report on bridge 14 is finished.", "The report on bridge 15 is finished."),
        ("Losses had to be reported within 60 days.", "Losses must be reported within 30 days."),
        ("| Motor | Theft | 72 hours |", "| Motor | Theft | 48 hours |"),
        ("**Proved.**", "**Not proved.**"),
        ("In force since 1 July 2025.", "In force since 1 January 2026."),
        ("Standard phrases alone are not a reason.", "No reason is asked for."),
        # Of what a pronoun stands for nobody knows.
        ("It costs 5 euros a month.", "It costs 7 euros a month."),
    ],
)  # fmt: skip
def test_two_things_or_both_true(first, second):
    assert between(first, second) == []
    assert between(second, first) == []


@each(
    ("first", "second", "severity"),
    [
        ("The fee is 5 euros.", "The fee is 7 euros.", "CRITICAL"),
        ("The share is about 15%.", "The share is about 16%.", "LOW"),
        ("The law was enacted in 2023.", "The law was enacted in 2024.", "HIGH"),
        ("The policy covers theft.", "The policy does not cover theft.", "HIGH"),
        ("The board was supportive.", "The board was sceptical.", "MEDIUM"),
        ("The mayor of Rome is Ada Quill.", "The mayor of Rome is Lee Marsh.", "HIGH"),
    ],
)
def test_the_severity_is_that_of_the_table(first, second, severity):
    assert [item.severity for item in between(first, second)] == [ContradictionSeverity(severity)]


def test_values_are_those_of_the_two_claims_in_their_order():
    (found,) = between("The fee is 5 euros.", "The fee is 7 euros.")
    assert (found.values.claimed.text, found.values.known.text) == ("7 euros", "5 euros")


def test_a_difference_is_what_stands_on_one_side_alone():
    (one,), (other,) = statements("The pump delivers 85 litres at 3 bar."), statements("The mill delivers 85 litres.")
    assert differences(one.content, other.content) is None  # an amount more
    (one,), (other,) = statements("Pumps stand in hall A."), statements("Mills stand in hall A.")
    found = differences(one.content, other.content)
    assert (found.ours, found.theirs, found.measures, found.dates) == ({"pump"}, {"mill"}, None, None)


def test_a_value_has_the_side_that_it_is_named_on():
    (one,) = statements("The crane must never lift more than five tonnes.")
    assert [(item.value.text, item.side) for item in one.content.measures] == [("five tonnes", Bound.AT_MOST)]


@each(
    ("first", "second", "asked"),
    [
        ("The road is dry.", "The road is muddy.", True),
        ("The road is dry.", "The lane is muddy.", False),  # another subject
        ("The road is 5 metres wide.", "The road is muddy.", False),
        ("The road is dry after rain.", "The road is muddy after frost.", False),  # the case may be another
        ("Members may leave.", "Nobody may resign or leave.", True),
        ("The cup went to Lodz.", "The cup went to Brno.", False),  # the words that differ are names
    ],
)
def test_the_model_counts_where_few_words_behind_the_verb_differ(first, second, asked):
    named = {
        text: tuple(Entity(EntityKind.LOCATION, name, text.index(name), text.index(name) + len(name))
                    for name in ("Lodz", "Brno") if name in text)
        for text in (first, second)
    }  # fmt: skip
    (one,) = read_statements(segment(first, sentences(first), named).claims, first)
    (other,) = read_statements(segment(second, sentences(second), named).claims, second)
    assert open_question(one, other) is asked


@each(
    ("first", "second", "expected"),
    [
        ("The port is open.", "The port is closed.", True),
        ("The port is not open.", "The port is closed.", False),
        ("Dogs must be kept on a lead.", "Dogs need not be kept on a lead.", True),
        ("Dogs may be kept.", "Dogs must not be kept.", True),
        ("Dogs may be kept.", "Dogs need not be kept.", None),
        ("Dogs must not be kept.", "Dogs need not be kept.", None),
        ("The port is open.", "The loan was approved.", None),
    ],
)
def test_opposite_states_and_forces(first, second, expected):
    assert turned(standing(first), standing(second)) is expected


def test_words_of_one_family_are_one_and_light_ones_none():
    assert plain_terms("The price is currently") == plain_terms("It costs") == {"cost"}
    assert plain_terms("they have to provide it") == frozenset()


@pytest.mark.parametrize(
    ("facts", "excused"),
    [
        (("The fee in the north is 5 euros.\n\nThe fee in the south is 7 euros.",), True),
        (("The fee in the north is 5 euros.", "The fee in the south is 7 euros."), True),
        (("The fee is 5 euros.", "The fee is 7 euros."), False),  # the facts contradict one another
        (("The fee in the north is 5 euros.",), False),
        ((), False),
    ],
)
def test_claims_that_facts_bear_out_side_by_side_are_excused(facts, excused):
    (one,), (other,) = statements("The fee is 5 euros."), statements("The fee is 7 euros.")
    views = [read_fact(index, EnvelopeFact(f"f{index}", text), ()) for index, text in enumerate(facts)]
    assert conflict(one, other) is not None
    assert FactSentences(views).excuses(one, other) is excused


@pytest.mark.parametrize("folder", ["examples/handbook", "tests/vectors/dpe/answers/documents"])
def test_no_two_sentences_of_documents_contradict_each_other(folder):
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob("*.md"))]
    whole = "\n\n".join(texts)
    read = [one for one in statements(whole) if one.claim.claim_type is ClaimType.FACTUAL]
    pairs = [(read[left], read[right]) for left, right in related(read, read).tolist() if left < right]
    assert len(pairs) > 1_000
    assert [(one.claim.text, other.claim.text) for one, other in pairs if conflict(one, other)] == []


def test_the_worked_example_of_adr_0196():
    text = " ".join(RECORD.read_text(encoding="utf-8").split("## Worked example")[1].split())
    free, users, seven, eight, limit, six = re.findall(r'"((?:The|Up|Release)[^"]+\.)"', text)
    (found,) = between(free, users)
    assert (found.reason, found.severity) == (VALUES, ContradictionSeverity.CRITICAL)
    assert between(seven, eight) == between(limit, six) == []


@each(
    ("first", "second"),
    [
        (
            "Since 2022 goods under code 6403 have been taxed at 8 percent.",
            "Before 2022 goods under code 6403 were taxed at 6.5 percent.",
        ),
        ("Until 1 March 2026 the fee is 10 euros.", "After 1 March 2026 the fee is 12 euros."),
    ],
)
def test_the_time_before_a_day_is_another_than_the_time_behind_it(first, second):
    assert between(first, second) == []
