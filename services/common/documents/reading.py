"""One entry for all formats: detect, check the limits, parse."""

from dataclasses import dataclass, replace
from typing import Final

from services.common.document_kinds import KIND_OF, MediaType, language_of
from services.common.documents.detection import Detected, detect_media_type
from services.common.documents.document import Document, texts_of
from services.common.documents.html import read_html
from services.common.documents.limits import require_at_most
from services.common.documents.markdown import read_markdown
from services.common.documents.pdf import read_pdf
from services.common.documents.plain import read_text
from services.common.documents.wording import has_words
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError

_LONG_BLANKS_CHARS: Final = 1 << 20
"""From here on a text is asked whether it is nothing but blanks before anything is made of it."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What a document may be at most: bytes, pages of a PDF or slides, code points of text."""

    max_bytes: int
    max_pages: int
    max_chars: int


def read_document(content: bytes, declared: str, name: str, limits: ReadingLimits) -> Document:
    """Parse a document. CPU-bound: call it off the event loop.

    Args:
        content: the bytes.
        declared: media type that the caller states; empty = detect.
        name: uri or file name.
        limits: what is refused.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA, or DOCUMENT_WITHOUT_TEXT.
        LimitExceededError: MESSAGE_TOO_LARGE: too many bytes, pages or characters.
    """
    require_at_most("bytes", len(content), limits.max_bytes)
    found = detect_media_type(content, declared, name)
    if found.media is MediaType.PDF:
        document = read_pdf(content, limits.max_pages, limits.max_chars)
    elif KIND_OF[found.media].binary:
        document = _read_office(found.media, content, limits)
    else:
        require_at_most("characters", len(found.text), limits.max_chars)
        if len(found.text) > _LONG_BLANKS_CHARS and found.text.isspace():
            raise _without_text(found.media)
        document = _read_text_kind(found, content, language_of(name, declared))
    if found.warning:
        document = replace(document, warnings=(found.warning, *document.warnings))
    if not any(has_words(text) for block in document.blocks for text in texts_of(block)):
        raise _without_text(found.media)
    return document


def _read_office(media: MediaType, content: bytes, limits: ReadingLimits) -> Document:
    """Read a package; its library is loaded by the first one."""
    if media is MediaType.DOCX:
        from services.common.documents.docx import read_docx

        return read_docx(content, limits.max_chars)
    if media is MediaType.PPTX:
        from services.common.documents.pptx import read_pptx

        return read_pptx(content, limits.max_pages, limits.max_chars)
    from services.common.documents.xlsx import read_xlsx

    return read_xlsx(content, limits.max_chars)


def _read_text_kind(found: Detected, content: bytes, language: str) -> Document:  # noqa: PLR0911 - one for each kind
    text = found.text
    match found.media:
        case MediaType.MARKDOWN:
            return read_markdown(text)
        case MediaType.HTML:
            return read_html(text)
        case MediaType.EML:
            from services.common.documents.mail import read_mail

            return read_mail(content)
        case MediaType.RST:
            from services.common.documents.rst import read_rst

            return read_rst(text)
        case MediaType.CSV | MediaType.TSV:
            from services.common.documents.tabular import read_tabular

            return read_tabular(text, found.media)
        case MediaType.JSON | MediaType.JSON_LINES:
            from services.common.documents.json_lines import read_json

            return read_json(text, found.media)
        case MediaType.SOURCE_CODE:
            from services.common.documents.source_code import read_source_code

            return read_source_code(text, language)
        case _:
            return read_text(text)


def _without_text(media: MediaType) -> InvalidRequestError:
    scanned = KIND_OF[media].binary
    return InvalidRequestError(
        ErrorReason.DOCUMENT_WITHOUT_TEXT,
        "the document holds no text; a scanned document needs text recognition first"
        if scanned
        else "the document holds no text: it is empty, or nothing of it is for readers",
        violations=(FieldViolation("content", "must hold extractable text"),),
        media_type=media.value,
    )
