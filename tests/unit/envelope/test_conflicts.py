"""What current sources disagree on, and what only looks like it (ADR 0109)."""

import pytest

from services.envelope.domain.conflicts import MAX_CONFLICTS, Pairs, find_conflicts
from services.envelope.domain.subjects import Stated, SubjectIndex
from tests.each import each
from tests.speed import processor_time_below


def stated(*texts, sources=None, location=""):
    return [Stated(f"f{place}", (sources or "abcdefgh")[place % 8], text, location) for place, text in enumerate(texts)]


DISAGREE = [
    (("The registration fee is 10 EUR.", "The registration fee is 25 EUR."), ("10 EUR", "25 EUR")),
    (("The registration fee is 10 EUR.", "The registration fee amounts to 25 EUR now."), ("10 EUR", "25 EUR")),
    (("The registration fee is $10.", "Note. The registration fee is $12!"), ("$10", "$12")),
    (("Claims must be reported within 14 days.", "Claims must be reported within 10 days."), ("14 days", "10 days")),
    (("Plan: Basic; Price: 10 EUR", "Plan: Basic; Price: 12 EUR"), ("10 EUR", "12 EUR")),
    (
        ("The deadline for entries is 3 May 2026.", "The deadline for entries is 2026-05-10."),
        ("3 May 2026", "2026-05-10"),
    ),
    (("Interest on arrears is 5 %.", "Interest on arrears is 6 per cent."), ("5 %", "6 per cent")),
    (("A parcel up to 2 kg costs 5 EUR.", "A parcel up to 2 kg costs 6 EUR."), ("5 EUR", "6 EUR")),
    (("At most 25 guests may enter the hall.", "At most 30 guests may enter the hall."), ("25", "30")),
]


DISAGREE += [
    (("The travel deductible is 250 EUR.", "The travel deductible is 300 EUR."), ("250 EUR", "300 EUR")),
    (("A claim is reported within 7 days.", "A claim is reported within 2 weeks."), ("7 days", "2 weeks")),
    (("The contract ends on 1 May 2024.", "The contract ends on 1 June 2024."), ("1 May 2024", "1 June 2024")),
    (
        ("The deductible is 150 EUR per claim. For burglary it is 300 EUR.", "The deductible is 200 EUR per claim."),
        ("150 EUR", "200 EUR"),
    ),
    (
        (
            "You must report a loss within 14 days of discovering it.",
            "A loss must be reported within ten days of being discovered.",
        ),
        ("14 days", "ten days"),
    ),
    (
        ("Up to 25 guests may enter the hall.", "No more than 30 guests may enter the hall."),
        ("25", "30"),
    ),
    (
        ("A parcel of up to 2 kg costs 5 EUR.", "5.90 EUR is the cost of a parcel of at most 2,000 grams."),
        ("5 EUR", "5.90 EUR"),
    ),
    (
        ("The notice period for tenants is one month.", "The notice period for tenants is 60 days."),
        ("one month", "60 days"),
    ),
    (("The membership fee is 5 EUR a month.", "The membership fee is 6 EUR per month."), ("5 EUR", "6 EUR")),
    (("The gym membership costs 5 EUR monthly.", "The gym membership costs 7 EUR per month."), ("5 EUR", "7 EUR")),
    (
        ("A fee of 10 EUR applies for registration.", "A charge of 12 EUR is set for the registration fee."),
        ("10 EUR", "12 EUR"),
    ),
    (("The museum opens at 9:00 on Mondays.", "The museum opens at 10 a.m. on Mondays."), ("9:00", "10 a.m")),
    (
        ("The warranty on the pump lasts two years.", "The warranty on the pump lasts 36 months."),
        ("two years", "36 months"),
    ),
    (
        ("A third of the deposit is refunded.", "50 percent of the deposit is refunded."),
        ("A third", "50 percent"),
    ),
    (
        (
            "Files are kept for 10 years after the last payment.",
            "Files are kept for 7 years after the last payment.",
        ),
        ("10 years", "7 years"),
    ),
    (
        ("A bag may weigh up to 23 kg in the hold.", "A bag in the hold may weigh at most 20 kg."),
        ("23 kg", "20 kg"),
    ),
    (
        ("The offer ends on 31 May 2026.", "The offer ends on June 30, 2026."),
        ("31 May 2026", "June 30, 2026"),
    ),
    (
        ("About 40 people work in the warehouse.", "60 people work in the warehouse."),
        ("40", "60"),
    ),
    (("Ships within two weeks of the order.", "Ships within 5 days of the order."), ("two weeks", "5 days")),
    (("Invoices are due in thirty days.", "Invoices are due in 14 days."), ("thirty days", "14 days")),
    (("The interest rate on savings is 1.5 %.", "Interest rate on savings: 2 %"), ("1.5 %", "2 %")),
    (
        ("The call-out fee for emergencies is $45.", "The call-out fee for emergencies is 60 dollars."),
        ("$45", "60 dollars"),
    ),
    (("The pool is 25 metres long.", "The pool is 50 m long."), ("25 metres", "50 m")),
]


@each(("texts", "values"), DISAGREE)
def test_different_values_for_the_same_thing(texts, values):
    (conflict,) = find_conflicts(stated(*texts))
    assert tuple(side.text for side in conflict.sides) == values
    assert conflict.is_between_sources
    for side, text in zip(conflict.sides, texts, strict=True):
        assert text[side.start : side.end].strip() == side.text


AGREE = [
    ("Claims must be reported within 14 days.", "Claims must be reported within two weeks."),
    ("The standard fee is 10 EUR.", "The express fee is 25 EUR."),
    ("A parcel up to 2 kg costs 5 EUR.", "A parcel up to 5 kg costs 9 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is not 25 EUR."),
    ("The deposit is at least 10 EUR.", "The deposit is at most 25 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is 25 days old."),
    ("Plan: Basic; Price: 10 EUR", "Plan: Pro; Price: 12 EUR"),
    ("Price: 10 EUR", "Price: 12 EUR"),
    ("Page MM-02-old of the handbook.", "Page MM-16-old of the handbook."),
    ("Decision: option 3 of the list.", "Decision: option 2 of the list."),
    ("See section 4.2 of the manual.", "See section 5.1 of the manual."),
    ("The fee for students in 2025 was 10 EUR.", "The fee for students in 2026 was 12 EUR."),
    ("The fee in Kiel is 10 EUR.", "The fee in Bonn is 12 EUR."),
    ("The registration fee is 10 EUR.", "The registration fee is 10.00 euros."),
]


AGREE += [
    ("A claim is reported within 7 days.", "A claim is reported within one week."),
    ("The travel deductible is 250 EUR.", "The motor deductible is 300 EUR."),
    ("The travel deductible is 250 EUR.", "The travel deductible is at least 300 EUR."),
    ("The fee is 5 EUR up to 2 kg weight.", "The fee is 9 EUR up to 5 kg weight."),
    ("The notice period for tenants is one month.", "The notice period for tenants is 30 days."),
    ("Half of the deposit is refunded.", "50 % of the deposit is refunded."),
    ("The distance to the station is about 10 km.", "The distance to the station is 10.4 km."),
    ("The membership fee is 5 EUR a month.", "The membership fee is 60 EUR a year."),
    ("Complaints are answered within 10 working days.", "Complaints are answered within 14 days."),
    ("We pay 500 EUR for a delay.", "You pay 300 EUR for a delay."),
    ("The 5 mg patch is worn on the arm.", "The 10 mg patch is worn on the arm."),
    ("Protocol 1 allows the export of data.", "Protocol 2 allows the export of data."),
    ("Version 2 supports the new format.", "Version 3 supports the new format."),
    ("On 3 May the office is closed to visitors.", "On 10 June the office is closed to visitors."),
    ("At 9:00 a shuttle leaves for the airport.", "At 11:00 a shuttle leaves for the airport."),
    ("The deductible is 150 EUR per claim.", "The deductible for burglary is 300 EUR per claim."),
    ("The excess for drivers under 25 is 750 EUR.", "The excess for drivers under 21 is 900 EUR."),
    ("Children pay 5 EUR for the tour.", "Adults pay 9 EUR for the tour."),
    ("The monthly fee for the gym is 30 EUR.", "The yearly fee for the gym is 300 EUR."),
    ("The museum opens at 9:00 on Mondays.", "The museum opens at 10:00 on Sundays."),
    ("The museum opens at 9:00 on Mondays.", "The museum closes at 18:00 on Mondays."),
    ("The offer ends on 31 May 2026.", "The offer ends on May 31st, 2026."),
    ("Files are kept for at least 7 years.", "Files are kept for at most 10 years."),
    ("The bonus is paid after 12 months.", "The bonus is paid within 18 months."),
    ("Zone 2 tickets to the city cost 4 EUR.", "Zone 3 tickets to the city cost 6 EUR."),
    ("Wait 5 minutes before opening the valve.", "Wait 10 minutes after opening the valve."),
    ("See rule 7.1 of the statutes.", "See rule 7.2 of the statutes."),
    ("The bus leaves at 8:15 from gate 4.", "The bus leaves at 8:45 from gate 5."),
    ("The premium is $120.", "The premium is 110 euros."),
]


@each("texts", AGREE)
def test_no_disagreement(texts):
    assert find_conflicts(stated(*texts)) == ()


@pytest.mark.parametrize(
    "number",
    [
        "1.1",
        "1.1.",
        "4.2.1",
        "3.",
        "3)",
        "(a)",
        "(iv)",
        "\u00a7 3",
        "\u00a7 3.1",
        "Section 4.2:",
        "Clause 7",
        "2.1 (b)",
    ],
)
def test_the_number_of_a_clause_is_not_what_it_speaks_of(number):
    plain, numbered = (
        "Full-time staff have 25 days of annual leave a year.",
        "Full-time staff have 29 days of annual leave a year.",
    )
    found = find_conflicts(stated(plain, f"{number} {numbered}"))
    assert [side.text for side in found[0].sides] == ["25 days", "29 days"]
    first, second = stated(f"9.9 {plain}", f"{number} {numbered}")
    sides = Pairs(SubjectIndex()).between(first, second)
    assert sides is not None
    assert [side.text for side in sides] == ["25 days", "29 days"]
    assert not find_conflicts(stated(f"9.9 {plain}", f"{number} {plain}"))


def test_a_number_that_begins_a_sentence_is_no_clause():
    sides = find_conflicts(stated("25 Members vote in 3 days.", "30 Members vote in 3 days."))[0].sides
    assert [side.text for side in sides] == ["25", "30"]
    sides = find_conflicts(stated("5.90 EUR is the fee for guests.", "6.90 EUR is the fee for guests."))[0].sides
    assert [side.text for side in sides] == ["5.90 EUR", "6.90 EUR"]


@pytest.mark.parametrize("heading", ["# Handbook > ## 3 Annual leave", "# Handbook > ## 3.1. Annual leave"])
def test_the_number_of_a_section_is_not_what_its_heading_says(heading):
    first = Stated("a", "a", "Full-time staff have 25 days a year.", "# Policy > ## Annual leave")
    other = Stated("b", "b", "Full-time staff have 29 days a year.", heading)
    assert find_conflicts([first, other])
    assert not find_conflicts([first, Stated("b", "b", other.text, "# Handbook > ## 2026 Training")])


def test_headings_tell_things_apart():
    facts = [
        Stated("f1", "a", "The meal allowance is 20 euros.", "# Travel > ## Germany"),
        Stated("f2", "a", "The meal allowance is 30 euros.", "# Travel > ## France"),
        Stated("f3", "b", "The meal allowance is 25 euros.", "# Other title > ## Germany"),
    ]
    (conflict,) = find_conflicts(facts)
    assert [side.fact_id for side in conflict.sides] == ["f1", "f3"]


@each("texts", [texts for texts, _ in DISAGREE], ids=str)
def test_a_dry_run_finds_what_an_envelope_finds(texts):
    first, second = stated(*texts)
    (conflict,) = find_conflicts([first, second])
    assert Pairs().between(first, second) == conflict.sides
    assert Pairs().between(second, first) == conflict.sides[::-1]
    assert SubjectIndex().sharing([first, second]) == [first, second]


@each("texts", AGREE)
def test_a_dry_run_says_no_more(texts):
    assert Pairs().between(*stated(*texts)) is None


def test_a_dry_run_compares_sources_alone():
    facts = stated("The parking fee is 2 EUR.", "The parking fee is 3 EUR.", sources="aaaaaaaa")
    assert Pairs().between(*facts) is None


@pytest.mark.parametrize(
    ("first", "second", "disagree"),
    [
        (
            ("# Policy > ## Burglary", "The deductible is 300 EUR."),
            ("", "For burglary the deductible is 350 EUR."),
            True,
        ),
        (
            ("# Policy > ## Thefts", "Thefts: Report a loss within 14 days."),
            ("", "Report a loss within 10 days."),
            False,
        ),
        (("# Policy > ## Reports", "Report a loss within 14 days."), ("", "Report a loss within 10 days."), True),
        (
            ("# A > ## Fees", "Course registration is 10 EUR."),
            ("# B > ## Prices", "Course registration is 12 EUR."),
            True,
        ),
        (
            ("# A > ## Kiel", "Course registration is 10 EUR."),
            ("# B > ## Bonn", "Course registration is 12 EUR."),
            False,
        ),
        (
            ("# Meridian Home Insurance Policy > ## Deductible", "The deductible is 150 EUR per claim."),
            ("# Meridian Motor Insurance Policy > ## Deductible", "The deductible is 300 EUR per claim."),
            False,
        ),
        (
            ("# Travel policy 2025 > ## Deductible", "The deductible is 150 EUR per claim."),
            ("# Travel policy 2026 > ## Deductible", "The deductible is 300 EUR per claim."),
            True,
        ),
        (("# Policy > ## Package Basic", "Price: 10 EUR"), ("# Offer > ## Package Basic", "Price: 12 EUR"), True),
    ],
)
def test_headings_and_titles_say_what_is_spoken_of(first, second, disagree):
    facts = [Stated("f1", "a", first[1], first[0]), Stated("f2", "b", second[1], second[0])]
    assert bool(find_conflicts(facts)) is disagree


def test_what_stands_under_no_heading_is_held_against_one_heading_alone():
    text = "The meal allowance is {} euros."
    named = [
        Stated("f1", "a", text.format(20), "# Travel > ## Germany"),
        Stated("f2", "a", text.format(30), "# Travel > ## France"),
    ]
    memo = Stated("f3", "b", text.format(25))
    assert find_conflicts([*named, memo]) == ()
    (conflict,) = find_conflicts([named[0], memo])
    assert [side.text for side in conflict.sides] == ["20 euros", "25 euros"]


def test_a_document_may_disagree_with_itself_and_comes_behind_two_that_do():
    own = stated("The parking fee is 2 EUR.", "The parking fee is 3 EUR.", sources="aaaaaaaa")
    others = [Stated("x", "b", "The entry fee is 5 EUR."), Stated("y", "c", "The entry fee is 6 EUR.")]
    assert [one.is_between_sources for one in find_conflicts([*own, *others])] == [True, False]


def test_a_series_is_no_disagreement():
    assert find_conflicts(stated(*(f"The fee for the course is {number} EUR." for number in range(4)))) == ()


def test_rows_of_one_document_are_two_tables():
    rows = ("Plan: Basic; Price: 10 EUR", "Plan: Basic; Price: 12 EUR")
    assert find_conflicts(stated(*rows, sources="aaaaaaaa")) == ()


@pytest.mark.timed
@pytest.mark.whole
def test_it_is_bounded_and_linear():
    names = [f"item{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(2_000)]
    facts = [
        Stated(f"{source}{name}", source, f"The fee for {name} at the desk is {bonus} EUR.")
        for name in names
        for source, bonus in (("a", 1), ("b", 2))
    ]
    with processor_time_below(5.0):
        assert len(find_conflicts(facts)) == MAX_CONFLICTS


@pytest.mark.parametrize("capacity", [1, 100])
def test_the_index_gives_the_same_conflicts_and_keeps_numbers_alone(capacity):
    index = SubjectIndex(capacity)
    texts = [text for pair, _ in DISAGREE for text in pair]
    facts = [Stated(f"f{place}", f"s{place}", text) for place, text in enumerate(texts)]
    for _ in range(2):
        shared = index.sharing(facts)
        assert find_conflicts(shared) == find_conflicts(facts)
    assert all(isinstance(number, int) for numbers in index._known.values() for number in numbers)
    assert index.sharing([Stated("a", "s", "The club house is open."), Stated("b", "t", "It costs 5 euros.")]) == []
