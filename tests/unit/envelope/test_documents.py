"""Reading the four formats, and refusing everything else with its reason."""

import io

import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError

LIMITS = ReadingLimits(max_bytes=1_000_000, max_pages=5, max_chars=100_000)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"


def read(content, declared="", name="doc", limits=LIMITS):
    data = content if isinstance(content, bytes) else content.encode()
    return read_document(data, declared, name, limits)


def kinds(document):
    return [(b.kind.name, b.level, b.table.rows if b.table else b.text) for b in document.blocks]


def pdf(*pages, title=None, encrypt=None):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, encrypt=encrypt)
    if title:
        canvas.setTitle(title)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 800 - 16 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


MARKDOWN = """---
title: "Claims handbook"
---
# Claims

A claim must be *reported* within [7 days](https://example.org).
It may be late.

Excluded are:

- war
  - civil war
- [x] wear

| Plan | Fee |
|---|---|
| Basic | 12 EUR |

```
code line
```
<p>Raw <b>html</b> text.</p>
"""


def test_markdown():
    document = read(MARKDOWN, name="claims.md")
    assert (document.media_type, document.title) == ("text/markdown", "Claims handbook")
    assert kinds(document) == [
        ("HEADING", 1, "Claims"),
        ("PARAGRAPH", 0, "A claim must be reported within 7 days. It may be late."),
        ("PARAGRAPH", 0, "Excluded are:"),
        ("LIST_ITEM", 0, "war"),
        ("LIST_ITEM", 1, "civil war"),
        ("LIST_ITEM", 0, "wear"),
        ("TABLE", 0, (("Plan", "Fee"), ("Basic", "12 EUR"))),
        ("CODE", 0, "code line"),
        ("PARAGRAPH", 0, "Raw html text."),
    ]


HTML = """<!DOCTYPE html><html><head><title>Rules &amp; limits</title><style>p{}</style></head><body>
<nav>Home | Contact</nav><script>alert(1)</script>
<h1>Rules</h1><div>Loose text <b>here</b>.<p>First paragraph.<br>Same one.</p>tail</div>
<ul><li>one</li><li>two<ol><li>inner</li></ol></li></ul>
<table><tr><th>Plan</th><th>Fee</th></tr><tr><td>Basic</td><td><p>12</p> EUR</td></tr></table>
<pre>a
 b</pre></body></html>"""


def test_html():
    document = read(HTML)
    assert (document.media_type, document.title) == ("text/html", "Rules & limits")
    assert kinds(document) == [
        ("HEADING", 1, "Rules"),
        ("PARAGRAPH", 0, "Loose text here."),
        ("PARAGRAPH", 0, "First paragraph. Same one."),
        ("PARAGRAPH", 0, "tail"),
        ("LIST_ITEM", 0, "one"),
        ("LIST_ITEM", 0, "two"),
        ("LIST_ITEM", 1, "inner"),
        ("TABLE", 0, (("Plan", "Fee"), ("Basic", "12 EUR"))),
        ("CODE", 0, "a\n b"),
    ]


def test_html_of_any_taken_depth_is_walked_without_recursion():
    depth = 2_000
    document = read("<html><body>" + "<div>" * depth + "deep" + "</div>" * depth + "</body></html>")
    assert kinds(document) == [("PARAGRAPH", 0, "deep")]


def test_text():
    document = read("First line\nof a paragraph.\n\nRules:\n- one\n  still one\n  * inner\n2) two\n", name="a.txt")
    assert kinds(document) == [
        ("PARAGRAPH", 0, "First line of a paragraph."),
        ("PARAGRAPH", 0, "Rules:"),
        ("LIST_ITEM", 0, "one still one"),
        ("LIST_ITEM", 1, "inner"),
        ("LIST_ITEM", 0, "two"),
    ]
    assert [str(block.place) for block in document.blocks] == ["lines 1-2", "line 4", "lines 5-6", "line 7", "line 8"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_in_each_unicode_encoding(encoding):
    assert kinds(read("Prämie: 5 €".encode(encoding))) == [("PARAGRAPH", 0, "Prämie: 5 €")]


def test_text_in_a_declared_encoding():
    assert kinds(read("Prämie".encode("latin-1"), "text/plain; charset=iso-8859-1")) == [("PARAGRAPH", 0, "Prämie")]


def test_pdf():
    data = pdf(
        [
            "Deadlines",
            "A motor accident must be reported within seven",
            "days. The rule is inter-",
            "national.",
            "- one",
            "- two",
        ],
        ["Page two has text of its own."],
        title="Claims",
    )
    document = read(data)
    assert (document.media_type, document.title) == ("application/pdf", "Claims")
    assert kinds(document) == [
        ("HEADING", 1, "Deadlines"),
        ("PARAGRAPH", 0, "A motor accident must be reported within seven days. The rule is international."),
        ("LIST_ITEM", 0, "one"),
        ("LIST_ITEM", 0, "two"),
        ("PARAGRAPH", 0, "Page two has text of its own."),
    ]
    assert [block.place.page for block in document.blocks] == [1, 1, 1, 1, 2]


def test_running_lines_of_a_pdf_are_left_out_and_empty_pages_reported():
    pages = [
        ["Insurer handbook 2026", f"Rule number {number} is stated here in words.", f"Page {number}"]
        for number in (1, 2, 3)
    ]
    document = read(pdf(*pages, []))
    assert [block.text for block in document.blocks] == [page[1] for page in pages]
    assert document.warnings == ("1 of 4 pages without text",)


def test_a_short_line_of_a_pdf_that_nothing_follows_is_not_lost():
    document = read(pdf(["A sentence that ends here.", "Total due 12 EUR"]))
    assert kinds(document)[-1] == ("PARAGRAPH", 0, "Total due 12 EUR")


def encrypted():
    writer = PdfWriter()
    writer.append(PdfReader(io.BytesIO(pdf(["secret text"]))))
    writer.encrypt("password", algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "declared", "reason", "field"),
    [
        (PNG, "", "UNSUPPORTED_MEDIA", "content"),
        (b"PK\x03\x04\x14\x00\x06\x00", "", "UNSUPPORTED_MEDIA", "content"),
        (b"caf\xe9 in latin-1", "", "UNSUPPORTED_MEDIA", "content"),
        (b"text", "image/png", "UNSUPPORTED_MEDIA", "media_type"),
        (b"text", "application/pdf", "UNSUPPORTED_MEDIA", "media_type"),
        (b"text", "text/plain; charset=no-such", "UNSUPPORTED_MEDIA", "content"),
        (b"%PDF-1.7\nrubbish", "", "UNSUPPORTED_MEDIA", "content"),
        (b"   \n\n  ", "", "DOCUMENT_WITHOUT_TEXT", "content"),
        (b"<html><body><script>x()</script></body></html>", "", "DOCUMENT_WITHOUT_TEXT", "content"),
        (b"x" * 1_000_001, "", "MESSAGE_TOO_LARGE", "content"),
        (b"x" * 100_001, "", "MESSAGE_TOO_LARGE", "content"),
    ],
)
def test_what_cannot_be_read_is_refused_with_reason_and_field(content, declared, reason, field):
    with pytest.raises(CrpError) as caught:
        read(content, declared)
    assert (caught.value.reason.value, [violation.field for violation in caught.value.violations]) == (reason, [field])


@pytest.mark.parametrize(
    ("make", "declared", "reason"),
    [
        (lambda: pdf([]), "", "DOCUMENT_WITHOUT_TEXT"),
        (encrypted, "", "UNSUPPORTED_MEDIA"),
        (lambda: pdf(["text"]), "text/plain", "UNSUPPORTED_MEDIA"),
        (lambda: pdf(*[["text"]] * 6), "", "MESSAGE_TOO_LARGE"),
    ],
    ids=["no text", "encrypted", "declared as text", "too many pages"],
)
def test_pdfs_that_cannot_be_read(make, declared, reason):
    with pytest.raises(CrpError) as caught:
        read(make(), declared)
    assert caught.value.reason.value == reason


def test_a_truncated_pdf_is_refused_or_read_but_never_an_accident():
    data = pdf(["A sentence that stands in the file."], title="T")
    outcomes = {outcome_of(data[:end]) for end in range(20, len(data), 97)}
    assert outcomes <= {"UNSUPPORTED_MEDIA", "DOCUMENT_WITHOUT_TEXT", "PARAGRAPH"}


def outcome_of(content):
    """The error's reason, or the kind of the first block."""
    try:
        return read(content).blocks[0].kind.name
    except CrpError as error:
        return error.reason.value


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("# Title\n\ntext", "readme", "text/markdown"),
        ("# Title\n\ntext", "readme.txt", "text/plain"),
        ("plain", "a.md?version=2", "text/markdown"),
        ("<!-- c --><html><p>x</p>", "a", "text/html"),
        ("<p>x</p>", "a.html", "text/html"),
        ("1 < 2", "a", "text/plain"),
    ],
)
def test_detection(content, name, expected):
    assert read(content, name=name).media_type == expected


def test_octet_stream_counts_as_not_declared():
    assert read("text", "application/octet-stream").media_type == "text/plain"
