"""What the chunker makes of a document: facts that can be read alone, before they have ids (ADR 0106)."""

from dataclasses import dataclass
from enum import StrEnum, unique

from services.common.documents.document import NOWHERE, Place


@unique
class FactKind(StrEnum):
    """What a fact is, by its words and by where it came from: its importance follows from this."""

    STATEMENT = "STATEMENT"
    RULE = "RULE"
    """Says what must, may or must not be done, or until when or up to what."""
    DEFINITION = "DEFINITION"
    TABLE_ROW = "TABLE_ROW"
    LIST_ITEM = "LIST_ITEM"
    STEP = "STEP"
    """One of several that have an order, with its number."""
    EXAMPLE = "EXAMPLE"
    CODE = "CODE"
    CAPTION = "CAPTION"
    FOOTNOTE = "FOOTNOTE"
    BOILERPLATE = "BOILERPLATE"
    """Copyright lines, licences, thanks, where to send mail: true, and seldom what is asked for."""


@dataclass(frozen=True, slots=True)
class FactDraft:
    """A fact before it has an id. Plain values alone: it crosses from one process to another.

    Attributes:
        section: heading path; stable when text is added elsewhere, therefore part of the fact's id.
        location: the section, or the page or paragraph for formats without headings.
        kind: what it is.
        place: where its text stands in the original; for a row of a table with the grid's rows and columns.
    """

    content: str
    section: str
    location: str
    kind: FactKind = FactKind.STATEMENT
    place: Place = NOWHERE
