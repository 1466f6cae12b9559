"""From a document that was read to the facts of a source: ids, order, and what is told of them (ADR 0113)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.common.ports.documents import CutDocument
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.identity import fact_id_for
from services.envelope.domain.ingestion_report import DocumentReport, document_report
from services.envelope.domain.outlines import Outlined, outline
from services.envelope.domain.validity import ALWAYS, Passage, Validity, of_head, of_metadata, of_passages


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


def validities_of(
    metadata: Mapping[str, str],
    content: bytes,
    parsed: CutDocument,
    from_text: bool,
) -> list[Validity]:
    """Return from when to when each fact holds: as the caller says, else the document's head, else its text."""
    stated = of_metadata(metadata).or_else(of_head(content))
    passages = [Passage(draft.content, draft.section) for draft in parsed.drafts]
    read = of_passages(passages) if from_text else [ALWAYS] * len(passages)
    return [stated.or_else(own) for own in read]


def told_quarantine(count: int) -> list[str]:
    """Return what people should know of facts that were written quarantined."""
    if not count:
        return []
    facts = (
        "one fact speaks to a language model and is"
        if count == 1
        else f"{count} facts speak to a language model and are"
    )
    return [f"{facts} held in quarantine until restored"]


def told_validities(validities: Sequence[Validity]) -> list[str]:
    """Return what people should know of facts that are not found at all times."""
    counted = Counter(validity.told() for validity in validities if validity != ALWAYS)
    return [
        f"{count} facts hold {period} only, and are not found at other times"
        if count > 1
        else f"one fact holds {period} only, and is not found at other times"
        for period, count in counted.items()
    ]
