"""Lines of few words that are stretched to the width of their column are text and no rows of a table."""

from io import BytesIO

from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import drawn, wrapped, write

TEXTS = (
    (
        "Visitors who show signs of an infection are asked to stay at home until they have been free of symptoms for "
        "48 hours, because patients after transplantation are at particular risk."
    ),
    "General wards receive visitors from 14:00 to 20:00 every day, and children come with the consent of the sister.",
    "Season tickets for relatives of long-stay patients cost EUR 40 a week and are sold from Monday to Friday.",
)


def two_columns(texts, width):
    content = BytesIO()
    page = BaseDocTemplate(content, pagesize=(595, 842))
    frames = [Frame(50 + at * (width + 20), 50, width, 400, leftPadding=0, rightPadding=0) for at in range(2)]
    page.addPageTemplates([PageTemplate(frames=frames)])
    style = ParagraphStyle("justified", fontSize=11, leading=14, alignment=TA_JUSTIFY, spaceAfter=8)
    page.build([Paragraph(text, style) for text in texts])
    return content.getvalue()


def test_a_stretched_line_cuts_no_sentence():
    found = read_pdf(two_columns(TEXTS * 5, 170), 10, 100_000)
    assert not any(block.table for block in found.blocks)
    assert [block.text for block in found.blocks] == list(TEXTS * 5)


def test_a_row_with_even_white_below_a_text_stays_a_row():
    """Its cells are as far apart, and end where no line of the text does."""

    def draw(canvas):
        write(canvas, 60, 790, wrapped(TEXTS[0] + TEXTS[1], 300))
        for row, cells in enumerate((("ward", "beds", "staff"), ("north", "28", "31"), ("south", "24", "22"))):
            for column, cell in enumerate(cells):
                canvas.drawString(60 + 80 * column, 690 - 14 * row, cell)

    (table,) = [block.table for block in read_pdf(drawn(draw), 10, 100_000).blocks if block.table]
    assert table.rows == (("ward", "beds", "staff"), ("north", "28", "31"), ("south", "24", "22"))
