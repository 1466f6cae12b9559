"""What a document is: its bytes, then what is declared, then its name; refusals name what it really is."""

import gzip
import io
import re
import zipfile
from pathlib import Path

import pytest

from services.cli.app import app as cli
from services.common.document_kinds import ACCEPTED, KINDS, SUFFIXES, MediaType, language_of
from services.common.documents.detection import detect_media_type
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError
from tests.each import each
from tests.fakes.office_files import rewritten, slides, word, workbook

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def named(value):
    """Return a name for bytes, which are others in each process: archives hold the time."""
    return "bytes" if isinstance(value, bytes) else None


ROOT = Path(__file__).parents[4]
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def refusal(content, name="", declared=""):
    with pytest.raises(CrpError) as caught:
        read_document(content, declared, name, LIMITS)
    assert caught.value.reason.value == "UNSUPPORTED_MEDIA"
    return caught.value.message


@each(
    ("content", "name", "media"),
    [
        (word(), "", MediaType.DOCX),
        (word(), "a.docx", MediaType.DOCX),
        (word(), "https://example.org/download?id=3", MediaType.DOCX),
        (slides(), "a.pptx", MediaType.PPTX),
        (workbook(), "", MediaType.XLSX),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\ntext", "", MediaType.EML),
        (b'{"a": 1}\n{"a": 2}\n', "", MediaType.JSON_LINES),
        (b'[{"a": 1}]', "", MediaType.JSON),
        (b"a,b\n1,2\n", "table.csv", MediaType.CSV),
        (b"a\tb\n1\t2\n", "table.tsv", MediaType.TSV),
        (b"T\n=\n", "a.rst", MediaType.RST),
        (b"int a;", "a.c", MediaType.SOURCE_CODE),
        (b"#!/bin/sh\nls\n", "run", MediaType.SOURCE_CODE),
        (b"<!doctype html><p>x", "page.txt", MediaType.HTML),
        (b"<!doctype html><table><tr><td>x", "export.csv", MediaType.HTML),
        (b"[see above] text", "", MediaType.TEXT),
    ],
    ids=named,
)
def test_kinds(content, name, media):
    assert detect_media_type(content, "", name).media is media


def test_macro_files_are_read_like_others():
    old = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    new = "application/vnd.ms-word.document.macroEnabled.main+xml"
    content = rewritten(word("Text."), replace={"[Content_Types].xml": [(old, new)]})
    assert read_document(content, "", "a.docm", LIMITS).blocks[0].text == "Text."


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"just text", "a.pdf", "the document is called .pdf and is plain text"),
        (b"just text", "a.docx", "the document is called .docx and is plain text"),
        (b"%PDF-1.7\n", "a.docx", "the document is called .docx and is PDF"),
        (word(), "a.pdf", "the document is called .pdf and is a Word document (DOCX)"),
        (word(), "a.xlsx", "the document is called .xlsx and is a Word document (DOCX)"),
        (word(), "a.txt", "the document is called .txt and is a Word document (DOCX)"),
        (b"<html><p>x", "a.docx", "the document is called .docx and is HTML"),
        (b"\x89PNG\r\n\x1a\n\x00", "a.pdf", "the document, called .pdf, is a PNG image"),
        (gzip.compress(b"x", mtime=0), "a.csv", "the document, called .csv, is a gzip archive"),
    ],
    ids=named,
)
def test_a_wrong_suffix_is_told_with_what_the_document_really_is(content, name, message):
    assert refusal(content, name).startswith(message)
    assert "declared" not in refusal(content, name).split(";")[0]


def test_a_wrong_declaration_is_told_as_such_and_a_right_one_overrules_the_suffix():
    assert (
        refusal(b"text", declared="application/pdf") == "the document is declared as application/pdf and is plain text"
    )
    assert refusal(word(), declared="text/plain").endswith("and is a Word document (DOCX)")
    assert read_document(b"just text", "text/plain", "a.pdf", LIMITS).media_type == "text/plain"
    assert ACCEPTED in refusal(b"x", declared="video/mp4")


def archive(**parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in parts.items():
            made.writestr(name.replace("__", "/"), data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le"), "an Office file that is encrypted"),
        (OLE + "WordDocument".encode("utf-16-le"), "a Word document of before 2007"),
        (OLE + "Workbook".encode("utf-16-le"), "an Excel workbook of before 2007"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "a PowerPoint presentation of before 2007"),
        (OLE, "an OLE file"),
        (archive(mimetype="application/vnd.oasis.opendocument.text"), "an OpenDocument text (ODT); save it as DOCX"),
        (archive(mimetype="application/epub+zip"), "an EPUB book"),
        (archive(readme="x"), "a ZIP archive; unpack it"),
        (archive(xl__workbook="x"), "a binary Excel workbook"),
        (b"{\\rtf1 x}", "an RTF document, which is not read; save it as DOCX or PDF"),
        (b"SQLite format 3\x00x", "an SQLite database"),
    ],
    ids=named,
)
def test_what_is_not_read_is_named(content, message):
    assert message in refusal(content)


def test_an_encrypted_archive_is_named():
    content = bytearray(archive(a="x"))
    at = content.rindex(b"PK\x01\x02")
    content[at + 8] |= 1
    assert "encrypted" in refusal(bytes(content))


def test_languages_of_source_code():
    assert (language_of("a/b.PY?x=1", ""), language_of("", "text/x-go; charset=utf-8"), language_of("a", "")) == (
        "python",
        "go",
        "",
    )


def test_every_kind_is_told_wherever_people_look():
    errors = (ROOT / "docs/documents.md").read_text()
    contract = (ROOT / "proto/crp/ckf/v1/knowledge_service.proto").read_text()
    office = "Office Open XML types of DOCX, PPTX and XLSX"
    for kind in KINDS:
        assert f"`{kind.media.value}`" in errors, kind
        assert kind.media.value in contract or (
            kind.media.value.startswith("application/vnd") and office in contract
        ), kind
    assert all(f"`{suffix}`" in errors for suffix in SUFFIXES)
    words = " ".join(re.sub(r"\s*//\s*", " ", contract).split())
    assert ACCEPTED in words
    command = next(one for one in cli.registered_commands if one.name == "ingest")
    assert ACCEPTED in command.help


@pytest.mark.parametrize(("name", "declared"), [("a.pdf", ""), ("a.docx", ""), ("", "application/pdf")])
def test_bytes_of_no_kind_under_a_binary_name_get_no_advice_on_charsets(name, declared):
    said = refusal(bytes(range(128, 256)) * 20, name, declared)
    assert "it is damaged, or did not come whole: save it anew" in said
    assert f"called {name}" in said or declared in said
    assert "charset" not in said
    assert "declare its charset" in refusal(bytes(range(128, 256)) * 20, "a.txt")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_blank_text_is_told_to_be_empty_and_not_to_be_scanned(name):
    with pytest.raises(CrpError) as caught:
        read_document(b"  \n\n \n", "", name, LIMITS)
    assert caught.value.reason.value == "DOCUMENT_WITHOUT_TEXT"
    assert caught.value.message == "the document holds no text: it is empty, or nothing of it is for readers"
