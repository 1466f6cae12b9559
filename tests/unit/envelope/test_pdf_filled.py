"""PDF: cells that are filled and not ruled, and columns of prose that are no table (ADR 0230)."""

from itertools import pairwise

import pytest

from services.common.documents.document import BlockKind
from services.common.documents.pdf import read_pdf
from services.common.documents.pdf.filled import rules_of_fills
from tests.fakes.pdf import drawn
from tests.speed import processor_time_below

XS = (60, 200, 280, 360)
HEAD, STRIPE = (0.24, 0.35, 0.43), (0.93, 0.93, 0.93)
ROWS = [("Registrar", "bleep 2077", "Mon"), ("Pharmacist", "ext. 5530", "Tue"), ("Interpreter", "0800 555", "Wed")]


def tables(draw):
    return [block.table for block in read_pdf(drawn(draw), 100, 1_000_000).blocks if block.table is not None]


def row(canvas, y, cells, ground=None, *, stroke=0):
    """Draw a row of 20 points whose cells have a ground, a frame, both or neither."""
    for (left, right), cell in zip(pairwise(XS), cells, strict=True):
        if ground or stroke:
            canvas.setFillColorRGB(*(ground or (1, 1, 1)))
            canvas.rect(left, y, right - left, 20, stroke=stroke, fill=int(ground is not None))
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(left + 4, y + 6, cell)


@pytest.mark.parametrize("striped", [0, 1])
def test_a_head_and_every_second_row_with_a_ground_are_a_table_with_the_rows_between_and_behind(striped):
    def draw(canvas):
        canvas.setFont("Helvetica", 9)
        row(canvas, 700, ("Role", "Phone", "Day"), HEAD)
        for number, cells in enumerate(ROWS):
            row(canvas, 680 - 20 * number, cells, STRIPE if number % 2 == striped else None)

    (table,) = tables(draw)
    assert table.rows == (("Role", "Phone", "Day"), *ROWS)
    assert table.header_rows == 1


def test_a_filled_head_on_a_table_with_lines_is_its_head():
    def draw(canvas):
        canvas.setFont("Helvetica", 9)
        row(canvas, 700, ("Role", "Phone", "Day"), HEAD)
        for number, cells in enumerate((("Registrar", "", "Mon"), ("Pharmacist", "ext. 5530", ""))):
            row(canvas, 680 - 20 * number, cells, stroke=1)

    (table,) = tables(draw)
    assert table.rows == (("Role", "Phone", "Day"), ("Registrar", "", "Mon"), ("Pharmacist", "ext. 5530", ""))
    assert table.header_rows == 1


def boxes(top, colour, xs=XS):
    return [((left, top, right, top + 20.0), colour) for left, right in pairwise(xs)]


def test_stripes_of_one_colour_alone_do_not_say_where_their_table_begins():
    assert rules_of_fills(boxes(100.0, STRIPE) + boxes(140.0, STRIPE), [], []) == []


@pytest.mark.parametrize(
    "below",
    [
        pytest.param([], id="a head alone"),
        pytest.param(boxes(120.0, STRIPE, (60, 210, 360)), id="other columns"),
        pytest.param(boxes(200.0, STRIPE), id="far below"),
        pytest.param([((60.0, 120.0, 360.0, 140.0), STRIPE)], id="one box"),
    ],
)
def test_what_is_not_one_table_gets_no_rules(below):
    assert rules_of_fills(boxes(100.0, HEAD) + below, [], []) == []


@pytest.mark.timed
def test_a_page_of_rows_that_have_nothing_in_common_takes_little():
    fills = [box for n in range(2_000) for box in boxes(3.0 * n, (n % 250, 0, 0), (60, 100 + n % 400, 600))]
    rules = [(float(n % 500), float(n % 800), float(n % 500), n % 800 + 9.0) for n in range(20_000)]
    with processor_time_below(1.0):
        rules_of_fills(fills, rules, [(70.0, 150.0)] * 5_000)


def test_a_row_without_a_ground_behind_the_last_one_is_seen_by_its_words():
    fills = boxes(100.0, HEAD) + boxes(120.0, STRIPE)
    for words, bottom in (([(70.0, 150.0)], 160.0), ([(70.0, 158.0)], 140.0), ([(400.0, 150.0)], 140.0)):
        found = rules_of_fills(fills, [], words)
        assert max(box[3] for box in found) == bottom
        assert {box[0] for box in found if box[0] == box[2]} == set(XS)


LEFT = (
    "This schedule is part of your policy. It shows which",
    "share of the bill we pay in each plan. The share is",
    "counted from the amount on the bill, but never from",
    "more than the fee scale of the chamber allows.",
)
RIGHT = (
    "Treatment must be started while it is in force. For",
    "bills above 750 euro send us a treatment plan first;",
    "we answer within ten working days. Without a plan",
    "sent in advance the share is reduced by a tenth.",
)


def test_two_short_columns_of_prose_are_read_one_after_the_other():
    def draw(canvas):
        canvas.setFont("Helvetica", 9)
        for number, pair in enumerate(zip(LEFT, RIGHT, strict=True)):
            for x, text in zip((60, 310), pair, strict=True):
                canvas.drawString(x, 700 - 12 * number, text)

    found = read_pdf(drawn(draw), 100, 1_000_000).blocks
    assert [block.text for block in found if block.kind is BlockKind.PARAGRAPH] == [" ".join(LEFT), " ".join(RIGHT)]
    assert not [block for block in found if block.table is not None]
