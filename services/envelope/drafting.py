"""From a document that was read to the facts of a source: ids, order, and what is told of them (ADR 0113)."""

from dataclasses import dataclass

from services.common.ports.documents import CutDocument
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.identity import fact_id_for
from services.envelope.domain.ingestion_report import DocumentReport, document_report
from services.envelope.domain.outlines import Outlined, outline


@dataclass(frozen=True, slots=True)
class Drafted:
    """A document as a version of a source; ``fact_ids`` are those of its drafts, in their order."""

    fact_ids: tuple[str, ...]
    outline: tuple[OutlineEntry, ...]
    report: DocumentReport


def drafted(source_id: str, key: str, cut: CutDocument) -> Drafted:
    """Give the facts of a document their ids, under the source's key, order and report. CPU-bound, linear."""
    fact_ids = tuple(fact_id_for(source_id, key, draft.section, draft.content) for draft in cut.drafts)
    entries = outline(
        Outlined(fact_id, draft.section, draft.kind.value, draft.place)
        for fact_id, draft in zip(fact_ids, cut.drafts, strict=True)
    )
    return Drafted(fact_ids, entries, document_report(cut, fact_ids))
