"""What a hostile document costs: reading grows with its length, not with the square of it."""

import time

import pytest

from services.common.documents.chunking import chunk
from services.common.documents.html import MAX_DEPTH, read_html
from services.common.documents.text import read_text
from services.common.errors import ErrorReason, LimitExceededError


@pytest.mark.parametrize(
    ("read", "content", "blocks"),
    [
        pytest.param(lambda text: read_html(text).blocks, "<div>a" * 2_000, 2_000, id="html nested deeply"),
    ],
)
def test_reading_takes_seconds_where_it_took_a_minute(read, content, blocks):
    began = time.process_time()
    found = read(content)
    assert time.process_time() - began < 6
    assert len(found) == blocks


@pytest.mark.parametrize("opening", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<DIV class='a'>"])
def test_html_that_nests_without_end_is_refused_before_it_is_parsed(opening):
    began = time.process_time()
    with pytest.raises(LimitExceededError) as caught:
        read_html(opening * 200_000)
    assert caught.value.reason is ErrorReason.MESSAGE_TOO_LARGE
    assert time.process_time() - began < 3


def test_tags_that_people_leave_open_are_no_nesting():
    page = "<ul>" + "<li>A rule<br>of one line" * (MAX_DEPTH + 1) + "</ul>" + "<p>And more" * (MAX_DEPTH + 1)
    assert len(read_html(page).blocks) == 2 * (MAX_DEPTH + 1)


@pytest.mark.parametrize(
    "unit", ["a\n\n", "A b. ", "However a. ", "A fact of some eleven words that can stand alone, yes.\n\na\n\n"]
)
def test_short_texts_that_join_are_counted_once_and_not_with_all_before_them(unit):
    counted = 0

    def count(text):
        nonlocal counted
        counted += len(text)
        return len(text.split())

    text = unit * (20_000 // len(unit))
    assert chunk(read_text(text), count)
    assert counted < 20 * len(text)
