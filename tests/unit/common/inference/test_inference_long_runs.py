"""Runs without white space: short ones are left alone, long ones are broken, and places find back to the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.adapters.spacy.long_runs import LONGEST_MARKS, LONGEST_RUN, ShortRuns, with_short_runs
from services.common.adapters.spacy.reading import SpacyReading
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings
from tests.speed import processor_time_below

LETTERS = "abZ1é中'.,-%=(\"😀\u0301"
WORDS = st.text(alphabet=LETTERS, min_size=1, max_size=40)


@given(st.lists(WORDS, max_size=60), st.sampled_from([" ", "\n", "\u2003"]))
def test_what_people_write_is_read_as_it_stands(words, blank):
    text = blank.join(words)
    assert with_short_runs(text) == ShortRuns(text)


@given(st.lists(st.tuples(st.text(alphabet=LETTERS, min_size=1, max_size=5), st.integers(1, 400)), max_size=6))
def test_no_run_stays_long_and_every_stretch_stands_in_the_source(parts):
    text = " ".join(piece * count for piece, count in parts)
    ready = with_short_runs(text)
    assert max(map(len, ready.text.split()), default=0) <= LONGEST_RUN
    for at, char in enumerate(ready.text):
        place = ready.place(at, at + 1)
        assert place is not None
        assert char == " " or text[slice(*place)] == char


@given(st.integers(1, 3000), st.integers(0, 2), st.sampled_from(["x", "a1", "ab,", "中文。", "a-b/"]))
def test_letters_are_all_kept(count, lead, piece):
    text = f"{'Bern ' * lead}{piece * count} Basel"
    ready = with_short_runs(text)
    assert ready.text.replace(" ", "") == text.replace(" ", "")
    start = ready.text.index("Basel")
    assert ready.place(start, start + 5) == (len(text) - 5, len(text))


def test_of_a_long_ruler_its_beginning_is_read():
    ready = with_short_runs("Bern" + "=" * 5000 + "Basel and Genf")
    assert ready.text == "Bern" + "=" * LONGEST_MARKS + " Basel and Genf"
    assert ready.place(0, 4) == (0, 4)
    assert ready.place(69, 74) == (5004, 5009)
    assert ready.place(0, 74) is None  # reaches over what was left out


def test_a_long_link_is_cut_behind_a_mark():
    text = "https://example.org/" + "word/" * 80
    pieces = with_short_runs(text).text.split(" ")
    assert all(piece.endswith("/") for piece in pieces)
    assert "".join(pieces) == text


HOSTILE = [
    *("%", "=", "(", '"', "'s", "\u2019s", "US$", "()", "[(", ":)", "§", "_", "#*", "😀", "\u201c", "\u2026", "、"),
    *(".", "..a", "a.", "-", "--", "->", "a%", "%'s", "/", "@", "a@", "1,", "x", "中", " \n", "\n", "\t ", "http://a"),
]


@pytest.fixture(scope="module")
def reading():
    return SpacyReading.load(open_repository(InferenceSettings()).folder("ner") / "1")


@pytest.mark.timed
@pytest.mark.parametrize("piece", HOSTILE)
def test_the_tokenizer_takes_time_that_grows_with_the_length(reading, piece):
    tokenizer = reading.pipeline.tokenizer
    text = ("a" + piece * 16_000)[:16_000]
    with processor_time_below(1.0), reading.pipeline.memory_zone():  # 16,000 percent signs took 40 s and more
        tokenizer(with_short_runs(text).text)


def test_names_around_long_runs_are_found_in_their_places(reading):
    runs = "%" * 4000, "=(" * 900, "x" * 900
    text = "Angela Merkel met Emmanuel Macron in Paris. {} {}Berlin is in Germany. {} in Bern.".format(*runs)
    (entities,) = reading.entities([text])
    assert all(text[one.start : one.end] == one.text for one in entities)
    assert {"Angela Merkel", "Emmanuel Macron", "Paris", "Germany", "Bern"} <= {one.text for one in entities}
