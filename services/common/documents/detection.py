"""What a document is, judged by its bytes first, then by what the caller says and how the document is called."""

import codecs
import re
from enum import StrEnum, unique
from pathlib import PurePosixPath
from typing import Final

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError

_PDF_MAGIC: Final = b"%PDF-"
_PDF_MAGIC_WITHIN: Final = 1024
_HTML_START: Final = re.compile(
    # A comment ends at its first "-->", and only there: trying later ones too would take a time of 2 to the comments.
    r"(?<!\s)\s*+(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_MARKDOWN_SIGN: Final = re.compile(r"^(?:#{1,6} \S|```|\|(?: ?:?-{3,}:? ?\|)+)", re.MULTILINE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROL_RATIO: Final = 0.001
_SNIFFED_CHARS: Final = 65_536
_MARKDOWN_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdown"})
_HTML_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml"})


@unique
class MediaType(StrEnum):
    """What can be read."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"


_ALIASES: Final = {
    **{media.value: media for media in MediaType},
    "text/x-markdown": MediaType.MARKDOWN,
    "application/xhtml+xml": MediaType.HTML,
    "application/x-pdf": MediaType.PDF,
}
_UNDECLARED: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})


def unsupported_media(message: str, *, field: str = "content", detail: str = "") -> InvalidRequestError:
    """Return the error for a document that cannot be read; ``detail`` is the dynamic part of the message."""
    return InvalidRequestError(
        ErrorReason.UNSUPPORTED_MEDIA,
        message,
        violations=(FieldViolation(field, "must be UTF-8 or UTF-16 text, Markdown, HTML or a PDF file"),),
        detail=detail,
    )


def detect_media_type(content: bytes, declared: str, name: str) -> tuple[MediaType, str]:
    """Return the media type and, unless it is PDF, the decoded text.

    Args:
        content: the document.
        declared: a media type, perhaps with parameters; empty when the caller does not say.
        name: uri or file name, whose suffix tells Markdown from plain text.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: another type, a type that the bytes contradict, or no text at all.
    """
    wanted, charset = _read_declared(declared)
    if _PDF_MAGIC in content[:_PDF_MAGIC_WITHIN]:
        if wanted not in {None, MediaType.PDF}:
            raise unsupported_media(
                f"the document is declared as {wanted} and is a PDF file", field="media_type", detail=wanted or ""
            )
        return MediaType.PDF, ""
    if wanted is MediaType.PDF:
        raise unsupported_media("the document is declared as application/pdf and is no PDF file", field="media_type")
    text = _decode(content, charset)
    return wanted or _sniff(text, name), text


def _read_declared(declared: str) -> tuple[MediaType | None, str]:
    kind, _, parameters = declared.partition(";")
    kind = kind.strip().lower()
    if kind not in _ALIASES and kind not in _UNDECLARED:
        raise unsupported_media(
            f"media type {kind[:100]} is not supported; text, Markdown, HTML and PDF are",
            field="media_type",
            detail=kind[:100],
        )
    charset = next((p.split("=", 1)[1].strip("\" '") for p in parameters.split(";") if "charset=" in p.lower()), "")
    return _ALIASES.get(kind), charset


def _decode(content: bytes, charset: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig" if charset.lower() in {"", "utf-8", "utf8"} else charset
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise unsupported_media(
            f"the document is neither a PDF file nor text in {encoding[:40]}", detail=encoding[:40]
        ) from error
    if "\x00" in text or len(_CONTROL.findall(text)) > len(text) * _MAX_CONTROL_RATIO:
        raise unsupported_media("the document is binary data, not text")
    return text


def _sniff(text: str, name: str) -> MediaType:
    suffix = PurePosixPath(name.split("?", 1)[0].split("#", 1)[0]).suffix.lower()
    start = text[:_SNIFFED_CHARS]
    if suffix in _HTML_SUFFIXES or _HTML_START.match(start):
        return MediaType.HTML
    if suffix in _MARKDOWN_SUFFIXES or (not suffix and _MARKDOWN_SIGN.search(start)):
        return MediaType.MARKDOWN
    return MediaType.TEXT
