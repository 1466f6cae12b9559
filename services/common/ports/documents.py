"""Reading documents and cutting them into facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from services.common.documents.document import DoubtfulTable, HiddenText
from services.common.documents.facts.draft import FactDraft


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document that was read and cut into facts.

    Attributes:
        media_type: what it was read as.
        title: the document's own; empty when it has none.
        warnings: what was left out or repaired, for people; never content.
        drafts: its facts in reading order, each once per section.
        hidden: what no reader of the document sees; never facts; the first of many, each cut to a length.
        furniture: running heads and feet, navigation; never facts; the first of many.
        language: ISO 639-1 code where the document says so.
        pages: pages or slides; 0 where the format has none.
        properties: what the document says of itself, names in lower case.
        doubtful: tables that may have been read wrong.
    """

    media_type: str
    title: str
    warnings: tuple[str, ...]
    drafts: tuple[FactDraft, ...] = field(repr=False)
    hidden: tuple[HiddenText, ...] = field(default=(), repr=False)
    furniture: tuple[str, ...] = field(default=(), repr=False)
    language: str = ""
    pages: int = 0
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    doubtful: tuple[DoubtfulTable, ...] = ()


class DocumentReader(Protocol):
    """Reads documents, within limits of time and memory."""

    async def read(self, content: bytes, media_type: str, name: str) -> CutDocument:
        """Return what the document holds. A caller that is cancelled ends the reading.

        Args:
            content: the bytes.
            media_type: as declared; empty = detect.
            name: uri or file name.

        Raises:
            InvalidRequestError: UNSUPPORTED_MEDIA or DOCUMENT_WITHOUT_TEXT.
            LimitExceededError: MESSAGE_TOO_LARGE or DOCUMENT_TOO_COMPLEX.
            UnavailableError: SERVICE_UNAVAILABLE: nothing can be read now.
        """
        ...
