"""The answerer and what is to hold: a question that names a time is answered by what holds then (ADR 0224)."""

from datetime import date

import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.extractive.selecting import AnswerSelector
from services.common.ports.language_model import EvidenceFact, LanguageRequest
from tests.fakes.dpe_world import TableEntailment
from tests.fakes.gateway_world import WordCounter

PAY, RETURN = "# Sickness > ## Pay", "# Sickness > ## Return"
MARCH = date(2027, 3, 1)
NOW = "Sick pay amounts to 90% of basic pay."
THEN = "Sick pay amounts to 100% of basic pay."
ROW = "Sickness, Return: Grade: {}; Full pay (weeks): {}; Half pay (weeks): 13"
FACTS = (
    EvidenceFact("now", NOW, 0.8, location=PAY),
    EvidenceFact("n7", ROW.format("N7", 13), 0.8, location=RETURN),
    EvidenceFact("n5", ROW.format("N5", 10), 0.8, location=RETURN),
    EvidenceFact("then", THEN, 0.7, stale=True, location=PAY, holds_from=MARCH),
    EvidenceFact("n7-then", ROW.format("N7", 16), 0.7, stale=True, location=RETURN, holds_from=MARCH),
    EvidenceFact("other", "Sick pay of contractors amounts to 50% of basic pay.", 0.5, location="# Contractors"),
)


async def answer(question, facts=FACTS, *, encoders=True):
    selector = AnswerSelector(MemoryEmbeddingModel(), TableEntailment(lambda *_: (0.9, 0.1, 0.0))) if encoders else None
    model = ExtractiveLanguageModel(WordCounter(), "m", ExtractLimits(5, 0.3), selector)
    return (await model.complete(LanguageRequest(question, (), facts, "m"))).text


@pytest.mark.parametrize("encoders", [True, False])
@pytest.mark.parametrize("time", ["from March 2027", "in April 2027", "after 1 March 2027", "on 2 March 2027"])
async def test_what_holds_at_the_time_is_quoted_with_its_first_day(time, encoders):
    text = await answer(f"How much of basic pay will sick pay be {time}?", encoders=encoders)
    assert text == f"From 1 March 2027: {THEN}"


@pytest.mark.parametrize("time", ["next year", "in 2027", "from January 2027", "in future"])
async def test_where_the_time_begins_before_both_are_told(time):
    text = await answer(f"How much of basic pay will sick pay be {time}?")
    assert text == f"{NOW} From 1 March 2027: {THEN}"


@pytest.mark.parametrize(
    "time",
    ["", " in February 2027", " on 28 February 2027", " until March 2027", " of February 2027"],
)
async def test_before_it_begins_what_holds_now_is_quoted_alone(time):
    assert await answer(f"How much of basic pay is sick pay{time}?") == NOW


@pytest.mark.parametrize("time", ["from 2020 to 2022", "between 2024 and 2025", "of March 2024"])
async def test_of_a_time_that_is_over_nothing_to_come_is_quoted(time):
    assert "100%" not in await answer(f"How much of basic pay was the sick pay {time}?")


async def test_the_row_of_the_same_name_is_the_other_one():
    question = "What is full pay (weeks) for grade N7{}?"
    assert await answer(question.format("")) == ROW.format("N7", 13)
    assert await answer(question.format(" from March 2027")) == f"From 1 March 2027: {ROW.format('N7', 16)}"
    row = ROW.format("N5", 10)
    assert await answer("What is full pay (weeks) for grade N5 from March 2027?") == row


async def test_what_begins_after_the_time_is_not_the_other_one():
    later = EvidenceFact(
        "later", THEN.replace("100%", "110%"), 0.7, stale=True, location=PAY, holds_from=date(2028, 1, 1)
    )
    text = await answer("How much of basic pay will sick pay be in 2027?", (FACTS[0], later, FACTS[3]))
    assert text == f"{NOW} From 1 March 2027: {THEN}"


async def test_what_is_to_come_is_never_told_without_its_day():
    assert await answer("How much of basic pay is sick pay?", FACTS[3:4]) == f"From 1 March 2027: {THEN}"


async def test_what_another_document_says_is_not_exchanged():
    facts = (*FACTS[:1], EvidenceFact("x", THEN, 0.7, stale=True, location="# Contractors", holds_from=MARCH))
    assert NOW in await answer("How much of basic pay will sick pay be from 1 March 2027?", facts[:1])
    assert await answer("How much of basic pay will sick pay be next year?", facts) in {
        NOW,
        f"From 1 March 2027: {THEN}",
    }
