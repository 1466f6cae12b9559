"""What an answer works out in so many words, from the documents and the question (ADR 0207)."""

# ruff: noqa: RUF001 - people write products so

import pytest

from services.common.reading.reckoning.lines import lines_of
from services.common.reading.sentences import sentences
from services.common.reading.values import scan_values
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import AlignedValue, Verdict
from services.dpe.domain.givens import Given, asked_values
from services.dpe.domain.workings import is_of_something_else, with_workings, workings
from tests.each import each
from tests.fakes.dpe_world import analyse
from tests.speed import processor_time_below
from tests.unit.dpe.test_dpe_floors import analysed

TERMS = (
    "Blaze 900 costs €49.00 a month. If you leave early, the exit fee is 60% of the monthly price for each month left."
)
BANDS = "Band 2 | 28,001 to 60,000 | 26% | 8,320. Band 3: above 60,000, 38%. Band 1 comes to 2,660 at most."
RELIEF = "Your income tax is cut by 20%, by at most KM 1,000 a year. Interest is 0.5% a month."
MILES = "We pay £0.45 per mile. Each colleague carried on business adds £0.05 per mile."
BAND_LIST = "- Band 1: KM 2,660\n- Band 2, to 60,000: KM 8,320\n- the remaining 10,000 at 38%: KM 3,800"
DESK = (
    "Working at home: KM 8 for each full day, at most 120 days. "
    "Dearer items are deducted in equal parts over four years."
)
PERMIT = (
    "A permit is requested at least three working days before the work starts. A watch lasts 60 minutes afterwards."
)
TERM = "The minimum term is 18 months for all plans. It begins on the day your line is activated."
LATE = "The late charge is KM 80 plus KM 10 for each week started."


def found(document, question, answer, wrong=()):
    """Return what follows in an answer, as value and derivation, without repetition."""
    places = read_fact(0, EnvelopeFact("0", document), ()).places
    given = Given(answer, places, asked_values(question), lambda value: value.text in wrong)
    kinds = [one.kind for one in sentences(answer)]
    known = workings(lines_of(answer), kinds, given)
    pairs = with_workings((), scan_values(answer), known, (), lambda _: False)
    return {pair.claimed.text: pair.derivation for pair in pairs}


@each(
    ("answer", "values"),
    [
        ("60% of €49.00 is €29.40, and €29.40 × 8 = €235.20.", {"€29.40", "€235.20"}),
        ("The fee would be €235.20. 60% of €49.00 is €29.40, and €29.40 × 8 = €235.20.", {"€29.40", "€235.20"}),
        ("60% of €49.00 is €29.40, and €29.40 × 8 = €225.20.", {"€29.40"}),
        ("60% of €49.00 is €28.40, and €28.40 × 8 = €227.20.", set()),
        ("60% of €49.00 is €29.40, and €29.40 × 9 = €264.60.", {"€29.40"}),
        ("60% of €59.00 is €35.40, and €35.40 × 8 = €283.20.", set()),
        ("The fee would be €230.00. 60% of €49.00 is €29.40, and €29.40 × 8 = €235.20.", {"€29.40", "€235.20"}),
        ("The early exit tax (60% of €49.00 = €29.40) is due.", {"€29.40"}),
        ("2 × 60% of €49.00 is €29.40.", set()),
    ],
    ids=["a chain", "said before", "wrong at the end", "wrong at first", "nine of nowhere", "a price of nowhere",
         "another figure before", "in brackets", "more than was read"],
)  # fmt: skip
def test_what_is_written_out_follows_where_its_operands_are_given(answer, values):
    assert set(found(TERMS, "I want to leave with 8 full months to go. What is it?", answer)) == values


def test_an_operand_that_stands_in_the_place_of_another_gives_nothing():
    answer = "60% of €49.00 is €29.40."
    assert found(TERMS, "What is it?", answer, wrong={"€49.00"}) == {}


@each(
    ("answer", "values"),
    [
        (f"{BAND_LIST}\n\nTotal: KM 14,780.",
         {"10,000", "3,800", "14,780"}),
        (f"{BAND_LIST}\n\nTotal: KM 15,780.",
         {"10,000", "3,800"}),
        ("- Band 1: KM 2,660\n- Band 2: KM 8,320\n- Fee: KM 45\n\nTotal: KM 11,025.", set()),
        ("You would owe KM 10,980:\n- Band 1: KM 2,660\n- Band 2: KM 8,320", {"10,980"}),
        ("You would owe KM 10,990:\n- Band 1: KM 2,660\n- Band 2: KM 8,320", set()),
        ("- Band 1: KM 2,660\n- Band 2: KM 8,320\n\nThe deposit is KM 10,980.", set()),
        ("| Band | Tax |\n|---|---|\n| Band 1 | 2,660 |\n| Band 2 | 8,320 |\n| **Total** | **10,980** |", {"10,980"}),
        ("| Band | Tax |\n|---|---|\n| Band 1 | 2,660 |\n| Band 2 | 8,320 |\n| **Total** | **11,980** |", set()),
        ("Up to 60,000 you pay 26%. Over the last 10,000 you pay more.", set()),
        ("Up to 60,000 you pay 26%. The remaining 20,000 at 38%: KM 7,600.", set()),
    ],
)  # fmt: skip
def test_a_total_of_the_items_of_a_list_follows(answer, values):
    assert set(found(BANDS, "What do I owe on a profit of 70,000?", answer)) == values


@each(
    ("answer", "values"),
    [
        ("It takes 20% off, never more than KM 1,000. 20% of 6,200 would be 1,240, so you'd pay KM 5,200.",
         {"1,240", "5,200"}),
        ("It takes 20% off. 20% of 6,200 would be 1,240, so you'd pay KM 4,960.", {"1,240"}),
        ("It takes 20% off, never more than KM 1,000. 20% of 6,200 would be 1,240, so you'd pay KM 4,960.", {"1,240"}),
        ("The interest is 0.5% (KM 31).", {"31"}),
        ("The interest is 0.5% (KM 62).", set()),
        ("The interest is 0.7% (KM 43.40).", set()),
    ],
)  # fmt: skip
def test_a_share_of_what_the_asker_names_follows_and_a_limit_holds_it(answer, values):
    assert set(found(RELIEF, "My income tax would come out at 6,200. Is there a discount?", answer)) == values


@each(
    ("answer", "values"),
    [
        ("120 × £0.45 = £54 for you, and 120 × £0.05 × 2 = £12 for them.", {"£54", "£12"}),
        ("120 × £0.45 = £54 for you, and 120 × £0.05 = £6 for them.", {"£54"}),
    ],
    ids=["for two", "for one of two"],
)
def test_a_rate_for_each_is_multiplied_by_how_many_the_asker_names(answer, values):
    assert set(found(MILES, "How much do I get for 120 miles with two colleagues on board?", answer)) == values


@each(
    ("answer", "values"),
    [
        (
            "| Home: KM 8 × 120 days (the most) | 960.00 |\n| Laptop, a quarter per year | 287.50 |",
            {"960.00", "287.50"},
        ),
        ("| Home: KM 8 × 130 days | 1,040.00 |\n| Laptop, a third per year | 383.33 |", set()),
        ("| Home: KM 9 × 120 days | 1,080.00 |\n| Laptop, a quarter per year | 278.50 |", set()),
    ],
)
def test_rows_are_worked_out(answer, values):
    assert (
        set(found(DESK, "I work at home 210 days and bought a laptop for 1,150. What can I deduct?", answer)) == values
    )


@each(
    ("answer", "values"),
    [
        ("KM 80 plus KM 10 for each week started, so 80 + 30 = KM 110.", {"30", "110"}),
        ("KM 80 plus KM 10 for each week started, so 80 + 40 = KM 120.", set()),
    ],
)
def test_a_rate_comes_to_as_many_as_the_asker_names(answer, values):
    assert set(found(LATE, "What if I am exactly 3 weeks late?", answer)) == values


ASKED = "Our roofer will be welding on Thursday 16 October until about 3:15. When do we ask?"
TUESDAY = ASKED.replace("Thursday 16", "Tuesday 14")


@each(
    ("question", "answer", "values"),
    [
        (ASKED, "Ask three working days before, so by Monday 13 October.", {"13 October"}),
        (ASKED, "Ask three working days before, so by 13 October.", {"13 October"}),
        (ASKED, "Ask three working days before, so by Tuesday 13 October.", set()),
        (ASKED, "Ask three working days before, so by Sunday 12 October.", set()),
        (ASKED, "Ask two working days before, so by Tuesday 14 October.", set()),
        (ASKED, "Ask before 13 October.", set()),
        (TUESDAY, "Ask three working days before, so by Thursday 9 October.",
         {"9 October"}),
        (TUESDAY, "Ask three working days before, so by Saturday 11 October.", set()),
        (ASKED.replace("Thursday ", ""), "Ask three working days before, so by Monday 13 October.", set()),
        (ASKED, "If they finish at 3:15 pm, somebody stays another 60 minutes, until 4:15 pm.", {"4:15 pm"}),
        (ASKED, "If they finish at 3:15 pm, somebody stays another 60 minutes, until 4:30 pm.", set()),
        (ASKED, "If they finish at 3:15 pm, somebody stays until 4:15 pm.", set()),
    ],
)  # fmt: skip
def test_days_and_times_are_reached_from_those_of_the_asker(question, answer, values):
    assert set(found(PERMIT, question, answer)) == values


@each(
    ("answer", "values"),
    [
        (
            "Your minimum term starts on 10 October 2025. It ends after 18 months, on 10 April 2027.",
            {"10 April 2027"},
        ),
        ("Your minimum term starts on 10 October 2025. It has 18 months, so it ends on 10 April 2027.", set()),
        ("From your order on 20 September 2025 you are out after 18 months, on 20 March 2027.", set()),
    ],
    ids=["of the event that the length is of", "in no direction", "of another event"],
)
def test_of_two_days_of_the_asker_one_is_bound_to_the_length(answer, values):
    question = "I ordered on 20 September 2025 and it went live on 10 October 2025. When am I out?"
    assert set(found(TERM, question, answer)) == values


@each(
    ("answer", "values"),
    [
        ("You get it for the year you registered and the next one, so 2025 and 2026.", {"2025", "2026"}),
        ("You get it for the year you registered and 2027.", set()),
        ("You get it in 2026.", set()),
    ],
)
def test_the_year_of_a_day_and_the_next_one_follow(answer, values):
    assert set(found(RELIEF, "I registered in May 2025. When do I get it?", answer)) == values


def test_what_stands_in_the_facts_is_not_said_to_follow():
    answer = "You pay 60% of €49.00, which is €29.40."
    (value, *_) = [one for one in scan_values(answer) if one.text == "€29.40"]
    places = read_fact(0, EnvelopeFact("0", TERMS), ()).places
    known = workings(
        lines_of(answer), [one.kind for one in sentences(answer)], Given(answer, places, (), lambda _: False)
    )
    pair = AlignedValue(value, places[0].value, equal=True, fact_index=0)
    assert with_workings([pair], [value], known, (), lambda _: False) == [pair]
    conflict = AlignedValue(value, places[0].value, equal=False, fact_index=0, is_firm=True)
    assert with_workings([conflict], [value], known, (), lambda _: False) == [conflict]
    (other,) = with_workings([], [value], known, [0], lambda _: False)
    assert (other.equal, other.derivation, other.derived_from) == (True, "60% of €49.00 = 29.4 EUR", (0,))
    assert other.is_own
    assert not other.is_firm


async def test_an_answer_that_shows_its_working_fabricates_nothing():
    answer = "The exit fee would be €{0}. 60% of €49.00 is €29.40, and €29.40 × 8 = €{0}."
    asked = "I want to leave Blaze 900 with 8 full months to go. What is the fee?"
    right, wrong = [await analyse(answer.format(fee), TERMS, query=asked) for fee in ("235.20", "225.20")]
    assert not right.analysis.outputs.fabrication.found
    assert [one.entity.text for one in wrong.analysis.outputs.fabrication.found] == ["€225.20", "€225.20"]
    assert "MISRECKONED" in {floor.reason.name for floor in wrong.analysis.outputs.risk.floors}
    assert "MISRECKONED" not in {floor.reason.name for floor in right.analysis.outputs.risk.floors}


@each(
    ("document", "question", "right", "wrong"),
    [
        ("Reports are answered within 14 days.", "I reported it on 20 March 2025. By when?",
         "It is within 14 days, by 3 April 2025.", "It is within 14 days, by 6 March 2025."),
        ("Check-in closes 60 minutes before departure.", "My coach leaves at 15:15. When is it?",
         "It closes 60 minutes before, at 14:15.", "It closes at 16:15, 60 minutes are needed."),
        ("The notice is two months.", "I pay from 1 May 2025. When does it run out?",
         "It runs out after two months, on 1 July 2025.", "It runs out on 1 March 2025, after two months."),
        ("Goods are taken back within 14 days. The warranty is 24 months.", "It came on 10 March 2025. Until when?",
         "You can return it within 14 days, until 24 March 2025.",
         "You can return it until 10 March 2027; the warranty runs for 24 months."),
    ],
)  # fmt: skip
def test_a_length_leads_to_the_side_that_the_sentence_says(document, question, right, wrong):
    assert len(found(document, question, right)) == 1
    assert not found(document, question, wrong)


@each(
    ("document", "question", "answer"),
    [
        ("Refunds are paid within 10 working days.", "It was delivered on 9999-12-31. Refund?",
         "Refunds are paid within 10 working days, by 9999-12-31."),
        ("Requests come 10 working days before.", "It was delivered on 0001-01-01. Request?",
         "Ask 10 working days before, by 0001-01-01."),
        ("It takes 999999999999999999999999999999 hours.", "It starts at 10:00. When does it end?",
         "It starts at 10:00 and ends within 999999999999999999999999999999 hours, at 11:00."),
        ("It costs €99999999999999.", "How much?", "99999999999999 x €99999999999999 = €5."),
    ],
)  # fmt: skip
def test_values_beyond_all_bounds_end_no_check(document, question, answer):
    assert not found(document, question, answer)


@pytest.mark.timed
@each(
    ("document", "question", "answer"),
    [
        (" ".join(f"Fee {n} is £{n + 100}." for n in range(500)), "I have £5.",
         " ".join(f"The remaining £{n + 100}." for n in range(100))),
        ("It takes 60 minutes.", " ".join(f"Is it {n // 60 % 24}:{n % 60:02d}?" for n in range(400)),
         " ".join(f"Within 60 minutes, {n // 60 % 24}:{n % 60:02d}." for n in range(50))),
        (" ".join(f"It lasts {n} days." for n in range(1, 300)),
         " ".join(f"It was on {n % 28 + 1} May {1900 + n}." for n in range(300)),
         " ".join(f"Within {n} days, by {n} May 2025." for n in range(1, 29))),
    ],
    ids=["remainders", "times", "dates"],
)  # fmt: skip
def test_many_values_cost_little(document, question, answer):
    with processor_time_below(8):
        found(document, question, answer)


@each(
    ("document", "question", "answer"),
    [
        ("The excess is £250. A deposit of £100 is taken.", "What is the excess?",
         "The excess is £350: £250 + £100 = £350."),
        ("A deposit of £900 is taken. Late rent costs £15.", "What is the deposit?",
         "A deposit of £915 is taken: £900 + £15 = £915."),
    ],
)  # fmt: skip
async def test_no_sum_of_two_amounts_takes_the_place_of_a_stated_one(document, question, answer):
    done = await analyse(answer, document, query=question)
    pairs = [pair for found_ones in done.analysis.outputs.attribution.alignments.values() for pair in found_ones]
    assert all(pair.is_own or not pair.derivation for pair in pairs if pair.equal)


@each(
    ("claim", "is_kept"),
    [("Total: £38.", False), ("The excess is £38.", True), ("£38.", True)],
    ids=["of something else", "of the same", "of nothing"],
)
async def test_what_is_held_against_a_value_gives_way_where_no_word_is_at_its_place(claim, is_kept):
    done = await analyse(claim, "The excess is £250.")
    (said, *_) = done.analysis.outputs.text.claims
    (place, *_) = done.analysis.outputs.text.fact_views[0].places
    pair = AlignedValue(said.values[0], place.value, equal=False, fact_index=0, is_firm=True)
    assert is_of_something_else(done.analysis, said, pair) is not is_kept


@each(
    ("document", "question", "answer"),
    [
        ("Deposit of £900 is taken. Late rent costs £15.", "", "A deposit of £915 is taken: £900 + £15 = £915."),
        (TERMS, "I leave 8 months early.", "The exit fee is €235.20 for 8 months: 60% of €49.00 is €29.40 × 8 months."),
        ("Fees: joining £30, card £12.", "", "Fees: joining £30 + card £12 = £42."),
    ],
)  # fmt: skip
async def test_what_an_answer_works_out_bears_nothing_out(document, question, answer):
    done = await analysed(answer, document, support=0.1, query=question)
    verdicts = {one.verdict for one in done.analysis.outputs.fidelity.judgements.values()}
    assert verdicts
    assert Verdict.SUPPORTED not in verdicts
