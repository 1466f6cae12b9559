"""Whether an answer answers its question, and what a refusal is (ADR 0093, 0096)."""

import pytest
from crp.dpe.v1 import quality_pb2

from services.dpe.convert.report import report_message
from services.dpe.domain.relevance import beside_the_question, refused
from services.dpe.domain.relevant import RelevanceStatus
from tests.fakes.dpe_world import analyse

FACT = "A motor accident must be reported within 7 days."
QUESTION = "Within how many days must a motor accident be reported?"


async def status(answer, query=QUESTION, **given):
    finished = await analyse(answer, FACT, query=query, **given)
    return finished.analysis.outputs.completeness.relevance.status


async def test_a_bare_value_is_relevant_and_complete():
    finished = await analyse("Within 7 days.", FACT, query=QUESTION)
    assert finished.analysis.outputs.completeness.relevance.status is RelevanceStatus.RELEVANT
    assert finished.analysis.outputs.completeness.score == 1.0


FEE = "The fee for late cancellation is 35 dollars."
LAMP = "If the red lamp is on, the machine is overheated."


@pytest.mark.parametrize(("answer", "query"), [(FEE, "What is the fee?"), (LAMP, "What does the red lamp mean?")])
async def test_a_relevant_quotation_answers_the_one_question_however_short_it_is(answer, query):
    finished = await analyse(answer, FEE, LAMP, query=query)
    outputs = finished.analysis.outputs
    assert outputs.completeness.relevance.status is RelevanceStatus.RELEVANT
    assert (outputs.completeness.score, outputs.completeness.uncovered_sub_queries) == (1.0, ())


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        (LAMP, "What is the fee?"),  # a quotation of something else
        ("The fee for late cancellation is charged by us.", "What is the fee?"),  # no quotation, and no value
        (f"{LAMP} The fee is charged.", "What is the fee?"),  # one that is quoted, and one that is not
        (FEE, "What is the fee, and who signs the form?"),
    ],
)
async def test_no_other_quotation_covers_a_question(answer, query):
    finished = await analyse(answer, FEE, LAMP, query=query, sub_queries=tuple(query.split(", and ")))
    assert finished.analysis.outputs.completeness.score < 1.0


@pytest.mark.parametrize("echo", [QUESTION, "A motor accident must be reported."])
async def test_an_echo_is_neither_relevant_nor_complete(echo):
    finished = await analyse(echo, FACT, query=QUESTION)
    assert finished.analysis.outputs.completeness.relevance.status is not RelevanceStatus.RELEVANT
    assert finished.analysis.outputs.completeness.score == 0.0


async def test_something_else_is_beside_the_question():
    finished = await analyse("Garden chairs stand outside in winter.", FACT, query=QUESTION)
    assert finished.analysis.outputs.completeness.relevance.status is RelevanceStatus.BESIDE_THE_QUESTION
    assert beside_the_question(finished.analysis)
    assert not refused(finished.analysis)


async def test_one_of_two_questions_is_partial():
    query = f"{QUESTION[:-1]}, and who signs the form?"
    assert await status("A motor accident must be reported within 7 days.", query) is RelevanceStatus.PARTIAL


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not say.",
        "I don't know.",
        "The provided context does not contain an answer to this question. Please ask the claims department.",
    ],
)
async def test_a_refusal_is_marked_and_low(answer):
    finished = await analyse(answer, FACT, query=QUESTION)
    outputs = finished.analysis.outputs
    assert outputs.completeness.relevance.status is RelevanceStatus.REFUSAL
    assert outputs.completeness.relevance.score is None
    assert refused(finished.analysis)
    assert outputs.risk.level == "LOW"


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not say. The limit is 5,000 euros.",
        "The documents do not say, but the limit is 5,000 euros.",
        "The documents do not say; claims are kept for ten years.",
        "I don't know: the limit is 5,000 euros.",
        "The documents do not mention the 5,000 euros that are paid.",
    ],
)
async def test_a_refusal_with_an_assertion_is_none(answer):
    assert await status(answer) is not RelevanceStatus.REFUSAL


async def test_what_a_follow_up_leaves_out_comes_from_the_conversation():
    given = {"query": "And when a person was injured?", "leans_on": ("How long are claims files kept?",)}
    assert await status("For 30 years.", **given) is RelevanceStatus.RELEVANT
    assert await status("Garden chairs stand outside.", **given) is RelevanceStatus.BESIDE_THE_QUESTION


GERMAN = (
    "Ein Unfall muss innerhalb von sieben Tagen gemeldet werden, und das ist nicht verhandelbar für die Mitglieder."
)


async def test_a_text_in_another_language_is_undecided_and_has_no_number():
    finished = await analyse(GERMAN, FACT, query=QUESTION)
    outputs = finished.analysis.outputs
    assert outputs.completeness.relevance.status is RelevanceStatus.NOT_ASSESSED
    assert outputs.completeness.relevance.reason == "LANGUAGE_NOT_SUPPORTED"
    assert outputs.risk.composite_score is None
    assert outputs.risk.level == "MEDIUM"


async def test_an_empty_answer_is_not_assessed():
    assert await status("") is RelevanceStatus.NOT_ASSESSED


async def test_the_report_says_it():
    message = report_message(await analyse("Within 7 days.", FACT, query=QUESTION))
    assert message.relevance.status == quality_pb2.RELEVANCE_STATUS_RELEVANT
    assert message.relevance.score == 1.0
    assert list(message.relevance.expected) == [quality_pb2.ANSWER_KIND_NUMBER]
    assert message.relevance.questions_total == 1
    refusal = report_message(await analyse("The documents do not say.", FACT, query=QUESTION))
    assert refusal.relevance.status == quality_pb2.RELEVANCE_STATUS_REFUSAL
    assert not refusal.relevance.HasField("score")
    assert list(refusal.relevance.unanswered_questions) == [QUESTION]


async def test_a_fact_leads_from_the_question_to_an_answer_in_other_words():
    query, fact = "How long may tools be kept at home?", "Tools may be kept at home while borrowed fourteen days"
    answer = "It is borrowed fourteen days."
    without = await analyse(answer, "Garden chairs stand outside in winter.", query=query)
    beside = await analyse(answer, fact, query=query)
    scores = [one.analysis.outputs.completeness.relevance.score for one in (without, beside)]
    assert scores[1] > scores[0]
