"""Workbooks: values as a person sees them, tables where they stand, hidden things apart."""

import datetime as dt

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Color, Font
from openpyxl.worksheet.table import Table as ListObject

from services.common.documents.document import BlockKind
from services.common.documents.facts.chunking import chunk
from services.common.documents.reading import ReadingLimits, read_document
from services.common.documents.xlsx.formats import hides, shown
from services.common.errors import LimitExceededError
from tests.each import each
from tests.fakes.office_files import rewritten, saved, workbook

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)
DATE = dt.datetime(2025, 3, 4, 15, 5, 7)  # noqa: DTZ001 - a sheet knows no time zone


def read(book, limits=LIMITS):
    return read_document(book if isinstance(book, bytes) else saved(book), "", "a.xlsx", limits)


def filled(cells, bold=()):
    book = openpyxl.Workbook()
    for name, value in cells.items():
        book.active[name] = value
        if name in bold:
            book.active[name].font = Font(bold=True)
    return book


def tables(document):
    return [block.table for block in document.blocks if block.table]


@each(
    ("value", "code", "expected"),
    [
        (1234.5, "General", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567, "#,##0", "1,234,567"),
        (0, "#,##0", "0"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0.5, "0.00%", "50.00%"),
        (0.125, "0%", "13%"),
        (-0.16, "+0%;-0%;0%", "-16%"),
        (12345.678, '#,##0.00\\ "€"', "12,345.68 €"),
        (-1280, "[$£-809]#,##0;[Red]-[$£-809]#,##0", "-£1,280"),
        (-5, "#,##0.00_);(#,##0.00)", "(5.00)"),
        (0, '0;-0;"none"', "none"),
        (7, "000", "007"),
        (1_500_000, '0.0,,"M"', "1.5M"),
        (1.5e10, "0.00E+00", "1.50E+10"),
        (12, "[<10]0;[>=10]0.0", "12.0"),
        (-0.001, "0.00", "0.00"),
        (2.5, "# ?/?", "2.5"),
        (3, '0 "kg"', "3 kg"),
        ("x", "@", "x"),
        (True, "General", "TRUE"),
        (DATE, "yyyy-mm-dd", "2025-03-04"),
        (DATE, "d. mmmm yyyy", "4. March 2025"),
        (DATE, "dd/mm/yyyy hh:mm", "04/03/2025 15:05"),
        (DATE, "h:mm:ss AM/PM", "3:05:07 PM"),
        (dt.time(9, 5), "h:mm", "9:05"),
        (dt.timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
    ],
)
def test_numbers_as_their_format_shows_them(value, code, expected):
    assert shown(value, code) == expected


def test_a_date_in_the_readers_own_form_is_written_as_iso():
    assert shown(DATE, "mm-dd-yy", 14) == "2025-03-04"
    assert shown(DATE, "m/d/yy h:mm", 22) == "2025-03-04 15:05"


def test_a_format_that_shows_nothing_hides():
    assert hides(5, ";;;")
    assert not hides(5, "0;-0;")
    assert not hides(None, ";;;")


def test_tables_of_a_sheet_are_parted_by_blank_lines_with_their_titles_and_notes():
    book = filled(
        {
            "A1": "Club budget",
            "A3": "Income",
            "A4": "Item",
            "B4": "Sum",
            "A5": "Fees",
            "B5": 10,
            "A6": "Gifts",
            "B6": 20,
            "D4": "Boat",
            "E4": "Seats",
            "D5": "Heron",
            "E5": 8,
            "D6": "Tern",
            "E6": 4,
            "A8": "All figures are in thousand pounds.",
        },
        bold={"A1", "A3", "A4", "B4"},
    )
    blocks = read(book).blocks
    assert [(b.kind.name, b.table.rows if b.table else b.text) for b in blocks] == [
        ("HEADING", "Club budget"),
        ("HEADING", "Income"),
        ("TABLE", (("Item", "Sum"), ("Fees", "10"), ("Gifts", "20"))),
        ("TABLE", (("Boat", "Seats"), ("Heron", "8"), ("Tern", "4"))),
        ("PARAGRAPH", "All figures are in thousand pounds."),
    ]
    assert [str(b.place) for b in blocks] == [f"sheet Sheet, {a}" for a in ("A1", "A3", "A4:B6", "D4:E6", "A8")]
    assert str(blocks[2].table.places[1]) == "sheet Sheet, A5:B5"


def test_merged_heads_are_repeated_and_units_below_them_are_heads():
    book = filled(
        {
            "A1": "Region",
            "B1": "Sales",
            "D1": "Weight",
            "B2": "2024",
            "C2": "2025",
            "D2": "kg",
            "A3": "North",
            "B3": 1,
            "C3": 2,
            "D3": 3,
        }
    )
    book.active.merge_cells("B1:C1")
    book.active.merge_cells("A1:A2")
    table = tables(read(book))[0]
    assert table.rows == (
        ("Region", "Sales", "Sales", "Weight"),
        ("Region", "2024", "2025", "kg"),
        ("North", "1", "2", "3"),
    )
    assert (table.header_rows, table.header_columns, table.spanned) == (2, 1, {(0, 2), (1, 0)})


def test_a_row_of_units_is_a_head():
    book = filled(
        {"A1": "Name", "B1": "Mass", "C1": "Length", "B2": "kg", "C2": "(mm)", "A3": "Bolt", "B3": 2, "C3": 30}
    )
    assert tables(read(book))[0].header_rows == 2


def test_hidden_sheets_rows_columns_and_white_text_are_apart():
    book = filled({"A1": "Name", "B1": "Fee", "C1": "Secret", "A2": "Ann", "B2": 1, "C2": "x1", "A3": "Bob", "B3": 2})
    sheet = book.active
    sheet["A5"] = "invisible"
    sheet["A5"].font = Font(color="FFFFFFFF")
    sheet.column_dimensions["C"].hidden = True
    sheet.row_dimensions[3].hidden = True
    other = book.create_sheet("Lookup")
    other.sheet_state = "veryHidden"
    other["A1"] = "codes"
    sheet["A1"].comment = Comment("ask her", "M")
    found = read(book)
    assert tables(found)[0].rows == (("Name", "Fee"), ("Ann", "1"))
    assert {(one.text, one.why) for one in found.hidden} == {
        ("Secret; x1", "hidden column"),
        ("Bob; 2", "hidden row"),
        ("codes", "hidden sheet"),
        ("invisible", "white text on white"),
        ("ask her", "comment on A1"),
    }


def test_a_hidden_line_does_not_part_a_table_and_places_stay_those_of_the_sheet():
    book = filled({"A1": "Name", "C1": "Fee", "B1": "x", "A2": "Ann", "C2": 1, "A4": "Bob", "C4": 2})
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    table = tables(read(book))[0]
    assert table.rows == (("Name", "Fee"), ("Ann", "1"), ("Bob", "2"))
    assert [place.path for place in table.places] == [f"sheet Sheet, A{row}:C{row}" for row in (1, 2, 4)]


def test_a_table_that_was_made_as_one_is_cut_out_of_notes_around_it():
    book = filled(
        {"A1": "notes", "B1": "here", "A2": "Name", "B2": "Fee", "A3": "Ann", "B3": "one", "A4": "more", "B4": "notes"}
    )
    book.active.add_table(ListObject(displayName="Fees", ref="A2:B3"))
    found = read(book)
    assert [(b.kind.name, b.table.rows if b.table else b.text) for b in found.blocks] == [
        ("PARAGRAPH", "notes here"),
        ("TABLE", (("Name", "Fee"), ("Ann", "one"))),
        ("PARAGRAPH", "more notes"),
    ]


def test_formulas_show_their_stored_value_and_those_without_one_are_told():
    content = workbook((("Name", "Sum"), ("Ann", 1), ("Bob", "=B2*2")))
    assert read(content).warnings == (
        "1 formula(s) without a stored value left out: open and save the workbook to store them",
    )
    stored = rewritten(content, replace={"xl/worksheets/sheet1.xml": [("<f>B2*2</f>", "<f>B2*2</f><v>2</v>")]})
    found = read(stored)
    assert (tables(found)[0].rows[2], found.warnings) == (("Bob", "2"), ())


def test_raised_figures_in_rich_text_stay_raised():
    book = openpyxl.Workbook()
    rich = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "6"), " kg")
    for row in (("Name", "Mass"), ("Bolt", rich)):
        book.active.append(row)
    assert tables(read(book))[0].rows[1] == ("Bolt", "10^6 kg")


def test_several_sheets_are_named():
    book = filled({"A1": "Name", "B1": "Fee", "A2": "Ann", "B2": 1})
    book.active.title = "Fees 2025"
    second = book.create_sheet("Boats")
    for row in (("Boat", "Seats"), ("Heron", 8)):
        second.append(row)
    assert [b.text for b in read(book).blocks if b.kind.name == "HEADING"] == ["Fees 2025", "Boats"]


@pytest.mark.parametrize("area", ["A1:XFD1048576", "A1:A1048576", "A1:XFD1"])
def test_a_merged_area_without_end_covers_what_the_sheet_uses(area):
    content = workbook((("Title", None), ("Name", "Fee"), ("Ann", 1)))
    merged = ("</sheetData>", f'</sheetData><mergeCells count="1"><mergeCell ref="{area}"/></mergeCells>')
    content = rewritten(content, replace={"xl/worksheets/sheet1.xml": [merged]})
    assert read(content).blocks


def test_cells_far_apart_cost_what_they_hold():
    book = filled({"A1": "here", "XFD1048576": "there"})
    assert [block.text for block in read(book).blocks] == ["here", "there"]


def test_more_characters_than_are_taken_are_refused():
    with pytest.raises(LimitExceededError):
        read(workbook((("x" * 60, "y" * 60),)), ReadingLimits(10_000_000, 50, 100))


def test_bold_heads_take_the_row_that_their_merged_cells_need():
    book = filled(
        {"A1": "Region", "B1": "Fee", "A2": None, "B2": "low", "C2": "high", "A3": "North", "B3": 1, "C3": 2},
        bold={"A1", "B1"},
    )
    book.active.merge_cells("B1:C1")
    book.active.merge_cells("A1:A2")
    assert tables(read(book))[0].header_rows == 2


def test_a_workbook_that_begins_with_a_sheet_of_a_chart_is_read():
    book = filled({"A1": "Name", "B1": "Fee", "A2": "Ann", "B2": 1})
    book.create_chartsheet("Chart", 0)
    assert tables(read(book))[0].rows == (("Name", "Fee"), ("Ann", "1"))


def test_cells_along_a_diagonal_are_no_table_without_end():
    book = openpyxl.Workbook()
    for index in range(1, 3_000):
        book.active.cell(index, index, f"c{index}")
    assert len(read(book).blocks) > 2_000


def test_a_table_of_the_whole_sheet_with_two_cells_costs_two_cells():
    content = rewritten(
        workbook((("here",),)),
        {
            "xl/tables/table1.xml": '<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" id="1" '
            'name="All" displayName="All" ref="A1:XFD1048576"><tableColumns count="1"><tableColumn id="1" name="here"/>'
            "</tableColumns></table>",
            "xl/worksheets/_rels/sheet1.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
            'relationships"><Relationship Id="r1" Target="/xl/tables/table1.xml" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table"/></Relationships>',
        },
        {
            "xl/worksheets/sheet1.xml": [
                ("</row>", '</row><row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>there</t></is></c></row>')
            ]
        },
    )
    assert [block.text for block in read(content).blocks] == ["here", "there"]


@pytest.mark.parametrize(
    ("font", "why"),
    [
        (Font(color=Color(theme=0)), "white text on white"),
        (Font(color="FFFDFDFD"), "white text on white"),
        (Font(size=1), "text too small to read"),
        (Font(color=Color(theme=1)), ""),
        (Font(color=Color(theme=0, tint=-0.5)), ""),
        (Font(color="FF808080"), ""),
    ],
)
def test_what_hides_a_cell_is_what_hides_text_in_other_office_files(font, why):
    book = filled({"A1": "Seen", "A3": "doubtful"})
    book.active["A3"].font = font
    assert [one.why for one in read(book).hidden] == ([why] if why else [])


def test_white_heads_of_a_table_that_was_made_as_one_are_seen():
    book = filled({"A1": "Name", "B1": "Fee", "A2": "Ann", "B2": 1, "D1": "secret"})
    for name in ("A1", "B1", "D1"):
        book.active[name].font = Font(color="FFFFFFFF")
    book.active.add_table(ListObject(displayName="Fees", ref="A1:B2"))
    found = read(book)
    assert tables(found)[0].rows == (("Name", "Fee"), ("Ann", "1"))
    assert [one.text for one in found.hidden] == ["secret"]


def test_units_in_brackets_below_the_heads_and_a_plain_title_above_a_blank_row():
    cells = {
        "A1": "Fuel use of the fleet, 2025",
        "A3": "Ship",
        "B3": "Distance",
        "C3": "Fuel",
        "B4": "[nm]",
        "C4": "[t]",
    }
    document = read(filled({**cells, "A5": "Seeadler", "B5": 18250, "C5": 412.5, "A6": "Albatros", "B6": 0, "C6": 3}))
    assert [block.text for block in document.blocks if block.kind is BlockKind.HEADING] == [
        "Fuel use of the fleet, 2025"
    ]
    (table,) = tables(document)
    assert table.header_rows == 2
    assert table.rows[2] == ("Seeadler", "18250", "412.5")


def test_a_line_alone_on_a_sheet_is_text_and_no_title():
    (block,) = read(filled({"A1": "Stock is counted every week"})).blocks
    assert (block.kind, block.text) == (BlockKind.PARAGRAPH, "Stock is counted every week")


def rows_said(document):
    return [fact.content for fact in chunk(document, lambda text: len(text.split()))]


def test_units_that_no_list_has_are_read_by_where_they_stand():
    """Below names, above figures, with nothing in the first column: megawatt hours, sieverts, beds."""
    sheet = [("Site", "Heat", "Dose", "Size"), (None, "MWh", "mSv/h", "beds"), ("A", 8120, 0.2, 30), ("B", 22, 0.1, 9)]
    assert rows_said(read(grid(sheet)))[0] == "Site: A; Heat, MWh: 8120; Dose, mSv/h: 0.2; Size, beds: 30"


def test_a_name_in_the_row_of_units_names_its_column():
    sheet = [("Grade", "Rate", None, "Supplement"), (None, "EUR", "Change on 2025", "%"), ("N5", 24.8, "+3.1%", 25)]
    assert rows_said(read(grid([*sheet, ("N7", 29, "+2.8%", 25)])))[0] == (
        "Grade: N5; Rate, EUR: 24.8; Change on 2025: +3.1%; Supplement, %: 25"
    )


@pytest.mark.parametrize(
    "row",
    [
        (None, "closed", "closed", "closed"),
        (None, 12, "kg", 3),
        ("C", "kg", "kg", "kg"),
        (None, "not measured", "kg", "not measured"),
    ],
)
def test_a_row_of_data_is_no_row_of_units(row):
    sheet = [("Site", "Mon", "Tue", "Wed"), row, ("A", 3, 4, 5), ("B", 6, 7, 8)]
    (table,) = tables(read(grid(sheet)))
    assert table.header_rows == 1


def grid(rows, name="Sheet", book=None):
    if book is None:
        book = openpyxl.Workbook()
        sheet = book.active
    else:
        sheet = book.create_sheet()
    sheet.title = name
    for row in rows:
        sheet.append(row)
    return book


def test_each_sheet_is_headed_by_its_own_title_alone():
    book = grid([("Bed plan of the General",), (), ("Ward", "Beds"), ("3A", 28), ("3B", 24)], "Plan")
    book = grid([("Grade", "Rate"), ("N5", 24.8), ("N7", 29)], "Rates", book)
    book = grid([("Waste 2025",), (), ("Site", "Tonnes"), ("A", 3), ("B", 4)], "Waste", book)
    found = read(book)
    assert found.title == "Bed plan of the General"
    assert rows_said(found) == [
        "Bed plan of the General: Ward: 3A; Beds: 28",
        "Bed plan of the General: Ward: 3B; Beds: 24",
        "Rates: Grade: N5; Rate: 24.8",
        "Rates: Grade: N7; Rate: 29",
        "Waste 2025: Site: A; Tonnes: 3",
        "Waste 2025: Site: B; Tonnes: 4",
    ]


def test_a_workbook_is_not_called_as_a_later_sheet_is():
    book = grid([("Grade", "Rate"), ("N5", 24.8), ("N7", 29)], "Rates")
    said = "This policy is effective from 1 May 2026 for whoever works in the house"
    book = grid([("Waste 2025",), (), ("Site", "Note"), ("A", said), ("B", "none")], "Waste", book)
    found = read(book)
    assert found.title == ""
    assert f"Waste 2025: Site: A; Note: {said}" in rows_said(found)


def test_a_line_right_above_a_table_is_its_caption():
    rows = [("Bed plan",), (), ("Ward", "Beds"), ("3A", 28), ("3B", 24), ()]
    below = [("Equipment on loan",), ("Equipment", "Number"), ("Pump", 140), ("Monitor", 95)]
    found = read(grid([*rows, *below]))
    assert [table.caption for table in tables(found)] == ["", "Equipment on loan"]
    assert rows_said(found)[2] == "Bed plan, Equipment on loan: Equipment: Pump; Number: 140"


def test_a_sentence_right_above_a_table_stays_one():
    sentence = "All equipment is lent for a year and comes back whole."
    found = read(grid([("Bed plan",), (), (sentence,), ("Equipment", "Number"), ("Pump", 140), ("Monitor", 95)]))
    assert sentence in [block.text for block in found.blocks]
    assert [table.caption for table in tables(found)] == [""]
