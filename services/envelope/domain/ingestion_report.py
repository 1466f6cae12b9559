"""What to look at before a document is trusted: counts, scraps, doubts, hidden text (ADR 0113). Linear in its size."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.document import NOWHERE, DoubtfulTable, HiddenText, Place
from services.common.documents.facts.draft import FactKind
from services.common.injection.masking import Finding
from services.common.ports.documents import CutDocument
from services.envelope.domain.fragments import is_fragment
from services.envelope.domain.instructions import Treatment, Written, found_in
from services.envelope.domain.languages import languages_of
from services.envelope.domain.suspect_columns import suspect_columns

LISTED: Final = 100
"""So many of each list are told of; counts are exact."""
_TEXT_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class SuspectedInstruction:
    """Text that speaks to a model; ``fact_id`` is empty for what nobody sees, which becomes no fact."""

    text: str = field(repr=False)
    why: str
    finding: Finding
    treatment: Treatment
    is_hidden: bool
    fact_id: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class LikeFact:
    """A fact of the document and the one of another source that it resembles.

    Attributes:
        is_exact: both are the same text.
        values: what the two say where they disagree, as they write it; ``None`` where they say the same.
    """

    fact_id: str
    content: str = field(repr=False)
    other_fact_id: str
    other_source_id: str
    other_content: str = field(repr=False)
    cosine: float
    is_exact: bool = False
    values: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class OtherSources:
    """How the facts compare with those of other sources; the first of each list."""

    duplicates: tuple[LikeFact, ...] = ()
    duplicate_count: int = 0
    disagreements: tuple[LikeFact, ...] = ()
    disagreement_count: int = 0


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """How a document was read; the first of each list, counts exact.

    Attributes:
        others: ``None`` where nothing was compared.
    """

    media_type: str
    title: str
    pages: int
    declared_language: str
    fact_count: int
    kinds: Mapping[FactKind, int]
    languages: Mapping[str, int]
    fragment_ids: tuple[str, ...]
    fragment_count: int
    doubtful: tuple[DoubtfulTable, ...]
    doubtful_count: int
    hidden: tuple[HiddenText, ...]
    hidden_count: int
    suspected: tuple[SuspectedInstruction, ...]
    suspected_count: int
    furniture: tuple[str, ...]
    furniture_count: int
    warnings: tuple[str, ...]
    others: OtherSources | None = None

    @property
    def fragment_ratio(self) -> float:
        """The share of facts that can hardly be read alone."""
        return self.fragment_count / self.fact_count if self.fact_count else 0.0


def document_report(cut: CutDocument, fact_ids: Sequence[str], looked: Sequence[Written]) -> DocumentReport:
    """Return the report of a document that was read.

    Args:
        cut: the document.
        fact_ids: those of its drafts, in their order.
        looked: what became of their texts, in the same order.
    """
    drafts = list(dict(zip(fact_ids, cut.drafts, strict=True)).items())
    fragments = [fact_id for fact_id, draft in drafts if is_fragment(draft.content, draft.kind)]
    suspected = [
        _suspected(one.text, one.place, Written(one.text, found, Treatment.LEFT_OUT))
        for one in cut.hidden
        if (found := found_in(one.text)) is not None
    ]
    written = dict(zip(fact_ids, looked, strict=True))
    suspected += [
        _suspected(draft.content, draft.place, written[fact_id], fact_id)
        for fact_id, draft in drafts
        if written[fact_id].finding is not None
    ]
    doubtful = (*cut.doubtful, *suspect_columns(cut.drafts))
    return DocumentReport(
        media_type=cut.media_type,
        title=cut.title,
        pages=cut.pages,
        declared_language=cut.language,
        fact_count=len(drafts),
        kinds=dict(Counter(draft.kind for _, draft in drafts).most_common()),
        languages=languages_of(
            ((draft.content, draft.kind is FactKind.TABLE_ROW) for _, draft in drafts), cut.language
        ),
        fragment_ids=tuple(fragments[:LISTED]),
        fragment_count=len(fragments),
        doubtful=doubtful[:LISTED],
        doubtful_count=len(doubtful),
        hidden=cut.hidden[:LISTED],
        hidden_count=len(cut.hidden),
        suspected=tuple(suspected[:LISTED]),
        suspected_count=len(suspected),
        furniture=cut.furniture[:LISTED],
        furniture_count=len(cut.furniture),
        warnings=cut.warnings,
    )


def _suspected(text: str, place: Place, written: Written, fact_id: str = "") -> SuspectedInstruction:
    """Return what is told of a text; ``written`` has a finding."""
    assert written.finding is not None
    why = ", ".join(written.finding.tells)
    return SuspectedInstruction(
        text[:_TEXT_CHARS], why, written.finding, written.treatment, not fact_id, fact_id, place
    )
