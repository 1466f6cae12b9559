"""From a document that was read to the facts of a source: ids, order, and what is told of them (ADR 0113)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from services.common.documents.facts.draft import FactDraft
from services.common.ports.documents import CutDocument
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.identity import fact_id_for
from services.envelope.domain.ingestion_report import DocumentReport, document_report
from services.envelope.domain.instructions import IngestionPolicy, Treatment, Written, as_written
from services.envelope.domain.outlines import Outlined, outline
from services.envelope.domain.validity import ALWAYS, Passage, Validity, of_head, of_metadata, of_passages


@dataclass(frozen=True, slots=True)
class Drafted:
    """A document as a version of a source.

    Attributes:
        drafts: what becomes facts, as they are written.
        fact_ids: theirs, in their order.
        kept_out: of facts that are written quarantined, for they speak to a model.
        masked: facts of which something was taken out for that.
    """

    drafts: tuple[FactDraft, ...]
    fact_ids: tuple[str, ...]
    kept_out: frozenset[str]
    masked: int
    outline: tuple[OutlineEntry, ...]
    report: DocumentReport


def drafted(source_id: str, key: str, cut: CutDocument, policy: IngestionPolicy) -> Drafted:
    """Give the facts of a document their ids, under the source's key, order and report. CPU-bound, linear."""
    looked = [as_written(draft.content, policy) for draft in cut.drafts]
    drafts = tuple(replace(draft, content=one.content) for draft, one in zip(cut.drafts, looked, strict=True))
    fact_ids = tuple(fact_id_for(source_id, key, draft.section, draft.content) for draft in drafts)
    entries = outline(
        Outlined(fact_id, draft.section, draft.kind.value, draft.place)
        for fact_id, draft in zip(fact_ids, drafts, strict=True)
    )
    of_facts = list(zip(fact_ids, looked, strict=True))
    kept_out = frozenset(_treated(of_facts, Treatment.QUARANTINED))
    count = len(set(_treated(of_facts, Treatment.MASKED)))
    return Drafted(drafts, fact_ids, kept_out, count, entries, document_report(cut, fact_ids, looked))


def _treated(facts: Iterable[tuple[str, Written]], treatment: Treatment) -> Iterable[str]:
    return (fact_id for fact_id, one in facts if one.finding is not None and one.treatment is treatment)


def validities_of(
    metadata: Mapping[str, str],
    content: bytes,
    drafts: Sequence[FactDraft],
    title: str,
    from_text: bool,
) -> list[Validity]:
    """Return from when to when each fact holds: as the caller says, else the document's head, else its text."""
    stated = of_metadata(metadata).or_else(of_head(content))
    passages = [Passage(draft.content, draft.section) for draft in drafts]
    read = of_passages(passages, title) if from_text else [ALWAYS] * len(passages)
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


def told_masked(count: int) -> list[str]:
    """Return what people should know of facts of which something was taken out."""
    if not count:
        return []
    facts = "one fact" if count == 1 else f"{count} facts"
    return [f"sentences that speak to a language model were taken out of {facts}"]


def told_validities(validities: Sequence[Validity]) -> list[str]:
    """Return what people should know of facts that are not found at all times."""
    counted = Counter(validity.told() for validity in validities if validity != ALWAYS)
    return [
        f"{count} facts hold {period} only, and are not found at other times"
        if count > 1
        else f"one fact holds {period} only, and is not found at other times"
        for period, count in counted.items()
    ]
