"""Hostile files: a clear error, in bounded time and memory, for every kind; what is cut off is never read in part."""

import io
import tracemalloc
import zipfile

import pytest

from services.common.documents.office.packages import MAX_PARTS
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError, ErrorReason
from tests.fakes.office_files import rewritten, slides, word, workbook
from tests.speed import processor_time_below

LIMITS = ReadingLimits(64 << 20, 100, 20_000_000)
SECONDS = 5
MEBIBYTES = 400
OFFICE = {
    "a.docx": (word(), "word/document.xml"),
    "a.pptx": (slides(), "ppt/slides/slide1.xml"),
    "a.xlsx": (workbook(), "xl/worksheets/sheet1.xml"),
}
each_office_file = pytest.mark.parametrize("name", OFFICE)


def refused(content, name="", limits=LIMITS):
    """Read a document that is to be refused; return the error, and hold time and memory to their bounds."""
    tracemalloc.start()
    with processor_time_below(SECONDS):
        try:
            with pytest.raises(CrpError) as caught:
                read_document(content, "", name, limits)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < MEBIBYTES << 20
    return caught.value


@pytest.mark.tenth
@each_office_file
def test_a_part_that_unpacks_to_a_thousand_times_its_size_is_refused_before_it_is_unpacked(name):
    content, part = OFFICE[name]
    error = refused(rewritten(content, {part: b" " * (600 << 20)}), name)
    assert (error.reason, "unpacked" in error.message or "packed" in error.message) == (
        ErrorReason.MESSAGE_TOO_LARGE,
        True,
    )


@pytest.mark.tenth
@each_office_file
def test_many_parts_that_unpack_to_much_together_are_refused(name):
    content, _ = OFFICE[name]
    parts = {f"word/more{index}.xml": b"<a>" + b"b" * (9 << 20) for index in range(8)}
    assert refused(rewritten(content, parts), name).reason is ErrorReason.MESSAGE_TOO_LARGE


def test_an_archive_of_more_parts_than_any_document_has_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for index in range(MAX_PARTS + 1):
            made.writestr(f"{index}", "")
    assert refused(buffer.getvalue(), "a.docx").reason is ErrorReason.MESSAGE_TOO_LARGE


LAUGHS = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.tenth
@each_office_file
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(name, encoding):
    content, part = OFFICE[name]
    error = refused(rewritten(content, {part: f"{LAUGHS}]><a>&i;</a>".encode(encoding)}), name)
    assert (error.reason, "declares types or entities" in error.message) == (ErrorReason.UNSUPPORTED_MEDIA, True)


@each_office_file
def test_xml_that_names_a_file_of_the_machine_is_refused(name):
    content, part = OFFICE[name]
    xml = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    assert refused(rewritten(content, {part: xml}), name).reason is ErrorReason.UNSUPPORTED_MEDIA


@pytest.mark.tenth
@each_office_file
@pytest.mark.parametrize("depth", [3_000, 100_000])
def test_elements_that_nest_without_end_are_refused(name, depth):
    content, part = OFFICE[name]
    root = {"a.docx": "w:document", "a.pptx": "p:sld", "a.xlsx": "worksheet"}[name]
    space = {
        "a.docx": 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
        "a.pptx": 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"',
        "a.xlsx": 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"',
    }[name]
    inner = {"a.docx": "w:sdt", "a.pptx": "p:grpSp", "a.xlsx": "sheetData"}[name]
    xml = f"<{root} {space}>" + f"<{inner}>" * depth + f"</{inner}>" * depth + f"</{root}>"
    assert refused(rewritten(content, {part: xml}), name).reason in {
        ErrorReason.MESSAGE_TOO_LARGE,
        ErrorReason.UNSUPPORTED_MEDIA,
        ErrorReason.DOCUMENT_WITHOUT_TEXT,
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "[" * 10_000 + "]" * 10_000),
        ("a.jsonl", '{"a":' * 10_000 + "1" + "}" * 10_000),
        ("a.html", "<div>" * 10_000 + "x"),
    ],
)
def test_text_that_nests_without_end_is_refused(name, content):
    assert refused(content.encode(), name).reason is ErrorReason.MESSAGE_TOO_LARGE


def outcome(content, name):
    try:
        return read_document(content, "", name, LIMITS).blocks[0].kind.name
    except CrpError as error:
        return error.reason.value


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rst", "".join(f"{'  ' * depth}- x\n\n" for depth in range(1_500))),
        ("a.rst", "".join(f"{' ' * depth}x\n\n" for depth in range(1_500))),
        ("a.rst", "*" * 50_000),
        ("a.md", "> " * 5_000 + "x"),
        ("a.txt", "-- " * 100_000),
        ("a.txt", "+--" * 50_000 + "+"),
        ("a.txt", "a-\n" * 100_000),
        ("a.csv", '"' * 100_001),
        ("a.py", "(" * 50_000),
        ("a.py", '"""' + "x " * 100_000),
        ("a.c", "/*" * 50_000),
        ("a.eml", "From: a\nSubject: " + "=?utf-8?q?a?= " * 30_000 + "\n\nx"),
    ],
)
def test_text_that_a_parser_might_stumble_over_ends_soon(name, text):
    with processor_time_below(SECONDS):
        assert outcome(text.encode(), name) in {
            *("PARAGRAPH", "LIST_ITEM", "CODE", "HEADING", "TABLE", "DEFINITION", "MESSAGE_TOO_LARGE"),
            *("UNSUPPORTED_MEDIA", "DOCUMENT_WITHOUT_TEXT"),
        }


def test_a_mail_of_parts_inside_of_each_other_is_refused():
    heads = "".join(f"Content-Type: multipart/mixed; boundary=b{index}\n\n--b{index}\n" for index in range(5_000))
    assert refused(f"From: a@b.c\n{heads}\nx".encode(), "a.eml").reason is ErrorReason.MESSAGE_TOO_LARGE


@pytest.mark.tenth
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.json", "a.rst", "a.py", "a.md", ""])
def test_blanks_without_end_are_refused_before_anything_is_made_of_them(name):
    error = refused(b" " * (19 << 20), name)
    assert error.reason in {ErrorReason.DOCUMENT_WITHOUT_TEXT, ErrorReason.UNSUPPORTED_MEDIA}


def test_a_document_of_more_bytes_than_are_taken_is_not_looked_at():
    assert refused(b" " * (65 << 20), "a.txt").reason is ErrorReason.MESSAGE_TOO_LARGE


@each_office_file
def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(name):
    content, _ = OFFICE[name]
    reasons = {outcome(content[:end], name) for end in range(4, len(content) - 1, len(content) // 40)}
    assert reasons == {"UNSUPPORTED_MEDIA"}


@each_office_file
def test_a_file_with_a_changed_byte_is_read_or_refused_but_never_an_accident(name):
    content, _ = OFFICE[name]
    for at in range(0, len(content), len(content) // 60):
        changed = content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]
        assert outcome(changed, name) in {
            *("PARAGRAPH", "HEADING", "TABLE", "UNSUPPORTED_MEDIA", "MESSAGE_TOO_LARGE", "DOCUMENT_WITHOUT_TEXT"),
        }


@each_office_file
def test_a_part_that_is_cut_off_is_refused(name):
    content, part = OFFICE[name]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        whole = archive.read(part)
    error = refused(rewritten(content, {part: whole[: len(whole) // 2]}), name)
    assert (error.reason, "damaged or cut off" in error.message) == (ErrorReason.UNSUPPORTED_MEDIA, True)


@each_office_file
def test_a_file_with_two_parts_of_one_name_is_refused(name):
    content, part = OFFICE[name]
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(part, "<a/>")
    assert "two parts of one name" in refused(buffer.getvalue(), name).message


@pytest.mark.timed
def test_a_sheet_whose_cells_are_merged_without_end_is_refused_or_read_soon():
    merged = "".join(f'<mergeCell ref="A{row}:XFD{row}"/>' for row in range(1, 3_000))
    replaced = ("</sheetData>", f'</sheetData><mergeCells count="2999">{merged}</mergeCells>')
    rows = [(f"row {row}", row) for row in range(3_000)]
    content = rewritten(workbook(rows), replace={"xl/worksheets/sheet1.xml": [replaced]})
    with processor_time_below(3 * SECONDS):
        assert outcome(content, "a.xlsx") in {"TABLE", "HEADING", "PARAGRAPH", "MESSAGE_TOO_LARGE"}


def test_a_part_that_is_not_called_xml_is_looked_at_where_it_is_parsed():
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties"
    related = f'<Relationship Id="rC" Type="{kind}" Target="docProps/custom.bin"/></Relationships>'
    content = rewritten(
        word(), {"docProps/custom.bin": f"{LAUGHS}]><a>&h;</a>"}, {"_rels/.rels": [("</Relationships>", related)]}
    )
    content = rewritten(
        content,
        replace={
            "[Content_Types].xml": [("</Types>", '<Default Extension="bin" ContentType="application/x"/></Types>')]
        },
    )
    error = refused(content, "a.docx")
    assert (error.reason, "declares types or entities" in error.message) == (ErrorReason.UNSUPPORTED_MEDIA, True)
