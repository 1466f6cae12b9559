"""Statements that may be at odds: which pairs are asked about, and what the answers mean (ADR 0179)."""

import numpy as np
import pytest

from services.ercp.domain import readings
from services.ercp.domain.checking import ReferenceTexts, check
from services.ercp.domain.doubting import Statements, doubted, judge, plan, scores_of, texts_of
from services.ercp.domain.extracting import extract
from services.ercp.domain.faults import REPORTED_FROM
from services.ercp.domain.products import wrong_totals
from services.ercp.domain.reversals import reversals
from services.ercp.domain.topics import topics_of
from services.ercp.domain.validators import validate


def read(text, source=""):
    sentences = readings.sentences_of(text)
    return Statements.of(readings.facts_of(text, sentences), sentences, topics_of(sentences), source)


def pairs(text, *passages, most=100):
    found = plan(read(text), [read(each, f"p{number}") for number, each in enumerate(passages)], most)
    return [(each.at, each.other, each.passage, each.kind) for each in found]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The shed is 310 m long. Walk through the shed, all 370 m of it.", "[length]^1"),
        ("The hall has 84 seats. All 96 seats of the hall were taken.", "count of seat"),
        ("Water freezes at 0 °C. On a Fahrenheit dial water freezes at 40 °F.", "[temperature]^1"),
        ("The climb takes 2.5 hours. Plan 190 minutes for the climb.", "[time]^1"),
    ],
)
def test_two_amounts_of_one_kind_for_what_may_be_one_thing_are_asked_about(text, kind):
    assert pairs(text) == [(1, 0, None, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "The hall has 84 seats. All 84 seats of the hall were taken.",  # one value
        "The climb takes 2.5 hours. Plan 150 minutes for the climb.",  # one value in other units
        "The heart beats 250 times per minute at rest. In flight the heart beats 1,200 times per minute.",
        "At 7 °C the pump gives 9 kW. At minus 10 °C the pump gives 6 kW.",
        "The tenant gives 30 days of notice. The landlord gives 90 days of notice.",
        "Juno flies at 910 g. Her brother Argo flies at 640 g.",
        "The old bridge is 30 m long. The new bridge is 90 m long.",
        "The hall has 84 seats. The price of the hall is 90 EUR.",  # other kinds
        "It is about 30 hours. It is 30.3 hours.",
        "The lake has a depth of 30 m. The lake has a width of 900 m.",  # values of two things
    ],
)
def test_what_is_set_apart_or_agrees_is_not(text):
    assert pairs(text) == []


def test_a_draft_s_amount_is_held_against_the_passage_that_shares_most_words():
    text = "Each car carries 80 passengers. The track is 612 m long."
    track = "The track of the funicular has a length of 612 m."
    assert pairs(text, track, "The capacity of a car is 60 passengers.") == [(0, 0, 1, "count of passenger")]
    assert pairs(text, track, "The capacity of a car is 80 passengers.") == []
    assert pairs(text, "A ferry takes 60 passengers.") == []  # no word in common but what is counted


def test_a_denial_of_what_is_aligned_is_asked_about_and_the_most_is_kept_to():
    text = "The window contains no blue glass. The blue panes of the window were cleaned."
    assert pairs(text) == [(1, 0, None, "")]
    many = " ".join(f"The hall has {number} seats." for number in range(10, 30))
    assert len(pairs(many, most=7)) == 7


def asked(text, score, cosine, *passages):
    draft, others = read(text), [read(each, "leaflet") for each in passages]
    found = plan(draft, others, 100)
    errors, doubts = judge(found, draft, others, [score] * len(found), [cosine] * len(found))
    return [(each.type.value, each.span) for each in errors], [(each.type.value, each.source) for each in doubts]


def test_what_both_see_is_an_error_what_neither_rules_out_a_doubt_and_the_rest_nothing():
    text = "The hall has 84 seats. All 96 seats of the hall were taken."
    assert asked(text, 0.8, 0.8) == ([("contradiction", (23, 59))], [])
    assert asked(text, 0.45, 0.8) == ([], [("contradiction", "")])
    assert asked(text, 0.2, 0.8) == ([], [])
    assert asked(text, 0.8, 0.3) == ([], [])


@pytest.mark.parametrize(
    ("score", "cosine", "count"), [(0.56, 0.51, 1), (0.99, 0.99, 1), (0.54, 0.9, 0), (0.9, 0.49, 0)]
)
def test_of_a_denial_nothing_is_an_error_and_what_both_see_is_a_doubt(score, cosine, count):
    text = "The window contains no blue glass. The blue panes of the window were cleaned."
    assert asked(text, score, cosine) == ([], [("contradiction", "")] * count)


def test_a_passage_is_believed_sooner_than_the_draft():
    text, passage = "Each car carries 80 passengers.", "The capacity of a car is 60 passengers."
    assert asked(text, 0.52, 0.6, passage) == ([("factual_incorrect", (0, 31))], [])
    assert asked(text, 0.1, 0.7, passage) == ([], [("factual_incorrect", "leaflet")])


def test_the_mean_of_both_ways_counts_and_pronouns_are_spelled_out():
    rows = np.array([[0, 0, 0.2], [0, 0, 0.6], [0, 0, 1.0], [0, 0, 0.0]], dtype=np.float32)
    assert scores_of(rows) == pytest.approx([0.4, 0.5])
    draft = read("The car is red. It carries 80 passengers.")
    passage = read("A car carries 60 passengers.", "leaflet")
    texts = texts_of(plan(draft, [passage], 100), draft, [passage])
    assert texts == [("The car carries 80 passengers.", "A car carries 60 passengers.")]


def test_a_doubt_becomes_a_constraint_that_demands_no_value():
    draft, passage = read("Each car carries 80 passengers."), read("The capacity of a car is 60 passengers.", "leaflet")
    _, doubts = judge(plan(draft, [passage], 100), draft, [passage], [0.1], [0.7])
    (fault,) = doubted(doubts, "run")
    assert fault.confidence < REPORTED_FROM
    (constraint,) = extract([fault], draft.facts.text, 1, "run")
    assert constraint.predicate.name == "NoContradiction"
    assert "60 passengers" in constraint.nl_text
    assert "80 passengers" in constraint.nl_text


def sentences(text, found):
    facts = read(text).facts
    return [tuple(facts.text[each.start : each.end] for each in pair) for pair in found(facts)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The mast is longer than the boom. Because the boom is longer than the mast, it bends.", 1),
        ("The mast is longer than the boom. The oar is longer than the boom.", 0),
        ("The mast is longer than the boom. The boom is not longer than the mast.", 0),
        ("The mast is longer than the boom. The boom is heavier than the mast.", 0),
        ("Other than the mast, all is new. Rather than the boom, take the mast.", 0),
        ("The grinding of the spice comes before the soaking. Do the soaking first and the grinding second.", 1),
        ("The grinding of the spice comes before the soaking. Do the grinding first and the soaking second.", 0),
        ("The grinding of the spice comes before the soaking. Never do the soaking first and the grinding later.", 0),
    ],
)
def test_statements_the_other_way_round_clash(text, count):
    assert len(sentences(text, reversals)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The archive has three cabinets with 40 maps each. Altogether, the three cabinets hold 140 maps.", 1),
        ("The archive has three cabinets with 40 maps each. Altogether, the three cabinets hold 120 maps.", 0),
        ("The archive has three cabinets with 40 maps each. The three cabinets once held 140 maps.", 0),
        ("The archive has three cabinets with 40 maps each. Altogether, the town holds 140 maps.", 0),
        ("Each sack has a mass of 25 kg. A pallet of 40 sacks therefore has a mass of 10 t.", 1),
        ("Each sack has a mass of 25 kg. A pallet of 40 sacks therefore has a mass of 1 t.", 0),
        ("Each sack has a mass of about 25 kg. A pallet of 40 sacks therefore has a mass of 2 t.", 0),
    ],
)
def test_a_total_that_its_parts_do_not_make_is_found(text, count):
    assert len(sentences(text, wrong_totals)) == count


def test_both_are_errors_of_the_draft():
    text = "The mast is longer than the boom. The boom is longer than the mast."
    (found,) = check(read(text).facts, ReferenceTexts(()))
    assert (found.type.value, found.confidence >= 0.75, found.span) == ("contradiction", True, (34, 67))


def faults_of(text):
    return [each.type.value for each in validate(text, readings.sentences_of(text))]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('The mosaic "The Winds was laid in 1926. Another, called "Dolphins", is newer.', True),
        ("He calls it \u201cthe pit and goes on.", True),
        ("Er nennt es \u201eGrube\u201c und geht weiter.", False),
        ("Er nennt es \u201eGrube und geht weiter.", True),
        ('The 5" pipe and the "old" one fit the 6" hole.', False),
        ('He said "room 5" and left.', False),
        ('"One paragraph of a speech.\n\n"And the next one."', False),
    ],
)
def test_a_quotation_has_to_be_closed(text, wrong):
    assert ("syntax_error" in faults_of(text)) == wrong


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("The entry fee of the contest is 8 or 12 euros.", True),
        ("The way down takes two or three hours.", False),
        ("The fee is 8 or 12 euros, depending on age.", False),
    ],
)
def test_two_values_of_one_thing_are_two_readings(text, is_open):
    assert ("ambiguity" in faults_of(text)) == is_open


@pytest.mark.parametrize(
    "text",
    [
        "In Rome tea is cheaper than coffee. In London coffee is cheaper than tea.",
        "In summer, the lake is warmer than the river. In winter, the river is warmer than the lake.",
        "The order has 3 boxes with 40 sheets each. A month later 2 boxes were opened, so 10 sheets were used.",
        "The order has 3 boxes with 40 sheets each. In total 2 boxes with 80 sheets were opened.",
        "Each room has 2 windows. The house has 5 rooms, so 3 windows were replaced.",
    ],
)
def test_what_is_said_of_another_place_or_number_is_no_contradiction(text):
    facts = readings.facts_of(text, readings.sentences_of(text))
    assert [*reversals(facts), *wrong_totals(facts)] == []
