"""The answerer and "with", "without", "not", "non-": a row of the other side is no answer (ADR 0224)."""

import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.extractive.composing import Asked, ExtractLimits, Source, extract
from services.common.extractive.selecting import AnswerSelector
from services.common.extractive.sides import stands_on_other_side
from services.common.extractive.weighing import quoted
from services.common.questions.reading import read_question
from tests.fakes.dpe_world import TableEntailment

LIMITS = ExtractLimits(5, 0.3)
DROPS = "Shelf life: Product: Eye drops {} preservative; Storage: Below 25 °C; Refrigerated: {}"
GLOVES = "Gloves: Item: Gloves, {}; Price: {}"
DRUGS = "Formulary: Drug: {}; Strength: 500 mg; Restricted: {}"
CONTRACT = "Staff with a contract get four weeks' notice"


def refused(question, text):
    return stands_on_other_side(read_question(question), text, is_row=";" in text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long can eye drops without preservative be kept?", DROPS.format("with", "28 days")),
        ("How long can eye drops with preservative be kept?", DROPS.format("without", "7 days")),
        ("How long can preservative-free eye drops be kept?", DROPS.format("with", "28 days")),
        ("How long can eye drops that contain preservative be kept?", DROPS.format("without", "7 days")),
        ("What do non-sterile gloves cost?", GLOVES.format("sterile", 4)),
        ("What do sterile gloves cost?", GLOVES.format("non-sterile", 2)),
        ("Which drugs are restricted?", DRUGS.format("Paracetamol", "no")),
        ("Which drugs are not restricted?", DRUGS.format("Meropenem", "yes")),
        ("How much notice do staff without a contract get?", f"{CONTRACT}."),
        ("Can eye drops without preservative be kept?", "Eye drops with preservative can be kept."),
        ("Are staff without a contract insured abroad?", "Staff with a contract are insured abroad."),
    ],
)
def test_what_stands_on_the_other_side_answers_nothing(question, text):
    assert refused(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long can eye drops without preservative be kept?", DROPS.format("without", "7 days")),
        ("How long can eye drops with and without preservative be kept?", DROPS.format("with", "28 days")),
        ("How long can eye drops be kept?", DROPS.format("without", "7 days")),
        ("Do eye drops hold a preservative?", DROPS.format("without", "7 days")),
        ("Is paracetamol restricted?", DRUGS.format("Paracetamol", "no")),
        ("Which drugs are not restricted?", DRUGS.format("Paracetamol", "no")),
        ("What is the excess for glass?", "Cover: Item: Glass; Excess: none"),
        ("How much notice do staff without a contract get?", f"{CONTRACT}, those without a week's."),
        ("Can I get a refund without a receipt?", "Refunds are given with a receipt."),
        ("Can visitors park without a permit?", "Parking is allowed with a permit."),
        ("Do I need a visa with a German passport?", "Travellers without a German passport need a visa."),
        ("What do I get without a receipt?", "With a receipt you get a refund; without one a voucher."),
        ("What do I get without a receipt?", "Refunds are given only with a receipt."),
        ("What happens without approval?", "Spending with no approval is refunded by nobody."),
        ("Why must staff not smoke?", "Staff with smoke detectors are safer."),
        ("What do non-smokers pay?", "Premiums: Plan: Basic; Smokers: 100; Non-smokers: 80"),
    ],
)
def test_what_stands_on_the_side_that_is_asked_for_or_on_both_is_left(question, text):
    assert not refused(question, text)


@pytest.mark.parametrize(("asked", "days"), [("with", "28 days"), ("without", "7 days")])
async def test_the_row_that_is_asked_for_is_quoted_by_rules_and_by_encoders(asked, days):
    sources = [
        Source("with", DROPS.format("with", "28 days"), 0.9),
        Source("without", DROPS.format("without", "7 days"), 0.9),
    ]
    question = Asked(f"How long can refrigerated eye drops {asked} preservative be kept?")
    assert extract(question, sources, LIMITS).fact_ids == (asked,)
    selector = AnswerSelector(MemoryEmbeddingModel(), TableEntailment(lambda *_: (0.9, 0.1, 0.0)))
    assert days in quoted(question, sources, LIMITS, await selector.choose(question, sources, LIMITS)).text
