"""What may leave of a text that is held back: nothing unjudged, nothing behind a halt, everything else once."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.streaming.release import ReleaseBuffer

TEXT = "A first sentence. A 2nd one, \u00fcber \U0001f600 all. And the last."


def pieces_of(text, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(places)]


def test_what_is_cleared_leaves_once_and_the_rest_waits():
    buffer = ReleaseBuffer()
    buffer.add("abc")
    buffer.add("defg")
    assert [buffer.release(2), buffer.release(2), buffer.release(5), buffer.waiting] == ["ab", "", "cde", 2]
    assert (buffer.received, buffer.released) == (7, 5)
    assert buffer.release(99) == "fg"


def test_behind_a_halt_nothing_leaves_and_nothing_comes_in():
    buffer = ReleaseBuffer()
    buffer.add("abcdef")
    buffer.release(2)
    buffer.halt(4)
    buffer.add("ghi")
    assert (buffer.release(99), buffer.release(99), buffer.is_halted) == ("cd", "", True)
    buffer.halt(6)
    assert buffer.release(99) == "", "a halt is never moved back up"


def test_a_halt_before_what_has_left_takes_nothing_back_and_releases_nothing():
    buffer = ReleaseBuffer()
    buffer.add("abcdef")
    buffer.release(4)
    buffer.halt(1)
    assert (buffer.release(99), buffer.released) == ("", 4)


def test_more_than_may_wait_is_refused_and_changes_nothing():
    buffer = ReleaseBuffer(most=5)
    buffer.add("abc")
    with pytest.raises(OverflowError, match="6 characters would wait; at most 5 may"):
        buffer.add("def")
    assert (buffer.received, buffer.release(9)) == (3, "abc")
    buffer.add("defgh")
    assert buffer.release(9) == "defgh"


@given(st.sets(st.integers(0, 60)), st.lists(st.integers(0, 70), max_size=20), st.integers(0, 70), st.integers(0, 20))
def test_cut_anywhere_what_leaves_is_the_text_up_to_the_last_place_that_was_cleared(cuts, places, halt_at, halt_after):
    buffer = ReleaseBuffer()
    left, cleared, limit = "", 0, None
    pieces = pieces_of(TEXT, cuts)
    steps = max(len(pieces), len(places), halt_after + 1)
    for step in range(steps):
        if step < len(pieces):
            buffer.add(pieces[step])
        if step == halt_after:
            limit = max(len(left), min(halt_at, buffer.received))
            buffer.halt(halt_at)
        if step < len(places):
            left += buffer.release(places[step])
            cleared = max(cleared, places[step])
    assert TEXT.startswith(left)
    assert len(left) <= cleared
    assert limit is None or len(left) <= limit
    assert buffer.released == len(left)
    if limit is None:
        left += buffer.release(10**6)
        assert left == TEXT


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 60))
def test_how_a_text_is_cut_changes_nothing_that_leaves(cuts, other_cuts, halt_at):
    def left_of(places):
        buffer = ReleaseBuffer()
        for piece in pieces_of(TEXT, places):
            buffer.add(piece)
        buffer.halt(halt_at)
        return buffer.release(10**6)

    assert left_of(cuts) == left_of(other_cuts) == TEXT[:halt_at]
