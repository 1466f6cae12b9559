"""Where a claim departs from its facts, rule by rule, with the words of both sides (SPEC-005 §5.3, ADR 0095)."""

import pytest

from services.common.reading.sentences import sentences
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import departures, read_claim, read_sources
from services.dpe.domain.rules.wording import is_worded
from services.dpe.domain.segmentation import segment
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear


def found(claim, *facts):
    sources = [
        one for at, text in enumerate(facts) for one in read_sources(read_fact(at, EnvelopeFact("", text), ()), at)
    ]
    return {
        item.rule: (
            claim[item.claimed.start : item.claimed.end],
            facts[item.source.fact_index][item.known.start : item.known.end],
        )
        for item in departures(read_claim(claim, 0), sources)
    }


PORTER = "The porter signs the receipt and the driver signs the log."
STEPS = "Closing the till: 1. Count the coins. 2. Print the report. 3. Lock the drawer."
TERMS = "'Gross rent' means the rent with heating. 'Net rent' means the rent without any charges."
RULES = {
    Rule.MODALITY: ("Guests must leave a deposit.", "Guests may leave a deposit.", ("must", "may")),
    Rule.QUANTIFIER: ("All of the schools took part.", "Most of the schools took part.", ("All", "Most")),
    Rule.CONDITION: (
        "The fee is waived even if the form is late.",
        "The fee is waived unless the form is late.",
        ("even if the form is late", "unless the form is late"),
    ),
    Rule.EXCEPTION: (
        "All rooms including the cellar are heated.",
        "All rooms except the cellar are heated.",
        ("including the cellar ", "except the cellar "),
    ),
    Rule.ATTRIBUTION: (
        "According to the court, the brakes failed.",
        "According to the driver, the brakes failed. The court has not ruled.",
        ("the court", "the driver"),
    ),
    Rule.STATUS: (
        "The merger of the two banks has been approved.",
        "The merger of the two banks has been proposed.",
        ("approved", "proposed"),
    ),
    Rule.PARTIES: (
        "The tenant notifies the landlord of the sale.",
        "The landlord notifies the tenant of the sale.",
        ("tenant", "landlord"),
    ),
    Rule.FREQUENCY: (
        "The filter is changed once a month.",
        "The filter is changed once a year.",
        ("once a month", "once a year"),
    ),
    Rule.CONJUNCTION: (
        "Applicants need a passport or a visa.",
        "Applicants need a passport and a visa.",
        ("or", "and"),
    ),
}


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_departure_names_the_words_of_both_sides(rule):
    claim, fact, words = RULES[rule]
    assert found(claim, fact)[rule] == words
    assert rule not in found(fact.split(". ")[0], fact)


@pytest.mark.parametrize(
    ("claim", "facts", "rule"),
    [
        ("The coins are counted after the report is printed.", (STEPS,), Rule.ORDER),
        ("The rent with heating is called the net rent.", (TERMS,), Rule.TERM),
        (
            "The kit holds pliers, a hammer and a drill.",
            ("The kit holds pliers, a hammer and a saw. A drill is sold separately.",),
            Rule.MEMBER,
        ),
        (
            "The delay was due to fog.",
            ("The delay arose because the crew was ill. Fog had been expected.",),
            Rule.CAUSE,
        ),
        (
            "The desk for lost cards is headed by Ina Berg.",
            ("The desk for lost cards is headed by Tom Reed.", "The desk for loans is headed by Ina Berg."),
            Rule.NAME,
        ),
    ],
    ids=["order", "term", "member", "cause", "name"],
)
def test_what_is_told_of_another_place_departs(claim, facts, rule):
    assert rule in found(claim, *facts)


ROWS = (
    "Rooms, 3. Cleaning: Area: Operating rooms; Floor: Rubber; Cleaned: After each patient",
    "Rooms, 3. Cleaning: Area: Waiting rooms; Floor: Oak boards; Cleaned: Every 6 hours",
)


@pytest.mark.parametrize(
    ("claim", "more", "departs"),
    [
        ("Operating rooms have a rubber floor and are cleaned every 6 hours.", (), True),
        ("Waiting rooms have oak boards and are cleaned every 6 hours.", (), False),
        ("Operating rooms are cleaned after each patient.", (), False),
        ("Operating rooms are cleaned after each patient and waiting rooms every 6 hours.", (), False),
        (
            "Operating rooms are cleaned every 6 hours.",
            ("Operating rooms that stand empty are aired every 6 hours.",),
            False,
        ),
        ("Corridors are cleaned every 6 hours.", (), False),
    ],
    ids=["another row", "its row", "its cell", "both rows", "said elsewhere", "no row"],
)
def test_what_stands_in_another_row_of_the_table_departs(claim, more, departs):
    listed = found(claim, *ROWS, *more)
    assert (Rule.ROW in listed) is departs
    if departs:
        assert listed[Rule.ROW] == ("every 6 hours", "After each patient")


def test_rows_of_a_table_in_one_fact_are_told_apart():
    table = (
        "Rooms:\nArea: Single | Rent: EUR 410 | Heating: Gas stove\nArea: Studio | Rent: EUR 540 | Heating: Heat pump"
    )
    assert found("A studio has a gas stove.", table)[Rule.ROW] == ("gas stove", "Heat pump")
    assert Rule.ROW not in found("A studio has a heat pump.", table)


DUTIES = ("The estates engineer calibrates fridge thermometers yearly.", "The ward pharmacist inspects every cupboard.")


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("Fridge thermometers are calibrated by the ward pharmacist yearly.", True),
        ("Fridge thermometers are calibrated by the estates engineer yearly.", False),
        ("Every cupboard is inspected by the ward pharmacist.", False),
    ],
)
def test_a_verb_that_one_side_shows_is_known_on_the_other(claim, departs):
    assert (Rule.PARTIES in found(claim, *DUTIES)) is departs


@pytest.mark.parametrize(
    ("claim", "fact", "departs"),
    [
        ("The deposit is mandatory for guests.", "The deposit is optional for guests.", True),
        ("The deposit is mandatory for guests.", "The deposit is obligatory for guests.", False),
        ("The deposit is mandatory for guests.", "The lift is optional for the crew of the ship.", False),
        ("Guests must quickly leave a deposit.", "Guests may quickly leave a deposit.", True),
    ],
    ids=["turned", "the same", "another thing", "an adverb between"],
)
def test_a_force_without_a_verb_departs_where_the_sentence_says_the_same(claim, fact, departs):
    assert (Rule.MODALITY in found(claim, fact)) is departs


CARDS = "Debit cards are accepted only if the guest also buys full cover."


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("Debit cards are accepted only if the guest does not also buy full cover.", True),
        ("Debit cards are accepted only if the guest also buys full cover.", False),
        ("Debit cards are not accepted if the guest does not also buy full cover.", False),
    ],
    ids=["turned", "the same", "both turned"],
)
def test_a_condition_is_turned_by_its_negation_alone(claim, departs):
    assert (Rule.CONDITION in found(claim, CARDS)) is departs


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("The coins are counted before the report is printed.", STEPS),
        ("The rent with heating is called the gross rent.", TERMS),
        ("A deposit may be left by guests.", "Guests may leave a deposit."),
        ("Most of the schools took part.", "Most of the schools took part."),
        ("The fee is waived if the form is on time.", "The fee is waived unless the form is late."),
        ("The tenant is notified of the sale by the landlord.", "The landlord notifies the tenant of the sale."),
        (
            "You can open the capsule and mix the pellets in.",
            "If you cannot swallow the capsule, open it and mix the pellets in.",
        ),
        ("A leak must be reported at once.", "According to the manual, a leak must be reported at once."),
        (
            "You get the deposit back within 30 days after the lease ends, less the cost of any damage.",
            "The landlord returns the deposit within 30 days after the end of the lease, less the cost of damage.",
        ),
    ],
    ids=["order", "term", "may", "most", "unless", "passive", "condition", "reported", "less"],
)
def test_what_says_the_same_departs_nowhere(claim, fact):
    assert found(claim, fact) == {}


def test_how_often_in_the_head_of_a_column_counts_nothing():
    row = "Care: Part: Lint filter; How often: After every cycle; How: Remove lint by hand"
    assert found("Lint filter: after every cycle, by hand", row) == {}
    assert Rule.QUANTIFIER in found("All of the filters are cleaned.", "The filters are often cleaned.")


def near(support):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    grounding = TableGrounding(lambda _: support)
    return app(embedding=parts.embedding, entailment=TableEntailment(lambda *_: (0.8, 0.1, 0.1)), grounding=grounding)


@pytest.mark.parametrize("rule", [Rule.MODALITY, Rule.CONDITION, Rule.PARTIES], ids=str)
async def test_no_probability_outvotes_a_rule_that_decides(rule):
    claim, fact, _ = RULES[rule]
    outputs = (await analyse(claim, fact, using=near(0.99))).analysis.outputs
    assert (str(outputs.fidelity.judgements["c1"].verdict), str(outputs.fidelity.judgements["c1"].basis)) == (
        "CONTRADICTED",
        "DISTORTION",
    )


async def test_a_turned_negation_and_an_exchanged_name_carry_their_words():
    answer, fact = "Smoke damage is not covered by the policy.", "Smoke damage is covered by the policy."
    (flip,) = (await analyse(answer, fact, using=near(0.9))).analysis.outputs.distortion.found
    assert (flip.values.claimed.text, flip.values.known.text) == ("not covered", "covered")
    assert fact[flip.fact_span.start : flip.fact_span.end] == "covered"
    answer, fact = "Globex sued Alpenrose in May.", "In short: Alpenrose sued Globex in May."
    swapped = (await analyse(answer, fact, using=near(0.9))).analysis.outputs.distortion.found
    for item in swapped:
        assert fact[item.fact_span.start : item.fact_span.end] == item.values.known.text
        assert answer[item.answer_span.start : item.answer_span.end] == item.values.claimed.text
    assert swapped


def test_the_right_words_in_no_order_are_no_sentence():
    fact = "Claims files are kept for ten years after the file is closed."
    sources = read_sources(read_fact(0, EnvelopeFact("", fact), ()), 0)
    assert is_worded(read_claim(fact, 0), sources)
    assert not is_worded(read_claim("Of the is claims for the kept after closed the files ten years and.", 0), sources)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("It is paid if the form is signed and the police were told.", 1),
        ("If the car is stolen, the claim is paid and the deductible is waived.", 1),
        ("All or some of the files are kept.", 1),
        ("It takes eight hours or more until the next dose is due.", 1),
        ("The box holds pillows, towels and a packed lunch.", 1),
        ("The policy covers:\n- fire\n- theft", 1),
        ("Claims files\nThe files are kept for ten years.", 1),
        ("From: closing of the file / The claim is paid", 0),
        ("The fee is 5 euros and the fine is 7 euros.", 2),
    ],
)
def test_a_claim_stands_alone(text, claims):
    assert len(segment(text, sentences(text), None).claims) == claims


ROW = (
    "Harrow Mutual, 2.1 Limits by tier: Cover item: Total valuables (share of sum insured); Basic: 20%; Plus: 30%",
    "Harrow Mutual, 2.1 Limits by tier: Cover item: Single item; Basic: 1,000; Plus: 2,000",
)


def test_the_label_of_a_cell_is_no_name_in_whose_place_the_title_stands():
    assert Rule.NAME not in found("Under Plus the valuables can make up 30% of the sum insured.", *ROW)
    told = ("Dr Pell leaves after eleven years; Ms Wrede stays on as a trustee.",)
    assert Rule.NAME in found("The executive who leaves after eleven years is Wrede.", *told)


@pytest.mark.parametrize(
    ("claim", "fact", "rule"),
    [
        (
            "A ward below 95% must send an action plan to the committee.",
            "A ward scoring below 95% must send an action plan to the committee within 20 days.",
            None,
        ),
        ("The bank opens a branch in Leeds.", "They plan to open a branch of the bank in Leeds.", Rule.PLANNED),
        ("The bank opens a branch in Leeds.", "The owners plan to open a branch of the bank in Leeds.", Rule.PLANNED),
        ("The bank opens a branch in Leeds.", "The bank plans to open a branch in Leeds.", Rule.PLANNED),
        (
            "In shock the transfusion is stopped and the doctor is called.",
            "In shock or with suspected wrong blood the transfusion is stopped and the doctor is called.",
            None,
        ),
        (
            "The cashier stole the money from the till.",
            "The cashier is suspected to have stolen the money from the till.",
            Rule.ALLEGED,
        ),
        ("The fraud was found by the auditor.", "The suspected fraud was found by the auditor.", Rule.ALLEGED),
        ("Costs are refunded within six weeks.", "Costs are refunded if they are claimed within six weeks.", None),
        ("Germany had paid the bill.", "The minister claimed Germany had paid the bill.", Rule.ALLEGED),
        ("A gang stole the painting.", "The theft of the painting was claimed by a gang that stole.", Rule.ALLEGED),
        ("The bridge was unsafe in June.", "It is claimed the bridge was unsafe in June.", Rule.ALLEGED),
        ("The bridge was unsafe in June.", "The builder claimed the bridge was unsafe in June.", Rule.ALLEGED),
        ("The builder knew of the crack.", "The builder denied that he knew of the crack.", Rule.ALLEGED),
    ],
)
def test_a_plan_that_is_a_noun_and_a_suspicion_of_something_else_leave_the_rest_as_plain_as_it_stands(
    claim, fact, rule
):
    hedges = {Rule.ALLEGED, Rule.PLANNED, Rule.STATUS}
    assert hedges & found(claim, fact).keys() == ({rule} if rule else set())


LEAVE = (
    "Parent: Birth parent; Paid weeks: 20; Pay: 100 %",
    "Parent: Other parent; Paid weeks: 8; Pay: 100 %",
    "Parent: Adoptive parent; Paid weeks: 16; Pay: 90 %",
)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("The other parent gets 20 weeks on full pay.", ("20 weeks", "8")),
        ("Adoptive parents? The adoptive parent is paid for eight weeks.", ("eight weeks", "16")),
        ("A birth parent has sixteen paid weeks.", ("sixteen", "20")),
        ("The adoptive parent receives 100 % of the pay.", ("100 %", "90 %")),
    ],
)
def test_a_value_of_another_row(claim, words):
    assert found(claim, *LEAVE)[Rule.ROW] == words


@pytest.mark.parametrize(
    "claim",
    [
        "The other parent gets 8 weeks on full pay.",
        "The other parent gets 8 weeks, the birth parent 20 weeks.",
        "Leave of the other parent begins 20 days after the birth.",
        "The other parent has 12 weeks fewer than the 20 weeks of the birth parent.",
        "A parent has up to 20 weeks.",
    ],
)
def test_a_value_that_is_of_no_other_row(claim):
    assert Rule.ROW not in found(claim, *LEAVE)


def test_a_value_that_a_sentence_gives_to_the_row_too():
    claim = "The other parent gets 20 weeks."
    assert Rule.ROW in found(claim, *LEAVE)
    assert Rule.ROW not in found(claim, *LEAVE, "Where twins are born, the other parent too has 20 weeks.")


@pytest.mark.parametrize(
    ("claim", "fact", "words"),
    [
        (
            "During probation you may work at home two days a week.",
            "You may work at home two days a week after the probation period of six months.",
            ("During probation", "after the probation period"),
        ),
        (
            "The pump may be cleaned before the cooling phase.",
            "The pump may be cleaned after the cooling phase.",
            ("before the cooling phase", "after the cooling phase"),
        ),
        (
            "For the first six weeks of illness you get statutory sick pay.",
            "The company pays full salary for up to six weeks of illness; thereafter statutory sick pay applies.",
            ("For the first", "statutory sick pay applies"),
        ),
    ],
)
def test_another_phase(claim, fact, words):
    assert found(claim, fact)[Rule.ORDER] == words


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("After probation you may work at home.", "You may work at home after the probation period."),
        ("During probation you may not work at home.", "You may work at home after the probation period."),
        ("During the trial you may work at home.", "You may work at home after the probation period."),
        (
            "You may work at home during probation.",
            "You may work at home after the probation period, and during probation on Fridays.",
        ),
        (
            "For the first six weeks of illness you get your full salary.",
            "The company pays full salary for up to six weeks of illness; thereafter statutory sick pay applies.",
        ),
        (
            "After six weeks of illness you get statutory sick pay.",
            "The company pays full salary for up to six weeks of illness; thereafter statutory sick pay applies.",
        ),
    ],
)
def test_the_same_phase(claim, fact):
    assert Rule.ORDER not in found(claim, fact)


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("You can work abroad for no more than 20 days a year.", False),
        ("You can work abroad without written approval in a year.", True),
    ],
)
def test_a_limit_that_can_be_used_is_no_permission(claim, departs):
    fact = "Work abroad requires written approval and is limited to 20 days a year."
    assert (Rule.MODALITY in found(claim, fact)) is departs


def test_one_of_several_frequencies():
    fact = "Interest is calculated daily and paid annually on 5 April."
    assert found("Interest is worked out daily and paid to you monthly.", fact)[Rule.FREQUENCY] == (
        "monthly",
        "annually",
    )
    assert Rule.FREQUENCY not in found("Interest is worked out daily and paid to you every year.", fact)


def test_another_part_of_the_day():
    fact = "The usual dose is one tablet once daily, in the morning, with food."
    claim = "Adults take one tablet a day, in the evening with food."
    assert found(claim, fact)[Rule.VALUE] == ("in the evening", "in the morning")
    assert Rule.VALUE not in found(claim, fact, "Night workers take the tablet in the evening.")
    assert Rule.VALUE not in found("Adults take one tablet in the morning with food.", fact)
