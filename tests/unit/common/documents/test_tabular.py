"""Separated values: the dialect, heads, lines, what stands around tables."""

import pytest

from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)
ROWS = (("Name", "Fee"), ("Ann", "1"), ("Bob", "2"))


def read(content, name="a.csv"):
    return read_document(content if isinstance(content, bytes) else content.encode(), "", name, LIMITS)


def table(content, name="a.csv"):
    return next(block.table for block in read(content, name).blocks if block.table)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_and_the_ends_of_lines_are_found(delimiter, end):
    assert table(end.join(delimiter.join(row) for row in ROWS)).rows == ROWS


def test_a_delimiter_that_the_file_names_and_tabs_of_a_tsv():
    assert table("sep=#\nName#Fee\nAnn#1,5\n").rows == (("Name", "Fee"), ("Ann", "1,5"))
    assert table("Name\tFee\nAnn, B.\t1\n", "a.tsv").rows == (("Name", "Fee"), ("Ann, B.", "1"))


def test_a_decimal_comma_is_no_delimiter():
    assert table("Name;Fee;Tax\nAnn;1,50;0,30\nBob;2,50;0,40\n").rows[1] == ("Ann", "1,50", "0,30")


def test_cells_over_several_lines_and_doubled_quotation_marks():
    found = table('Name,Note\nAnn,"says ""hi""\nand goes"\nBob,x\n')
    assert found.rows == (("Name", "Note"), ("Ann", 'says "hi" and goes'), ("Bob", "x"))
    assert [place.path for place in found.places] == ["line 1", "lines 2-3", "line 4"]


@pytest.mark.parametrize(
    ("content", "heads"),
    [
        ("Name,Fee\nAnn,1\n", 1),
        ("Ann,1\nBob,2\n", 0),
        ("1,2\n3,4\n", 0),
        ("2023,2024\n5,6\n", 1),
        ("Name,Mass\n,kg\nBolt,2\n", 2),
        ("Plan,Support\nBasic,by mail\nGold,by phone\n", 1),
        ("Date,Value\n2024-01-01,5\n", 1),
        ("2024-01-01,5\n2024-01-02,6\n", 0),
    ],
)
def test_heads_are_names_and_no_data(content, heads):
    assert table(content).header_rows == heads


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks(encoding):
    assert table("Name,Fee\nÄnn,1\n".encode(encoding)).rows == (("Name", "Fee"), ("Änn", "1"))


def test_windows_1252_is_read_and_told_and_what_would_be_gibberish_is_refused():
    found = read("Name,Fee\nMünch,5 €\n".encode("cp1252"))
    assert found.blocks[0].table.rows[1] == ("Münch", "5 €")
    assert found.warnings == ("the text is not UTF-8 and was read as Windows-1252",)
    with pytest.raises(CrpError) as caught:
        read("\u0418\u043c\u044f,\u0426\u0435\u043d\u0430\n\u041e\u043b\u044f,1\n".encode("cp1251"))
    assert caught.value.reason.value == "UNSUPPORTED_MEDIA"


def test_what_stands_around_tables():
    content = "Price list\n# from March\nArticle,Price\nBolt,1\nNut,2\n\nPrices without tax are for dealers only.\n"
    assert [(b.table.rows if b.table else b.text, str(b.place)) for b in read(content).blocks] == [
        ("Price list", "line 1"),
        ("from March", "line 2"),
        ((("Article", "Price"), ("Bolt", "1"), ("Nut", "2")), "lines 3-5"),
        ("Prices without tax are for dealers only.", "line 7"),
    ]


def test_rows_of_another_length_are_doubtful():
    found = read("A,B\n1,2\n3,4\n5,6,7\n")
    assert found.blocks[0].table.rows[3] == ("5", "6", "7")
    assert found.blocks[0].table.doubtful == "most rows have 2 cells, those of line 4 have not"
    assert found.warnings


def test_a_quotation_mark_that_is_never_closed_is_refused_with_its_line():
    with pytest.raises(CrpError, match="line 2 is never closed") as caught:
        read('Name,Note\nAnn,"says\nBob,x\n')
    assert caught.value.reason.value == "UNSUPPORTED_MEDIA"


def test_a_title_above_a_head_names_the_table_and_sentences_below_are_notes():
    document = read(
        '"Stock, 3 March 2026",,\nValid until: 31 March,,\n,,\nPart,Pieces,Shelf\n4410,120,C3\n4411,60,C4\n'
        "Pieces below 50 are ordered again.\nSource: order 12\n\nPart,Pieces,Shelf\n4415,7,D1\n"
    )
    first, second = [block.table for block in document.blocks if block.table]
    assert (first.caption, len(first.rows)) == ("Stock, 3 March 2026", 3)
    assert second.caption == ""  # notes below a table are no title of the next one
    assert [block.text for block in document.blocks if not block.table] == [
        "Stock, 3 March 2026",
        "Valid until: 31 March",
        "Pieces below 50 are ordered again.",
        "Source: order 12",
    ]


def test_a_last_row_of_one_name_is_a_row():
    assert table("Name,Fee\nAnn,1\nBob\n").rows[-1] == ("Bob", "")
