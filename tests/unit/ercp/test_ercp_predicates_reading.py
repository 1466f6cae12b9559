"""What is read in texts: values with their conditions, orders, reasons, contradictions; and what hostile texts cost."""

import pytest

from services.common.grounding.words import sentences
from services.ercp.domain.predicates import (
    Span,
    contradictions,
    demand_of,
    extract_facts,
    path_of,
    to_text,
)
from tests.each import each
from tests.speed import processor_time_below


def read(text):
    return extract_facts(text, [Span(*place) for place in sentences(text)])


def values(text):
    """Return attribute, value and condition of everything that a text gives a value."""
    return [
        (path_of(fact.subject, text), ("not " if fact.negated else "") + fact.written, sorted(fact.condition.words))
        for fact in read(text).values
    ]


@each(
    ("text", "expected"),
    [
        ("Water boils at 100 °C at sea level.", [("water.boiling_point", "100 °C", [])]),
        ("The boiling point of water is 93 °C in Denver.", [("water.boiling_point", "93 °C", ["denver"])]),
        ("In 2020, Paris's population was 2.1 million.", [("paris.population", "2.1 million", ["2020"])]),
        (
            "Water boils at 100 °C (212 °F) and in Denver at 93 °C.",
            [("water.boiling_point", "100 °C", []), ("water.boiling_point", "212 °F", [])],
        ),
        (
            "The peak power of the west station is 40 MW, that of the east station 38 MW.",
            [("west_station.peak_power", "40 MW", []), ("east_station.peak_power", "38 MW", [])],
        ),
        ("The tower is 300 m tall and 50 m wide.", [("tower.height", "300 m", []), ("tower.width", "50 m", [])]),
        ("The dam has a length of about 2 km.", [("dam.length", "2 km", [])]),
        ("The goods lift carries at most 800 kg.", [("goods_lift.maximum_load", "800 kg", [])]),
        ("The temperature ranges from 5 to 10 °C.", [("temperature", "5 to 10 °C", [])]),
        ("The limit is not 30 days.", [("limit", "not 30 days", [])]),
        ("The number of players in a team is 9.", [("players", "9", ["team"])]),
        ("The tank is made of concrete.", [("tank.material", "concrete", [])]),
        ("Deadline: 30 days", [("deadline", "30 days", [])]),
        ("max_temp <= 40 °C", [("maximum_temperature", "40 °C", [])]),
        ("A ticket costs 5 USD per month.", [("ticket.cost", "5 USD per month", [])]),
        ("Section 5 was read by the 12 members in 2 hours.", []),
        ("If the load is 5 t, stop.", []),
        ("The load could be 5 t.", []),
        ("Perhaps the load is 5 t.", []),
        ("Is the load 5 t?", []),
        ("It is not true that the load is 5 t.", []),
        ("Most lorries weigh 40 t.", []),
        ("The load and what else came was 5 t.", []),
    ],
)
def test_values_with_their_attributes_and_conditions(text, expected):
    assert values(text) == expected


def test_offsets_point_into_the_text():
    text = "First things first. The deadline of the project is at most 30 days, they say."
    (fact,) = read(text).values
    assert text[fact.span.start : fact.span.end] == "The deadline of the project is at most 30 days"
    assert text[fact.value_span.start : fact.value_span.end] == "30 days"
    assert (fact.interval.low, fact.interval.high, fact.interval.high_closed) == (None, 30 * 86_400, True)


def test_a_fact_demands_of_another_text_what_it_asserts():
    text = "At 2 atm, water boils at about 120 °C. The deadline must not exceed 30 days."
    demands = [to_text(demand_of(fact, text)) for fact in read(text).values]
    assert demands == [
        'Equal(water.boiling_point, 120 degC, tolerance=2%, condition="At 2 atm")',
        "LessThan(deadline, 30 day, inclusive=true)",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The contract was signed before the payment.", [("The contract was signed", "the payment")]),
        ("After the tests passed, the release was deployed.", [("the tests passed", "the release was deployed")]),
        ("Mix the flour, then add the water.", [("Mix the flour", "add the water")]),
        ("Payment is due 30 days after delivery.", [("delivery", "Payment is due")]),
        ("The logs are deleted after 14 days.", []),
        ("The backup might run before the update.", []),
        ("At sea level, then, it boils.", []),
        ("The moon is seen once every 30 days.", []),
    ],
)
def test_orders_of_events(text, expected):
    assert [(order.before_text, order.after_text) for order in read(text).orders] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It boils sooner because the pressure is low.", [("It boils sooner", "the pressure is low")]),
        ("Since the pressure is low, water boils sooner.", [("water boils sooner", "the pressure is low")]),
        ("The load rises, so the beam bends.", [("the beam bends", "The load rises")]),
        ("Ice floats. This is because it is less dense.", [("Ice floats", "it is less dense")]),
        ("The reason why ice floats is that it is less dense.", [("ice floats", "it is less dense")]),
        ("It has been so since 1990.", []),
        ("It is so because it is so.", []),
    ],
)
def test_reasons(text, expected):
    facts = read(text)
    found = [
        (text[each.claim.start : each.claim.end], text[each.reason.start : each.reason.end])
        for each in facts.justifications
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The load limit is 40 t. The load limit is 30 t.", ["40 t against 30 t"]),
        ("The canal bridge was closed. Its limit is 40 t. The bridge's limit is 30 t.", ["40 t against 30 t"]),
        ("The limit of the canal bridge is 40 t. The limit of the footbridge is 2 t.", []),
        ("The run time is 5 h. The run time is 5 kW.", ["5 h against 5 kW"]),
        ("The road is 1 mile long. The road is 1.6 km long.", []),
        ("The valve is closed. The valve is not closed at night.", []),
        ("The cost is 5 USD. The shipping cost is 2 USD.", []),
        (
            "A rests before lunch. B eats before tea. Lunch is before A rests.",
            ['"A rests" before "lunch" and the other way round'],
        ),
    ],
)
def test_contradictions(text, expected):
    assert [why for _, _, why in contradictions(read(text))] == expected


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("and  " * 40 + "x, the load limit is 40 t.", id="conjunctions"),
        pytest.param("It rained in May" + " " * 280 + "x 1 May 2020.", id="blanks before a date"),
        pytest.param("The load limit is 40 t" + " " * 230 + "x.", id="blanks behind a value"),
    ],
)
def test_conjunctions_and_blanks_are_read_one_way(text):
    """Ways without number to cut forty conjunctions would take longer than anybody lives."""
    read("Water boils at 100 °C.")  # units are loaded
    with processor_time_below(1.0):
        read(text)


def test_the_answer_is_the_same_every_time():
    text = (
        "Water boils at 100 °C at sea level because the pressure is 1 atm. In Denver it boils at 93 °C, then it cools."
    )
    assert read(text) == read(text)
