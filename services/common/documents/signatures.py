"""What a document is that cannot be read, by its first bytes: so that the refusal names it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Unread:
    """A kind of file that is not read.

    Attributes:
        name: as in "the document is …".
        advice: what to do instead, as the end of a sentence; empty when there is nothing.
    """

    name: str
    advice: str = ""


_UNPACK: Final = "; unpack it and bring the files in it"
_RECOGNISE: Final = "; run a text recogniser (OCR) over it first"
_OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES: Final = (
    (b"\x89PNG\r\n", Unread("a PNG image", _RECOGNISE)),
    (b"\xff\xd8\xff", Unread("a JPEG image", _RECOGNISE)),
    (b"GIF8", Unread("a GIF image", _RECOGNISE)),
    (b"II*\x00", Unread("a TIFF image", _RECOGNISE)),
    (b"MM\x00*", Unread("a TIFF image", _RECOGNISE)),
    (b"\x1f\x8b", Unread("a gzip archive", _UNPACK)),
    (b"BZh", Unread("a bzip2 archive", _UNPACK)),
    (b"\xfd7zXZ\x00", Unread("an xz archive", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Unread("a 7-Zip archive", _UNPACK)),
    (b"Rar!\x1a\x07", Unread("a RAR archive", _UNPACK)),
    (b"PK\x05\x06", Unread("an empty ZIP archive")),
    (b"{\\rtf", Unread("an RTF document", "; save it as DOCX or PDF")),
    (b"%!PS", Unread("a PostScript file", "; save it as PDF")),
    (b"SQLite format 3\x00", Unread("an SQLite database", "; export its tables as CSV")),
    (b"\x7fELF", Unread("a program")),
    (b"MZ\x90", Unread("a program")),
    (b"OggS", Unread("an Ogg recording")),
    (b"ID3", Unread("an MP3 recording")),
    (b"\x1aE\xdf\xa3", Unread("a video")),
    (b"PAR1", Unread("a Parquet file", "; export it as CSV or JSON Lines")),
)
_OLE_STREAMS: Final = (
    ("EncryptedPackage", Unread("an Office file that is encrypted", "; save it without its password")),
    ("WordDocument", Unread("a Word document of before 2007 (DOC)", "; save it as DOCX")),
    ("Workbook", Unread("an Excel workbook of before 2007 (XLS)", "; save it as XLSX")),
    ("PowerPoint Document", Unread("a PowerPoint presentation of before 2007 (PPT)", "; save it as PPTX")),
    ("__substg1.0_", Unread("an Outlook message (MSG)", "; save it as EML")),
)


def what_else(content: bytes) -> Unread | None:
    """Return what a file is that is not read; ``None`` where its first bytes tell nothing."""
    if content.startswith(_OLE_MAGIC):
        for stream, unread in _OLE_STREAMS:  # names of streams stand in the file's directory, in UTF-16
            if stream.encode("utf-16-le") in content:
                return unread
        return Unread("an OLE file of an unknown program")
    if content[4:12] in {b"ftypmp42", b"ftypisom", b"ftypM4A ", b"ftypqt  "}:
        return Unread("a video or recording")
    if content[4:12] in {b"ftypheic", b"ftypavif"} or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        return Unread("an image", _RECOGNISE)
    return next((unread for magic, unread in _SIGNATURES if content.startswith(magic)), None)
