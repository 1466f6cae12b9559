"""The "yes" or "no" that an answer begins with, and what is none (ADR 0210)."""

import pytest

from services.common.reading.answer_words import answer_word, only_answers
from tests.each import each
from tests.speed import processor_time_below


@each(
    ("text", "affirms", "rest"),
    [
        ("No, permits are not issued to lorries.", False, "permits are not issued to lorries."),
        ("No. Permits are not issued to lorries.", False, "Permits are not issued to lorries."),
        ("Yes \u2013 the fee is £4.", True, "the fee is £4."),
        ("**Yes.** The fee is £4.", True, "The fee is £4."),
        ("Unfortunately not: the fee is due.", False, "the fee is due."),
        ("Unfortunately, no. The fee is due.", False, "The fee is due."),
        ("That's right, it costs £4.", True, "it costs £4."),
        ("Not quite; you'd owe £4.", False, "you'd owe £4."),
        ("No, do not take it with milk.", False, "do not take it with milk."),
        ("Yes, you can take it if you are well.", True, "you can take it if you are well."),
        ("Absolutely not. We never share it.", False, "We never share it."),
    ],
)
def test_a_word_that_answers_is_told_from_the_statement_behind_it(text, affirms, rest):
    found = answer_word(text)
    assert (found.affirms, text[found.end :]) == (affirms, rest)
    assert only_answers(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Yes, if you ask in time.",
        "Yes, within 14 days.",
        "Yes, you can claim for this.",
        "Yes, but only with consent.",
        "No, unless the landlord agrees in writing.",
        "No. 5 is closed.",
        "No, thanks.",
        "No dogs, no cats in the house.",
        "No one pays.",
        "Correct the form, then send it.",
        "Certainly documents must be kept.",
        "Not all of them, they say.",
        "Yes, partly.",
        "No to dogs on weekdays, cats may come.",
        "You can swim.",
        "You have a card.",
        "",
    ],
)
def test_what_says_nothing_without_the_word_and_what_is_no_such_word_stay_whole(text):
    assert answer_word(text) is None
    assert only_answers(text) is None


@each(
    ("text", "affirms"),
    [
        ("Yes.", True),
        ("No", False),
        ("That's right!", True),
        ("No, it doesn't.", False),
        ("Yes \u2013 they can.", True),
        ("No to both.", False),
        ("Unfortunately you can't.", False),
        ("Yes, in this situation you can.", True),
        ("There is", True),
    ],
)
def test_a_sentence_that_is_nothing_but_the_answering_word(text, affirms):
    assert only_answers(text).affirms == affirms
    assert answer_word(text) is None


@pytest.mark.timed
def test_only_the_beginning_is_searched():
    assert only_answers("Yes" + "!" * 100_000) is None
    with processor_time_below(0.5):
        assert answer_word("Yes, " + "no " * 200_000) is None


@pytest.mark.parametrize(
    "text", ["Yes to the visit, no to the terrace.", "Yes to the dog, yes to the guest.", "Yes to pets."]
)
def test_an_answer_to_a_matter_of_its_own_says_more(text):
    assert only_answers(text) is None
