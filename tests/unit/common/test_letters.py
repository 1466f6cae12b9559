"""Letters that patterns take for ASCII's regardless of case: read as these wherever a found word is looked up."""

import re

import pytest

from services.common.grounding.numbers import days, quantities
from services.common.letters import ascii_cased
from services.common.reading.values import scan_values
from services.ercp.domain.predicates import Span
from services.ercp.domain.predicates.mentions import read_mentions
from tests.each import each

PLAIN = (
    "six weeks and 3 September 2024",
    "five million dollars within thirty days since August",
    "sixty-six kilograms in fifteen minutes",
    "one sixth, two fifths and six inches",
    "the first six months, sixteen basis points",
)
SWAPS = (("s", "\u017f"), ("S", "\u017f"), ("k", "\u212a"), ("i", "\u0131"), ("i", "\u0130"), ("I", "\u0131"))
HOSTILE = sorted(
    {
        text.replace(a, b)
        for plain in PLAIN
        for text in (plain, plain.upper(), plain.title())
        for a, b in SWAPS
        if a in text
    }
)


@pytest.mark.parametrize("letter", "\u017f\u212a\u0130\u0131")
def test_these_are_letters_that_a_pattern_takes_for_another(letter):
    assert re.fullmatch(ascii_cased(letter), letter, re.IGNORECASE)


def test_no_other_letter_is_taken_for_one_of_ascii():
    ascii_letters = re.compile("[a-z]", re.IGNORECASE)
    taken = [chr(code) for code in range(128, 0x110000) if ascii_letters.fullmatch(chr(code))]
    assert [letter for letter in taken if not ascii_cased(letter).isascii()] == []
    assert len(taken) == 4


@each("text", HOSTILE)
def test_a_text_with_such_letters_is_read_as_without(text):
    plain = ascii_cased(text)
    assert len(plain) == len(text)
    found = [(value.kind, value.start, value.end, value.normal) for value in scan_values(text)]
    assert found == [(value.kind, value.start, value.end, value.normal) for value in scan_values(plain)]
    whole = Span(0, len(text))
    assert read_mentions(text, whole, 100) == read_mentions(plain, whole, 100)


@each("text", HOSTILE)
def test_signals_read_such_a_text(text):
    assert len(quantities(text)) <= len(quantities(ascii_cased(text)))
    assert days(text) <= days(ascii_cased(text))
