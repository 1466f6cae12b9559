import pytest

from services.common.questions.answering import ANSWERED, BESIDE, Said, answered, is_bare_answer
from services.common.questions.reading import read_question
from services.common.questions.refusals import refuses

DEADLINE = "Within how many days must a motor accident be reported?"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (DEADLINE, "Within 7 days."),
        (DEADLINE, "A motor accident must be reported within 7 days."),
        ("Is damage on race tracks covered?", "No."),
        ("Is damage on race tracks covered?", "Damage on race tracks is not covered."),
        ("Who is the Complaints Officer?", "Ingrid Solheim."),
        ("When was the society founded?", "In 1927."),
        ("How much is the fee for a copy?", "There is no fee for a copy."),
        ("When does the hall close?", "At 9 pm"),
        ("When does the hall close?", "At 9.30 pm"),
        ("When does the hall close?", "At nine o\u2019clock"),
        ("When does the hall close?", "At half past six"),
        ("When does the hall close?", "A quarter to six"),
        ("When does the hall close?", "At noon"),
        ("When is the fee due?", "On the 3rd"),
        ("When is the fee due?", "At the end of the month"),
    ],
)
def test_an_answer_in_short_or_in_full_is_relevant(question, answer):
    assert answered(read_question(question), [Said(answer)]) >= ANSWERED


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (DEADLINE, "A motor accident must be reported."),  # an echo
        (DEADLINE, "A motor accident must be reported within a number of days."),
        (DEADLINE, "Garden furniture stands outside in winter."),
        ("How long are files kept?", "Files are kept."),
        ("What does a driver under 25 bear?", "A driver under 25 bears."),
        ("Who is the Complaints Officer?", "Complaints are read."),
    ],
)
def test_an_echo_or_something_else_is_none(question, answer):
    assert answered(read_question(question), [Said(answer)]) < ANSWERED


def test_nearness_lets_other_words_pass_but_not_a_missing_value():
    question = read_question(DEADLINE)
    other_words = "You have one week to tell us about a crash with your vehicle."
    assert answered(question, [Said(other_words)]) < ANSWERED <= answered(question, [Said(other_words, nearness=0.8)])
    assert answered(question, [Said("Tell us about a crash with your vehicle soon.", nearness=0.8)]) < ANSWERED


def test_nothing_said_answers_nothing():
    assert answered(read_question(DEADLINE), []) == 0.0 < BESIDE


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "The documents do not say.",
        "The provided facts do not contain information about the salary.",
        "There is no information about this in the handbook.",
        "Unfortunately, the handbook does not mention pets.",
        "I could not find an answer in the documents.",
        "Based on the provided context, I cannot answer this question.",
        "The salary is not mentioned in the provided documents.",
        "No information about fees is given.",
        "The context doesn\u2019t specify the fee.",
        "It is not stated.",
        "I'm sorry, I don't have that information.",
        "The provided context does not contain an answer to this question.",
        "Not specified.",
    ],
)
def test_refusals(text):
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "Damage on race tracks is not covered.",
        "There is no deductible for glass repair.",
        "The policy does not cover wear.",
        "Nothing is cancelled.",
        "No premium is collected for 60 days.",
        "It is not covered.",
        "The handbook says that 10 years apply.",
        "Home insurance does not cover loss of data.",
        "",
    ],
)
def test_statements_that_deny_are_no_refusals(text):
    assert not refuses(text)


@pytest.mark.parametrize(
    ("question", "answer", "is_answer"),
    [
        ("What is the deposit for a cargo bike?", "The deposit is 120 EUR.", True),
        ("How much is the deposit for a cargo bike?", "The deposit is 120 EUR.", True),
        ("When does the contract with the supplier end?", "The contract ends on 4 May 2026.", True),
        ("What is the deposit for a cargo bike?", "The fee is 120 EUR.", False),
        ("What is the deposit for a cargo bike?", "A cargo bike has a deposit.", False),
        ("When does the contract with the supplier end?", "The contract ends.", False),
        ("When does the contract with the supplier end?", "The contract has 12 pages.", False),
    ],
)
def test_what_a_sentence_leaves_out_the_question_has(question, answer, is_answer):
    assert is_bare_answer(read_question(question, ()), answer) is is_answer


def test_a_long_text_is_no_answer_in_short():
    question = read_question("What is the deposit for a cargo bike?", ())
    assert is_bare_answer(question, "The deposit is 9 EUR. " * 45)
    assert not is_bare_answer(question, "The deposit is 9 EUR. " * 46)
