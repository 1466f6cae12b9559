"""Opening a PDF file: PDFium behind a lock, and what cannot be opened refused with its reason.

PDFium keeps state of its own that two threads must not touch at once. Documents are read in processes that do one thing
at a time; the lock is for whoever reads in threads.
"""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from services.common.documents.limits import require_at_most
from services.common.documents.refusals import unsupported_media

_LOCK: Final = threading.RLock()
_END: Final = b"%%EOF"
_END_WITHIN: Final = 4_096
_PASSWORD_ERRORS: Final = frozenset({pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY})
_NO_TITLES: Final = frozenset({"", "untitled", "(anonymous)", "anonymous", "unspecified", "(unspecified)"})
_MAX_TEXT_BYTES: Final = 4_096


@contextmanager
def opened(content: bytes, max_pages: int) -> Iterator[PdfDocument]:
    """Open a file for as long as the block lasts.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: encrypted, cut off or damaged.
        LimitExceededError: MESSAGE_TOO_LARGE: too many pages.
    """
    with _LOCK:
        document = _open(content)
        try:
            pages = pdfium.FPDF_GetPageCount(document)
            require_at_most("pages", pages, max_pages)
            if pages == 0:
                raise _damaged("no pages")
            yield document
        finally:
            document.close()


def _open(content: bytes) -> PdfDocument:
    cut_off = _END not in content[-_END_WITHIN:]
    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        if pdfium.FPDF_GetLastError() in _PASSWORD_ERRORS or "assword" in str(error):
            raise unsupported_media("the PDF file is encrypted; remove its password first") from error
        raise (_cut_off() if cut_off else _damaged("unreadable")) from error
    if cut_off:
        document.close()
        raise _cut_off()
    return document


def _damaged(detail: str) -> Exception:
    return unsupported_media(
        "the PDF file is damaged and cannot be read; save it again from the program that made it", detail=detail
    )


def _cut_off() -> Exception:
    return unsupported_media(
        "the PDF file ends in the middle; fetch it again, whole, or save it again from the program that made it",
        detail="truncated",
    )


def title_of(document: PdfDocument) -> str:
    """Return the title that the file's properties give, unless it says nothing."""
    title = " ".join(_property(document, "Title").split())
    return "" if title.lower() in _NO_TITLES else title


def properties_of(document: PdfDocument) -> dict[str, str]:
    """Return what the file says of itself: author, subject, date (ISO 8601)."""
    found = {
        "author": _property(document, "Author"),
        "subject": _property(document, "Subject"),
        "date": _date(_property(document, "ModDate") or _property(document, "CreationDate")),
    }
    return {name: " ".join(value.split()) for name, value in found.items() if value.lower() not in _NO_TITLES}


def _property(document: PdfDocument, name: str) -> str:
    return read_text(lambda buffer, size: pdfium.FPDF_GetMetaText(document, name.encode(), buffer, size))


def read_text(fill: Any) -> str:
    """Return the UTF-16 text that a function of PDFium writes into a buffer of a given size in bytes."""
    buffer = ctypes.create_string_buffer(_MAX_TEXT_BYTES)
    size = min(fill(buffer, _MAX_TEXT_BYTES), _MAX_TEXT_BYTES)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace") if size else ""


def _date(text: str) -> str:
    """Return ``2025-03-01`` for ``D:20250301120000Z``; empty for what is no date."""
    digits = text.removeprefix("D:")[:8]
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if len(digits) == 8 and digits.isdigit() else ""  # noqa: PLR2004


def language_of(document: PdfDocument) -> str:
    """Return the ISO 639-1 code that the file's catalogue names; empty without one."""

    def fill(buffer: Any, size: int) -> int:
        target = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
        return int(pdfium.FPDFCatalog_GetLanguage(document, target, size))

    code = read_text(fill).replace("_", "-").split("-")[0].strip().lower()
    return code if len(code) == 2 and code.isalpha() else ""  # noqa: PLR2004
