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

from evaluation.decomposition import HALVES, decomposition_table
from services.common.questions.decomposition import LONGEST_CHARS, LONGEST_SENTENCE_CHARS, cut, decompose
from services.common.questions.decomposition.dangling import resolved
from tests.each import each
from tests.speed import slowness
from tools.evaluate_rules import DECOMPOSITION_PAGE, rewritten

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
    ("Within how many days must a loss be reported, and who reports it?",
     ["Within how many days must a loss be reported", "who reports a loss"]),
    ("When was it signed, by whom, and where?",
     ["When was it signed", "by whom was it signed", "where was it signed"]),
    ("When and where was the treaty signed?", ["When was the treaty signed", "where was the treaty signed"]),
    ("Does the policy cover theft, fire and flood?",
     ["Does the policy cover theft", "Does the policy cover fire", "Does the policy cover flood"]),
    ("Are theft, fire or flood covered by the policy?",
     ["Are theft covered by the policy", "Are fire covered by the policy", "Are flood covered by the policy"]),
    ("Why did sales fall in 2024 but rise in 2025?", ["Why did sales fall in 2024", "Why did sales rise in 2025"]),
    ("What changed between version 1.2 and 1.3?",
     ["version 1.2 changed", "version 1.3 changed", "version 1.2 vs version 1.3 comparison"]),
    ("What changed in the API between Python 3.11 and 3.12?",
     ["Python 3.11 changed in the API", "Python 3.12 changed in the API", "Python 3.11 vs Python 3.12 comparison"]),
    ("refund policy, plus shipping times", ["refund policy", "shipping times"]),
    ("What is the refund policy, plus the shipping times?", ["refund policy", "shipping times"]),
    ("In debug mode, where does the log go and which level does it get?",
     ["In debug mode, where does the log go", "In debug mode, which level does it get"]),
    ("In which encoding must the file be, and may it be compressed?",
     ["In which encoding must the file be", "may the file be compressed"]),
    ("What is the capital of France and what is its population?",
     ["What is the capital of France", "what is the capital of France's population"]),
    ("How do I install numpy, and how do I uninstall it?", ["How do I install numpy", "how do I uninstall numpy"]),
    ("What is the excess? How is it paid?", ["What is the excess", "How is the excess paid"]),
    ("What type does append give to a string? And to bytes?",
     ["What type does append give to a string", "What type does append give to a string, to bytes"]),
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
    "The page is sent already. How?",
    "Does the policy cover accidents and emergencies?",
    "What does 2 plus 3 make?",
    "What were the sales between 2019 and 2023?",
    "Is it covered?",
    "Wer haftet und was kostet das?",
    "and", "?", "", "vs", "Compare", "Compare and and and", "What are the", ": , ,",
]  # fmt: skip


def test_the_specifications_example():
    assert decompose("Compare the EU AI Act and GDPR approaches to automated decision-making") == (
        "EU AI Act automated decision-making",
        "GDPR automated decision-making",
        "EU AI Act vs GDPR comparison",
    )


@each(("query", "expected"), SPLIT, ids=[query for query, _ in SPLIT])
def test_split(query, expected):
    assert list(decompose(query)) == expected


@each("query", WHOLE)
def test_left_whole(query):
    assert decompose(query) == (" ".join(query.split()),)


def test_the_development_queries_stay_right():
    right = [_same(cut(entry["query"]), entry["sub_queries"]) for entry in DEVELOPMENT]
    assert sum(right) / len(right) >= LEAST_RIGHT


def test_the_page_says_what_the_rules_do_now():
    page = (ROOT / DECOMPOSITION_PAGE).read_text(encoding="utf-8")
    assert rewritten(page, [decomposition_table(list(HALVES))]) == page


def _same(found, expected):
    return [text.casefold().split() for text in found] == [text.casefold().split() for text in expected]


SETTLED = [
    (("What is the excess", "who owns it"), "who owns the excess"),
    (("Who wrote the report", "when was it published"), "when was the report published"),
    (("What does the warranty include", "how long does it last"), "how long does the warranty last"),
    (("How does the tenant pay", "how does the landlord send its bill"), "how does the landlord send its bill"),
    (("When was it signed", "who signed it"), "who signed it"),
    (("a fast shutdown", "when should I use the immediate one"), "when should I use the immediate one"),
    (("claim form", "hospital list"), "hospital list"),
]


@pytest.mark.parametrize(("parts", "expected"), SETTLED, ids=[parts[1] for parts, _ in SETTLED])
def test_a_pronoun_that_dangles_gives_way_to_what_the_part_before_is_about(parts, expected):
    assert resolved(parts) == (parts[0], expected)


@given(st.lists(st.text(max_size=80), max_size=5))
def test_resolving_keeps_the_number_of_parts(parts):
    assert len(resolved(parts)) == len(parts)


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


@pytest.mark.timed
@each("unit", UNITS, ids=repr)
def test_hostile_text_costs_little(unit):
    slowest = 0.0
    for opening in OPENINGS:
        for length in (LONGEST_SENTENCE_CHARS, LONGEST_CHARS, LONGEST_QUERY):
            text = (opening + unit * length)[:length]
            started = time.thread_time()
            decompose(text)
            slowest = max(slowest, time.thread_time() - started)
    assert slowest < 0.5 * slowness()
