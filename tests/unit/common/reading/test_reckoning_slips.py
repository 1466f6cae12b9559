"""Slips of reckoning: what is told, what is left alone, and that it is linear (ADR 0204)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.reading.reckoning import slips
from services.common.reading.reckoning.days import wrong_days
from services.common.reading.reckoning.lines import lines_of
from tests.each import each

WRONG = (
    ("With 8 months remaining, you'd pay €29.40 × 8 = €225.20.", "€29.40 × 8 is 235.2, not €225.20"),  # noqa: RUF001
    ("That is 120 x £0.05 x 2 = £10 for them.", "120 × £0.05 × 2 is 12, not £10"),  # noqa: RUF001
    ("So it is £450 + £200 = £640 in all.", "£450 + £200 is 650, not £640"),
    ("We close 31 tickets: 14 bugs, 9 feature requests and 6 chores.", "14 + 9 + 6 is 29, not 31"),
    (
        "The total cost is 42,000 EUR: 20,000 for hardware, 15,000 for licences and 9,000 for the team.",
        "20,000 + 15,000 + 9,000 is 44000, not 42,000 EUR",
    ),
    ("The £480 is split into £300 for rent, £150 for heat and £50 for tea.", "£300 + £150 + £50 is 500, not £480"),
    ("14 bugs, 9 requests and 6 chores make 31 tickets.", "14 + 9 + 6 is 29, not 31"),
    (
        "Rent is 300 EUR, heat 150 EUR and cleaning 50 EUR, 480 EUR in total.",
        "300 EUR + 150 EUR + 50 EUR is 500, not 480 EUR",
    ),
    ("Of the 500 EUR, 300 EUR go to rent, which leaves 100 EUR.", "500 EUR - 300 EUR is 200, not 100 EUR"),
    (
        "Half of the income comes from tickets, 35 % from dues and a quarter from the town.",
        "Half + 35 % + a quarter is 110 %, more than all of it",
    ),
    ("20% of 250 EUR is 60 EUR.", "20% of 250 EUR is 50, not 60 EUR"),
    ("You pay 4 instalments of 250 EUR, 900 EUR in all.", "4 × 250 EUR is 1000, not 900 EUR"),  # noqa: RUF001
    ("The drum weighs 34 kg, or 3,400 g.", "34 kg is 34000, not 3,400 g"),
    ("At £55 a month, a year of Premium comes to £600.", "£55 per month over a year is 660, not £600"),
    ("12 months at £55 per month comes to £600.", "£55 per month over 12 months is 660, not £600"),
    ("At £10 a week, two weeks come to £25.", "£10 per week over two weeks is 20, not £25"),
    ("At 5 GB a day, 7 days are 40 GB.", "5 GB per day over 7 days is 35, not 40 GB"),
    ("We need 6 m3 of concrete. In litres that is 600.", "6 m3 is 6000 litres, not 600"),
    ("Rate limit: 600 calls an hour, that is ten a second.", "600 a hour is 0.17 a second, not ten"),
    ("The cable to the mast is 85 m2 long.", "85 m2 is no length"),
    ("The pack weighs 5 m.", "5 m is no weight"),
    ("The floor has an area of 30 m3.", "30 m3 is no area"),
    ("The release is on Monday, 15 April 2027.", "15 April 2027 is a Thursday, no Monday"),
    (
        "The failure lasted from 02:10 to 03:40, two and a half hours.",
        "from 02:10 to 03:40 is 1 h 30 min, not two and a half hours",
    ),
    (
        "The show runs from 3 May 2027 to 10 May 2027, three weeks.",
        "it is 7 days from the first to the last, not three weeks",
    ),
    (
        "The lease runs for 12 months from 1 March 2027. So you have the flat until 31 August 2027.",
        "12 months from 1 March 2027 end on 2028-03-01, not on 31 August 2027",
    ),
    (
        "We fly out on 8 June 2027 and are back on the 14th. That makes five nights in Porto and two in Lisbon.",
        "from 8 June 2027 to 14th there are 6 nights, not 7",
    ),
    (
        "We copy the data on 3 March, then we switch reads on 10 March, and writes follow on 8 March.",
        "8 March is before 10 March, and the text puts it after",
    ),
)
RIGHT = (
    "With 8 months remaining, you'd pay €29.40 × 8 = €235.20.",  # noqa: RUF001
    "That is 2 × 3 + 4 = 10 and (3 + 4) × 2 = 14, and 4 × 3 + 1 = 13.",  # noqa: RUF001
    "Two with 5p each are 120 × 5p × 2 = £12.",  # noqa: RUF001
    "You get 2 × £45.50 = about £90.",  # noqa: RUF001
    "The screen has 1920 × 1080 = Full HD, and 4 × 4 is a car.",  # noqa: RUF001
    "At £55 a month, a year of Premium comes to £660.",
    "At £8.33 a month, a year is £100.",
    "At £55 a month, a year costs £600 with the discount.",
    "At £55 a month, a year comes to about £600.",
    "At £55 a month, a season comes to £600.",
    "At £55 a month, a year comes to 600 visits.",
    "At £55 a month it is dear, and a year of the other one costs £300.",
    "At £10 an hour, a month is £1,000.",
    "A year and three months at £10 a month comes to £150.",
    "Half a year at £10 a month comes to £60.",
    "Two people for one week at £10 a day comes to £140.",
    "At £120 a day, a week comes to £600.",
    "At £12 an hour, a week comes to £480.",
    "At £20 a day, a week of five days comes to £100.",
    "Membership is £25 a month, a year is £250 if paid at once.",
    "Parking costs £5 an hour, so a whole day is £30.",
    "We close 29 tickets: 14 bugs, 9 feature requests and 6 chores.",
    "In 2027 it is 8,640 EUR: 5,200 EUR for a conductor, 1,900 EUR for the hall and 1,540 EUR for scores.",
    "The way is 12.5 km long: 4.2 km on road, 3.9 km on gravel and 4.3 km on sand.",
    "There are three lots: 1 bench, 2 tables and 1 lamp.",
    "Under number 31: 14 bugs, 9 feature requests and 6 chores.",
    "The price is 100 EUR: 60 EUR is due on a booking worth 50 EUR.",
    "The fee is 50 EUR: 20 EUR a month for water, and 25 EUR a month for heat.",
    "Half of the members come from Leeds, up 60 % from last year.",
    "You get 60 % for a silver card, 50 % for a bronze one.",
    "The 2027 rules of 40 EUR make 90 EUR of savings.",
    "We meet on Monday, 15 April.",
    "The lease runs for 12 months from 1 March 2027. The office is closed until 31 August 2027.",
    "Two packages: 40 sheets and 30 sheets.",
    "There are 12 rules: 3 apply to guests and 4 to staff.",
    "Friday's dinner is for 46 people, 38 scouts and 8 leaders.",
    "Of the 20 staff, 12 work in Paris, 9 speak French.",
    "Prices: 20 EUR for adults, 10 EUR for children, 45 EUR for families, in all shops.",
    "Those under 45 years: 14 people in one group, 12 in the second and 9 in the third.",
    "The fee is 40 EUR: up to 10 EUR for the card, 5 EUR for the post and 20 EUR for us.",
    "Half of the income comes from tickets, 35 % from dues and 15 % from the town.",
    "Half of the staff speak French, 70 % speak German.",
    "90 % of men and 60 % of women came.",
    "20% of 250 EUR is 50 EUR.",
    "You pay 4 instalments of 250 EUR, 1,000 EUR in all.",
    "The drum weighs 34 kg, or 34,000 g.",
    "The route is 5 miles (8 km) long, and the hill 3 ft (1 m) high.",
    "She weighs 8 lb 3 oz (3.7 kg).",
    "It was 1.5 degrees Celsius (2.7 degrees Fahrenheit) warmer.",
    "Send it within 48 hours, or 3 days from abroad.",
    "Nobody was ill at eight weeks, six months, or 12 months.",
    "We need 6 m3 of concrete. In litres that is 6,000.",
    "Rate limit: 600 calls an hour, that is ten a minute.",
    "The film is 85 minutes long.",
    "The release is on Thursday, 15 April 2027. The freeze is on the 8th.",
    "The failure lasted from 02:10 to 03:40, an hour and a half.",
    "The night shift runs from 22:00 to 06:00, eight hours.",
    "The show runs from 3 May 2027 to 24 May 2027, three weeks.",
    "The lease runs for 12 months from 1 March 2027. So you have the flat until 29 February 2028.",
    "We fly out on 8 June 2027 and are back on the 14th. That makes four nights in Porto and two in Lisbon.",
    "We copy on 3 March, then we switch reads on 10 March, and writes follow on 18 March.",
    "Orders from 10 March are then paid before 8 March.",
    "",
)


@each("text, why", WRONG)
def test_a_slip_is_told_with_what_comes_out(text, why):
    assert [slip.why for slip in slips(text)] == [why]


@each("text, why", WRONG)
def test_what_a_slip_names_stands_in_the_text(text, why):
    (slip,) = slips(text)
    assert 0 <= slip.given.start < slip.given.end <= len(text)
    assert 0 <= slip.wrong.start < slip.wrong.end <= len(text)
    assert text[slip.wrong.start : slip.wrong.end].strip() == text[slip.wrong.start : slip.wrong.end]


@each("text", RIGHT)
def test_what_reckons_right_is_left_alone(text):
    assert slips(text) == []


@given(parts=st.lists(st.integers(2, 900), min_size=2, max_size=6), off=st.integers(-40, 40))
@settings(deadline=None, max_examples=60)
def test_a_total_is_told_exactly_where_it_is_not_the_sum(parts, off):
    whole = sum(parts) + off
    listed = ", ".join(f"{part} EUR for room {chr(65 + at)}" for at, part in enumerate(parts[:-1]))
    text = f"The budget is {whole} EUR: {listed} and {parts[-1]} EUR for the rest."
    found = slips(text)
    near = 0.6 * whole < sum(parts) < 1.6 * whole and max(parts) < whole
    assert len(found) == (1 if off and near else 0)


@pytest.mark.timed
@pytest.mark.parametrize(
    "text", ["31 tickets: 14 bugs, ", "from 1 May to ", "20% of 250 EUR is ", "on Monday, 15 April 2027. "]
)
def test_the_work_grows_with_the_text_and_no_faster(text):
    def seconds(times):
        began = time.process_time()
        slips(text * times)
        return time.process_time() - began

    slips(text * 50)
    assert seconds(2_000) < 8 * max(seconds(500), 0.02)


@pytest.mark.timed
def test_days_of_a_sentence_are_not_looked_for_in_all_others():
    lines = lines_of("It grew by 5%. " * 4_000)

    def seconds(some):
        began = time.process_time()
        assert not list(wrong_days(some))
        return time.process_time() - began

    assert seconds(lines) < 8 * max(seconds(lines[:1_000]), 0.02)


def test_a_sentence_with_too_many_values_is_left_alone():
    listed = ", ".join(f"{at} EUR for A" for at in range(2, 80))
    assert slips(f"The total is 9,000 EUR: {listed}.") == []


@each(
    "text",
    [
        "90 minutes x £3 = £4.50.",
        "1 h + 30 min = 1 h 30 min.",
        "3 + 9 = 1 year.",
        "3% of 5 x 200 = 30.",
        "3 packs of 12 x €2 = €72.",
        "3 packs, 12 x €2 = €72.",
        "2 dozen x €3 = €72.",
        "1,5 x 2 = 3.",
        "0,5 x 100 = 50.",
        "2 x 1.000 = 2000.",
        "5 % x 1.000 € = 50 €.",
        "7 x 0.14 = 1.",
        "10 x 10 = 10².",
        "2x + 3 = 7.",
        "2^3 + 1 = 9.",
        "5·3 + 2 = 17.",
        "2 x 3 + 4 = 10.",
        "4 x (2 + 3) = 20.",
        "3 x 4 = 1 dozen.",
        "10:00 + 90 minutes = 11:30.",
    ],
)
def test_what_may_be_read_in_two_ways_is_no_slip(text):
    assert [slip.why for slip in slips(text) if " is " in slip.why] == []


@each(
    ("text", "why"),
    [
        ("3 x €2 = €8.", "3 × €2 is 6, not €8"),  # noqa: RUF001
        ("So 7 x 14 = 89.", "7 × 14 is 98, not 89"),  # noqa: RUF001
        ("It is 450 + 200 = 640, no more.", "450 + 200 is 650, not 640"),
        ("You pay €49.00, and €29.40 × 8 = €225.20.", "€29.40 × 8 is 235.2, not €225.20"),  # noqa: RUF001
    ],
)
def test_a_plain_product_or_sum_that_is_wrong_is_a_slip(text, why):
    assert [slip.why for slip in slips(text)] == [why]


@each("text", ["99999999999999 x 99999999999999 = 5.", "1000000000000000 x 1000000000000000 = 1000000000000000."])
def test_figures_beyond_all_bounds_end_no_check(text):
    assert slips(text) == []
