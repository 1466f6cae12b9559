"""Looking at documents before and after they are ingested; nothing here writes (ADR 0113)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from services.common.computing import compute
from services.common.documents.document import NOWHERE, Place
from services.common.documents.facts.draft import FactDraft
from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, NotFoundError
from services.common.names import plain_name
from services.common.ports.documents import DocumentReader
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import SourceRecord
from services.common.progress import at
from services.common.settings.envelope import EnvelopeSettings
from services.envelope.comparison import compare
from services.envelope.domain.fragments import is_fragment
from services.envelope.domain.ingestion_report import DocumentReport
from services.envelope.domain.instructions import IngestionPolicy, as_written
from services.envelope.domain.source_diff import DiffFact, SourceDiff, source_diff
from services.envelope.domain.subjects import Stated
from services.envelope.domain.supersession import StoredFact, VersionChange, version_change
from services.envelope.drafting import drafted, told_validities, validities_of
from services.envelope.knowledge_reads import KnowledgeReads
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.outbox import key_of
from services.envelope.outlines import present_version
from services.envelope.source_identity import look_of
from services.envelope.text_reading import embed_texts
from services.envelope.version_writer import TextModels

_AT_ONCE: Final = 1_000
"""Facts that one call of the store reads."""


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A document to look at; ``name`` is its uri or file name."""

    name: str
    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class PreviewedFact:
    """A fact that a document would give."""

    fact_id: str
    draft: FactDraft
    is_new: bool
    returns: bool
    is_fragment: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What an ingestion would do; ``facts`` are some of the document's, in reading order."""

    report: DocumentReport
    facts: tuple[PreviewedFact, ...]
    source_id: str
    change: VersionChange
    unchanged: bool


@dataclass(frozen=True, slots=True)
class VersionName:
    """A stored source, or one of its versions; 0 = the present one."""

    source_id: str
    version: int = 0


class InspectionApp:
    """PreviewIngestion, DiffSources, and how facts stand in their sources.

    Args:
        stores: where the knowledge is; read alone.
        reads: what the tenant may read.
        models: what reads the text.
        reader: reads documents.
        settings: batch sizes, whether the words of a document say when it holds, what becomes of injections.
    """

    def __init__(
        self,
        stores: KnowledgeStores,
        reads: KnowledgeReads,
        models: TextModels,
        reader: DocumentReader,
        settings: EnvelopeSettings,
    ) -> None:
        self._stores = stores
        self._reads = reads
        self._models = models
        self._reader = reader
        self._batch = settings.embedding_batch
        self._policy = settings.suspected_facts
        self._validity_from_text = settings.validity_from_text

    async def preview(
        self, tenant_id: str, document: LookedAt, first: int, limit: int, *, compares: bool = True
    ) -> Preview:
        """Say what an ingestion of the document would do. Writes nothing.

        Args:
            tenant_id: whose knowledge it would go to.
            document: under the uri that it would be ingested under.
            first: place of the first fact to return, from 0.
            limit: most facts to return.
            compares: whether the facts are compared with those of other sources.

        Raises:
            InvalidRequestError: UNSUPPORTED_MEDIA or DOCUMENT_WITHOUT_TEXT.
            LimitExceededError: MESSAGE_TOO_LARGE, DOCUMENT_TOO_COMPLEX or QUEUE_FULL.
            UnavailableError: a model or store is down.
        """
        at("reading the document")
        former = await self._stores.graph.find_source(tenant_id, document.name)
        cut = await self._reader.read(document.content, document.media_type, document.name)
        source_id, key = look_of(tenant_id, document.name) if former is None else (former.source_id, key_of(former))
        draft = await compute(drafted, source_id, key, cut, self._policy)
        stored = await self._stored(tenant_id, source_id)
        fingerprint = self._models.embedding.fingerprint
        change = version_change(stored, draft.fact_ids, fingerprint, replaces_all=True)
        by_id = dict(zip(draft.fact_ids, draft.drafts, strict=True))
        from_text = self._validity_from_text
        validities = await compute(validities_of, {}, document.content, draft.drafts, cut.title, from_text)
        report = replace(draft.report, warnings=(*draft.report.warnings, *told_validities(validities)))
        if compares and change.written:
            facts = [
                Stated(fact_id, source_id, by_id[fact_id].content, by_id[fact_id].location)
                for fact_id in change.written
            ]
            vectors = await embed_texts(self._models.embedding, [fact.text for fact in facts], self._batch)
            at("comparing with other sources")
            stores = self._stores
            others = await compare(stores.facts, stores.subjects, tenant_id, source_id, facts, vectors)
            report = replace(report, others=others)
        written, revived = set(change.written), set(change.revived)
        shown = list(by_id.items())[first : first + limit]
        hash_of = await compute(sha256_hex, document.content)
        return Preview(
            report,
            tuple(
                PreviewedFact(
                    fact_id,
                    one,
                    fact_id in written - revived,
                    fact_id in revived,
                    is_fragment(one.content, one.kind),
                )
                for fact_id, one in shown
            ),
            "" if former is None else source_id,
            change,
            bool(former and former.version and former.document_hash == hash_of and not change.written),
        )

    async def diff(self, tenant_id: str, before: VersionName | LookedAt, after: VersionName | LookedAt) -> SourceDiff:
        """Compare two versions fact by fact. Writes nothing.

        Raises:
            NotFoundError: SOURCE_NOT_FOUND, also for a version of which nothing is kept.
            InvalidRequestError: UNSUPPORTED_MEDIA or DOCUMENT_WITHOUT_TEXT.
            LimitExceededError: MESSAGE_TOO_LARGE, DOCUMENT_TOO_COMPLEX or QUEUE_FULL.
            UnavailableError: a store is down.
        """
        first, second = await self._side(tenant_id, before), await self._side(tenant_id, after)
        return await compute(source_diff, first, second)

    async def _side(self, tenant_id: str, one: VersionName | LookedAt) -> Sequence[DiffFact]:
        if isinstance(one, VersionName):
            return await self._stored_side(tenant_id, one)
        cut = await self._reader.read(one.content, one.media_type, one.name)
        contents = await compute(_contents, [draft.content for draft in cut.drafts], self._policy)
        return [
            DiffFact(content, plain_name(draft.section), draft.location, "", draft.place, position)
            for position, (draft, content) in enumerate(zip(cut.drafts, contents, strict=True), start=1)
        ]

    async def _stored_side(self, tenant_id: str, one: VersionName) -> Sequence[DiffFact]:
        source = await self._reads.sources.get(tenant_id, one.source_id)
        if source is None:
            raise _not_found(one, "does not exist")
        version = one.version or present_version(source)
        found = None
        if version and version <= present_version(source):
            found = await self._stores.graph.get_outline(source.tenant_id, source.source_id, version)
        if found is None and one.version:
            kept = "`groundtrail sources show` names those that it has"
            why = f"has no version {one.version} of which the order is kept; {kept}"
            raise _not_found(one, why)
        if found is None:
            return await self._unordered_side(source)
        facts: dict[str, FactRecord] = {}
        ids = [entry.fact_id for entry in found.entries]
        for start in range(0, len(ids), _AT_ONCE):
            some = await self._stores.facts.get(source.tenant_id, ids[start : start + _AT_ONCE])
            facts |= {fact.fact_id: fact for fact in some}
        return [
            _compared(facts[entry.fact_id], entry.place, position)
            for position, entry in enumerate(found.entries, start=1)
            if entry.fact_id in facts
        ]

    async def _unordered_side(self, source: SourceRecord) -> Sequence[DiffFact]:
        """Return the facts of a source that was ingested before their order was kept."""
        ids = await self._stores.facts.fact_ids_of_source(source.tenant_id, source.source_id)
        found: list[FactRecord] = []
        for start in range(0, len(ids), _AT_ONCE):
            found += await self._stores.facts.get(source.tenant_id, ids[start : start + _AT_ONCE])
        return [_compared(fact, NOWHERE, 0) for fact in found if fact.status is not FactStatus.STALE]

    async def _stored(self, tenant_id: str, source_id: str) -> dict[str, StoredFact]:
        where = FactFilter(source_ids=(source_id,), statuses=tuple(set(FactStatus) - {FactStatus.DELETED}))
        found: dict[str, StoredFact] = {}
        after = ""
        while True:
            page = await self._stores.facts.page(tenant_id, where, after=after, limit=_AT_ONCE)
            found |= {fact.fact_id: StoredFact(fact.status, fact.embedding_model) for fact in page}
            if len(page) < _AT_ONCE:
                return found
            after = page[-1].fact_id


def _compared(fact: FactRecord, place: Place, position: int) -> DiffFact:
    """Return a stored fact; its location begins with its place, then come the headings."""
    headings = fact.source_location.removeprefix(str(place)).removeprefix(", ")
    return DiffFact(fact.content, headings, fact.source_location, fact.fact_id, place, position)


def _not_found(one: VersionName, why: str) -> NotFoundError:
    return NotFoundError(ErrorReason.SOURCE_NOT_FOUND, f"source {one.source_id} {why}", source_id=one.source_id)


def _contents(texts: Sequence[str], policy: IngestionPolicy) -> list[str]:
    """Return texts as they would be written. CPU-bound, linear."""
    return [as_written(text, policy).content if policy == "mask" else text for text in texts]
