"""What a document is: by its bytes first, then by what the caller says, then by how the document is called.

The bytes must agree with a declared media type; where none is declared, with the suffix of the name. What contradicts
is refused with what the document really is. Among the kinds of text, the suffix decides, then what the text looks like.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.document_kinds import ACCEPTED, BY_NAME, BY_SUFFIX, KIND_OF, MediaType, suffix_of
from services.common.documents.encodings import decode
from services.common.documents.office.packages import package_kind
from services.common.documents.refusals import unsupported_media
from services.common.documents.signatures import what_else
from services.common.errors import InvalidRequestError

_PDF_MAGIC: Final = b"%PDF-"
_PDF_MAGIC_WITHIN: Final = 1024
_ZIP_MAGIC: Final = b"PK\x03\x04"
_HTML_START: Final = re.compile(
    # A comment ends at its first "-->", and only there: trying later ones too would take a time of 2 to the comments.
    r"(?<!\s)\s*+(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE,
)
_MARKDOWN_SIGN: Final = re.compile(r"^(?:#{1,6} \S|```|\|(?: ?:?-{3,}:? ?\|)+)", re.MULTILINE)
_MAIL_START: Final = re.compile(
    r"(?:(?:from|to|cc|date|subject|message-id|received|return-path|delivered-to|mime-version|reply-to):[^\n]*+\n"
    r"(?:[ \t][^\n]*+\n)*+){3}",
    re.IGNORECASE,
)
_JSON_LINE: Final = re.compile(r"\{\"[^\n]*\}[ \t\r]*+\n\s*+\{\"")
_JSON_START: Final = re.compile(r"(?<!\s)\s*+(?:\{\s*+(?:\"|\})|\[\s*+[\[{\"\d\]-])")
_JSON_END: Final = re.compile(r"[}\]]\s*\Z")
_SNIFFED_CHARS: Final = 65_536
_SNIFFED_TAIL_CHARS: Final = 64
_UNDECLARED: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_ALWAYS_HTML: Final = frozenset({None, MediaType.TEXT, MediaType.HTML, MediaType.CSV, MediaType.TSV})
"""What is called so and begins like HTML is HTML: pages that a server calls text, tables that it calls a workbook."""


@dataclass(frozen=True, slots=True)
class Detected:
    """What a document is.

    Attributes:
        text: decoded; empty for binary kinds.
        warning: how it was decoded, where that is a guess; empty otherwise.
    """

    media: MediaType
    text: str = ""
    warning: str = ""


def detect_media_type(content: bytes, declared: str, name: str) -> Detected:
    """Return what a document is, decoded where it is text.

    Args:
        content: the document.
        declared: a media type, perhaps with parameters; empty when the caller does not say.
        name: uri or file name.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: another type, a type that the bytes contradict, or no text at all.
    """
    wanted, charset = _read_declared(declared)
    called = BY_SUFFIX.get(suffix_of(name))
    found = _binary_kind(content)
    if found is not None:
        _agree(found, KIND_OF[found].name, wanted, called, name)
        return Detected(found)
    other = what_else(content)
    said = f", declared as {wanted}," if wanted else f", called {suffix_of(name)}," if called else ""
    if other:
        raise unsupported_media(
            f"the document{said} is {other.name}, which is not read{other.advice}", detail=other.name
        )
    expected = wanted or called
    try:
        decoded = decode(content, charset, guess=expected is not None)
    except InvalidRequestError:
        if expected is None or not KIND_OF[expected].binary:
            raise
        # No advice on charsets for what was never to be text.
        raise unsupported_media(
            f"the document{said} has neither the bytes of that kind nor those of a text; it is damaged, or did not "
            "come whole: save it anew",
            detail=expected.value,
        ) from None
    text = decoded.text
    if wanted is None and called in _ALWAYS_HTML and _HTML_START.match(text[:_SNIFFED_CHARS]):
        return Detected(MediaType.HTML, text, decoded.warning)
    media = expected or _sniff(text)
    if KIND_OF[media].binary:
        _agree(None, _looks_like(text), wanted, called, name)
    return Detected(media, text, decoded.warning)


def _binary_kind(content: bytes) -> MediaType | None:
    if content.startswith(_ZIP_MAGIC):
        return package_kind(content)
    return MediaType.PDF if _PDF_MAGIC in content[:_PDF_MAGIC_WITHIN] else None


def _agree(found: MediaType | None, really: str, wanted: MediaType | None, called: MediaType | None, name: str) -> None:
    """Raise UNSUPPORTED_MEDIA when what was found is not what was declared or, undeclared, how it is called."""
    if wanted is not None:
        if wanted is not found:
            text = f"the document is declared as {wanted} and is {really}"
            raise unsupported_media(text, field="media_type", detail=wanted.value)
    elif called is not None and called is not found:
        suffix = suffix_of(name)
        raise unsupported_media(
            f"the document is called {suffix} and is {really}; rename it, or declare its media type", detail=suffix
        )


def _read_declared(declared: str) -> tuple[MediaType | None, str]:
    kind, _, parameters = declared.partition(";")
    kind = kind.strip().lower()
    if kind not in BY_NAME and kind not in _UNDECLARED:
        raise unsupported_media(
            f"media type {kind[:100]} is not supported; {ACCEPTED} are", field="media_type", detail=kind[:100]
        )
    charset = next((p.split("=", 1)[1].strip("\"' ") for p in parameters.split(";") if "charset=" in p.lower()), "")
    return BY_NAME.get(kind), charset


def _looks_like(text: str) -> str:
    return KIND_OF[_sniff(text)].name


def _sniff(text: str) -> MediaType:
    """Return what a text looks like that nothing else tells about."""
    start = text[:_SNIFFED_CHARS]
    signs = (
        (MediaType.HTML, _HTML_START.match(start)),
        (MediaType.EML, _MAIL_START.match(start)),
        (MediaType.JSON_LINES, _JSON_LINE.match(start)),
        (MediaType.JSON, _JSON_START.match(start) and _JSON_END.search(text[-_SNIFFED_TAIL_CHARS:])),
        (MediaType.SOURCE_CODE, start.startswith("#!")),
        (MediaType.MARKDOWN, _MARKDOWN_SIGN.search(start)),
    )
    return next((media for media, sign in signs if sign), MediaType.TEXT)
