"""One entry for all formats: detect, check the limits, parse."""

from dataclasses import dataclass

from services.common.documents.detection import MediaType, detect_media_type
from services.common.documents.document import Document, texts_of
from services.common.documents.html import read_html
from services.common.documents.limits import require_at_most
from services.common.documents.markdown import read_markdown
from services.common.documents.pdf import read_pdf
from services.common.documents.text import read_text
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What a document may be at most: bytes, pages of a PDF, code points of text."""

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
    media, text = detect_media_type(content, declared, name)
    if media is MediaType.PDF:
        document = read_pdf(content, limits.max_pages, limits.max_chars)
    else:
        require_at_most("characters", len(text), limits.max_chars)
        reader = {MediaType.TEXT: read_text, MediaType.MARKDOWN: read_markdown, MediaType.HTML: read_html}[media]
        document = reader(text)
    if not any(character.isalnum() for block in document.blocks for text in texts_of(block) for character in text):
        raise InvalidRequestError(
            ErrorReason.DOCUMENT_WITHOUT_TEXT,
            "the document holds no text; a scanned document needs text recognition first",
            violations=(FieldViolation("content", "must hold extractable text"),),
            media_type=media.value,
        )
    return document
