"""Which place of the facts a question asks about (ADR 0216)."""

import pytest

from services.common.reading.values import scan_values
from services.dpe.domain.asked_places import Asked, read_asked_places, stems
from services.dpe.domain.facts import EnvelopeFact, read_fact

PLUS = "Payments, Plans: Plan: Plus; Price: £12; Notice: 30 days"
BASIC = "Payments, Plans: Plan: Basic; Price: £5; Notice: none"
PROOF = "Proof of study is uploaded by 31 October; without it the price of the plan changes on 1 December."
LIMITS = "Limits: In the app you can send £900 a day, in the branch £5,000 a day."


def places_of(*contents, superseded=()):
    facts = [EnvelopeFact(f"f{at}", text, superseded=at in superseded) for at, text in enumerate(contents)]
    return list(read_asked_places([read_fact(at, fact, ()) for at, fact in enumerate(facts)]))


def best(question, *contents):
    places = places_of(*contents)
    asked = Asked(question, places)
    place = max(places, key=asked.share)
    return contents[place.fact_index][place.span.start : place.span.end]


def test_a_cell_is_a_place_with_the_names_of_its_row_and_column():
    price, notice = places_of(PLUS)
    assert (price.text, notice.text) == ("£12", "30 days")
    assert stems("Plus price")[0] in price.own
    assert set(stems("Plus Price 12")) <= price.own
    assert set(stems("Payments Plans")) <= price.around
    assert price.within == notice.within == places_of(BASIC)[0].within
    assert [value.text for value in notice.values] == ["30 days"]
    assert PLUS[notice.values[0].start : notice.values[0].end] == "30 days"


def test_a_bare_number_in_a_cell_has_the_unit_of_its_column():
    [_, days] = places_of("Plan: Plus; Price: £12; Days: 30")
    assert [value.unit for value in days.values] == [value.unit for value in scan_values("30 days")]


@pytest.mark.parametrize(
    ("said", "nothing"),
    [("none", True), ("closed", True), ("Not available", True), ("–", True), ("30 days", False), ("yes", False)],  # noqa: RUF001
)
def test_a_cell_may_say_that_there_is_nothing(said, nothing):
    assert places_of(f"Plan: Basic; Notice: {said}")[-1].says_nothing is nothing


def test_a_sentence_has_a_place_for_each_value_that_it_gives():
    assert [place.text.strip(" ,.") for place in places_of(LIMITS)] == [
        "Limits: In the app you can send £900 a day",
        "in the branch £5,000 a day",
    ]
    assert len({place.within for place in places_of(LIMITS)}) == 1


def test_what_is_superseded_is_no_place():
    assert {place.fact_index for place in places_of(PLUS, BASIC, superseded={0})} == {1}


@pytest.mark.parametrize(
    ("question", "contents", "place"),
    [
        ("What does Basic cost?", (PLUS, BASIC), "£5"),
        ("How much is the price of Plus?", (PLUS, BASIC), "£12"),
        ("How long is the notice of Plus?", (PLUS, BASIC), "30 days"),
        ("By when is the proof of study uploaded?", (PLUS, PROOF), "Proof of study is uploaded by 31 October"),
        ("How much can I take to the branch a day?", (LIMITS,), "in the branch £5,000 a day"),
    ],
)
def test_the_place_that_names_most_of_a_question_is_asked_about(question, contents, place):
    assert best(question, *contents).strip(" ,;.") == place.strip(" ,;.")


SERVICE = tuple(
    f"Sick pay: Service: {service}; Full pay: {weeks} weeks; Half pay: 1 week"
    for service, weeks in (
        ("under 6 months", 2),
        ("6 months to under 2 years", 6),
        ("2 to under 5 years", 10),
        ("5 years or more", 16),
    )
)


@pytest.mark.parametrize(
    ("case", "weeks"),
    [("4 months", "2 weeks"), ("18 months", "6 weeks"), ("3 years", "10 weeks"), ("7 years", "16 weeks")],
)
def test_a_row_for_amounts_is_asked_about_where_the_amount_lies_in_it(case, weeks):
    question = f"I have been here for {case}: how many weeks of full pay do I get?"
    assert best(question, *SERVICE) == weeks
    asked = Asked(question, places_of(*SERVICE))
    fitting = {place.fact_index for place in asked.places if asked.fits(place)}
    assert len(fitting) == 1


def test_a_row_for_other_amounts_is_less_than_not_asked_about():
    asked = Asked("18 months?", places_of(*SERVICE))
    assert {asked.share(place) for place in asked.places} == {1.0, -1.0}


def test_a_letter_that_names_one_of_several_is_a_word():
    assert stems("visiting in Bay B")[-1] == "b"
    assert "i" not in stems("when can I visit Bay B")
    rows = ("Bay: Bay A; Hours: 2 pm to 7 pm", "Bay: Bay B; Hours: 3 pm to 6 pm")
    assert best("visiting hours of Bay B?", *rows) == "3 pm to 6 pm"


def test_an_amount_of_another_measure_is_for_no_place():
    asked = Asked("Is £7 paid?", places_of(*SERVICE))
    assert not any(asked.fits(place) for place in asked.places)
    assert Asked("?", places_of(PLUS)).share(places_of(PLUS)[0]) == 0.0


def test_a_question_that_leans_takes_what_it_leaves_out_from_the_one_before():
    places = places_of(PLUS, BASIC)
    asked = Asked("And for Plus?", places, ("How long is the notice of Basic?",))
    assert max(places, key=asked.share).text == "30 days"


@pytest.mark.parametrize(
    "question", ["What is the maximum daily dose for a 70-year-old?", "Daily maximum at 70 years?"]
)
def test_daily_is_per_day_and_an_age_with_its_words_is_one_value(question):
    rows = ("Leaflet: Age: 18 to 64 years; Dose: 4 g; Maximum dose per day: 9 g",
            "Leaflet: Age: 65 years and over; Dose: 2 g; Maximum dose per day: 8 g")  # fmt: skip
    places = places_of(*rows)
    asked = Asked(question, places)
    named = [place.text for place in places if asked.share(place, by_name=True) >= 0.75]
    assert named == ["8 g"]
