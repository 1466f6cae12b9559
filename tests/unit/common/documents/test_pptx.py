"""Presentations: reading order by position, numbers, tables, charts; what stands on every slide is no content."""

import copy

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches, Pt

from services.common.documents.pptx.reading_order import in_reading_order
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import LimitExceededError
from tests.fakes.office_files import saved, slides

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def read(show):
    return read_document(show if isinstance(show, bytes) else saved(show), "", "a.pptx", LIMITS)


def box(slide, text, left, top, width=2.0, height=0.5):
    shape = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height))
    shape.text_frame.text = text
    return shape


def new_slide(show, layout=5, title="Title"):
    slide = show.slides.add_slide(show.slide_layouts[layout])
    if slide.shapes.title is not None:
        slide.shapes.title.text = title
    return slide


def texts(document):
    return [block.text for block in document.blocks]


def test_boxes_are_read_by_columns_whatever_their_order_in_the_file():
    show = pptx.Presentation()
    slide = new_slide(show)
    box(slide, "right below", 5, 4)
    box(slide, "bottom", 1, 6, width=6)
    box(slide, "left below", 1, 4)
    box(slide, "right head", 5, 2)
    box(slide, "left head", 1, 2)
    assert texts(read(show)) == ["Title", "left head", "left below", "right head", "right below", "bottom"]


def test_the_order_of_rows_and_of_many_boxes():
    rows = [((0, 0, 9, 1), "a"), ((0, 2, 9, 3), "b"), ((0, 4, 9, 5), "c")]
    assert in_reading_order(rows[::-1]) == ["a", "b", "c"]
    assert in_reading_order([]) == []
    many = [((0.0, float(-i), 1.0, 1.0 - i), i) for i in range(2_000)]
    assert in_reading_order(many)[:2] == [1999, 1998]


def test_lists_have_levels_and_numbers():
    show = pptx.Presentation()
    slide = new_slide(show, 1)
    frame = slide.placeholders[1].text_frame
    frame.text = "outer"
    inner = frame.add_paragraph()
    inner.text, inner.level = "inner", 1
    for text in ("one", "two"):
        paragraph = frame.add_paragraph()
        paragraph.text = text
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {A} type="romanLcParenBoth" startAt="3"/>'))
    plain = frame.add_paragraph()
    plain.text = "plain"
    plain._p.get_or_add_pPr().append(parse_xml(f"<a:buNone {A}/>"))
    assert [(b.kind.name, b.level, b.number, b.text) for b in read(show).blocks] == [
        ("HEADING", 1, "", "Title"),
        ("LIST_ITEM", 0, "", "outer"),
        ("LIST_ITEM", 1, "", "inner"),
        ("LIST_ITEM", 0, "(iii)", "one"),
        ("LIST_ITEM", 0, "(iv)", "two"),
        ("PARAGRAPH", 0, "", "plain"),
    ]


def test_tables_repeat_merged_cells():
    show = pptx.Presentation()
    slide = new_slide(show)
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for row, cells in enumerate((("Plan", "Fee", ""), ("", "low", "high"), ("Basic", "1", "2"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    found = read(show).blocks[1].table
    assert found.rows == (("Plan", "Fee", "Fee"), ("Plan", "low", "high"), ("Basic", "1", "2"))
    assert (found.header_rows, found.spanned) == (2, {(0, 2), (1, 0)})


def test_a_chart_is_a_table_of_its_numbers():
    show = pptx.Presentation()
    slide = new_slide(show)
    data = CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("Sales", (1.5, 2))
    chart = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(5), Inches(3), data
    ).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales in million EUR"
    table = read(show).blocks[1].table
    assert (table.caption, table.rows) == ("Sales in million EUR", (("", "Sales"), ("2024", "1.5"), ("2025", "2")))


def test_a_group_of_a_label_and_its_text_is_one_text():
    show = pptx.Presentation()
    slide = new_slide(show)
    group = slide.shapes.add_group_shape()
    for text, top in (("Too steep", 2), ("the ladder tips back", 3)):
        shape = group.shapes.add_textbox(Inches(1), Inches(top), Inches(2), Inches(0.5))
        shape.text_frame.text = text
    assert texts(read(show))[1:] == ["Too steep: the ladder tips back"]


def test_notes_are_said_to_be_notes():
    show = pptx.Presentation()
    slide = new_slide(show)
    slide.notes_slide.notes_text_frame.text = "Show the picture."
    block = read(show).blocks[-1]
    assert (block.text, block.place.page, block.place.path) == (
        "Speaker notes: Show the picture.",
        1,
        "slide 1, speaker notes",
    )


def test_hidden_slides_shapes_and_texts_beyond_the_slide_are_apart():
    show = pptx.Presentation()
    slide = new_slide(show)
    box(slide, "beyond", 30, 2)
    hidden = box(slide, "shape", 1, 2)
    hidden._element.nvSpPr.cNvPr.set("hidden", "1")
    tiny = box(slide, "tiny", 1, 3)
    tiny.text_frame.paragraphs[0].runs[0].font.size = Pt(1)
    second = new_slide(show, title="Secret slide")
    second._element.set("show", "0")
    found = read(show)
    assert texts(found) == ["Title"]
    assert sorted((one.text, one.why) for one in found.hidden) == [
        ("Secret slide", "hidden slide"),
        ("beyond", "beyond the edge of the slide"),
        ("shape", "hidden shape"),
        ("tiny", "text too small to read"),
    ]


def test_what_stands_on_most_slides_is_furniture():
    show = pptx.Presentation()
    for number in range(1, 5):
        slide = new_slide(show, title=f"Slide {number}")
        box(slide, "Company S3", 0.2, 7)
        box(slide, str(number), 9, 7, width=0.5)
        box(slide, f"Text {number}.", 1, 3)
    found = read(show)
    assert set(found.furniture) == {"Company S3", "1", "2", "3", "4"}
    assert texts(found)[:2] == ["Slide 1", "Text 1."]


def test_more_slides_than_are_taken_are_refused():
    with pytest.raises(LimitExceededError):
        read_document(slides(*"abcd"), "", "a.pptx", ReadingLimits(10_000_000, 3, 1_000))


def test_a_text_with_a_formula_is_read_though_it_stands_in_two_versions():
    show = pptx.Presentation()
    slide = new_slide(show)
    shape = box(slide, "Area", 1, 3)
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    m = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    formula = f"<m:oMath {m}><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    shape.text_frame.paragraphs[0]._p.append(parse_xml(f"{formula}</m:oMath>"))
    versions = parse_xml(f'<mc:AlternateContent {mc}><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>')
    shape._element.addprevious(versions)
    versions[1].append(copy.deepcopy(shape._element))
    versions[0].append(shape._element)
    assert texts(read(show)) == ["Title", "Areax^2"]
