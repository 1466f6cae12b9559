"""What a probability alone does not bear out (SPEC-005 §5.1, ADR 0231)."""

from services.common.reading.values import scan_values
from services.common.taxonomy import RiskLevel
from services.dpe.domain.doubts import is_known
from services.dpe.domain.findings import Basis, Doubt, DoubtKind, Verdict
from tests.each import each
from tests.unit.dpe.test_dpe_answer_places import checked

INSURED = "Animals carried in the vehicle are insured."
ANIMALS = "Animals carried in the vehicle are not insured."
EXCESS = "The excess of partial cover is €200, of comprehensive cover €500."
GLASS = "Damage to glass is repaired by our partners."


async def judged(answer, fact, *, question=""):
    analysis = await checked(question, answer, fact, support=0.7)
    [judgement] = analysis.outputs.fidelity.judgements.values()
    return judgement, analysis.outputs.risk.level


@each(
    "answer, fact, kind, words",
    [
        ("Pets are covered.", ANIMALS, DoubtKind.SAID_OTHERWISE, ("covered", "not insured")),
        ("Pets are not covered.", INSURED, DoubtKind.SAID_OTHERWISE, ("not covered", "insured")),
        ("Horses are covered.", "Animals are excluded.", DoubtKind.SAID_OTHERWISE, ("covered", "excluded")),
        (
            "Batteries are covered.",
            "This warranty does not cover what wears out.",
            DoubtKind.SAID_OTHERWISE,
            ("covered", "not cover"),
        ),
        ("Drivers under 23 pay €300 more.", EXCESS, DoubtKind.VALUE_UNKNOWN, ("23",)),
        (
            "You can pay by bank card at the cash desk.",
            "Bank cards are accepted at every desk except the cash desk.",
            DoubtKind.EXCEPTED,
            ("except the cash desk",),
        ),
        (
            "Nurses on night duty receive 4 days of leave.",
            "Nurses receive 26 days of leave. Nurses on night duty receive 4 extra days.",
            DoubtKind.ADDED,
            ("4 extra days",),
        ),
        ("x", GLASS, DoubtKind.WORDS_UNKNOWN, ("x",)),
        ("a", GLASS, DoubtKind.WORDS_UNKNOWN, ("a",)),
        ("OK", GLASS, DoubtKind.WORDS_UNKNOWN, ("OK",)),
        ("Immediately", GLASS, DoubtKind.WORDS_UNKNOWN, ("Immediately",)),
    ],
)  # fmt: skip
async def test_it_is_left_open_with_the_words_that_leave_it(answer, fact, kind, words):
    judgement, level = await judged(answer, fact)
    assert (judgement.verdict, judgement.basis) == (Verdict.UNDECIDED, Basis.GROUNDING)
    assert (judgement.doubt.kind, judgement.doubt.words) == (kind, words)
    assert all(f"“{word}”" in judgement.why for word in words)
    assert level is RiskLevel.MEDIUM


@each(
    "answer, fact",
    [
        ("Animals are excluded.", ANIMALS),
        ("No pet is covered.", ANIMALS),
        ("Pets are covered.", "Animals carried in the vehicle are not insured unless they were declared."),
        ("Pets are covered.", "Animals carried in the vehicle are not insured, other belongings are covered."),
        ("Pets are covered.", "Animals carried in the vehicle are not insured, belongings are insured."),
        ("Pets are covered.", "Animals are not insured, luggage is covered."),
        ("Both", GLASS),
        ("None of that stuff", GLASS),
        ("Blue sky over green hills near old towns by wide lakes", GLASS),
        ("Nothing at all", GLASS),
        ("Three men in a boat with a dog on the way down the river", "Three friends row."),
        ("Pets may come along.", ANIMALS),
        ("Refurbished devices have cover.", "The warranty does not cover what wears out."),
        ("On night duty it is 4 days more.", "Nurses on night duty receive 4 extra days."),
        ("Our partners", GLASS),
        ("Glass is mended.", GLASS),
        ("€200 in partial cover, €500 in comprehensive cover.", EXCESS),
    ],
)
async def test_nothing_of_it_is_left_open(answer, fact):
    judgement, _ = await judged(answer, fact)
    assert (judgement.verdict, judgement.doubt) == (Verdict.SUPPORTED, None)


async def test_the_sentence_names_the_fact_that_leaves_the_doubt():
    general, special = "Nurses receive 26 days of leave.", "Nurses on night duty receive 4 extra days of leave."
    analysis = await checked("", "Nurses on night duty receive 4 days of leave.", general, special, support=0.7)
    [judgement] = analysis.outputs.fidelity.judgements.values()
    assert judgement.doubt == Doubt(DoubtKind.ADDED, ("4 extra days",), 1)
    assert judgement.evidence[0].fact_index == 1
    assert "in fact f2 is beside another" in judgement.why


async def test_what_the_cell_of_a_table_says_is_not_doubted():
    plans = "Payments, Plans: Plan: Basic; Price: £5; Towels: yes; Sauna: not available"
    judgement, _ = await judged("Towels are included in Basic.", plans)
    assert (judgement.verdict, judgement.doubt) == (Verdict.SUPPORTED, None)


@each(
    "value, fact, known",
    [
        ("5 kg", "Loads of 4-7 kg take 90 g of powder.", True),
        ("5 kg", "Loads of 4 to 7 kg take 90 g of powder.", True),
        ("5 days", "Loads of 4-7 kg take 90 g of powder.", False),
        ("5 m", "Loads of 4-7 kg take 90 g of powder.", False),
        ("8 kg", "Loads of 4-7 kg take 90 g of powder.", False),
        ("5 kg", "The small drum takes 4 kg, the large one 7 kg.", False),
        ("7 kg", "The small drum takes 4 kg, the large one 7 kg.", True),
    ],
)
async def test_a_range_knows_what_lies_in_it(value, fact, known):
    analysis = await checked("", "It is so.", fact)
    [found] = scan_values(value)
    assert is_known(found, analysis.outputs.text.fact_views[0]) is known
