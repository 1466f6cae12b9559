"""Hostile inputs to the search for injections: it ends, in linear time, with places inside the text (ADR 0125).

``GROUNDTRAIL_TEST_EXPLORE=1`` makes it 10,000; a tenth otherwise.
"""

# ruff: noqa: RUF001 - characters that look like others are what this is about

import base64
import codecs
import os
import random
import time

import pytest

from services.common.injection.rule_set import rule_set
from services.common.injection.searching import MAX_MATCHES, find_injections
from tests.each import each
from tests.speed import processor_time_below
from tests.tenth import tenth

EXAMPLES = [text for rule in rule_set().rules for text in (*rule.finds, *rule.leaves)]
COUNT = 10_000 if os.environ.get("GROUNDTRAIL_TEST_EXPLORE") == "1" else 1_000
SEED = 20
ODD = (
    *("\ud800", "\udfff", "\x00", "\u202e", "\u200b", "\ufeff", "\U000e0041", "\ufe0f", "a\u0300" * 8, "%"),
    *(
        "&#x110000;",
        "&#99999999;",
        "\\u{110000}",
        "\\ud800",
        "=?=",
        "<",
        "<<<!--",
        "```",
        "''",
        '"',
        "\u201c",
        "İ",
        "ß",
    ),
    *("ﷺ", "𝐀", "\r\n", "\\x", "%zz", "&amp;amp;lt;", "[]" * 9, "../" * 9, "1" * 30, "01" * 30, "==" * 9),
    *("-.-. " * 9, "e30=", "🏴", "👨\u200d👩\u200d👧"),
)


def _base64(text):
    return base64.b64encode(text.encode("utf-8", "replace")).decode()


def _hex(text):
    return text.encode("utf-8", "replace").hex()


def _percent(text):
    return "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "replace"))


def _entities(text):
    return "".join(f"&#{ord(char)};" for char in text)


WRAPPED = (
    _base64, _hex, _percent, _entities, lambda text: codecs.encode(text, "rot13"), lambda text: text[::-1],
    " ".join, str.upper, "\u200b".join,
    lambda text: text.replace(" ", ""), lambda text: f'"{text}"', lambda text: f"```\n{text}\n```",
    lambda text: f"<b>{text}</b>", lambda text: text.translate({97: "а", 101: "е", 111: "о"}),
)  # fmt: skip


def hostile(source):
    """Return a text of rules' own examples, odd characters and codes within codes."""
    text = ""
    for _ in range(source.randint(1, 6)):
        piece = source.choice(EXAMPLES if source.random() < 0.7 else ODD)
        for _ in range(source.randint(0, 4)):
            piece = source.choice(WRAPPED)(piece)[:4_000]
        cut = source.randint(0, len(piece))
        text += piece[:cut] + source.choice(ODD) + piece[cut:] + source.choice((" ", "\n", "", ". "))
    return text


@pytest.mark.parametrize("part", range(10))
def test_hostile_inputs_end(part):
    source = random.Random(SEED + part)
    for _ in range(COUNT // 10):
        text = hostile(source)
        found = find_injections(text)
        assert 0.0 <= found.score <= 1.0
        assert len(found.matches) <= MAX_MATCHES
        for match in found.matches:
            assert 0 <= match.start <= match.end <= len(text)
            assert 0.0 < match.weight <= found.score


def test_what_generates_them_finds_something():
    source = random.Random(SEED)
    scores = [find_injections(hostile(source)).score for _ in range(50)]
    assert max(scores) >= 0.8
    assert min(scores) < 0.8


RUNS = (
    *(
        "a",
        " ",
        "\u200b",
        "é",
        "а",
        "<",
        "=",
        "%",
        "\\",
        "0",
        "-",
        ". ",
        "a.",
        "a b ",
        "ab-",
        "a*",
        "&",
        '"',
        "`",
        "\n- ",
    ),
    *("A=\n", "ignore "),
)


@pytest.mark.timed
@each("run", RUNS, ids=lambda run: run.encode("unicode_escape").decode() or "x")
def test_a_long_run_costs_what_its_length_does(run):
    """Ten times the text takes some ten times as long: what is quadratic would take a hundred times."""
    short, long = (run * (size // len(run)) for size in (8_000, 80_000))
    find_injections(short)
    taken = []
    for text in (short, long):
        start = time.process_time()
        find_injections(text)
        taken.append(time.process_time() - start)
    assert taken[1] < 35 * taken[0] + 0.2


@pytest.mark.timed
@pytest.mark.tenth(inside=True)
def test_a_million_of_one_character_ends():
    for char in tenth("a million of one character", ("a", "\u202e", "9"), name=ascii):
        with processor_time_below(20):
            find_injections(char * 1_000_000)
