"""What a hostile document costs: reading grows with its length, not with the square of it."""

import time

import pytest

from services.envelope.documents.html import read_html
from services.envelope.documents.pdf import _page_blocks, _running_lines, _without_running


def read_page(lines):
    return _page_blocks(_without_running(lines, _running_lines([lines])), "p. 1")


@pytest.mark.parametrize(
    ("read", "content", "blocks"),
    [
        pytest.param(lambda text: read_html(text).blocks, "<div>a" * 16_000, 16_000, id="html nested deeply"),
        pytest.param(read_page, ["a line of text here"] * 30_000, 1, id="pdf page of many lines"),
        pytest.param(read_page, ["Ab", "", "bc."] * 20_000, 40_000, id="pdf page of many headings"),
    ],
)
def test_reading_takes_seconds_where_it_took_a_minute(read, content, blocks):
    began = time.process_time()
    found = read(content)
    assert time.process_time() - began < 6
    assert len(found) == blocks
