"""Names in each other's place, members of lists, and what a text holds in another form (SPEC-005 §5.2, §5.3)."""

from dataclasses import replace

import pytest

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.sentences import sentences
from services.common.reading.values import scan_values
from services.dpe.domain.alignment import ClaimWords, matches, substituted_names
from services.dpe.domain.capitals import replaced
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Rule
from services.dpe.domain.other_forms import (
    OtherForms,
    is_common_word,
    spoken_hours,
    stems_of_small_words,
    without_opening,
)
from services.dpe.domain.rules.name_places import is_bidding, is_its_label, is_over_it
from services.dpe.domain.segmentation import segment
from tests.fakes.dpe_world import analyse
from tests.unit.dpe.test_dpe_departures import found

DESK = "Report a stolen badge to the Front Desk at once."
WIPING = ("Site Security decides whether a badge is blocked.", "The Front Desk has extension 300.")
PLANS = (
    "Harbour Gym: General Terms, Plans: Plan: Tide 40; Lowest speed: 12 km; Monthly price: €30",
    "Use of Treadmills is free. The reading of a Wattmeter is enough to report a fault.",
)


def turned(claim, fact, names=()):
    text = claim if claim.endswith(".") else f"{claim}."
    known = [Entity(EntityKind.ORGANISATION, name, fact.index(name), fact.index(name) + len(name)) for name in names]
    first = segment(text, sentences(text), None).claims[0]
    clauses = read_fact(0, EnvelopeFact("f", fact), known).clauses
    pair = replaced(first, matches(ClaimWords.of(first), clauses)[0].clause)
    return pair and (pair[0].text, pair[1].text)


@pytest.mark.parametrize(
    ("claim", "fact", "names", "pair"),
    [
        ("The probe was launched from Kourou in May", "The probe was launched from Baikonur in May.", (), True),
        ("Kourou hosted the launch in May", "Baikonur hosted the launch in May.", ("Baikonur",), True),
        ("Baikonur: Ariane was launched in 2020", "Kourou: Ariane was launched in 2020.", ("Kourou",), True),
        ("Baikonur launched Ariane in 2020", "Kourou: Ariane was launched in 2020.", ("Kourou",), False),
        ("Call the Front Desk at once", DESK, ("Report",), False),
        ("Tell the Rowing Club today", "Harbour Sports Centre, Rowing Club today.", ("Harbour Sports Centre",), False),
        ("The lowest speed of 12 km is for Tide 40", "Lowest speed: 12 km; Monthly price: €30", (), False),
    ],
)
def test_a_run_of_capitals_is_held_against_a_name_in_its_place(claim, fact, names, pair):
    assert (turned(claim, fact, names) is not None) is pair


def named(text, name):
    at = text.index(name)
    return Entity(EntityKind.ORGANISATION, name, at, at + len(name))


@pytest.mark.parametrize(
    ("answer", "fact", "differs"),
    [
        ("The pier is kept by Orlin Ltd.", "The pier is kept by Bask Ltd.", True),
        (
            "Half rent is paid by tenants over 66, even by those who live outside Orlin.",
            "Tenants over 66, and tenants receiving Bask Credit, pay half of the rent.",
            False,
        ),
    ],
)
def test_a_recognised_name_is_held_against_one_of_which_the_same_is_said(answer, fact, differs):
    said, known = (named(text, "Orlin" if text is answer else "Bask") for text in (answer, fact))
    claim = replace(segment(answer, sentences(answer), None).claims[0], entities=(said,))
    clauses = read_fact(0, EnvelopeFact("f", fact), [known]).clauses
    assert bool(substituted_names(claim, matches(ClaimWords.of(claim), clauses)[0])) is differs


@pytest.mark.parametrize(
    ("claim", "facts", "departs"),
    [
        ("Whether it is blocked is decided by the Front Desk.", WIPING, True),
        ("Whether it is blocked is decided by Site Security.", WIPING, False),
        ("Your 9 km is under the 12 km of the Tide 40, so the Wattmeter reading is enough.", PLANS, False),
        (
            "You can expect the refund this Friday.",
            ("You can expect the refund soon after Orlin has paid.", "The desk is shut on Friday."),
            False,
        ),
        (
            "You can expect the refund soon after Bask has paid.",
            ("You can expect the refund soon after Orlin has paid.", "The desk is shut by Bask."),
            True,
        ),
    ],
)
def test_a_name_is_misplaced_only_where_the_same_is_said_of_another(claim, facts, departs):
    assert (Rule.NAME in found(claim, *facts)) is departs


@pytest.mark.parametrize(
    ("text", "words", "is_over"),
    [
        ("Harbour Gym: General Terms, Plans: Plan: Tide 40; Price: €30", "General Terms", True),
        ("Harbour Gym: General Terms, Plans: Plan: Tide 40; Price: €30", "Tide", False),
        ("Harbour Gym, General Terms: Orlin keeps the keys.", "General Terms", True),
        ("Harbour Gym, General Terms: Orlin keeps the keys.", "Orlin", False),
        ("Orlin keeps two keys: the red and the blue one.", "Orlin", False),
    ],
)
def test_a_heading_and_the_head_of_a_column_stand_over_what_is_said(text, words, is_over):
    at = text.index(words)
    assert is_over_it(text, at, at + len(words)) is is_over


@pytest.mark.parametrize(
    ("text", "words", "is_label"),
    [
        ("Orlin: the keys are kept.", "Orlin", True),
        ("- **Orlin**: the keys are kept.", "Orlin", True),
        ("Harbour Gym, Orlin: the keys are kept.", "Orlin", False),
        ("Orlin Terms: the keys are kept.", "Orlin", False),
        ("Orlin keeps the keys: both.", "Orlin", False),
    ],
)
def test_a_name_is_the_whole_label_of_a_sentence_or_none(text, words, is_label):
    at = text.index(words)
    assert is_its_label(text, at, at + len(words)) is is_label


@pytest.mark.parametrize(
    ("text", "first", "expected"),
    [
        ("Call the desk.", "Call", True),
        ("- **Submit** form 7.", "Submit", True),
        ("Mark leads the sales team.", "Mark", False),
        ("Orlin the keeper.", "Orlin", True),
        ("They call Mark the keeper.", "Mark", False),
        ("Call", "Call", False),
    ],
)
def test_a_verb_that_opens_a_sentence_is_no_name(text, first, expected):
    at = text.index(first)
    assert is_bidding(text, at, at + len(first)) is expected


COVER = (
    "The plan covers fire, theft and hail.",
    "The home counts as empty after 40 days in a row.",
    "We also cover floods.",
    "Not covered: theft while the home is empty; rust.",
)


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("The plan covers fire, theft and rust.", True),
        ("Fire, theft and rust are covered by the plan.", True),
        ("The plan covers fire, theft and hail.", False),
        ("The plan covers fire, theft and floods.", False),  # a sentence of its own says so
        ("After 40 days in a row, the home counts as empty and theft cover stops.", False),
        ("If the home is empty 40 days in a row, the fire and the theft are not covered.", False),
        ("Fire is among the things the plan covers, as is theft and rust.", False),
        ("The plan covers fire, it covers theft and rust is extra.", False),
    ],
)
def test_a_member_is_foreign_only_in_a_list_of_things(claim, departs):
    assert (Rule.MEMBER in found(claim, *COVER)) is departs


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("Torn and wet tickets are refunded.", True),
        ("Torn and wet tickets aren't refunded.", False),
    ],
)
def test_of_what_is_denied_both_and_either_are_one(claim, departs):
    assert (Rule.CONJUNCTION in found(claim, "Torn or wet tickets are refunded.")) is departs


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("The landlord repairs the lock.", True),
        ("The tenant repairs the lock.", False),
        ("Carrying the landlord repairs the lock.", True),
    ],
)
def test_who_acts_is_held_against_who_acts(claim, departs):
    facts = ("The tenant repairs the lock.", "The landlord visits the tenant.")
    assert (Rule.PARTIES in found(claim, *facts)) is departs


def test_behind_a_preposition_stands_nobody_who_acts():
    facts = ("Each guest carried on request adds 5p a mile.", "The passengers pay the driver.")
    assert Rule.PARTIES not in found("Carrying passengers adds another 5p a mile.", *facts)


def forms(*texts):
    return OtherForms.of(texts, [value for text in texts for value in scan_values(text)])


@pytest.mark.parametrize(
    ("said", "known", "holds"),
    [
        ("a 5-night trip", "a trip of 5 nights", True),
        ("a 5-night trip", "a trip of five nights", True),
        ("a 6-night trip", "a trip of 5 nights", False),
        ("a 5-night trip", "5 days and a night", False),
        ("off limits for under-16s", "Visitors under 16 wait.", True),
        ("off limits for under-18s", "Visitors under 16 wait.", False),
        ("the badge AB-12", "the badge AB 12", True),
        ("room 2024-17A", "In 2024, 17 were built.", False),
        ("issued on the 5th:", "Bills go out on the 5th of each month.", True),
        ("issued on the 6th:", "Bills go out on the 5th of each month.", False),
        ("so 2025 and", "Registered on 3 May 2025.", True),
        ("so 2026 and", "Registered on 3 May 2025.", False),
        ("2025 guests", "Registered on 3 May 2025.", False),
    ],
)
def test_a_text_holds_a_value_in_another_form(said, known, holds):
    assert forms(known).holds(scan_values(said)[0]) is holds


def test_people_leave_out_the_half_of_the_day():
    asked = scan_values("She waits from 1pm to about 3:15 or til 5, not at 06:30, with 4 dogs.")
    assert [value.normal for value in spoken_hours(asked)] == ["03:15", "15:15", "05:00", "17:00"]


@pytest.mark.parametrize(
    ("answer", "name", "is_common"),
    [
        ("| Item | Sum |\n|---|---|\n| Chair | 4 |", "Item", True),
        ("| Item | Sum |\n|---|---|\n| Orlin | 4 |", "Orlin", False),
        ("- **Visitor:** wait.", "Visitor", True),
        ("Ask a Visitor to wait.", "Visitor", False),
        ("Call the desk.", "Call", True),
        ("Orlin Ltd waits.", "Orlin Ltd", False),
        ("Orlin waits.", "Orlin", False),
    ],
)
def test_a_word_that_is_written_large_for_its_place_names_nothing(answer, name, is_common):
    at = answer.index(name)
    entity = Entity(EntityKind.PERSON, name, at, at + len(name))
    assert is_common_word(answer, entity, stems_of_small_words(["All visitors wait."])) is is_common


def test_the_verb_before_a_name_is_none_of_it():
    answer = "Contact Payroll today. We Contact Payroll."
    first, second = (
        Entity(EntityKind.ORGANISATION, "Contact Payroll", at, at + 15) for at in (0, answer.rindex("Contact"))
    )
    assert (without_opening(answer, first).text, without_opening(answer, second).text) == (
        "Payroll",
        "Contact Payroll",
    )


@pytest.mark.parametrize(("hour", "unknown"), [("5 pm", []), ("6 pm", ["6 pm"])])
async def test_an_hour_of_the_question_is_no_fabrication(hour, unknown):
    answer = f"The hall is open until {hour}, so she can wait there."
    outputs = (await analyse(answer, "The hall is open all day.", query="Can she wait til 5?")).analysis.outputs
    assert [item.entity.text for item in outputs.fabrication.found] == unknown
