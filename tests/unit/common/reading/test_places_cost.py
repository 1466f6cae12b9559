"""Places of thousands of values in one clause: read in linear time, with the terms of all stretches before each."""

import time

import pytest

from services.common.reading import bounds
from services.common.reading.places import MAX_STRETCH_CHARS, read_places
from services.common.reading.values import scan_values


def places(text):
    return read_places(0, text, scan_values(text))


def seconds(text):
    began = time.process_time()
    places(text)
    return time.process_time() - began


def counted(template, times):
    return "".join(template.format(number) for number in range(times))


@pytest.mark.timed
def test_time_grows_with_the_values_of_a_clause():
    for template in ("a{0}=1{0} ", "item{0} at 1{0} EUR, "):
        seconds(counted(template, 100))
        assert seconds(counted(template, 2_000)) < 9 * max(seconds(counted(template, 500)), 0.01), template


def test_a_place_has_the_terms_of_the_stretches_before_it_in_its_clause():
    found = places("It takes 300 ml of water in summer, 150 ml in winter, 80 ml in spring.")
    assert [{"water", "summer", "winter"} & set(place.before) for place in found] == [
        set(),
        {"water", "summer"},
        {"water", "summer", "winter"},
    ]
    assert {"water", "spring"} & (found[2].before | found[2].stretch) == {"water", "spring"}
    assert found[0].before < found[1].before < found[2].before
    assert "winter" not in found[1].before


def test_words_without_a_break_are_said_of_the_values_near_them_alone():
    text = counted("k{0}=1{0} ", 500)
    assert len(text) > 4 * MAX_STRETCH_CHARS
    found = places(text)
    assert "k1" in found[0].stretch
    assert "k1" in found[9].stretch
    assert "k499" in found[-1].stretch
    assert "k1" not in found[-1].stretch
    assert "k1" in found[-1].before
    assert "k499" not in found[0].stretch


class Counted:
    """A pattern that counts how often it is searched."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.searched = 0

    def search(self, *given):
        self.searched += 1
        return self.pattern.search(*given)


@pytest.mark.parametrize(
    ("text", "searched", "side"),
    [
        ("1," * 300, 0, None),
        ("$1 " * 300, 0, None),
        ("5 or 6,7,8 or more: " + "1," * 100, 1, bounds.Bound.AT_LEAST),
        ("At most 5,6,7: " + "1," * 100, 1, bounds.Bound.AT_MOST),
    ],
)
def test_no_side_of_a_value_is_looked_for_where_no_word_stands(monkeypatch, text, searched, side):
    """A fifth of what 100,000 characters of "1," took as a passage went into sides that no word can name."""
    at_most = Counted(bounds._AT_MOST)
    monkeypatch.setattr(bounds, "_AT_MOST", at_most)
    found = places(text)
    assert len(found) > 90
    assert at_most.searched <= searched * 60
    assert side in {place.side for place in found}
