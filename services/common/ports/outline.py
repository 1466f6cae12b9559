"""Outlines: the facts of a version of a source in reading order, with where each stands in the original (ADR 0113)."""

from dataclasses import dataclass, field
from datetime import datetime

from services.common.documents.document import NOWHERE, Place


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One fact of a version.

    Attributes:
        kind: what it is, a ``FactKind``; empty for what a caller has cut.
        section: the how-manieth section of the version it stands in, from 0.
        place: where it stands in the original.
    """

    fact_id: str
    kind: str = ""
    section: int = 0
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class OutlineVersion:
    """A version of a source of which the outline is kept.

    Attributes:
        version: counted from 1, by source.
        document_hash: of the document that it was read from.
        ingested_at: when it was read.
        fact_count: how many entries the outline has.
    """

    tenant_id: str
    source_id: str
    version: int
    document_hash: str
    ingested_at: datetime
    fact_count: int


@dataclass(frozen=True, slots=True)
class SourceOutline:
    """A version's facts in reading order, each once."""

    about: OutlineVersion
    entries: tuple[OutlineEntry, ...] = field(repr=False)
