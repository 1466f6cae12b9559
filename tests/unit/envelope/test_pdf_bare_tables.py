"""PDF: tables that alignment and white alone hold together, and what looks like one but is none (ADR 0114)."""

import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.documents.document import BlockKind
from services.common.documents.pdf import read_pdf
from services.common.documents.pdf.bare.finding import BareTable, find_tables
from services.common.documents.pdf.bare.leaders import without_leaders
from services.common.documents.pdf.lines import piece_of
from services.common.documents.pdf.words import Font, Run, Word
from tests.fakes.pdf import PROSE, drawn, wrapped, write
from tests.speed import slowness
from tests.tenth import examples


def blocks(draw):
    return read_pdf(drawn(draw), 100, 1_000_000).blocks


def tables(draw):
    return [block.table for block in blocks(draw) if block.table is not None]


def line(canvas, y, cells, *, bold=False):
    """Draw cells, each with the place of its left edge, or of its right edge below zero."""
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", 10)
    for x, cell in cells:
        (canvas.drawRightString if x < 0 else canvas.drawString)(abs(x), y, cell)
    canvas.setFont("Helvetica", 10)


def test_dots_lead_from_a_name_to_its_values_and_are_no_part_of_either():
    rows = [("Burglary", "240.9", "60.3", "180.6"), ("Arson", "9.8", "4.3", "5.5"), ("Fraud", "173.7", "5.1", "168.5")]

    def draw(canvas):
        line(canvas, 700, [(60, "Offense"), (-300, "Total"), (-380, "Young"), (-460, "Grown")], bold=True)
        for number, (name, *values) in enumerate(rows):
            dots = ". " * ((240 - 60 - round(canvas.stringWidth(name, "Helvetica", 10))) // 6)
            cells = [(60, f"{name} {dots}"), *zip((-300, -380, -460), values, strict=True)]
            line(canvas, 686 - 14 * number, cells)

    (table,) = tables(draw)
    assert table.rows == (("Offense", "Total", "Young", "Grown"), *rows)
    assert (table.header_rows, table.header_columns) == (1, 1)


def test_names_over_several_columns_are_repeated_and_stacked_words_are_one_name():
    def draw(canvas):
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawCentredString(325, 700, "Prices")
        canvas.drawCentredString(485, 700, "Weights")
        line(canvas, 684, [(60, "Code"), (-300, "one"), (-360, "five"), (-460, "net"), (-520, "gross")], bold=True)
        line(canvas, 673, [(-300, "pack"), (-360, "packs"), (-460, "kg"), (-520, "kg")], bold=True)
        for number, code in enumerate(("A-1", "A-2", "B-7")):
            values = zip((-300, -360, -460, -520), (f"{number}.50", f"{number}.40", "12.00", "13.5"), strict=True)
            line(canvas, 655 - 18 * number, [(60, code), *values])

    (table,) = tables(draw)
    assert table.rows[:2] == (
        ("Code", "Prices", "Prices", "Weights", "Weights"),
        ("Code", "one pack", "five packs", "net kg", "gross kg"),
    )
    assert table.header_rows == 2
    assert table.rows[2] == ("A-1", "0.50", "0.40", "12.00", "13.5")
    assert {(0, 2), (0, 4)} <= table.spanned


def test_cells_in_the_middle_of_their_row_belong_to_it():
    doses = [
        ("2 to 3 months", "up to two doses", "six hours apart", "5 ml"),
        ("1 to 2 years", "up to four", "a day", "9 ml"),
    ]

    def draw(canvas):
        line(canvas, 700, [(60, "Age"), (200, "How often"), (400, "Most")], bold=True)
        for number, (age, first, second, most) in enumerate([*doses, ("3 to 5 years", "up to five", "a day", "12 ml")]):
            top = 676 - 32 * number
            line(canvas, top, [(200, first)])
            line(canvas, top - 6.5, [(60, age), (400, most)])
            line(canvas, top - 13, [(200, second)])

    (table,) = tables(draw)
    assert table.rows[0] == ("Age", "How often", "Most")
    assert table.rows[1:3] == tuple((age, f"{first} {second}", most) for age, first, second, most in doses)


def test_lines_that_stand_closer_than_rows_go_on_with_the_cells_above():
    def draw(canvas):
        line(canvas, 700, [(60, "Day"), (120, "Details"), (-400, "Out"), (-500, "Balance")], bold=True)
        line(canvas, 682, [(120, "Brought forward"), (-500, "2,310.44")], bold=True)
        line(canvas, 664, [(60, "02.03."), (120, "Standing order"), (-400, "780.00"), (-500, "1,530.44")])
        line(canvas, 652, [(120, "Rent flat 12")])
        line(canvas, 634, [(60, "03.03."), (120, "Card payment"), (-400, "46.18"), (-500, "1,484.26")])
        line(canvas, 622, [(120, "Grocer Halm")])

    (table,) = tables(draw)
    assert table.header_rows == 1
    assert table.rows[1:] == (
        ("", "Brought forward", "", "2,310.44"),
        ("02.03.", "Standing order Rent flat 12", "780.00", "1,530.44"),
        ("03.03.", "Card payment Grocer Halm", "46.18", "1,484.26"),
    )


def test_headings_of_rows_stand_in_their_first_column_and_end_no_table():
    def draw(canvas):
        line(canvas, 700, [(60, "Test"), (-250, "Result"), (300, "Unit")], bold=True)
        line(canvas, 676, [(60, "Blood count")], bold=True)
        line(canvas, 662, [(60, "Platelets"), (-250, "268"), (300, "10/l")])
        line(canvas, 648, [(60, "Leucocytes"), (-250, "11.8"), (300, "10/l")])
        line(canvas, 624, [(60, "Iron")], bold=True)
        line(canvas, 610, [(60, "Ferritin"), (-250, "9"), (300, "ug/l")])

    (table,) = tables(draw)
    assert [row[0] for row in table.rows] == ["Test", "Blood count", "Platelets", "Leucocytes", "Iron", "Ferritin"]
    assert set(table.rows[1]) <= {"Blood count", ""}
    assert table.rows[2] == ("Platelets", "268", "10/l")


def test_pairs_beside_pairs_are_two_tables():
    left = [("Patient", "Ilse Tormann"), ("Born", "8 June 1961"), ("Sex", "female")]
    right = [("Taken", "11 May, 07:50"), ("Received", "11 May, 10:15"), ("Sent by", "Dr. Fink")]

    def draw(canvas):
        for number, (one, two) in enumerate(zip(left, right, strict=True)):
            line(canvas, 700 - 15 * number, [(60, one[0]), (120, one[1]), (320, two[0]), (400, two[1])])

    assert [table.rows for table in tables(draw)] == [tuple(left), tuple(right)]


def test_columns_of_addresses_are_no_table():
    def draw(canvas):
        line(canvas, 700, [(60, "For the Plaintiff:"), (320, "For the Defendant:")])
        line(canvas, 687, [(60, "Dana L. Whitcombe"), (320, "Martin J. Osei")])
        line(canvas, 674, [(60, "1120 Fifth Avenue"), (320, "404 Pearl Street")])
        line(canvas, 661, [(60, "Portland, Oregon 97204"), (320, "Eugene, Oregon 97401")])

    found = blocks(draw)
    assert not [block for block in found if block.table is not None]
    text = " ".join(block.text for block in found)
    assert text.index("Portland") < text.index("For the Defendant")


def test_titles_on_one_line_head_what_stands_below_each():
    def draw(canvas):
        canvas.setFont("Helvetica-Bold", 13)
        canvas.drawString(60, 700, "Key facts")
        canvas.drawString(320, 700, "Holdings")
        canvas.setFont("Helvetica", 10)
        for number in range(4):
            line(canvas, 680 - 14 * number, [(60, f"Name {number}"), (150, f"{number} years")])
        for number in range(5):
            line(canvas, 680 - 14.5 * number, [(320, f"Issuer {number}"), (-520, f"{number}.8")])

    found = blocks(draw)
    assert [block.text for block in found if block.kind is BlockKind.HEADING] == ["Key facts", "Holdings"]
    assert [len(block.table.rows) for block in found if block.table is not None] == [4, 5]


def test_a_note_beside_a_table_is_no_column_of_it():
    def draw(canvas):
        line(canvas, 700, [(60, "Ticket"), (-220, "1 zone"), (-290, "2 zones")], bold=True)
        line(canvas, 700, [(380, "Children ride free of")])
        for number, note in enumerate(("charge until they are six.", "A dog pays half the fare", "of a single ride.")):
            line(
                canvas,
                686 - 14 * number,
                [(60, f"Kind {number}"), (-220, f"{number}.10"), (-290, f"{number}.40"), (380, note)],
            )

    (table,) = tables(draw)
    assert table.rows[0] == ("Ticket", "1 zone", "2 zones")
    assert all(len(row) == 3 for row in table.rows)


def test_a_page_of_text_and_lists_has_no_table():
    def draw(canvas):
        y = write(canvas, 60, 780, wrapped(PROSE, 230))
        write(canvas, 320, 780, wrapped(PROSE, 230))
        for number in range(1, 5):
            line(canvas, y - 14 * number, [(60, f"{number}."), (80, "Fast for ten hours before the sample.")])

    assert not tables(draw)


FONT = Font("Helvetica", bold=False, slanted=False, fixed=False)


def piece(x, y, text):
    words, at = [], x
    for part in text.split():
        words.append(Word(part, at, y - 7, at + 5 * len(part), y + 2, y, Run(FONT, 10.0, 0, 0, (0, 0, 0, 255))))
        at += 5 * len(part) + 3
    return piece_of(words)


CELL = st.sampled_from(
    ["", "", "7", "12.5", "(3.1)", "-", "oak", "two words", "Total . . . . .", "long cell of five words", "3.4......"]
)
LINE = st.lists(CELL, min_size=1, max_size=5)


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(LINE, st.sampled_from([6.0, 12.0, 14.0, 30.0])), min_size=3, max_size=12))
def test_words_are_neither_lost_nor_doubled(content):
    rows, y = [], 0.0
    for cells, gap in content:
        y += gap
        row = [piece(60 + 130 * column, y, cell) for column, cell in enumerate(cells) if cell]
        if row:
            rows.append(row)

    def words(text):
        return Counter(word for word in re.split(r"[\s.\u2026]+", text) if word)

    for table in find_tables(rows, []):
        if not isinstance(table, BareTable):
            continue
        drawn_words = words(" ".join(one.text for row in rows[table.first : table.last + 1] for one in row))
        cells = [
            cell
            for index, row in enumerate(table.texts)
            for column, cell in enumerate(row)
            if (index, column) not in table.spanned
        ]
        assert words(" ".join(cells)) == drawn_words
        assert len({len(row) for row in table.texts}) == 1
        assert len(table.boxes) == len(table.texts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fraud . . . . . . 173.7", ["Fraud", "173.7"]),
        ("Fraud......... 173.7", ["Fraud", "173.7"]),
        ("Arson. . . . . .", ["Arson"]),
        ("Weapons, etc. . . . . 7", ["Weapons, etc.", "7"]),
        ("It ends. Then more.", ["It ends. Then more."]),
        ("wait ... 7", ["wait ... 7"]),
        ("(X1, Y1, ... )", ["(X1, Y1, ... )"]),
        (". . . . .", []),
    ],
)
def test_leaders(text, parts):
    (row,) = ([piece(60, 700, text)],)
    found = without_leaders(row)
    assert [one.text for one in found] == (parts or [". . . . ."])


@pytest.mark.timed
@pytest.mark.whole
def test_a_page_full_of_numbers_is_read_in_linear_time():
    def page(count):
        rows = [
            [piece(40 + 60 * column, 12.0 * number, f"{number}.{column}") for column in range(9)]
            for number in range(count)
        ]
        start = time.process_time()
        (table,) = find_tables(rows, [])
        assert isinstance(table, BareTable)
        assert len(table.texts) == count
        return time.process_time() - start

    page(50)
    small, large = min(page(200) for _ in range(3)), min(page(800) for _ in range(3))
    assert large < 4 * 3 * small + 0.05
    assert large < 3.0 * slowness()
