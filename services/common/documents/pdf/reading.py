"""PDF by position (ADR 0107): pages are read, furniture is found over all, then each is laid out and made blocks.

What is kept of a page between the two passes are its pieces of lines. Time grows with the number of characters.
"""

from typing import Final

import pypdfium2.raw as pdfium

from services.common.documents.document import Block, BlockKind, Document
from services.common.documents.pdf.assembly import assemble
from services.common.documents.pdf.blocks import body_style
from services.common.documents.pdf.furniture import EdgePage, find_furniture
from services.common.documents.pdf.opening import language_of, opened, properties_of, title_of
from services.common.documents.pdf.page import PageContent, PageReader
from services.common.documents.pdf.recognition import has_engine, recognise
from services.common.documents.pdf.texts import without_shifts
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError

_MEDIA_TYPE: Final = "application/pdf"
_NAMED_PAGES: Final = 30
_NOTHING_RECOGNISED: Final = "no text was recognised in the picture"
_NO_ENGINE: Final = (
    "the text in the picture is not read; install tesseract (Debian: apt-get install tesseract-ocr) to have it read"
)


def read_pdf(content: bytes, max_pages: int, max_chars: int) -> Document:
    """Parse a PDF file.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: encrypted, cut off or damaged; DOCUMENT_WITHOUT_TEXT: scans that are not
            read. (Without any text: the caller finds no blocks.)
        LimitExceededError: MESSAGE_TOO_LARGE.
    """
    pages: list[PageContent] = []
    warnings: list[str] = []
    with opened(content, max_pages) as document:
        count = pdfium.FPDF_GetPageCount(document)
        reader = PageReader(document, max_chars)
        damaged: list[int] = []
        for number in range(1, count + 1):
            page = reader.read(number)
            if page is None:
                damaged.append(number)
            else:
                pages.append(page)
        scans = [page.number for page in pages if page.scan]
        if scans and has_engine():
            pages = recognise(document, pages)
        title, language, properties = title_of(document), language_of(document), properties_of(document)
    if damaged:
        warnings.append(f"{_pages(damaged)} damaged and not read")
    warnings += _scan_warnings(pages, scans)
    blocks, furniture = _blocks(pages)
    if not blocks and any(page.scan for page in pages):
        raise _without_text(warnings)
    hidden = tuple(one for page in pages for one in page.hidden)
    if not title:
        title = next((block.text for block in blocks if block.kind is BlockKind.HEADING and block.level == 1), "")
    return Document(_MEDIA_TYPE, title, tuple(blocks), tuple(warnings), hidden, furniture, language, count, properties)


def _without_text(warnings: list[str]) -> InvalidRequestError:
    return InvalidRequestError(
        ErrorReason.DOCUMENT_WITHOUT_TEXT,
        f"the document holds no text: {'; '.join(warnings)}",
        violations=(FieldViolation("content", "must hold extractable text"),),
        media_type=_MEDIA_TYPE,
        detail="; ".join(warnings),
    )


def _blocks(pages: list[PageContent]) -> tuple[list[Block], tuple[str, ...]]:
    body = body_style([piece for page in pages for piece in page.pieces if piece.whole is None])
    edges = [EdgePage(page.number, page.frame.page[1], page.height, page.pieces, page.long_rules()) for page in pages]
    running = find_furniture(edges, body)
    furniture: dict[str, None] = {}
    for page in pages:
        dropped = running.get(page.number, [])
        gone = {id(piece) for piece in dropped}
        page.pieces = [piece for piece in page.pieces if id(piece) not in gone]
        lost = {id(word) for piece in dropped for word in piece.words}
        page.words = [word for word in page.words if id(word) not in lost] if page.tags is not None else []
        texts = [without_shifts(piece.text) for piece in dropped] + page.artifacts + page.across
        furniture.update(dict.fromkeys(text for text in texts if text.strip()))
    blocks, contents = assemble(pages, body)
    furniture.update(dict.fromkeys(contents))
    return blocks, tuple(furniture)


def _scan_warnings(pages: list[PageContent], scans: list[int]) -> list[str]:
    warnings: list[str] = []
    left = [page.number for page in pages if page.scan]
    done = sorted(set(scans) - set(left))
    if done:
        warnings.append(f"{_pages(done)} scanned; the text was recognised by tesseract and may hold errors")
    if left:
        warnings.append(f"{_pages(left)} scanned: {_NOTHING_RECOGNISED if has_engine() else _NO_ENGINE}")
    earlier = [page.number for page in pages if page.recognised]
    if earlier:
        warnings.append(f"{_pages(earlier)} scanned; the text is that of an earlier text recognition in the file")
    empty = [
        page.number for page in pages if not page.scan and not page.pieces and not page.artifacts and not page.turned
    ]
    if empty:
        warnings.append(f"{len(empty)} of {len(pages)} pages without text")
    return warnings


def _pages(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED_PAGES])) + (" ..." if len(numbers) > _NAMED_PAGES else "")
    return f"page {named}" if len(numbers) == 1 else f"pages {named}"
