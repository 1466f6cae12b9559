"""PDF: what single characters and short rules say: underscores, weight, powers with a sign, white in fixed widths."""

import pypdfium2.raw as pdfium
import pytest

from services.common.documents.document import BlockKind, Document, Table
from services.common.documents.facts.rows import rows_of
from services.common.documents.pdf import read_pdf
from services.common.documents.pdf.words import Characters
from tests.fakes.pdf import PROSE, drawn, wrapped, write


def read(content) -> Document:
    return read_pdf(content, 100, 1_000_000)


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


@pytest.mark.parametrize("turned", [False, True])
def test_a_short_rule_between_two_words_is_an_underscore_on_turned_pages_too(turned):
    def draw(canvas):
        if turned:
            canvas.translate(595, 0)
            canvas.rotate(90)
        write(canvas, 60, 500, wrapped(PROSE, 470))
        canvas.drawString(60, 420, "Call open")
        x = 60 + canvas.stringWidth("Call open", "Helvetica", 10)
        canvas.rect(x + 0.3, 419.6, 2.6, 0.4, stroke=0, fill=1)
        canvas.drawString(x + 3.2, 420, "gate first")

    assert "Call open_gate first" in texts(read(drawn(draw)))


@pytest.mark.parametrize(
    ("name", "weight", "bold"),
    [("CMR7", 716, False), ("CMMI5", 792, False), ("CMBX7", 828, True), ("CMB10", 640, True), ("Heavyset", 700, True)],
)
def test_the_names_of_tex_tell_the_weight_and_thick_stems_do_not(monkeypatch, name, weight, bold):
    def write_name(_font, buffer, _length):
        buffer.value = name.encode()
        return len(name)

    monkeypatch.setattr(pdfium, "FPDFFont_GetBaseFontName", write_name)
    monkeypatch.setattr(pdfium, "FPDFFont_GetWeight", lambda _font: weight)

    def draw(canvas):
        write(canvas, 60, 500, wrapped(PROSE, 470))

    fonts = []
    known = Characters._font

    def keep(self, font):
        fonts.append(known(self, font))
        return fonts[-1]

    monkeypatch.setattr(Characters, "_font", keep)
    read(drawn(draw))
    assert {font.bold for font in fonts} == {bold}


def test_a_raised_sign_and_the_number_behind_it_are_one_power():
    def draw(canvas):
        write(canvas, 60, 740, ["The flow is given in 1 s"])
        x = 60 + canvas.stringWidth("The flow is given in 1 s", "Helvetica", 10)
        canvas.setFont("Symbol", 7)
        canvas.drawString(x + 0.5, 743, "\u2212")
        canvas.setFont("Helvetica", 7)
        canvas.drawString(x + 5.8, 743, "1")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(x + 10, 740, ", at all times.")
        write(canvas, 60, 700, wrapped(PROSE, 470))

    first = texts(read(drawn(draw)))[0]
    assert first == "The flow is given in 1 s^\u22121, at all times."


def test_white_beside_characters_of_a_fixed_width_ends_no_word():
    def draw(canvas):
        write(canvas, 60, 740, wrapped(PROSE, 470))
        canvas.setFont("Courier", 10)
        x = 60.0
        for character in "see a.b.h: http://x.y/z":
            canvas.drawString(x, 660, character)
            x += 8.5

    assert "see a.b.h: http://x.y/z" in texts(read(drawn(draw)), BlockKind.CODE)


def test_headings_alone_below_a_bold_head_group_one_table():
    def draw(canvas):
        def place(y, cells, *, bold=False):
            canvas.setFont("Helvetica-Bold" if bold else "Helvetica", 10)
            for x, cell in zip((60, 220, 340, 460), cells, strict=False):
                canvas.drawString(x, y, cell)

        place(740, ["WHAT", "WHERE", "WHO", "WHEN"], bold=True)
        y = 710
        for title in ("Morning work", "Evening work"):
            place(y, [title], bold=True)
            for number, name in enumerate(("gates", "lamps", "ropes")):
                place(y - 13 * (number + 1), [name, "east pier", "watchman", "daily"])
            y -= 70

    (table,) = [block.table for block in read(drawn(draw)).blocks if block.table is not None]
    assert (table.rows[0], table.header_rows) == (("WHAT", "WHERE", "WHO", "WHEN"), 1)
    assert [row[0] for row in table.rows if len(set(row)) == 1] == ["Morning work", "Evening work"]
    assert len(table.rows) == 9


def test_names_alone_at_the_end_of_a_table_are_rows_and_head_none():
    head = ("Key", "Other names", "Meaning")
    alone = [(name, "", "") for name in ("east", "north", "south", "west")]
    rows = (head, alone[0], alone[1], ("up", "high", "above"), alone[2], alone[3])
    told = [row.parts for row in rows_of(Table(rows, 1, 1), lambda _: "")]
    assert [parts[0] for parts in told] == ["east", "north", "Key: up", "south", "west"]
