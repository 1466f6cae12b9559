"""PDF: the structure that a tagged file states is followed."""

from services.common.documents.pdf import read_pdf
from tests.fakes.pdf import raw_file

CONTENT = b"""
/P <</MCID 1>> BDC BT /F 10 Tf 60 640 Td (Second by place, second by its tag as well.) Tj ET EMC
/H2 <</MCID 0>> BDC BT /F 10 Tf 60 660 Td (Losses) Tj ET EMC
/Artifact BMC BT /F 10 Tf 60 700 Td (Kept by the printer) Tj ET EMC
/Lbl <</MCID 2>> BDC BT /F 10 Tf 60 600 Td (1.) Tj ET EMC
/LBody <</MCID 3>> BDC BT /F 10 Tf 75 600 Td (Close the valve.) Tj ET EMC
/TH <</MCID 4>> BDC BT /F 10 Tf 60 560 Td (Plan) Tj ET EMC
/TH <</MCID 5>> BDC BT /F 10 Tf 160 560 Td (Fee) Tj ET EMC
/TH <</MCID 6>> BDC BT /F 10 Tf 60 540 Td (Basic) Tj ET EMC
/TD <</MCID 7>> BDC BT /F 10 Tf 160 540 Td (10 EUR) Tj ET EMC
/P <</MCID 8>> BDC BT /F 10 Tf 60 780 Td (Last by its tag, first by its place.) Tj ET EMC
"""


def element(kind, parts, *, parent=7, more=b""):
    return b"<</Type/StructElem/S/" + kind + b"/P %d 0 R/Pg 3 0 R/K[" % parent + parts + b"]" + more + b">>"


def tagged(kids=b"8 0 R 9 0 R 10 0 R 11 0 R 12 0 R"):
    tree = [
        b"<</Type/StructTreeRoot/K 7 0 R/ParentTree 24 0 R>>",
        element(b"Document", kids, parent=6),
        element(b"H2", b"0"),
        element(b"P", b"1"),
        element(b"L", b"13 0 R"),
        element(b"Table", b"16 0 R 17 0 R"),
        element(b"P", b"8"),
        element(b"LI", b"14 0 R 15 0 R", parent=10),
        element(b"Lbl", b"2", parent=13),
        element(b"LBody", b"3", parent=13),
        element(b"TR", b"18 0 R 19 0 R", parent=11),
        element(b"TR", b"20 0 R 21 0 R", parent=11),
        element(b"TH", b"4", parent=16),
        element(b"TH", b"5", parent=16),
        element(b"TH", b"6", parent=17),
        element(b"TD", b"7", parent=17),
        b"<</S/Figure/P 7 0 R/Pg 3 0 R/K[]/Alt(A crane beside a house)>>",
        b"null",
        b"<</Nums[0[8 0 R 9 0 R 14 0 R 15 0 R 18 0 R 19 0 R 20 0 R 21 0 R 12 0 R]]>>",
    ]
    return raw_file(CONTENT, catalog=b"/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R/Lang(en-GB)",
                    page=b"/StructParents 0", more=tree)  # fmt: skip


def test_order_headings_lists_and_tables_are_the_file_s_own():
    document = read_pdf(tagged(), 10, 10_000)
    blocks = [(b.kind.name, b.level, b.number, b.text) for b in document.blocks if b.table is None]
    assert blocks == [
        ("HEADING", 2, "", "Losses"),
        ("PARAGRAPH", 0, "", "Second by place, second by its tag as well."),
        ("LIST_ITEM", 0, "1.", "Close the valve."),
        ("PARAGRAPH", 0, "", "Last by its tag, first by its place."),
    ]
    (table,) = [block.table for block in document.blocks if block.table is not None]
    assert (table.rows, table.header_rows, table.header_columns) == ((("Plan", "Fee"), ("Basic", "10 EUR")), 1, 1)
    assert document.furniture == ("Kept by the printer",)
    assert document.language == "en"


def test_a_structure_that_leaves_out_much_of_the_page_is_not_followed():
    document = read_pdf(tagged(kids=b"12 0 R"), 10, 10_000)
    assert document.blocks[0].text == "Last by its tag, first by its place."
    assert any(block.text == "Losses" for block in document.blocks)
    assert any("Close the valve." in block.text for block in document.blocks)
