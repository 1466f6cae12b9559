"""From a query to its sub-queries (SPEC-003 §5.2 step 1.1, ADR 0062).

The hand-written queries are measured by ``python -m tools.evaluate_rules decomposition``; here stand the
specification's own example, what the rules promise whatever the text, and one query for each rule that is easily lost.
"""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain.decomposition import LONGEST_CHARS, LONGEST_SENTENCE_CHARS, decompose
from tools.evaluate_rules import DECOMPOSITION_PAGE, rewritten
from tools.evaluation.decomposition import HALVES, decomposition_table

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests" / "vectors" / "envelope" / "decomposition"
DEVELOPMENT = json.loads((FOLDER / "development.json").read_text(encoding="utf-8"))
LEAST_RIGHT = 0.97
LONGEST_QUERY = 32_768
UNITS = [
    "a ", "A and ", "and ", ", ", "? ", "what is a and ", "compare a and b vs ", "1. ", "of the ", "between a and ",
    "better than ", "\n- ", "x", "how do i a and add b ", "please ", "can you please ", "i want to ",
    "which is better, ", "?", "explain the ", "\ufdd0", "a;b; ", ": a, ", "is a better b than ",
    "what does a say about x and ", "a of b and c ", "differ from ", "more a-a ", "tell me ", "\u00a0", "\U0001f600",
]  # fmt: skip
OPENINGS = ["", "Compare ", "What are the ", "How do I add x and ", "What is the difference between ", "is ", "how do "]

SPLIT = [
    ("Compare HIPAA and GDPR breach notification deadlines",
     ["HIPAA breach notification deadlines", "GDPR breach notification deadlines", "HIPAA vs GDPR comparison"]),
    ("How does the notice period in Germany differ from that in France?",
     ["Germany notice period", "France notice period", "Germany vs France comparison"]),
    ("Which has lower fees, VTI or SCHB?", ["VTI fees", "SCHB fees", "VTI vs SCHB comparison"]),
    ("Common law vs civil law contract formation",
     ["Common law contract formation", "civil law contract formation", "Common law vs civil law comparison"]),
    ("Explain the difference between negligence and gross negligence",
     ["negligence", "gross negligence", "negligence vs gross negligence comparison"]),
    ("Compare the speed, cost and reliability of Kafka and RabbitMQ",
     ["Kafka speed, cost and reliability", "RabbitMQ speed, cost and reliability", "Kafka vs RabbitMQ comparison"]),
    ("1. What is the refund policy? 2. How long does shipping take?",
     ["What is the refund policy", "How long does shipping take"]),
    ("I need these:\n- claim form\n- hospital list\n", ["claim form", "hospital list"]),
    ("Hello! What is the excess? How do I claim?", ["What is the excess", "How do I claim"]),
    ("Summarise the termination clause and list the notice periods", ["termination clause", "notice periods"]),
    ("What is the notice period and how do I resign?", ["What is the notice period", "how do I resign"]),
    ("¿Qué es la franquicia? ¿Cómo reclamo?", ["¿Qué es la franquicia", "¿Cómo reclamo"]),
]  # fmt: skip
WHOLE = [
    "What are the terms and conditions of the warranty?",
    "What are the tax implications of buying and selling shares?",
    "What are the duties of the landlord and the tenant?",
    "Explain the sales and marketing budget",
    "Explain inheritance tax thresholds and exemptions",
    "Show all invoices between January and March 2024",
    "How do I search and replace text in Word?",
    "Explain sections 4 and 5 of the act",
    "Compare it with the other one",
    "How does it compare?",
    "We lease two cars. What is the deductible?",
    "Wer haftet und was kostet das?",
    "and", "?", "", "vs", "Compare", "Compare and and and", "What are the", ": , ,",
]  # fmt: skip


def test_the_specifications_example():
    assert decompose("Compare the EU AI Act and GDPR approaches to automated decision-making") == (
        "EU AI Act automated decision-making",
        "GDPR automated decision-making",
        "EU AI Act vs GDPR comparison",
    )


@pytest.mark.parametrize(("query", "expected"), SPLIT, ids=[query for query, _ in SPLIT])
def test_split(query, expected):
    assert list(decompose(query)) == expected


@pytest.mark.parametrize("query", WHOLE)
def test_left_whole(query):
    assert decompose(query) == (" ".join(query.split()),)


def test_the_development_queries_stay_right():
    right = [_same(decompose(entry["query"]), entry["sub_queries"]) for entry in DEVELOPMENT]
    assert sum(right) / len(right) >= LEAST_RIGHT


def test_the_page_says_what_the_rules_do_now():
    page = (ROOT / DECOMPOSITION_PAGE).read_text(encoding="utf-8")
    assert rewritten(page, [decomposition_table(list(HALVES))]) == page


def _same(found, expected):
    return [text.casefold().split() for text in found] == [text.casefold().split() for text in expected]


def test_layout_makes_no_other_decomposition():
    query = "Compare the EU AI Act and GDPR approaches to automated decision-making"
    assert decompose(query.replace(" ", " \n\t ")) == decompose(query)


def test_needs_beyond_the_limit_are_asked_together():
    query = "Find: " + ", ".join(f"item {number}" for number in range(12))
    found = decompose(query, 5)
    assert (len(found), found[0], found[-1]) == (5, "item 0", ", ".join(f"item {number}" for number in range(4, 12)))
    assert decompose(query, 1) == (query,)


@pytest.mark.parametrize(("length", "needs"), [(LONGEST_SENTENCE_CHARS, 2), (LONGEST_SENTENCE_CHARS + 1, 1)])
def test_a_sentence_that_is_too_long_is_left_whole(length, needs):
    query = "How do I add a driver and report an accident "
    assert len(decompose(query + "x" * (length - len(query)))) == needs


@pytest.mark.parametrize(("length", "needs"), [(LONGEST_CHARS, 2), (LONGEST_CHARS + 1, 1)])
def test_a_text_that_is_too_long_is_left_whole(length, needs):
    query = "Who pays? Who signs "
    assert len(decompose(query + "x" * (length - len(query) - 1) + "?")) == needs


@given(st.lists(st.one_of(st.sampled_from(UNITS), st.text(max_size=8)), max_size=30), st.integers(1, 9))
def test_any_text_gives_a_bounded_number_of_distinct_sub_queries(pieces, most):
    query = "".join(pieces)
    found = decompose(query, most)
    assert 1 <= len(found) <= max(1, most)
    assert len(set(found)) == len(found) == len([text for text in found if text == " ".join(text.split())])
    assert found == decompose(query, most)


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_hostile_text_costs_little(unit):
    slowest = 0.0
    for opening in OPENINGS:
        for length in (LONGEST_SENTENCE_CHARS, LONGEST_CHARS, LONGEST_QUERY):
            text = (opening + unit * length)[:length]
            started = time.thread_time()
            decompose(text)
            slowest = max(slowest, time.thread_time() - started)
    assert slowest < 0.5
