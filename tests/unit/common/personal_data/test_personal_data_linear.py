"""What many findings in one piece cost, and that fewer comparisons find the same."""

import random
import time

import pytest
from presidio_analyzer import RecognizerResult
from presidio_analyzer import predefined_recognizers as presidio

from services.common.adapters.presidio.duplicates import without_duplicates
from services.common.adapters.presidio.engine import Analyzer, search
from services.common.adapters.presidio.identity import IndianPan

WORDS = "driver license number, pan, ssn, passport, phone, iban, card, salary earned by him: "
PIECE_CHARS = 4_800
MOST_RATIO, MOST_S = 3.0, 0.1


@pytest.fixture(scope="module")
def searched():
    return search(Analyzer())


def spent_s(searched, *texts):
    """Return the least that each text takes of five turns: whatever slows the machine down meets all of them."""
    spent = []
    for _ in range(5):
        for text in texts:
            began = time.process_time()
            searched(text, ())
            spent.append(time.process_time() - began)
    return [min(spent[place :: len(texts)]) for place in range(len(texts))]


@pytest.mark.timed
@pytest.mark.tenth(share=3)
@pytest.mark.parametrize("unit", ["A1.", "A1 ", "1.", "1.1.1.1 ", "ab::1 ", "1 ", "+1", "DE89 ", "$1 "])
def test_a_piece_of_repetitions_takes_twice_as_long_as_its_half(searched, unit):
    text = WORDS + unit * PIECE_CHARS
    searched(text[:200], ())
    half, whole = spent_s(searched, text[: PIECE_CHARS // 2], text[:PIECE_CHARS])
    assert whole < MOST_S or whole / half < MOST_RATIO


def plain(results):
    """Return what Presidio keeps, as it compares: each with all."""
    kept = []
    for one in sorted(results, key=lambda one: (-one.score, one.start, one.start - one.end)):
        inside = any(o.entity_type == one.entity_type and o.start <= one.start and one.end <= o.end for o in kept)
        if one.score and not inside:
            kept.append(one)
    return kept


def test_what_lies_in_another_of_its_type_is_left_out_and_nothing_else():
    rng = random.Random(7)
    for _ in range(500):
        results = [
            RecognizerResult(rng.choice("AB"), start, start + rng.randrange(1, 12), rng.choice((0, 0.3, 0.5, 1.0)))
            for start in (rng.randrange(40) for _ in range(rng.randrange(30)))
        ]
        assert without_duplicates(results) == plain(results)


def test_indian_numbers_are_found_as_presidio_finds_them():
    rng = random.Random(5)
    theirs, ours = presidio.InPanRecognizer(), IndianPan()
    parts = (
        "ABCPE1234F",
        "ABCDE1234F",
        "a-b#c12345",
        "abcdefghij",
        "123456789",
        "1234",
        "pan",
        " ",
        "\n",
        ".",
        "\u017f",
        "é",
    )
    some = 0
    for _ in range(500):
        text = "".join(rng.choice(parts) + rng.choice(("", " ")) for _ in range(rng.randrange(12)))
        each = [sorted((o.start, o.end, o.score) for o in one.analyze(text, ["IN_PAN"])) for one in (theirs, ours)]
        assert each[0] == each[1]
        some += len(each[0])
    assert some > 100
