"""What a hostile document costs: reading grows with its length, not with the square of it."""

import time

import pytest

from services.common.documents.facts.chunking import chunk
from services.common.documents.html.reading import MAX_DEPTH, read_html
from services.common.documents.plain import read_text
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import ErrorReason, LimitExceededError
from tests.fakes.office_files import word, workbook
from tests.speed import processor_time_below

LIMITS = ReadingLimits(64 << 20, 2_000, 20_000_000)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("read", "content", "blocks"),
    [
        pytest.param(lambda text: read_html(text).blocks, "<div>a" * 2_000, 2_000, id="html nested deeply"),
    ],
)
def test_reading_takes_seconds_where_it_took_a_minute(read, content, blocks):
    with processor_time_below(6):
        found = read(content)
    assert len(found) == blocks


@pytest.mark.timed
@pytest.mark.parametrize("opening", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<DIV class='a'>"])
def test_html_that_nests_without_end_is_refused_before_it_is_parsed(opening):
    with processor_time_below(3):
        with pytest.raises(LimitExceededError) as caught:
            read_html(opening * 200_000)
        assert caught.value.reason is ErrorReason.MESSAGE_TOO_LARGE


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


def _csv(size):
    return "Name,Fee\n" + "".join(f"row {row},{row}\n" for row in range(size))


def _records(size):
    return "\n".join(f'{{"id": "r{row}", "fees": [{{"sum": {row}}}], "at": {{"city": "x"}}}}' for row in range(size))


def _rst(size):
    return "".join(f"Part {row}\n------\n\nText of part *{row}*.\n\n- item\n\n" for row in range(size))


def _pages(size):
    return "\f".join(f"Head {row}\n\nA torn-\nness of {row}.\n\nA  B  C\n1  2  3\n4  5  6\n" for row in range(size))


def _code(size):
    return "".join(f"# says {row}\ndef f{row}():\n    return {row}\n\n" for row in range(size))


def _mail(size):
    return "From: a@example.org\nSubject: x\n\n" + "".join(f"> line {row}\nanswer {row}\n" for row in range(size))


def _word(size):
    return word(*(f"Sentence number {row}." for row in range(size)))


def _workbook(size):
    return workbook([("Name", "Fee"), *((f"row {row}", row) for row in range(size))])


def _scattered(size):
    return workbook([(f"a{row}", *[None] * (row % 7 + 1), "b") if row % 2 else () for row in range(size)])


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    ("make", "name", "size"),
    [
        pytest.param(_csv, "a.csv", 8_000, id="csv"),
        pytest.param(_records, "a.jsonl", 2_000, id="json lines"),
        pytest.param(_rst, "a.rst", 200, id="rst"),
        pytest.param(_pages, "a.txt", 800, id="text"),
        pytest.param(_code, "a.py", 1_000, id="source code"),
        pytest.param(_mail, "a.eml", 2_000, id="mail"),
        pytest.param(_word, "a.docx", 400, id="word"),
        pytest.param(_workbook, "a.xlsx", 2_000, id="workbook"),
        pytest.param(_scattered, "a.xlsx", 1_000, id="scattered cells"),
    ],
)
def test_each_kind_is_read_in_linear_time(make, name, size):
    def seconds(times):
        made = make(times * size)
        content = made if isinstance(made, bytes) else made.encode()
        began = time.process_time()
        read_document(content, "", name, LIMITS)
        return time.process_time() - began

    seconds(1)  # loads the library
    once = min(seconds(1) for _ in range(2))
    assert seconds(4) < 8 * once + 0.2
