"""The answerer and cells of tables that a question names plainly (ADR 0224)."""

import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.extractive.composing import NOT_FOUND, Asked, ExtractLimits, Source, units_of
from services.common.extractive.named_cells import is_plainly_named
from services.common.extractive.selecting import AnswerSelector
from services.common.extractive.weighing import quoted
from services.common.questions.reading import read_question
from tests.fakes.dpe_world import TableEntailment

LIMITS = ExtractLimits(5, 0.3)
GRADE = "Sickness absence policy, Return: Grade: {}; Full pay (weeks): {}; Half pay (weeks): {}"
PRODUCT = "Hand hygiene, Approved products: Product: {}; Contact time: {}; Area: {}"
SOURCES = [
    Source("n5", GRADE.format("N5", 10, 12), 0.3),
    Source("n7", GRADE.format("N7", 13, 13), 0.3),
    Source("softa", PRODUCT.format("Softa-Man", "15 s", "All wards"), 0.3),
    Source("ster", PRODUCT.format("Sterillium", "30 s", "All wards"), 0.3),
    Source("chlor", PRODUCT.format("Chlorhexidine", "-", "Theatres"), 0.3),
]
ASKED = [
    ("How many weeks of full pay does grade N5 get?", "n5"),
    ("How many weeks of half pay does grade N7 get?", "n7"),
    ("What is the contact time of Softa-Man?", "softa"),
    ("How long is the contact time of Sterillium?", "ster"),
]
REFUSED = [
    "What is the contact time of Desderman?",
    "What is the contact time of Softa-Man in theatres?",
    "What is the contact time?",
    "What does Softa-Man cost?",
    "How many weeks of full pay does grade N6 get?",
    "What is the contact time of Chlorhexidine?",
]


def plain(question, sources=SOURCES):
    read = read_question(question)
    return [sources[unit.fact].fact_id for unit in units_of(sources) if is_plainly_named(read, unit)]


async def answer(question, sources=SOURCES, entails=0.0):
    selector = AnswerSelector(MemoryEmbeddingModel(), TableEntailment(lambda *_: (entails, 1.0 - entails, 0.0)))
    asked = Asked(question)
    return quoted(asked, sources, LIMITS, await selector.choose(asked, sources, LIMITS))


@pytest.mark.parametrize(("question", "row"), ASKED)
async def test_the_row_and_the_column_that_are_named_answer(question, row):
    assert plain(question) == [row]
    assert (await answer(question)).fact_ids == (row,)


@pytest.mark.parametrize("question", REFUSED)
def test_a_cell_that_is_not_wholly_named_is_none(question):
    assert plain(question) == []


async def test_of_two_rows_that_are_named_alike_none_is_taken_for_plain():
    twice = [Source("other", PRODUCT.format("Softa-Man", "60 s", "Theatres"), 0.3), *SOURCES]
    assert len(plain(ASKED[2][0], twice)) == 2
    assert (await answer("What is the contact time of Desderman?", twice)).text == NOT_FOUND


DRUG = "Formulary: Drug: {}; Strength: {}; Restricted: {}"
DRUGS = [
    Source(name, DRUG.format(name, strength, restricted), 0.9)
    for name, strength, restricted in (
        ("Paracetamol", "500 mg", "no"),
        ("Vancomycin", "1 g", "yes"),
        ("Meropenem", "1 g", "yes"),
        ("Heparin", "5 ml", "no"),
        ("Colistin", "1 MIU", "yes"),
    )
]


async def test_a_list_has_every_row_that_matches_as_much():
    found = await answer("Which drugs are restricted?", DRUGS, 0.9)
    assert set(found.fact_ids) == {"Vancomycin", "Meropenem", "Colistin"}
    assert "Further rows" not in found.text
    assert set((await answer("Which drugs are not restricted?", DRUGS, 0.9)).fact_ids) <= {"Paracetamol", "Heparin"}
    assert len((await answer("What is the strength of Meropenem?", DRUGS, 0.9)).fact_ids) == 1


async def test_a_list_that_is_too_long_says_how_many_rows_are_left_out():
    many = [Source(f"d{number}", DRUG.format(f"Drug{number}x", "1 g", "yes"), 0.9) for number in range(9)]
    found = await answer("Which drugs are restricted?", many, 0.9)
    assert len(found.fact_ids) == 5
    assert found.text.endswith("\n(Further rows of this table that match: 4.)")
