"""A sentence of the facts repeated but for one thing: a value, a name, a negation, an opposite (ADR 0193 to 0195)."""

import pytest

from services.common.reading.polarity import negated_words
from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.findings import Basis, Rule, Verdict
from services.dpe.domain.notation import in_fact_notation
from services.dpe.domain.qualifiers import left_out, limits_another_statement
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.empty_cells import turned_cell
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.repeats import aligned, nearest_parts, values_agree
from services.dpe.domain.rules.substituted import substituted_thing, substituted_value
from services.dpe.domain.rules.turned import opposed_word, turned_word
from tests.unit.dpe.test_dpe_departures import found
from tests.unit.dpe.test_dpe_displaced import judged

WARD = "Visitors may enter the isolation ward between 14:00 and 18:00 with a mask from the nurse station."
LOANS = "Reference books are not lent to guests, because they are in daily use. Maps are lent to guests for 7 days."
LEASE = "The landlord repairs the boiler within 5 working days after the tenant has reported the fault."
KENNEL = "Dogs stay in the north kennel for at most 12 nights. Cats stay in the south kennel for at most 20 nights."


def departure(rule, claim, *facts):
    sources = [Reading.of(text, 0, fact_index=at) for at, fact in enumerate(facts) for text in fact.split(". ")]
    item = rule(read_claim(claim, 0), sources)
    if item is None:
        return None
    return claim[item.claimed.start : item.claimed.end], item.source.text[item.known.start : item.known.end]


@pytest.mark.parametrize(
    ("claim", "fact", "words"),
    [
        ("Reference books are lent to guests.", LOANS, ("lent", "not lent")),
        ("Maps are not lent to guests for 7 days.", LOANS, ("not lent", "lent")),
        (
            "There is a fee for the first repair after delivery.",
            "There is no fee for the first repair after delivery, and none for parts.",
            ("fee", "no fee"),
        ),
        (
            "A registered nurse may refuse the transfer of a patient.",
            "No registered nurse may refuse the transfer of a patient, even if the ward is full.",
            ("registered", "No registered"),
        ),
        (
            "In winter, the upper car park is cleared of snow.",
            "The upper car park is not cleared of snow.",
            ("cleared", "not cleared"),
        ),
        (
            "The archive is open to the public with an appointment.",
            "The archive is open to the public without an appointment.",
            ("appointment", "without an appointment"),
        ),
        ("Decisions of the former board are no longer valid.", "Decisions of the former board are valid.", None),
    ],
)
def test_one_word_that_is_negated_on_one_side_alone_is_found(claim, fact, words):
    if words is None:  # the sentence's word is shown where the claim has "no longer"
        assert departure(turned_word, claim, fact) == ("no longer valid", "valid")
    else:
        assert departure(turned_word, claim, fact) == words


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Guests are not lent reference books.", LOANS),
        ("Maps are lent to guests for 7 days.", LOANS),
        ("A registered nurse may not refuse the transfer.", "No registered nurse may refuse the transfer."),
        ("Cover applies to the car.", "Cover does not apply to the car if it is left open."),
        ("The highest no-claims discount is 55 percent.", "The highest no-claims discount is 55 percent, for 9 years."),
        ("The report goes to the clerk, not to the mayor.", "The report goes to the clerk and the mayor."),
        ("The room is booked.", "The room may not be booked for the choir without a deposit."),
        ("The pump is checked when it is not running.", "The pump is checked when it is running, not before."),
        ("Parking is free on Sundays.", "Parking in the yard is not free on weekdays; on Sundays it is free."),
        ("Tickets are refunded before the show.", "Tickets are not refunded after the show."),
        ("Nobody pays.", "Members pay."),
    ],
)
def test_what_denies_something_else_turns_nothing(claim, fact):
    assert departure(turned_word, claim, fact) is None


def test_a_sentence_that_says_the_same_clears_a_claim():
    claim, turned = "Reference books are lent to guests.", "Reference books are not lent to guests."
    assert departure(turned_word, claim, turned) is not None
    assert departure(turned_word, claim, turned, "Reference books are lent to guests on Fridays.") is None


@pytest.mark.parametrize(
    ("claim", "fact", "words"),
    [
        (
            "The tenant pays the gas bill before the meter is read.",
            "The tenant pays the gas bill after the meter is read.",
            ("before", "after"),
        ),
        ("Dogs stay in the north kennel for at least 12 nights.", KENNEL, ("least 12", "most")),
        (
            "The contract allows subletting of the garage to neighbours.",
            "The contract forbids subletting of the garage to neighbours.",
            ("allows", "forbids"),
        ),
    ],
)
def test_an_opposite_in_the_place_of_a_word_is_found(claim, fact, words):
    assert departure(opposed_word, claim, fact) == words


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Leave will not be shown before you ask for it.", "Leave will not be shown until after you ask for it."),
        ("The visit must not end before noon.", "The visit must end after noon at the gate."),
        ("The tenant pays after 3 days.", "The tenant pays before 5 days have passed."),
        ("The first tenant pays the bill after a year.", "The last landlord gets the bill before a year."),
    ],
)
def test_an_opposite_in_another_sentence_is_none(claim, fact):
    assert departure(opposed_word, claim, fact) is None


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("The landlord repairs the boiler within 15 working days after the tenant has reported the fault.",
         ("15 working days", "5 working days")),
        ("The landlord repairs the boiler within 5 working days after the tenant has reported the fault.", None),
        ("The landlord repairs the boiler within one working week after the tenant has reported the fault.", None),
        ("The landlord repairs the roof within 15 working days after the builder has reported the fault.", None),
        ("Except in May the landlord repairs the boiler within 15 working days after the fault.", None),
        ("The landlord repairs the boiler after the tenant has reported the fault.", None),
    ],
)  # fmt: skip
def test_a_value_in_the_place_of_another_is_found(claim, words):
    assert departure(substituted_value, claim, LEASE) == words


def test_a_value_that_another_sentence_gives_is_none():
    assert departure(substituted_value, "Cats stay in the south kennel for at most 12 nights.", KENNEL) is not None
    other = "In spring cats stay in the south kennel for at most 12 nights."
    assert departure(substituted_value, "Cats stay in the south kennel for at most 12 nights.", KENNEL, other) is None


@pytest.mark.parametrize(
    ("claim", "facts", "rule"),
    [
        (  # both are spoken of in one sentence
            "The tenant repairs the boiler within 5 working days after the fault was reported.",
            ("The landlord repairs the boiler within 5 working days after the fault was reported.",
             "The tenant writes to the landlord."),
            Rule.NAME,
        ),
        (  # both are names
            "The keys of the gate are held by Maria Osei at night.",
            ("The keys of the gate are held by Jon Price at night.",),
            Rule.NAME,
        ),
        (  # kinds of one thing
            "You can carry over 12 hours of study leave into the next year.",
            ("You can carry over 12 hours of annual leave into the next year.", "Ask for study leave in May."),
            Rule.NAME,
        ),
        (  # the same is said of both
            "The operator is liable for any loss of the key.",
            ("The visitor is liable for any loss of the key.", "The operator is liable for damage to clothing."),
            Rule.NAME,
        ),
        (  # two words for one thing, as far as anybody knows
            "Broken panes are replaced by the joiner within the same week.",
            ("Broken panes are replaced by the glazier within the same week.",),
            Rule.DISPLACED,
        ),
    ],
)  # fmt: skip
def test_a_thing_in_the_place_of_another_is_found(claim, facts, rule):
    sources = [Reading.of(text, 0, fact_index=at) for at, text in enumerate(facts)]
    item = substituted_thing(read_claim(claim, 0), sources)
    assert (item.rule, item.is_guess) == (rule, rule is Rule.DISPLACED)


@pytest.mark.parametrize(
    ("claim", "facts"),
    [
        ("The SIU checks each claim above 900 euros.", ("Special Investigations checks each claim above 900 euros.",)),
        ("The handover takes place in the Price Hall at noon.", ("The handover takes place in Price at noon.",)),
        ("Hours roll over from one period to the next.", ("Hours rollover from one period to the next.",)),
        ("Moves: cats stay for 12 nights in a kennel.", ("Stays: cats stay for 12 nights in a kennel.",)),
        ("The joiner replaces broken panes within a week.", ("A glazier is called; he replaces old panes.",)),
        (
            "The nurse station hands masks to visitors at noon.",
            ("The front desk hands masks to visitors at noon.", "The nurse station hands masks to visitors at noon."),
        ),
        ("The ward takes 5 visitors at noon.", ("The hall takes 9 visitors at noon.", "The hall is by the ward.")),
    ],
)
def test_what_may_be_one_thing_is_none(claim, facts):
    assert departure(substituted_thing, claim, *facts) is None


async def test_a_guess_counts_where_the_entailment_model_contradicts():
    fact = "Broken panes are replaced by the glazier within the same week."
    answer = "Broken panes are replaced by the joiner within the same week."
    judgement, _ = await judged(answer, fact, support=0.9, entailment=[0.8, 0.15, 0.05])
    assert judgement.verdict is Verdict.SUPPORTED
    judgement, _ = await judged(answer, fact, support=0.9, entailment=[0.05, 0.15, 0.8])
    assert (judgement.verdict, judgement.basis) == (Verdict.CONTRADICTED, Basis.CONTRADICTION), "a model's word"
    assert "“joiner”" in judgement.why


def test_values_agree_in_any_notation():
    claim, source = read_claim("A hold ends after two years.", 0), Reading.of("A hold ends after 24 months.", 0)
    beside = aligned(claim, source)
    assert (beside.copied, beside.differences) == (1.0, ())
    assert values_agree(claim, source)
    assert not values_agree(read_claim("A hold ends after 3 years.", 0), source)


def test_alignments_are_made_once_for_the_same_sources():
    claim, sources = read_claim("A hold ends after two years.", 0), [Reading.of("A hold ends after 24 months.", 0)]
    assert nearest_parts(claim, sources) is nearest_parts(claim, sources)
    assert nearest_parts(claim, []) == []


def test_what_stands_word_for_word_in_a_fact_departs_from_no_other():
    claim = "Emergencies need no approval"
    quoted, other = (
        "Emergencies need no approval, but the stay is reported.",
        "After a storm a person needs no approval.",
    )
    assert found(claim, quoted, other) == {}


def test_values_are_no_parties():
    assert Rule.PARTIES not in found(
        "A policy in its first 6 months costs the whole premium.",
        "A policy in its first 12 months costs half the premium. The first 6 months are free.",
    )


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("No more than 240 hours can be kept.", "At most 240 hours can be kept."),
        ("It takes no fewer than 3 bids.", "It takes at least 3 bids."),
        ("It takes not less than 3 bids.", "It takes not less than 3 bids."),  # the fact says so
        ("It takes 3 bids.", "It takes 3 bids."),
    ],
)
def test_bounds_are_asked_without_a_negation(text, asked):
    claim = Claim("c1", text, 0, len(text), 0, ClaimType.FACTUAL, 1.0)
    rewritten = in_fact_notation(claim, (), ("Not less than 3 bids are asked for.",))
    assert rewritten.text == asked
    assert in_fact_notation(claim, ()).text == text


@pytest.mark.parametrize(
    ("source", "said", "is_other"),
    [
        ("Rings are covered up to 20 percent, and a single watch up to 900 euros unless it is listed.",
         "Rings are covered up to 20 percent.", True),
        ("Rings are covered up to 20 percent, and rings of gold unless they are listed.",
         "Rings are covered up to 20 percent.", False),
        ("Rings are covered up to 20 percent unless they are listed.", "Rings are covered up to 20 percent.", False),
    ],
)  # fmt: skip
def test_a_limit_belongs_to_the_statement_that_it_stands_in(source, said, is_other):
    assert limits_another_statement(source, said, source.index("unless")) is is_other


def test_what_holds_in_spite_of_something_and_a_word_cut_off_limit_nothing():
    paid = "No bonus is paid for new policies, even if the threshold was reached before."
    assert left_out(paid, "No bonus is paid for new policies.", "No bonus is paid for new policies.") is None
    rated = "If you are a veteran with a service-connected disability rating of 30 percent or more, you can take leave."
    said = "A veteran with a service-connected disability rating of 30 percent or more can take leave."
    assert left_out(rated, said, said) is None


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("It does not apply here.", {"apply"}),
        ("It is paid without an inspection.", {"inspection"}),
        ("The no-claims discount holds.", set()),
        ("It holds.", set()),
    ],
)
def test_what_is_negated_is_the_next_word_of_content(text, negated):
    assert negated_words(text) == negated


def test_a_sentence_with_one_thing_left_out_departs_from_no_other():
    claim = "Comp time expires one year after it is earned."
    told = "Comp time expires one year (26 pay periods) after it is earned."
    other = "Award leave expires one year after comp time ends."
    assert found(claim, told, other) == {}
    assert nearest_parts(read_claim(claim, 0), [Reading.of(told, 0)])[0].gaps == 1


SINGLE = "Line: Travel, single trip; New business: 22 percent; Renewal: none"
ANNUAL = "Line: Travel, annual; New business: 22 percent; Renewal: 15 percent"


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("There is a renewal commission for travel on a single trip.", ("renewal", "none")),
        ("There is no renewal commission for annual travel.", ("no", "15 percent")),
        ("There is no renewal commission for travel on a single trip.", None),
        ("The renewal commission for annual travel is 15 percent.", None),
        ("There is a renewal commission for travel on a single trip if the board agrees.", None),
        ("There is a renewal commission for boats.", None),
    ],
)
def test_what_a_cell_says_there_is_not_is_found_turned_round(claim, words):
    assert departure(turned_cell, claim, SINGLE, ANNUAL) == words
