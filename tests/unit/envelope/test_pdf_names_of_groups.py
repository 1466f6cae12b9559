"""PDF: names of columns apart from their rows, tables across columns of text or beside a box, forms filled in."""

from services.common.documents.document import BlockKind
from services.common.documents.facts.chunking import chunk
from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import drawn

TEXT = (
    "The result did not depend on sex or country",
    "and the share of those who left was as small",
    "in both groups as it had been expected when",
    "the plan of the study was made, while persons",
    "over sixty years were too few to be told from",
    "the others by any of the measures that are in",
)


def read(draw):
    return read_pdf(drawn(draw), 100, 1_000_000)


def tables(draw):
    return [block.table for block in read(draw).blocks if block.table is not None]


def line(canvas, y, cells, *, bold=False, size=9):
    """Draw cells, each with the place of its left edge, or of its right edge below zero."""
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
    for x, cell in cells:
        (canvas.drawRightString if x < 0 else canvas.drawString)(abs(x), y, cell)


def test_names_half_a_line_apart_above_sections_name_the_columns():
    def draw(canvas):
        line(canvas, 703, [(-345, "Pieces"), (413, "EUR for orders from")], bold=True)
        line(canvas, 697, [(60, "Article"), (140, "Description")], bold=True)
        line(canvas, 691, [(-345, "per pack"), (-410, "1 pack"), (-470, "10 packs"), (-530, "50 packs")], bold=True)
        y = 666
        for section in ("Hexagon bolts, steel, galvanised", "Chipboard screws, countersunk"):
            line(canvas, y, [(60, section)], bold=True)
            for number in range(3):
                y -= 13
                cells = [
                    (60, f"4017-0{number}"),
                    (140, "M6, full thread"),
                    (-345, "200"),
                    (-410, "6.4"),
                    (-470, "5.7"),
                    (-530, "5.1"),
                ]
                line(canvas, y, cells)
            y -= 21

    (table,) = tables(draw)
    assert table.rows[:4] == (
        ("Article", "Description", "Pieces per pack", *("EUR for orders from",) * 3),
        ("Article", "Description", "Pieces per pack", "1 pack", "10 packs", "50 packs"),
        ("Hexagon bolts, steel, galvanised", "", "", "", "", ""),
        ("4017-00", "M6, full thread", "200", "6.4", "5.7", "5.1"),
    )
    assert table.header_rows == 2
    assert len(table.rows) == 10


def test_a_name_alone_in_its_line_is_that_of_the_columns_in_whose_middle_it_stands():
    def draw(canvas):
        line(canvas, 700, [(279, "Fee for a transfer")], bold=True)
        line(
            canvas,
            684,
            [(60, "Target"), (-260, "up to 250"), (-340, "to 12,500"), (-420, "above"), (-520, "Days")],
            bold=True,
        )
        for number, name in enumerate(("Home", "Abroad", "Overseas")):
            cells = [(60, name), (-260, "2.50"), (-340, "5.00"), (-420, "7.50"), (-520, f"{number + 1}")]
            line(canvas, 670 - 14 * number, cells)

    (table,) = tables(draw)
    assert table.rows[0][1:4] == ("Fee for a transfer",) * 3
    assert table.rows[1] == ("Target", "up to 250", "to 12,500", "above", "Days")
    assert table.header_rows == 2


def test_columns_are_shared_out_so_that_each_name_of_a_group_stands_in_their_middle():
    places = (-160, -215, -270, -325, -380, -440, -490)

    def draw(canvas):
        canvas.setFont("Helvetica-Bold", 9)
        canvas.drawCentredString(262, 700, "Mondays to Fridays")  # five columns; the last is nearer to the next name
        canvas.drawCentredString(456, 700, "Sundays")
        for number, name in enumerate(("Station", "Town Hall", "Harbour")):
            line(canvas, 685 - 14 * number, [(60, name), *((place, f"{6 + number}.{20 + number}") for place in places)])

    (table,) = tables(draw)
    assert table.rows[0] == ("", *("Mondays to Fridays",) * 5, *("Sundays",) * 2)
    assert table.header_rows == 1


def test_a_name_between_two_columns_is_no_column_of_its_own():
    def draw(canvas):
        canvas.setFont("Helvetica-Bold", 9)
        canvas.drawCentredString(215, 700, "Winter")
        canvas.drawCentredString(365, 700, "Summer")
        for number, name in enumerate(("Station", "Town Hall", "Harbour", "Ferry")):
            cells = [(60, name), (-180, "7.05"), (-270, "8.20"), (-330, f"9.{10 + number}"), (-420, "10.30")]
            line(canvas, 685 - 14 * number, cells)

    (table,) = tables(draw)
    assert table.rows[:2] == (
        ("", "Winter", "Winter", "Summer", "Summer"),
        ("Station", "7.05", "8.20", "9.10", "10.30"),
    )


def two_columns(canvas, top):
    for number, text in enumerate(TEXT):
        line(canvas, top - 13 * number, [(60, text), (305, TEXT[-1 - number])], size=10)


def test_a_captioned_table_is_whole_where_the_white_between_columns_of_text_runs_into_it():
    def draw(canvas):
        two_columns(canvas, 740)
        line(canvas, 640, [(60, "Table 2. Endpoints in week 24")], bold=True)
        line(
            canvas,
            624,
            [(60, "Endpoint"), (-220, "70 mg"), (-270, "140 mg"), (-350, "Placebo"), (-520, "p")],
            bold=True,
        )
        for number, name in enumerate(("Days", "Scores", "Visits", "Events")):
            cells = [(60, name), (-220, "5.8"), (-270, "6.9"), (-350, "3.7"), (-520, f"0.0{number}1")]
            line(canvas, 610 - 14 * number, cells)
        two_columns(canvas, 545)

    document = read(draw)
    (table,) = [block.table for block in document.blocks if block.table is not None]
    assert table.caption == "Table 2. Endpoints in week 24"
    assert table.rows[:2] == (
        ("Endpoint", "70 mg", "140 mg", "Placebo", "p"),
        ("Days", "5.8", "6.9", "3.7", "0.001"),
    )
    paragraphs = [block.text for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    assert paragraphs[0].startswith("The result did not depend on sex or country and the share")


def test_a_box_beside_some_lines_of_a_table_does_not_cut_it_and_its_lines_say_one_thing_each():
    def draw(canvas):
        canvas.setFillGray(0.9)
        canvas.rect(400, 650, 150, 75, stroke=0, fill=1)
        canvas.setFillGray(0)
        line(canvas, 708, [(410, "Dates")], bold=True)
        for number, text in enumerate(("Reading: 4 January 2027", "Statement: 9 April 2027", "Credit: by 15 May 2027")):
            line(canvas, 692 - 15 * number, [(410, text)])
        line(canvas, 700, [(60, "Item"), (-270, "Quantity"), (-370, "Amount")], bold=True)
        for number in range(8):
            line(
                canvas,
                686 - 14 * number,
                [(60, f"Service {number}"), (-270, f"{number + 2}"), (-370, f"{412 + number}.00")],
            )

    document = read(draw)
    (table,) = [block.table for block in document.blocks if block.table is not None]
    assert len(table.rows) == 9
    assert table.rows[8] == ("Service 7", "9", "419.00")
    texts = [block.text for block in document.blocks]
    assert {"Reading: 4 January 2027", "Statement: 9 April 2027", "Credit: by 15 May 2027"} <= set(texts)


def filled(canvas):
    """Draw names in bold with a field behind each; notes that people attach are none."""
    form = canvas.acroForm
    for y, names in ((700, ("Operator", "Lift number")), (670, ("Place", "Built")), (640, ("Kind", "Load"))):
        for x, name in zip((60, 320), names, strict=True):
            line(canvas, y, [(x, name)], bold=True)
            form.textfield(
                name=name,
                value=f"{name.lower()} 17",
                x=x + 80,
                y=y - 4,
                width=140,
                height=15,
                fontSize=9,
                borderWidth=0,
            )
    canvas.textAnnotation("a note in the margin", (500, 700, 520, 720))


def test_what_is_filled_in_is_told_with_the_name_of_its_field():
    document = read(filled)
    facts = [draft.content for draft in chunk(document, lambda text: len(text.split()))]
    joined = " | ".join(facts)
    for name in ("Operator", "Lift number", "Place", "Built", "Kind", "Load"):
        assert f"{name}: {name.lower()} 17" in joined
    assert "a note in the margin" not in joined
    assert not any("Operator" in fact and "lift number 17" in fact for fact in facts)


def test_a_line_of_small_letters_alone_goes_on_with_all_cells_above_it():
    def draw(canvas):
        line(canvas, 700, [(60, "Place"), (200, "Debit"), (320, "Credit")], bold=True)
        rows = (
            [("Our own", "free", "2.5 %")],
            [("Allied banks", "free", "2.5 %, at"), ("", "", "least 4.00")],
            [("Other banks,", "4.50", "2.5 %, at"), ("euro area", "", "least 5.00")],
            [("Outside the", "1 %, at", "3 %, at"), ("euro area", "least 6.00", "least 6.00")],
        )
        y = 685
        for row in rows:
            for cells in row:
                line(canvas, y, [(x, cell) for x, cell in zip((60, 200, 320), cells, strict=True) if cell])
                y -= 10
            y -= 6

    (table,) = tables(draw)
    assert table.rows[2:] == (
        ("Allied banks", "free", "2.5 %, at least 4.00"),
        ("Other banks, euro area", "4.50", "2.5 %, at least 5.00"),
        ("Outside the euro area", "1 %, at least 6.00", "3 %, at least 6.00"),
    )
