"""Sentences of a text that is still being written: told as soon as nothing can change them, and not before."""

import pytest
from groundtrail.reading.growing import CONTEXT_CHARS, CONTEXT_SENTENCES, MOST_SENTENCE_CHARS, GrowingText
from hypothesis import given
from hypothesis import strategies as st

from services.common.reading.sentences import sentences
from tests.each import each

PIECES = [
    "Dr. Smith", "3.5 m", "e.g. this", "The end.", 'He said "no."', "[1]", "[fact 2, 3]", "why? and", "\n",
    "\n\n", "- item", "1. one", "# Head", "**Bold**", "**Bold** text", "| a | b |", "```", "x = 1;", "U.S. law",
    "etc.", "No. 5", "  ", "etc. The", "。", "Ok!",
    "long long long long long long long long long long long long long long ", "…", "...", "A.", "(see p. 3).",
    "> quoted", "Inc. and", "iPhone", "a:", "--- ", "“Yes.”", "it. [2, 3] Then", "\r\n", "__", "~~~", "\u2028",
    "(", "]", "",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


def grown(text, cuts=()):
    """Return the spans that are told of a text that comes in pieces."""
    growing, found, at = GrowingText(), [], 0
    for cut in [*sorted(cut for cut in cuts if cut < len(text)), len(text)]:
        found += growing.add(text[at:cut])
        at = max(at, cut)
    return [(one.start, one.end) for one in (*found, *growing.end())]


def told_after(text):
    """Return the texts of the sentences that are told before the end."""
    growing = GrowingText()
    return [one.text for char in text for one in growing.add(char)]


@given(TEXTS, st.sets(st.integers(0, 300)))
def test_whatever_pieces_a_text_comes_in_its_sentences_are_those_of_the_whole(text, cuts):
    assert grown(text, cuts) == [(one.start, one.end) for one in sentences(text)]


@given(TEXTS)
def test_a_letter_at_a_time_is_no_other_text(text):
    assert grown(text, range(len(text))) == [(one.start, one.end) for one in sentences(text)]


@each(
    ("text", "told"),
    [
        ("It is so.", []),
        ("It is so. ", []),
        ("It is so. A", ["It is so."]),
        ("It is so. a", []),
        ("It is so. iP", ["It is so."]),
        ("It is so.\n", []),
        ("It is so.\n\n", ["It is so."]),
        ("It costs 3.", []),
        ("It costs 3.5 m. N", ["It costs 3.5 m."]),
        ("Ask Dr. Smith. H", ["Ask Dr. Smith."]),
        ("She works for Acme Inc. The", []),
        ("She works for Acme Inc. The ", ["She works for Acme Inc."]),
        ("It is so. [1", []),
        ("It is so. [1] A", ["It is so. [1]"]),
        ('He said "yes."', []),
        ('He said "yes." T', ['He said "yes."']),
        ("# Terms and so on", []),
        ("# Terms\nI", ["Terms"]),
        ("It covers:\n- fire\n- t", ["It covers:", "fire"]),
        ("A line that does not end and", []),
        ("A short line\nA", []),
        ("A short line\nAn", ["A short line"]),
    ],
)
def test_a_sentence_is_told_when_its_end_is_certain(text, told):
    assert told_after(text) == told


def test_a_sentence_comes_with_what_stands_before_it():
    growing = GrowingText()
    found = [*growing.add("One is so. Two is so.\n\n- Three is. F"), *growing.end()]
    assert [(one.text, one.context) for one in found] == [
        ("One is so.", ""),
        ("Two is so.", "One is so. "),
        ("Three is.", "One is so. Two is so.\n\n- "),
        ("F", "One is so. Two is so.\n\n- Three is. "),
    ]


def test_the_context_is_bounded_and_begins_with_a_sentence():
    growing = GrowingText()
    text = "".join(f"This is sentence number {number}. " for number in range(500))
    found = [*growing.add(text), *growing.end()]
    assert len(found) == 500
    assert all(len(one.context) <= CONTEXT_CHARS for one in found)
    assert found[-1].context.startswith("This is sentence")
    assert text[found[-1].start - len(found[-1].context) : found[-1].start] == found[-1].context


def test_of_short_sentences_only_the_last_ones_are_told_with_the_next():
    growing = GrowingText()
    found = [*growing.add("".join(f"It is {number}. " for number in range(50))), *growing.end()]
    assert len(found) == 50
    assert found[3].context == "It is 0. It is 1. It is 2. "
    assert found[49].context == "".join(f"It is {number}. " for number in range(49 - CONTEXT_SENTENCES, 49))


@pytest.mark.parametrize("piece", ["word ", "Dr. ", "x", "... ", "* ", "#", "| ", "(", "\u00e9"])
def test_what_never_ends_is_cut_and_forgotten(piece):
    growing, found = GrowingText(), []
    for _ in range(12_000):
        found += growing.add(piece)
        assert len(growing._text) < 2 * MOST_SENTENCE_CHARS + CONTEXT_CHARS + 1_000
    found += growing.end()
    assert all(one.end - one.start <= MOST_SENTENCE_CHARS for one in found)


def test_what_is_cut_is_cut_alike_however_it_comes():
    text = "It goes on and on " * 1_000
    assert grown(text) == grown(text, range(0, len(text), 7))
