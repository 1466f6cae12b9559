"""The answerer with encoders: what is chosen, when nothing is, and what it falls back on (ADR 0191)."""

import json

import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.errors import ErrorReason, UnavailableError
from services.common.extractive.candidates import SIGNS, need_of
from services.common.extractive.composing import NOT_FOUND, Asked, ExtractLimits, Source, units_of
from services.common.extractive.expecting import lacks_expected, names_other_year
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.extractive.selecting import AnswerSelector
from services.common.extractive.weighing import TOLD, WEIGHTS, quoted, weights
from services.common.ports.language_model import EvidenceFact, LanguageRequest
from services.common.questions.reading import read_question
from tests.fakes.dpe_world import TableEntailment
from tests.fakes.gateway_world import WordCounter

LIMITS = ExtractLimits(5, 0.3)
LEASE = "# Lease > ## Living in the flat"
SOURCES = [
    Source("rent", "A payment that arrives late costs a fee of 25 euros.", 0.4, location="# Lease > ## Rent"),
    Source("trumpet", "Musical instruments may be played for two hours a day.", 0.6, location=LEASE),
    Source("smoke", "Smoking is permitted on the balcony only.", 0.3, location=LEASE),
    Source("old", "Until 31 December 2024 instruments could be played for three hours a day.", 0.6, location=LEASE),
]


def neutral(premise, hypothesis):
    return 0.1, 0.8, 0.1


async def chosen(question, sources=SOURCES, leans_on=(), selector=None):
    selector = selector or AnswerSelector(MemoryEmbeddingModel(), TableEntailment(neutral))
    asked = Asked(question, tuple(leans_on))
    return quoted(asked, sources, LIMITS, await selector.choose(asked, sources, LIMITS))


async def test_the_sentence_that_answers_is_quoted_whole():
    answer = await chosen("For how many hours a day may musical instruments be played?")
    assert answer.fact_ids == ("trumpet",)
    assert answer.text == "Musical instruments may be played for two hours a day."


@pytest.mark.parametrize("question", ["Who wins the world cup?", "???", "What is the salary of a broker?"])
async def test_nothing_is_said_where_nothing_answers(question):
    assert (await chosen(question)).text == NOT_FOUND


async def test_no_facts_ask_no_model():
    embedding = MemoryEmbeddingModel()
    assert (await chosen("How long?", [], selector=AnswerSelector(embedding, None))).text == NOT_FOUND
    assert not embedding.calls


async def test_two_questions_get_a_sentence_each():
    text = "For how many hours a day may musical instruments be played, and where is smoking permitted?"
    assert set((await chosen(text)).fact_ids) == {"trumpet", "smoke"}


async def test_what_no_longer_applies_is_quoted_for_the_past_alone():
    question = "How many hours a day could instruments be played in 2024?"
    assert (await chosen(question)).fact_ids[0] == "old"


async def test_the_models_are_asked_once_for_all_passages():
    entailment = TableEntailment(neutral)
    await chosen("May I smoke on the balcony?", selector=AnswerSelector(MemoryEmbeddingModel(), entailment))
    assert len(entailment.calls) == 1
    assert {hypothesis for _, hypothesis in entailment.calls[0]} == {"May I smoke on the balcony?"}


async def test_the_same_question_gives_the_same_bytes():
    selector = AnswerSelector(MemoryEmbeddingModel(), TableEntailment(neutral))
    question = "For how many hours a day may musical instruments be played?"
    assert len({(await chosen(question, selector=selector)).text for _ in range(3)}) == 1


class BrokenEmbedding(MemoryEmbeddingModel):
    async def embed(self, texts):
        raise UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "the embedder is down")


async def test_without_the_encoders_the_rules_over_words_answer():
    model = ExtractiveLanguageModel(WordCounter(), "words", LIMITS, AnswerSelector(BrokenEmbedding(), None))
    evidence = tuple(EvidenceFact(one.fact_id, one.content, 0.9, location=one.location) for one in SOURCES)
    request = LanguageRequest("Where is smoking permitted?", (), evidence, "words")
    assert (await model.complete(request)).text == "Smoking is permitted on the balcony only."


def need(question, *earlier):
    return need_of(read_question(question, earlier), earlier, units_of(SOURCES))


@pytest.mark.parametrize(
    ("question", "earlier", "past"),
    [
        ("What rate applied in May 2025?", (), True),
        ("And today?", ("What rate applied in May 2025?",), False),
        ("What was it before July 2025?", (), True),
        ("What rate applies in 2026?", (), False),
    ],
)
def test_a_past_date_asks_for_what_no_longer_applies(question, earlier, past):
    assert need(question, *earlier).asks_past is past


@pytest.mark.parametrize(
    ("question", "lacking", "holding"),
    [
        ("What does it cost to put my car in the yard?", "The yard has 12 spaces.", "A space costs 45 euros a month."),
        ("How long can I keep a hammer?", "Up to 5 hammers are lent.", "Hammers are lent for three weeks."),
        ("At what time do you open?", "The head office is at 14 Harbour Row.", "It opens at 8 a.m."),
        ("What number should I ring?", "Ring the bell twice.", "Ring +44 20 7946 0311."),
        ("How many votes are needed?", "Votes are counted.", "A change needs four of the five votes."),
        ("How heavy can a package be?", "Heavy parcels are refused.", "It may weigh 31.5 kilograms."),
    ],
)
def test_what_is_expected(question, lacking, holding):
    read = read_question(question)
    assert lacks_expected(read, question, lacking)
    assert not lacks_expected(read, question, holding)


def test_a_year_that_is_not_the_asked_one():
    assert names_other_year("How many claims in 2024?", "In 2025 there were 9 claims.")
    assert not names_other_year("How many claims in 2025?", "In 2025 there were 9 claims.")
    assert not names_other_year("How many claims?", "In 2025 there were 9 claims.")


def test_the_weights_name_every_sign():
    document = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert set(document["order"]["signs"]) == set(SIGNS)
    assert set(document["accept"]["signs"]) == set(TOLD)
    assert 0.0 < weights().least < 1.0


GRADES = "# Cards > ## Limits"
ROWS = [
    Source(grade, f"Limits: Grade: {grade}; Monthly limit: £{limit}; Cash: £{cash}", near, location=GRADES)
    for grade, limit, cash, near in (
        ("Managing Director", "20,000", 500, 0.8),
        ("Director", "8,000", 300, 0.7),
        ("Associate", "3,000", 100, 0.7),
    )
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the monthly limit for a Director?", "Director"),
        ("What is the monthly limit for a Managing Director?", "Managing Director"),
        ("What is the monthly limit for an Associate?", "Associate"),
    ],
)
async def test_of_two_rows_the_one_goes_first_that_nothing_stands_beside(question, expected):
    selector = AnswerSelector(MemoryEmbeddingModel(), TableEntailment(neutral))
    (found,) = await selector.choose(Asked(question), ROWS, LIMITS)
    assert ROWS[found.candidates[0].unit.fact].fact_id == expected


STAFF = [
    Source(
        "valid", "Valid from 1 March 2026. It applies to all employees of Bramble Ltd.", 0.8, location="# Staff policy"
    ),
    Source("officer", "The data protection officer of Bramble Ltd is Jane Field.", 0.7, location="# Staff policy"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the CEO of Bramble Ltd?", []),
        ("Who is the data protection officer of Bramble Ltd?", ["officer"]),
        ("When is the policy of Bramble Ltd valid?", ["officer", "valid"]),
        ("How much is the fee at Bramble Ltd?", ["officer"]),
    ],
)
async def test_passages_that_answer_nothing_are_not_read(question, expected):
    selector = AnswerSelector(MemoryEmbeddingModel(), None)
    (read,) = await selector.consider(Asked(question), STAFF, LIMITS)
    assert sorted(STAFF[one.unit.fact].fact_id for one in read.candidates) == expected
