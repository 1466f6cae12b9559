"""PDF: tables that only white holds together, set as people set them; no prose is one."""

import random

import pytest

from evaluation.document_labels import LabelledTable
from evaluation.documents import CELLS, Score, score_tables
from services.common.documents.pdf import read_pdf
from tests.fakes.bare_pages import KEPT, OPEN, Look, table
from tests.fakes.pdf import drawn, raw_file, wrapped, write
from tests.unit.envelope.test_pdf_tagged import element

PAGES = OPEN | KEPT
SENTENCES = (
    "The tenant pays the rent of 640 euros by the third of each month.",
    "Nobody may keep more than 2 dogs.",
    "In 2024 the boiler was replaced for 18,400 euros.",
    "Keys are handed over on 1 March at 9:00.",
    "The lift carries 8 persons or 630 kg.",
    "Bicycles stand in the yard.",
    "The garden is open from 8 to 20 h in summer and from 9 to 16 h in winter.",
)


def tables_of(content):
    return [block.table for block in read_pdf(content, 10, 100_000).blocks if block.table is not None]


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page.grids])
def test_each_cell_stands_where_a_person_reads_it(name):
    page = PAGES[name]
    found = tables_of(page.content())
    score = Score()
    score_tables(score, [LabelledTable(name, rows, "", 0, 0) for rows in page.grids], found)
    assert score.wholes[CELLS] == sum(len(row) for rows in page.grids for row in rows)
    assert score.rights[CELLS] == score.wholes[CELLS], score.misses
    assert len(found) == len(page.grids)
    assert [one.header_rows > 0 for one in found] == [
        rows[0][0] not in {"Total net", "Sum before tax"} for rows in page.grids
    ]


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if not page.grids])
def test_columns_of_text_are_no_table(name):
    document = read_pdf(PAGES[name].content(), 10, 100_000)
    assert all(block.table is None for block in document.blocks)
    assert [block.text.count("euros") for block in document.blocks][1:] in ([3, 0], [4, 0])


@pytest.mark.parametrize("seed", range(12))
def test_columns_drawn_by_chance_are_no_table(seed):
    chance = random.Random(seed)
    font, size = chance.choice(["Helvetica", "Times-Roman"]), chance.choice([8, 9, 11])
    widths = (chance.choice([150, 180, 235]), chance.choice([150, 180, 220]))
    texts = [[chance.choice(SENTENCES) for _ in range(chance.randint(6, 18))] for _ in range(2)]

    def draw(canvas):
        at = 60.0
        for text, width in zip(texts, widths, strict=True):
            y = 760.0 - chance.choice([0, 3])
            for start in range(0, len(text), 4):
                lines = wrapped(" ".join(text[start : start + 4]), width, font, size)
                y = write(canvas, at, y, lines, font=font, size=size, lead=1.2 * size) - size / 2
            at += width + 16

    assert tables_of(drawn(draw)) == []


def test_one_value_of_several_words_is_not_parted():
    rows = (
        ("Sample", "March", "Plastic (%)"),
        ("S1", "4.1 x 10^4", "47"),
        ("S2", "12.6 x 10^4", "39"),
        ("S3", "9.9 x 10^3", "41"),
    )
    look = Look(((60, "left"), (220, "right"), (320, "right")))
    (found,) = tables_of(drawn(lambda canvas: table(canvas, 700, look, rows)))
    assert [row[1] for row in found.rows] == ["March", "4.1 x 10^4", "12.6 x 10^4", "9.9 x 10^3"]


def test_a_last_row_without_values_is_no_end_of_a_table_beside_another():
    rows = (
        ("Name", "Office", "Telephone", "Desk"),
        ("Ana Ruiz", "Porto", "0300 555 1", "14"),
        ("Bo Lind", "Lund", "0300 555 2", "15"),
        ("Cleo Adair", "Cork", "0300 555 3", "17"),
        ("Dan Osei", "Kumasi", "", ""),
    )
    look = Look(((60, "left"), (150, "left"), (310, "left"), (420, "right")))
    (found,) = tables_of(drawn(lambda canvas: table(canvas, 700, look, rows)))
    assert found.rows == rows


def test_a_tagged_row_that_leaves_out_an_empty_cell_keeps_its_columns():
    places = ((60, 560, "Meter"), (160, 560, "Flow"), (260, 560, "Price"), (60, 540, "Q4"), (160, 540, "5 m3"),
              (260, 540, "96.00"), (60, 520, "Q25"), (256, 520, "402.00"))  # fmt: skip
    content = "\n".join(
        f"/TD <</MCID {number}>> BDC BT /F 10 Tf {x} {y} Td ({text}) Tj ET EMC"
        for number, (x, y, text) in enumerate(places)
    )
    rows = ((0, 1, 2), (3, 4, 5), (6, 7))
    cells = [element(b"TD", b"%d" % at, parent=9 + number) for number, row in enumerate(rows) for at in row]
    kids = [b" ".join(b"%d 0 R" % (12 + at) for at in row) for row in rows]
    tree = [
        b"<</Type/StructTreeRoot/K 7 0 R/ParentTree 20 0 R>>",
        element(b"Document", b"8 0 R", parent=6),
        element(b"Table", b"9 0 R 10 0 R 11 0 R"),
        *(element(b"TR", kid, parent=8) for kid in kids),
        *cells,
        b"<</Nums[0[" + b" ".join(b"%d 0 R" % (12 + at) for at in range(8)) + b"]]>>",
    ]
    drawn_file = raw_file(content.encode(), catalog=b"/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R",
                       page=b"/StructParents 0", more=tree)  # fmt: skip
    (found,) = tables_of(drawn_file)
    assert found.rows == (("Meter", "Flow", "Price"), ("Q4", "5 m3", "96.00"), ("Q25", "", "402.00"))
