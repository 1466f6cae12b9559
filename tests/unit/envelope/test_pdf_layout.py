"""PDF: columns, reading order, headings, furniture, footnotes, lists, code, turned pages."""

import pytest
from reportlab.lib.units import mm

from services.common.documents.document import BlockKind
from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import PROSE, drawn, wrapped, write

LEFT = "The crane is checked every morning before work begins by the foreman, who signs the book. " * 4
RIGHT = "Work stops when the wind exceeds 38 kilometres per hour at the tip of the jib of the crane. " * 4


def read(content):
    return read_pdf(content, 100, 1_000_000)


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


def columns(order):
    left, right = wrapped(LEFT, 220), wrapped(RIGHT, 220)

    def draw(canvas):
        write(canvas, 60, 790, ["Rules for cranes on the site"], font="Helvetica-Bold", size=16)
        lines = [(60, 740 - 13 * n, line) for n, line in enumerate(left)]
        other = [(310, 740 - 13 * n, line) for n, line in enumerate(right)]
        drawing = [*lines, *other]
        if order == "by line":
            drawing = (
                [one for pair in zip(lines, other, strict=False) for one in pair]
                + lines[len(other) :]
                + other[len(lines) :]
            )
        for x, y, line in drawing:
            canvas.drawString(x, y, line)

    return drawn(draw)


@pytest.mark.parametrize("order", ["by column", "by line"])
def test_columns_are_read_one_after_the_other_however_they_are_drawn(order):
    document = read(columns(order))
    assert texts(document) == ["Rules for cranes on the site", LEFT.strip(), RIGHT.strip()]


def test_columns_whose_lines_are_out_of_step_and_a_heading_across_them():
    def draw(canvas):
        write(
            canvas,
            60,
            780,
            ["A heading that stands over both of the columns of the page"],
            font="Helvetica-Bold",
            size=15,
        )
        write(canvas, 60, 750, wrapped(LEFT, 220))
        write(canvas, 310, 745, wrapped(RIGHT, 220))
        write(
            canvas,
            60,
            560,
            ["A second heading over both of the columns of this same page"],
            font="Helvetica-Bold",
            size=15,
        )
        write(canvas, 60, 530, wrapped(PROSE, 220))
        write(canvas, 310, 526, wrapped(PROSE[::-1], 220))

    found = texts(read(drawn(draw)))
    assert found[:3] == ["A heading that stands over both of the columns of the page", LEFT.strip(), RIGHT.strip()]
    assert found[3:5] == ["A second heading over both of the columns of this same page", PROSE.strip()]


def test_three_columns_and_a_box_beside_the_text():
    def draw(canvas):
        for number, text in enumerate((LEFT, RIGHT)):
            write(canvas, 50 + 175 * number, 780, wrapped(text, 150))
        canvas.rect(395, 640, 160, 150)
        write(canvas, 405, 770, wrapped("Call the office first. It is open from eight to five on working days.", 135))

    assert texts(read(drawn(draw)))[:2] == [LEFT.strip(), RIGHT.strip()]
    assert texts(read(drawn(draw)))[2] == "Call the office first. It is open from eight to five on working days."


def test_words_drawn_one_by_one_and_letters_drawn_one_by_one():
    sentence = "Claims are due within 30 days of the loss"

    def by_words(canvas):
        x = 70
        for word in sentence.split():
            canvas.drawString(x, 700, word)
            x += canvas.stringWidth(word) + 3

    def by_letters(canvas):
        x = 70
        for letter in sentence:
            if letter != " ":
                canvas.drawString(x, 700, letter)
            x += canvas.stringWidth(letter)

    assert texts(read(drawn(by_words, by_letters))) == [sentence, sentence]


def test_headings_have_levels_by_size_and_weight():
    def draw(canvas):
        write(canvas, 60, 790, ["Handbook"], size=22)
        write(canvas, 60, 750, ["1 Leave"], font="Helvetica-Bold", size=14)
        write(canvas, 60, 725, ["1.1 Parental leave"], font="Helvetica-Bold", size=10)
        write(canvas, 60, 708, wrapped(PROSE, 470))

    blocks = read(drawn(draw)).blocks
    assert [(b.kind.name, b.level, b.text) for b in blocks] == [
        ("HEADING", 1, "Handbook"),
        ("HEADING", 2, "1 Leave"),
        ("HEADING", 3, "1.1 Parental leave"),
        ("PARAGRAPH", 0, PROSE.strip()),
    ]


def running(number, head, body):
    def draw(canvas):
        write(canvas, 60, 810, [head], size=8)
        write(canvas, 60, 770, wrapped(body, 470))
        write(canvas, 280, 30, [f"{number}"], size=8)

    return draw


def test_running_heads_and_page_numbers_of_left_and_right_pages_are_furniture():
    heads = ["Motor insurance 2025", "Northgate Mutual"]
    pages = [
        running(n, heads[n % 2], f"{['One', 'Two', 'Three', 'Four', 'Five'][n - 1]} is another rule. {PROSE}")
        for n in range(1, 5)
    ]
    document = read(drawn(*pages))
    assert document.furniture == ("Northgate Mutual", "1", "Motor insurance 2025", "2", "3", "4")
    assert all("is another rule" in text for text in texts(document))


def test_a_running_head_that_names_the_chapter():
    heads = ["Chapter 1: Cover", "Chapter 1: Cover", "Chapter 2: Premium", "Chapter 2: Premium", "Chapter 3: Losses"]
    pages = [
        running(n, head, f"{['One', 'Two', 'Three', 'Four', 'Five'][n - 1]} is another rule. {PROSE}")
        for n, head in enumerate(heads, start=1)
    ]
    assert all("is another rule" in text for text in texts(read(drawn(*pages))))


def test_a_heading_that_two_pages_begin_with_at_different_heights_stays():
    def page(y, text):
        return lambda canvas: (
            write(canvas, 60, y, ["Notes"], font="Helvetica-Bold", size=14),
            write(canvas, 60, y - 25, wrapped(text, 470)),
        )

    assert texts(read(drawn(page(700, LEFT), page(640, RIGHT))), BlockKind.HEADING) == ["Notes", "Notes"]


def test_footnotes_are_apart_and_their_marks_leave_the_text():
    def draw(canvas):
        canvas.drawString(60, 760, "Reports are due within 30")
        x = 60 + canvas.stringWidth("Reports are due within 30")
        canvas.setFont("Helvetica", 6)
        canvas.drawString(x, 764, "1")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(x + 4, 760, " days of the loss, however small it is.")
        write(canvas, 60, 740, wrapped(PROSE, 470))
        canvas.line(60, 100, 160, 100)
        canvas.setFont("Helvetica", 5)
        canvas.drawString(60, 88, "1")
        write(canvas, 64, 85, ["Sundays do not count."], size=8)

    blocks = read(drawn(draw)).blocks
    assert blocks[0].text.startswith("Reports are due within 30 days of the loss")
    assert [(b.kind.name, b.number, b.text) for b in blocks][-1] == ("FOOTNOTE", "1", "Sundays do not count.")


def test_powers_units_and_formulas():
    def raised(canvas, x, y, parts):
        for text, rise in parts:
            canvas.setFont("Helvetica", 10 if rise == 0 else 6.5)
            canvas.drawString(x, y + rise, text)
            x += canvas.stringWidth(text)
        canvas.setFont("Helvetica", 10)

    def draw(canvas):
        raised(canvas, 60, 760, [("The limit is 10", 0), ("6", 4), (" kg on 40 m", 0), ("2", 4), (" of ground.", 0)])
        raised(
            canvas, 60, 740, [("The gas H", 0), ("2", -2), ("O is measured on the 1", 0), ("st", 4), (" of May.", 0)]
        )

    assert texts(read(drawn(draw))) == [
        "The limit is 10^6 kg on 40 m^2 of ground.", "The gas H2O is measured on the 1st of May."
    ]  # fmt: skip


def test_words_divided_at_the_end_of_a_line():
    lines = [
        "The contrac-",
        "tor keeps a well-",
        "known long-term reserve and a well-known book.",
        "Anglo-",
        "Saxon law rules.",
    ]
    document = read(drawn(lambda canvas: write(canvas, 60, 760, lines)))
    assert " ".join(texts(document)) == (
        "The contractor keeps a well-known long-term reserve and a well-known book. Anglo-Saxon law rules."
    )


def test_lists_keep_their_numbers_and_depth():
    def draw(canvas):
        write(canvas, 60, 760, ["Before you leave:"])
        write(canvas, 60, 745, ["1. Close the valve."])
        write(canvas, 75, 730, ["a) by hand, or"])
        write(
            canvas,
            75,
            715,
            ["b) with the key on the wall of the pump house, if it is too stiff", "to be turned by hand."],
            lead=12,
        )
        write(canvas, 60, 688, ["2. Drain the pump."])
        write(canvas, 60, 673, ["\u2022 Leave the lid open."])

    found = [(b.kind.name, b.level, b.number, b.text) for b in read(drawn(draw)).blocks]
    assert found == [
        ("PARAGRAPH", 0, "", "Before you leave:"),
        ("LIST_ITEM", 0, "1.", "Close the valve."),
        ("LIST_ITEM", 1, "a)", "by hand, or"),
        ("LIST_ITEM", 1, "b)", "with the key on the wall of the pump house, if it is too stiff to be turned by hand."),
        ("LIST_ITEM", 0, "2.", "Drain the pump."),
        ("LIST_ITEM", 0, "", "Leave the lid open."),
    ]  # fmt: skip


def test_code_keeps_its_lines_and_indents():
    def draw(canvas):
        write(canvas, 60, 760, wrapped(PROSE, 470))
        write(canvas, 60, 690, ["def pay(amount):", "    return amount * 2"], font="Courier", size=9)

    assert texts(read(drawn(draw)), BlockKind.CODE) == ["def pay(amount):\n    return amount * 2"]


def test_a_line_of_names_within_a_sentence_is_no_code():
    def draw(canvas):
        write(canvas, 60, 760, ["The call returns SUCCESS when the file has a correct syntax and it is known,"])
        write(canvas, 60, 747, ["NOT_EMPTY_ERROR NOT_FOUND_ERROR SYNTAX_ERROR IDENTIFIER_ERROR NAME"], font="Courier")
        write(canvas, 60, 734, wrapped(f"or another error that the page of errors explains. {PROSE}", 400))

    (block,) = read(drawn(draw)).blocks
    assert "is known, NOT_EMPTY_ERROR" in block.text
    assert "ERROR NAME or another error" in block.text


def test_contents_are_furniture():
    def draw(canvas):
        write(canvas, 60, 780, ["Contents"], font="Helvetica-Bold", size=16)
        for number, title in enumerate(("Cover", "Premium", "Losses abroad", "Complaints")):
            canvas.drawString(60, 750 - 15 * number, title)
            canvas.drawString(60 + canvas.stringWidth(title) + 4, 750 - 15 * number, "." * 60)
            canvas.drawRightString(530, 750 - 15 * number, str(number + 3))

    document = read(drawn(draw, lambda canvas: write(canvas, 60, 760, wrapped(PROSE, 470))))
    assert texts(document) == ["Contents", PROSE.strip()]
    assert any("Losses abroad" in text for text in document.furniture)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_pages_are_read_upright(turn):
    def draw(canvas):
        canvas.setPageRotation(turn)
        write(canvas, 60, 460, ["Losses"], font="Helvetica-Bold", size=15)
        write(canvas, 60, 435, wrapped(PROSE, 470))

    document = read(drawn(draw))
    assert texts(document) == ["Losses", PROSE.strip()]


def test_text_drawn_turned_on_an_upright_page_is_read_and_its_place_is_that_of_the_shown_page():
    def draw(canvas):
        canvas.translate(570, 30)
        canvas.rotate(90)
        write(canvas, 0, 500, wrapped(PROSE, 700))

    block = read(drawn(draw)).blocks[0]
    assert block.text == PROSE.strip()
    left, top, right, bottom = block.place.box
    assert 0.05 < left < right < 0.35
    assert 0.05 < top < bottom < 1.0


def test_a_stamp_across_the_page_is_furniture():
    def draw(canvas):
        write(canvas, 60, 760, wrapped(PROSE, 470))
        canvas.saveState()
        canvas.translate(200, 300)
        canvas.rotate(45)
        write(canvas, 0, 0, ["DRAFT"], size=60)
        canvas.restoreState()

    document = read(drawn(draw))
    assert (texts(document), document.furniture) == ([PROSE.strip()], ("DRAFT",))


def test_a_paragraph_goes_on_on_the_next_page_and_in_the_next_column():
    lines = wrapped(LEFT + RIGHT, 220)
    first, second = lines[:10], lines[10:]

    def draw(canvas):
        write(canvas, 60, 780, first)
        write(canvas, 310, 780, second[:10])

    document = read(drawn(draw, lambda canvas: write(canvas, 60, 780, second[10:])))
    assert texts(document) == [(LEFT + RIGHT).strip()]


def test_place_of_a_block_is_a_share_of_the_page():
    block = read(drawn(lambda canvas: canvas.drawString(20 * mm, 247 * mm, "A sentence that stands here."))).blocks[0]
    left, top, right, bottom = block.place.box
    assert block.place.page == 1
    assert left == pytest.approx(20 / 210, abs=0.01)
    assert bottom == pytest.approx(50 / 297, abs=0.012)
    assert top < bottom
    assert left < right


def test_the_last_lines_of_a_text_in_the_next_column_are_no_table():
    lines = wrapped(LEFT + RIGHT + PROSE, 220)

    def draw(canvas):
        write(canvas, 60, 780, lines[:-2])
        write(canvas, 310, 780, lines[-2:])

    assert texts(read(drawn(draw))) == [(LEFT + RIGHT + PROSE).strip()]


def test_initials_of_a_name_are_no_list():
    def draw(canvas):
        write(canvas, 60, 780, ["A. Smith and B. Jones"])
        write(canvas, 60, 740, wrapped(PROSE, 470))

    assert texts(read(drawn(draw)))[0] == "A. Smith and B. Jones"


def test_a_line_alone_with_text_indented_below_it_is_defined_by_it():
    def draw(canvas):
        y = 780.0
        for term, text in (("--keep", "Keeps the input files."), ("--quiet", "Says nothing but errors.")):
            y = write(canvas, 60, y, [term], font="Courier", size=9)
            y = write(canvas, 90, y, [text]) - 6
        write(canvas, 60, y, wrapped(PROSE * 2, 470))

    found = [(b.kind.name, b.term, b.text) for b in read(drawn(draw)).blocks][:2]
    assert found == [
        ("DEFINITION", "--keep", "Keeps the input files."),
        ("DEFINITION", "--quiet", "Says nothing but errors."),
    ]


def test_items_that_are_terms_with_text_indented_below_them_are_defined_by_it():
    def draw(canvas):
        y = 780.0
        for term, text in (
            ("Global list", "All names that the server returns."),
            ("Source", "What instances are made of."),
        ):
            y = write(canvas, 60, y, [f"\u2022 {term}"])
            y = write(canvas, 72, y - 4, [text]) - 6

    assert [(b.kind.name, b.term, b.text) for b in read(drawn(draw)).blocks] == [
        ("DEFINITION", "Global list", "All names that the server returns."),
        ("DEFINITION", "Source", "What instances are made of."),
    ]


@pytest.mark.parametrize("right", [True, False])
def test_a_short_table_in_the_next_column_does_not_divide_the_text_beside_it(right):
    prose, beside = (60, 340) if right else (310, 60)
    lines = wrapped(LEFT + RIGHT + LEFT, 220)

    def draw(canvas):
        write(canvas, prose, 760, lines)
        for row, (weight, fee) in enumerate([("up to 23 kg", "0 EUR"), ("to 32 kg", "9 EUR"), ("more", "refused")]):
            canvas.drawString(beside, 763 - 18 * row, weight)
            canvas.drawString(beside + 70, 763 - 18 * row, fee)

    document = read(drawn(draw))
    assert texts(document, BlockKind.PARAGRAPH) == [(LEFT + RIGHT + LEFT).strip()]
    (table,) = [block.table for block in document.blocks if block.table]
    assert table.rows == (("up to 23 kg", "0 EUR"), ("to 32 kg", "9 EUR"), ("more", "refused"))
