"""PDF: tables with lines and without, merged cells, heads, captions, tables over several pages."""

from services.common.documents.document import BlockKind
from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import PROSE, drawn, grid, wrapped, write

FEES = [["Plan", "Price (EUR)", "From"], ["Basic", "10", "1 May 2025"], ["Plus", "25", "1 June 2025"]]


def read(content):
    return read_pdf(content, 100, 1_000_000)


def tables(content):
    return [block.table for block in read(content).blocks if block.table is not None]


def rows(*table):
    return tuple(tuple(row) for row in table)


def place(canvas, y, xs, cells, *, bold=False):
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", 10)
    for x, cell in zip(xs, cells, strict=True):
        canvas.drawString(x, y, cell)
    canvas.setFont("Helvetica", 10)


def test_a_table_with_lines_between_paragraphs():
    def draw(canvas):
        write(canvas, 60, 780, wrapped(PROSE, 470))
        grid(canvas, 60, 700, [100, 100, 120], FEES)
        write(canvas, 60, 600, wrapped(PROSE, 470))

    blocks = read(drawn(draw)).blocks
    assert [block.kind.name for block in blocks] == ["PARAGRAPH", "TABLE", "PARAGRAPH"]
    table = blocks[1].table
    assert (table.rows, table.header_rows, table.header_columns) == (rows(*FEES), 1, 1)
    assert [place.page for place in table.places] == [1, 1, 1]
    assert table.places[0].box[3] <= table.places[1].box[1] + 0.001


def test_cells_that_are_merged_across_and_down_stand_at_each_position():
    def draw(canvas):
        for y in (700, 680, 640):
            canvas.line(60, y, 360, y)
        canvas.line(160, 660, 360, 660)
        for x in (60, 160, 360):
            canvas.line(x, 700, x, 640)
        canvas.line(260, 680, 260, 640)
        place(canvas, 686, [64, 180], ["Region", "Price per month"], bold=True)
        place(canvas, 666, [164, 264], ["12 EUR", "Base"])
        place(canvas, 655, [64], ["North"])
        place(canvas, 646, [164, 264], ["3 EUR", "Extra"])

    (table,) = tables(drawn(draw))
    assert table.rows == rows(
        ["Region", "Price per month", "Price per month"], ["North", "12 EUR", "Base"], ["North", "3 EUR", "Extra"]
    )
    assert table.spanned == {(0, 2), (2, 0)}
    assert table.header_rows == 1


def test_lines_of_a_cell_are_one_text():
    def draw(canvas):
        for y in (700, 680, 640):
            canvas.line(60, y, 300, y)
        for x in (60, 140, 300):
            canvas.line(x, 700, x, 640)
        place(canvas, 686, [64, 144], ["Item", "Rule"], bold=True)
        write(canvas, 64, 668, ["Glass"])
        write(canvas, 144, 668, ["Paid in full when the pane is re-", "paired and not replaced."], size=9)

    (table,) = tables(drawn(draw))
    assert table.rows[1] == ("Glass", "Paid in full when the pane is repaired and not replaced.")


def test_a_table_without_lines_with_empty_cells():
    cells = [["Test", "Result", "Flag", "Unit"], ["Sodium", "139", "", "mmol/L"], ["Potassium", "5.4", "H", "mmol/L"]]

    def draw(canvas):
        write(canvas, 60, 780, wrapped(PROSE, 470))
        for number, row in enumerate(cells):
            place(canvas, 700 - 16 * number, [60, 180, 260, 320], row, bold=number == 0)

    (table,) = tables(drawn(draw))
    assert (table.rows, table.header_rows, table.header_columns) == (rows(*cells), 1, 1)


def test_a_table_with_rules_above_and_below_its_head_and_cells_of_two_lines():
    def draw(canvas):
        for y in (712, 694, 630):
            canvas.line(60, y, 400, y)
        place(canvas, 699, [60, 160, 220], ["Name", "Bits", "What it holds"])
        place(canvas, 680, [60, 160, 220], ["NMBS", "32", "The number of blocks"])
        place(canvas, 668, [220], ["in a frame."])
        place(canvas, 656, [60, 160, 220], ["NBS", "36", "The number of macro"])
        place(canvas, 644, [220], ["blocks in a frame."])

    (table,) = tables(drawn(draw))
    assert table.rows == rows(
        ["Name", "Bits", "What it holds"],
        ["NMBS", "32", "The number of blocks in a frame."],
        ["NBS", "36", "The number of macro blocks in a frame."],
    )
    assert table.header_rows == 1


def test_a_head_over_several_columns_names_each_of_them():
    def draw(canvas):
        place(canvas, 700, [190, 350], ["Ferries", "Hotels"], bold=True)
        place(canvas, 684, [60, 160, 240, 320, 400], ["", "2023", "2022", "2023", "2022"], bold=True)
        place(canvas, 668, [60, 160, 240, 320, 400], ["Revenue", "1,702", "1,521", "388", "371"])
        place(canvas, 652, [60, 160, 240, 320, 400], ["Fuel", "(493)", "(377)", "(9)", "(8)"])

    (table,) = tables(drawn(draw))
    assert table.rows[:2] == rows(["", "Ferries", "Ferries", "Hotels", "Hotels"], ["", "2023", "2022", "2023", "2022"])
    assert table.header_rows == 2


def test_a_table_that_goes_on_on_the_next_page_with_its_head_again():
    def page(*body):
        return lambda canvas: grid(canvas, 60, 760, [100, 100, 120], [FEES[0], *body])

    (table,) = tables(drawn(page(FEES[1]), page(FEES[2])))
    assert table.rows == rows(*FEES)
    assert [place.page for place in table.places] == [1, 1, 2]


def test_text_below_a_table_does_not_go_on_with_the_text_above_it():
    def draw(canvas):
        write(
            canvas,
            60,
            780,
            [
                "The fees of the two plans that were sold in the year",
                "before are those of the table that stands below here",
            ],
        )
        grid(canvas, 60, 740, [100, 100, 120], FEES)
        write(canvas, 60, 660, ["Fees for other plans than those are told on request"])

    assert [block.kind.name for block in read(drawn(draw)).blocks] == ["PARAGRAPH", "TABLE", "PARAGRAPH"]


def test_two_tables_with_other_heads_stay_two():
    other = [["Town", "Fee", "Until"], ["Ely", "3", "2 May 2025"]]
    content = drawn(
        lambda c: grid(c, 60, 760, [100, 100, 120], FEES), lambda c: grid(c, 60, 760, [100, 100, 120], other)
    )
    assert [table.rows for table in tables(content)] == [rows(*FEES), rows(*other)]


def test_the_caption_of_a_table_is_its_own():
    def draw(canvas):
        write(canvas, 60, 730, ["Table 3: Fees by plan"])
        grid(canvas, 60, 715, [100, 100, 120], FEES)
        write(canvas, 60, 500, ["Figure 1: The path of a claim"])

    document = read(drawn(draw))
    assert document.blocks[0].table.caption == "Table 3: Fees by plan"
    assert [(block.kind, block.text) for block in document.blocks[1:]] == [
        (BlockKind.CAPTION, "Figure 1: The path of a claim")
    ]


def test_labels_and_values_are_no_table():
    def draw(canvas):
        place(canvas, 700, [60, 140, 300, 400], ["Patient:", "Anna Maes", "Taken:", "12 May 2024"])
        place(canvas, 684, [60, 140, 300, 400], ["Born:", "3 Feb 1971", "Received:", "13 May 2024"])

    document = read(drawn(draw))
    assert [block.text for block in document.blocks] == [
        "Patient: Anna Maes", "Born: 3 Feb 1971", "Taken: 12 May 2024", "Received: 13 May 2024"
    ]  # fmt: skip


def test_a_table_in_one_of_two_columns():
    def draw(canvas):
        y = write(canvas, 60, 780, wrapped(PROSE, 220))
        for number, row in enumerate(FEES):
            place(canvas, y - 20 - 14 * number, [60, 130, 200], row, bold=number == 0)
        write(canvas, 60, y - 84, wrapped(PROSE, 220))
        write(canvas, 320, 780, wrapped(PROSE + PROSE, 220))

    document = read(drawn(draw))
    assert [block.kind.name for block in document.blocks][:3] == ["PARAGRAPH", "TABLE", "PARAGRAPH"]
    assert document.blocks[1].table.rows == rows(*FEES)


def test_an_address_beside_labels_is_not_glued_to_them():
    def draw(canvas):
        for number, row in enumerate(
            [
                ["Bill to", "Date:", "12 March"],
                ["Northgate", "Invoice no.:", "0417"],
                ["Port Ellery", "Due:", "11 April"],
            ]
        ):
            place(canvas, 700 - 16 * number, [60, 300, 400], row)

    document = read(drawn(draw))
    assert [block.text for block in document.blocks] == [
        "Bill to", "Northgate", "Port Ellery", "Date: 12 March", "Invoice no.: 0417", "Due: 11 April"
    ]  # fmt: skip


def test_rows_that_head_the_rows_below_name_no_column():
    def draw(canvas):
        for number in range(6):
            canvas.line(60, 700 - 18 * number, 360, 700 - 18 * number)
        for x in (60, 360):
            canvas.line(x, 700, x, 610)
        for x in (160, 260):
            for top in (682, 628):
                canvas.line(x, top, x, top - (36 if top == 682 else 18))
        for number, row in enumerate(
            [
                ["Europe", "", ""],
                ["France", "3 days", "4 EUR"],
                ["Spain", "5 days", "6 EUR"],
                ["Asia", "", ""],
                ["Japan", "9 days", "9 EUR"],
            ]
        ):
            place(canvas, 687 - 18 * number, [64, 164, 264], row)

    (table,) = tables(drawn(draw))
    assert table.rows[0] == ("Europe", "Europe", "Europe")
    assert table.rows[3] == ("Asia", "Asia", "Asia")
    assert table.header_rows == 0


def test_numbers_close_together_are_cells_of_their_own():
    def draw(canvas):
        place(canvas, 700, [60, 140, 200], ["Scheme", "Code", "Values"], bold=True)
        for number, row in enumerate([["b0", "3 4 2"], ["b10", "1 0 5"], ["b110", "7 6 8"]]):
            place(canvas, 684 - 14 * number, [60, 140], row)
            place(canvas, 684 - 14 * number, [200], [f"{number} %"])

    (table,) = tables(drawn(draw))
    assert table.rows[1] == ("b0", "3", "4", "2", "0 %")


def test_a_rule_drawn_between_two_words_is_an_underscore():
    def draw(canvas):
        canvas.drawString(60, 700, "The mode is INTER")
        x = 60 + canvas.stringWidth("The mode is INTER")
        canvas.rect(x + 0.3, 699, 3.2, 0.4, stroke=0, fill=1)
        canvas.drawString(x + 3.8, 700, "MV here.")

    assert read(drawn(draw)).blocks[0].text == "The mode is INTER_MV here."


def test_names_in_the_margin_stand_beside_the_whole_of_their_texts():
    texts = [PROSE, PROSE[::-1].replace(".", ","), PROSE]

    def draw(canvas):
        y = 780.0
        for name, text in zip(("Scope", "Premium", "Losses"), texts, strict=True):
            write(canvas, 60, y, [name], font="Helvetica-Bold", size=9)
            y = write(canvas, 180, y, wrapped(text, 360)) - 14

    (table,) = tables(drawn(draw))
    assert [row[0] for row in table.rows] == ["Scope", "Premium", "Losses"]
    assert table.rows[2][1] == PROSE.strip()
