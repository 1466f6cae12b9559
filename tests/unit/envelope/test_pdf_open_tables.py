"""PDF: tables between level rules, rows without rules between them, and text in columns that is no table."""

from services.common.documents.document import BlockKind
from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import PROSE, drawn, grid, wrapped, write


def read(content):
    return read_pdf(content, 100, 1_000_000)


def tables(content):
    return [block.table for block in read(content).blocks if block.table is not None]


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


def place(canvas, y, xs, cells, *, bold=False):
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", 10)
    for x, cell in zip(xs, cells, strict=True):
        canvas.drawString(x, y, cell)
    canvas.setFont("Helvetica", 10)


def level(canvas, *heights, left=60, right=535):
    for y in heights:
        canvas.line(left, y, right, y)


DUTIES = [
    ["Who is meant by it", "What has to be done", "When it has to happen"],
    ["keepers of one horse", "clean the box and feed", "every day before nine"],
    ["keepers of many horses", "clean the boxes and feed", "every day before seven"],
    ["guests of the stable", "shut the gate behind you", "each time you go out"],
]


def test_a_table_of_long_cells_between_three_rules_is_no_text_in_columns():
    def draw(canvas):
        write(canvas, 60, 780, wrapped(PROSE, 470))
        level(canvas, 700, 680, 610)
        for number, row in enumerate(DUTIES):
            place(canvas, 686 - 20 * number, (64, 220, 380), row, bold=number == 0)
        write(canvas, 60, 590, wrapped(PROSE, 470))

    (table,) = tables(drawn(draw))
    assert table.rows == tuple(map(tuple, DUTIES))
    assert table.header_rows == 1


def test_what_follows_the_last_rule_has_columns_of_its_own():
    goods = [
        ["No", "Goods", "Qty", "Each", "Sum"],
        ["1", "Rope", "3", "4.00", "12.00"],
        ["2", "Hook", "5", "1.10", "5.50"],
    ]

    def draw(canvas):
        level(canvas, 700, 680, 640)
        for number, row in enumerate(goods):
            place(canvas, 686 - 20 * number, (64, 100, 260, 320, 480), row, bold=number == 0)
        for number, row in enumerate([["Goods together", "17.50"], ["Tax of seven percent on all goods", "1.23"]]):
            place(canvas, 625 - 18 * number, (210, 480), row)

    first, second = tables(drawn(draw))
    assert first.rows == tuple(map(tuple, goods))
    assert second.rows == (("Goods together", "17.50"), ("Tax of seven percent on all goods", "1.23"))


def test_wide_spaces_in_one_row_between_rules_make_no_columns():
    def draw(canvas):
        level(canvas, 700, 680, 652)
        place(canvas, 686, (64, 160, 260), ["Name", "Bits", "What it is good for"], bold=True)
        place(canvas, 668, (64, 164), ["FLAG", "1"])
        for x, word in zip((260, 300, 345, 400), ("The", "sign", "that", "says"), strict=True):
            canvas.drawString(x, 668, word)
        canvas.drawString(260, 656, "more follows.")

    (table,) = tables(drawn(draw))
    assert table.rows == (("Name", "Bits", "What it is good for"), ("FLAG", "1", "The sign that says more follows."))


def test_two_tables_between_rules_of_one_length_stay_two():
    def draw(canvas):
        for top, name in ((700, "Boat"), (560, "Tent")):
            level(canvas, top, top - 20, top - 60)
            place(canvas, top - 14, (64, 240, 420), [name, "Day", "Week"], bold=True)
            place(canvas, top - 34, (64, 240, 420), ["small", "4", "20"])
            place(canvas, top - 54, (64, 240, 420), ["large", "6", "30"])
        write(canvas, 60, 610, wrapped(PROSE, 470)[:2])

    boats, tents = tables(drawn(draw))
    assert (boats.rows[0], len(boats.rows)) == (("Boat", "Day", "Week"), 3)
    assert (tents.rows[0], len(tents.rows)) == (("Tent", "Day", "Week"), 3)


def test_text_in_two_columns_between_rules_is_text():
    left, right = wrapped(PROSE * 2, 220), wrapped(PROSE * 2, 220)

    def draw(canvas):
        level(canvas, 760, 740, 500)
        place(canvas, 746, (60, 310), ["On the left side", "On the right side"], bold=True)
        write(canvas, 60, 725, left[:8])
        write(canvas, 310, 725, right[:8])

    document = read(drawn(draw))
    assert not [block for block in document.blocks if block.table is not None]


def test_rules_between_all_rows_make_rows_of_two_long_cells():
    def draw(canvas):
        level(canvas, *(700 - 14 * number for number in range(5)))
        for number, row in enumerate(DUTIES):
            place(canvas, 690 - 14 * number, (64, 300), row[:2])

    (table,) = tables(drawn(draw))
    assert table.rows == tuple(tuple(row[:2]) for row in DUTIES)


def test_rows_of_long_cells_without_rules_agree_by_the_leading_of_the_column_that_wraps():
    def draw(canvas):
        for number, row in enumerate(DUTIES[1:]):
            place(canvas, 700 - 32 * number, (60, 220), row[:2])
            canvas.drawString(380, 700 - 32 * number, row[2])
            canvas.drawString(380, 688 - 32 * number, "and on each Sunday")

    (table,) = tables(drawn(draw))
    assert [row[0] for row in table.rows] == [row[0] for row in DUTIES[1:]]
    assert table.rows[0][2] == "every day before nine and on each Sunday"


def test_columns_of_text_out_of_step_are_no_table_though_one_has_many_short_lines():
    def draw(canvas):
        y = 700
        for line in wrapped(PROSE * 3, 220)[:14]:
            canvas.drawString(60, y, line)
            y -= 13
        y = 700
        for head, lines in (
            ("Thanks of the authors", ["We thank the crew of the ship and all", "who came along."]),
            ("Books that were read", ["Ash, A. On the making of old ropes and", "new ones. Hull."]),
            ("", ["Elm, B. A short history of the knot in", "the north. Oslo."]),
            ("", ["Oak, C. What sailors read and why they", "do so. Bergen."]),
        ):
            if head:
                write(canvas, 310, y, [head], font="Helvetica-Bold")
                y -= 15
            write(canvas, 310, y, lines)
            y -= 33

    document = read(drawn(draw))
    assert not [block for block in document.blocks if block.table is not None]
    assert any("We thank the crew of the ship and all who came along." in text for text in texts(document))


def test_rows_without_a_rule_between_them_part_at_the_names_in_their_first_cell():
    def draw(canvas):
        for y in (700, 680, 622, 592):
            canvas.line(60, y, 400, y)
        for x in (60, 140, 220, 400):
            canvas.line(x, 700, x, 592)
        place(canvas, 686, (64, 144, 224), ["Key", "Short", "Meaning"], bold=True)
        for number, key in enumerate(("north", "south")):
            place(canvas, 668 - 26 * number, (64, 144, 224), [key, key[:1], f"the wind that comes from the {key}"])
            canvas.drawString(224, 656 - 26 * number, "in most of the days")
        place(canvas, 610, (64, 144, 224), ["east", "e", "rare"])
        write(canvas, 64, 598, ["wind"])

    (table,) = tables(drawn(draw))
    assert [row[0] for row in table.rows] == ["Key", "north", "south", "east wind"]
    assert table.rows[2] == ("south", "s", "the wind that comes from the south in most of the days")


def test_bold_labels_far_beside_an_address_go_with_their_values():
    def draw(canvas):
        for number, (line, label, value) in enumerate(
            [
                ("To:", "Order", "77-12"),
                ("Harbour Museum", "Day of order", "4 April 2025"),
                ("12 Quay Street", "Day of delivery", "9 April 2025"),
            ]
        ):
            place(canvas, 700 - 14 * number, [60], [line], bold=number == 0)
            place(canvas, 700 - 14 * number, [330], [label], bold=True)
            canvas.drawRightString(530, 700 - 14 * number, value)
        write(canvas, 60, 620, wrapped(PROSE, 470))

    document = read(drawn(draw))
    assert not [block for block in document.blocks if block.table is not None]
    assert {"12 Quay Street", "Day of delivery 9 April 2025"} <= set(texts(document))


def test_a_notice_that_a_table_goes_on_is_furniture_and_the_table_one():
    head = ["Berth", "Length", "Fee"]

    def first(canvas):
        grid(canvas, 60, 700, [100, 100, 120], [head, ["A1", "8 m", "40"], ["A2", "9 m", "45"]])
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, 625, "Continued on the next page")

    def second(canvas):
        grid(canvas, 60, 780, [100, 100, 120], [head, ["B1", "12 m", "70"]])

    document = read(drawn(first, second))
    (table,) = [block.table for block in document.blocks if block.table is not None]
    assert [row[0] for row in table.rows] == ["Berth", "A1", "A2", "B1"]
    assert "Continued on the next page" in document.furniture
    assert not texts(document, BlockKind.PARAGRAPH)


def test_a_note_right_below_a_table_stays_before_the_text_that_follows():
    def draw(canvas):
        write(canvas, 60, 790, wrapped(PROSE, 470))
        grid(canvas, 60, 700, [100, 100], [["Berth", "Fee"], ["A1", "40"], ["A2", "45"]])
        canvas.drawString(60, 715, "Fees for a night")
        canvas.setFont("Helvetica", 6)
        canvas.drawString(60 + canvas.stringWidth("Fees for a night", "Helvetica", 10), 719, "a")
        canvas.drawString(60, 628, "a")
        canvas.setFont("Helvetica", 8)
        canvas.drawString(64, 625, "Without water and power.")
        write(canvas, 60, 560, ["Terms"], font="Helvetica-Bold", size=14)
        write(canvas, 60, 540, wrapped(PROSE, 470))

    document = read(drawn(draw))
    order = [block.text for block in document.blocks if block.table is None]
    assert order.index("Without water and power.") < order.index("Terms")


def test_titles_and_heads_of_columns_that_each_page_repeats_are_content():
    def page(names):
        def draw(canvas):
            write(canvas, 200, 805, ["Signals of the harbour"], font="Helvetica-Bold", size=18)
            place(canvas, 780, (60, 240, 420), ["SIGNAL", "MEANING", "ANSWER"], bold=True)
            for number, name in enumerate(names):
                place(canvas, 760 - 14 * number, (60, 240, 420), [name, f"means {name}", "none"])

        return draw

    ones = [f"flag {letter}" for letter in "abcdefgh"]
    document = read(drawn(page(ones), page([f"lamp {letter}" for letter in "abcdefgh"])))
    assert texts(document)[0] == "Signals of the harbour"
    (table,) = [block.table for block in document.blocks if block.table is not None]
    assert table.rows[0] == ("SIGNAL", "MEANING", "ANSWER")
    assert len(table.rows) == 17


def test_a_length_keeps_its_power_where_a_footnote_has_the_same_mark():
    def draw(canvas):
        write(canvas, 60, 740, ["The lake covers 12 km"])
        x = 60 + canvas.stringWidth("The lake covers 12 km", "Helvetica", 10)
        canvas.setFont("Helvetica", 6)
        canvas.drawString(x, 744, "2")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(x + 6, 740, "and is named")
        there = x + 6 + canvas.stringWidth("and is named", "Helvetica", 10)
        canvas.setFont("Helvetica", 6)
        canvas.drawString(there, 744, "2")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(there + 6, 740, "for its colour.")
        write(canvas, 60, 725, wrapped(PROSE, 470))
        canvas.setFont("Helvetica", 5)
        canvas.drawString(60, 103, "2")
        canvas.setFont("Helvetica", 8)
        canvas.drawString(64, 100, "In the language of the valley.")

    document = read(drawn(draw))
    assert any("12 km^2 and is named for its colour." in text for text in texts(document))
