"""Documents and facts on their way into the knowledge fabric: read, cut, compared with the version before, written."""

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from services.common.computing import compute
from services.common.documents.document import NOWHERE
from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.names import plain_name
from services.common.ports.documents import DocumentReader
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import SourceRecord, SourceStatus
from services.common.ports.outline import OutlineEntry
from services.common.progress import at, stored, writing
from services.common.settings.envelope import EnvelopeSettings
from services.envelope.community_app import CommunityApp
from services.envelope.counted_facts import count_beside
from services.envelope.domain.identity import fact_id_for
from services.envelope.domain.importance import IMPORTANCE_BY_SOURCE_TYPE, SourceType, importance_of
from services.envelope.domain.instructions import IngestionPolicy, Treatment, Written, as_written
from services.envelope.domain.outlines import Outlined, outline
from services.envelope.domain.validity import of_metadata
from services.envelope.drafting import drafted, told_masked, told_quarantine, told_validities, validities_of
from services.envelope.knowledge_reads import KnowledgeReads
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.outbox import key_of, keyed, visible_metadata
from services.envelope.requests import FactEntries, IngestOutcome, SourceDocument, WriteTicket
from services.envelope.source_identity import fresh_source_id, fresh_source_key
from services.envelope.version_writer import NewFact, SourceVersion, TextModels, VersionWriter

FACTS_MEDIA_TYPE: Final = "application/x-facts"
"""Media type of a source whose facts the caller has cut."""
MAX_FACT_TOKENS: Final = 2_048
"""Of a fact that a caller has cut."""
MAX_ORDERED_ADDITIONS: Final = 20_000
"""A source that facts are added to keeps their order up to so many: it is written anew with every addition."""


class IngestionApp:
    """IngestSource and IngestFacts.

    Args:
        stores: where the knowledge goes.
        reads: says what the tenant may only read.
        models: what reads the text.
        reader: reads documents.
        communities: told about new facts.
        settings: limits and batch sizes.
    """

    def __init__(
        self,
        stores: KnowledgeStores,
        reads: KnowledgeReads,
        models: TextModels,
        reader: DocumentReader,
        communities: CommunityApp,
        settings: EnvelopeSettings,
    ) -> None:
        self._stores = stores
        self._reads = reads
        self._models = models
        self._reader = reader
        self._communities = communities
        self._writer = VersionWriter(
            stores, models, settings.embedding_batch, compares=settings.compare_with_other_sources
        )
        self._settings = settings

    async def ingest_source(
        self, tenant_id: str, document: SourceDocument, ticket: WriteTicket[IngestOutcome]
    ) -> IngestOutcome:
        """Store a document's facts; the same bytes again change nothing.

        Raises:
            InvalidRequestError: UNSUPPORTED_MEDIA or DOCUMENT_WITHOUT_TEXT.
            NotFoundError: SOURCE_NOT_FOUND, a document that it shall take the place of does not exist.
            LimitExceededError: MESSAGE_TOO_LARGE, DOCUMENT_TOO_COMPLEX or STORAGE_FULL.
            UnavailableError: a model or store is down.
        """
        at("reading the document")
        document_hash = await compute(sha256_hex, document.content)
        async with AsyncExitStack() as held:
            for uri in sorted(
                {document.uri, *document.supersedes_uris}
            ):  # in one order, so that nobody waits in a ring
                await held.enter_async_context(self._stores.locks.lock(tenant_id, uri))
            former = await self._settled(tenant_id, document.uri)
            replaced, ended = await self._replaced(tenant_id, document)
            kind = _kind_of(document, former)
            same = former is not None and former.document_hash == document_hash and not ended
            if former is not None and same and await self._is_current(former, document, kind):
                return await self._unchanged(former, ticket)
            parsed = await self._reader.read(document.content, document.media_type, document.uri)
            title = plain_name(parsed.title) or document.uri
            version = replace(self._document_version(tenant_id, document, former, title), source_type=kind.value)
            policy = self._settings.suspected_facts
            draft = await compute(drafted, version.source_id, key_of(version), parsed, policy)
            record = replace(version, document_hash=document_hash, media_type=parsed.media_type)
            given = document.importance_weight
            stated, from_text = (document.metadata, document.content), self._settings.validity_from_text
            validities = await compute(validities_of, *stated, draft.drafts, parsed.title, from_text)
            told = (*told_quarantine(len(draft.kept_out)), *told_masked(draft.masked))
            warnings = (*parsed.warnings, *told_validities(validities), *told)
            facts = tuple(
                NewFact(
                    fact_id,
                    one.content,
                    one.location,
                    importance_of(kind, one.kind) if given is None else given,
                    document.ttl,
                    validity=validity,
                    quarantined=fact_id in draft.kept_out,
                )
                for fact_id, one, validity in zip(draft.fact_ids, draft.drafts, validities, strict=True)
            )
            outcome = await self._writer.write(
                SourceVersion(
                    record,
                    former,
                    facts,
                    replaces_all=True,
                    superseded=ended,
                    warnings=warnings,
                    replaced=replaced,
                    outline=draft.outline,
                    report=replace(draft.report, warnings=warnings),
                ),
                ticket,
            )
        await self._communities.facts_added(tenant_id, outcome.created_fact_ids)
        return outcome

    async def ingest_facts(
        self, tenant_id: str, entries: FactEntries, ticket: WriteTicket[IngestOutcome]
    ) -> IngestOutcome:
        """Add facts to a source; those that it has already are left as they are.

        Raises:
            InvalidRequestError: INVALID_FIELD, a fact is too long.
            NotFoundError: FACT_NOT_FOUND, a superseded fact does not exist.
            PermissionDeniedError: NAMESPACE_READ_ONLY, a superseded fact stands in a shared namespace.
        """
        await self._require_short(entries)
        superseded = await self._superseded(tenant_id, entries)
        async with self._stores.locks.lock(tenant_id, entries.uri):
            former = await self._settled(tenant_id, entries.uri)
            record = self._facts_version(tenant_id, entries, former)
            default = IMPORTANCE_BY_SOURCE_TYPE[entries.source_type]
            contents = {entry.content for entry in entries.facts}
            looked = await compute(_as_written, contents, self._settings.suspected_facts)
            facts = tuple(
                NewFact(
                    fact_id_for(record.source_id, key_of(record), entry.source_location, looked[entry.content].content),
                    looked[entry.content].content,
                    entry.source_location,
                    default if entry.importance_weight is None else entry.importance_weight,
                    entry.ttl,
                    MappingProxyType(dict(entry.metadata)),
                    of_metadata(entry.metadata),
                    quarantined=_is(looked[entry.content], Treatment.QUARANTINED),
                )
                for entry in entries.facts
            )
            entries_of = await self._added_to(former, facts)
            version = SourceVersion(
                record,
                former,
                facts,
                replaces_all=False,
                superseded=superseded,
                outline=entries_of,
                warnings=(
                    *told_quarantine(len({fact.fact_id for fact in facts if fact.quarantined})),
                    *told_masked(sum(_is(one, Treatment.MASKED) for one in looked.values())),
                ),
            )
            outcome = await self._writer.write(version, ticket)
        await self._communities.facts_added(tenant_id, outcome.created_fact_ids)
        return outcome

    async def _settled(self, tenant_id: str, uri: str) -> SourceRecord | None:
        """Return the present version under ``uri``, settled if a former call left it half-written."""
        found = await self._stores.graph.find_source(tenant_id, uri)
        if found is None or found.status is SourceStatus.ACTIVE:
            return found
        with writing():
            await self._stores.recovery.settle(found)
        return await self._stores.graph.find_source(tenant_id, uri)

    async def _added_to(self, former: SourceRecord | None, facts: tuple[NewFact, ...]) -> tuple[OutlineEntry, ...]:
        """Return the order of a source's facts with new ones behind them; nothing where it is not known or too long."""
        known: tuple[OutlineEntry, ...] = ()
        if former is not None and former.fact_count:
            if not former.version or former.fact_count > MAX_ORDERED_ADDITIONS:
                return ()
            found = await self._stores.graph.get_outline(former.tenant_id, former.source_id, former.version)
            if found is None:
                return ()
            known = found.entries
        return outline((Outlined(fact.fact_id, fact.location, "", NOWHERE) for fact in facts), known)

    async def _is_current(self, source: SourceRecord, document: SourceDocument, kind: SourceType) -> bool:
        """Say whether it stands, of this kind and validity, with an outline and vectors of the present model."""
        if not source.version or source.source_type != kind.value:
            return False
        if of_metadata(visible_metadata(source.metadata)) != of_metadata(document.metadata):
            return False
        standing = FactFilter(source_ids=(source.source_id,), statuses=(FactStatus.ACTIVE, FactStatus.QUARANTINED))
        first = await self._stores.facts.page(source.tenant_id, standing, after="", limit=1)
        return bool(first) and first[0].embedding_model == self._models.embedding.fingerprint

    async def _replaced(
        self, tenant_id: str, document: SourceDocument
    ) -> tuple[tuple[SourceRecord, ...], tuple[str, ...]]:
        """Return the documents that this one takes the place of, and those of their facts that stand."""
        records: list[SourceRecord] = []
        ended: list[str] = []
        now = self._stores.clock.now()
        for uri in sorted(set(document.supersedes_uris) - {document.uri}):
            found = await self._settled(tenant_id, uri)
            if found is None:
                raise NotFoundError(
                    ErrorReason.SOURCE_NOT_FOUND, f"the superseded source {uri} does not exist", uri=uri
                )
            records.append(found)
            ids = await self._stores.facts.fact_ids_of_source(tenant_id, found.source_id)
            facts = await self._stores.facts.get(tenant_id, ids)
            ended += [fact.fact_id for fact in facts if _stands(fact, now)]
        return tuple(records), tuple(ended)

    async def _unchanged(self, source: SourceRecord, ticket: WriteTicket[IngestOutcome]) -> IngestOutcome:
        outcome = IngestOutcome(source, 0, 0, source.fact_count, unchanged=True)
        receipt = ticket.receipt(source.tenant_id, outcome, self._stores.clock.now())
        with writing():
            await self._stores.graph.put_source(source, receipt)
        stored()
        return outcome

    def _document_version(
        self, tenant_id: str, document: SourceDocument, former: SourceRecord | None, title: str
    ) -> SourceRecord:
        return SourceRecord(
            tenant_id=tenant_id,
            source_id=former.source_id if former else fresh_source_id(),
            title=document.title or title,
            uri=document.uri,
            source_type="",
            media_type="",
            document_hash="",
            ingested_at=self._stores.clock.now(),
            fact_count=0,
            status=SourceStatus.INGESTING,
            metadata=keyed(document.metadata, key_of(former) if former else fresh_source_key()),
        )

    def _facts_version(self, tenant_id: str, entries: FactEntries, former: SourceRecord | None) -> SourceRecord:
        if former is not None:
            return replace(former, title=entries.title or former.title, ingested_at=self._stores.clock.now())
        return SourceRecord(
            tenant_id=tenant_id,
            source_id=fresh_source_id(),
            title=entries.title or entries.uri,
            uri=entries.uri,
            source_type=entries.source_type.value,
            media_type=FACTS_MEDIA_TYPE,
            document_hash=sha256_hex("\n".join(entry.content for entry in entries.facts)),
            ingested_at=self._stores.clock.now(),
            fact_count=0,
            status=SourceStatus.INGESTING,
            metadata=keyed({}, fresh_source_key()),
        )

    async def _require_short(self, entries: FactEntries) -> None:
        texts = [entry.content for entry in entries.facts]
        counts = await count_beside(self._models.tokens, texts, self._settings.tokenizer_model)
        violations = tuple(
            FieldViolation(f"facts[{index}].content", f"must have at most {MAX_FACT_TOKENS} tokens")
            for index, count in enumerate(counts)
            if count > MAX_FACT_TOKENS
        )
        if violations:
            raise InvalidRequestError.of(*violations)

    async def _superseded(self, tenant_id: str, entries: FactEntries) -> tuple[str, ...]:
        """Return the facts that the new ones replace; what is superseded already stays as it is."""
        wanted = sorted({fact_id for entry in entries.facts for fact_id in entry.supersedes_fact_ids})
        await self._reads.refuse_shared_facts(tenant_id, wanted)
        known = {fact.fact_id: fact for fact in await self._stores.facts.get(tenant_id, wanted)}
        missing = next((fact_id for fact_id in wanted if fact_id not in known), None)
        if missing is not None:
            raise NotFoundError(
                ErrorReason.FACT_NOT_FOUND, f"the superseded fact {missing} does not exist", fact_id=missing
            )
        now = self._stores.clock.now()
        return tuple(fact_id for fact_id in wanted if _stands(known[fact_id], now))


def _kind_of(document: SourceDocument, former: SourceRecord | None) -> SourceType:
    """Return what kind of document it is: as the caller says, else as it was, else internal."""
    before = SourceType.INTERNAL if former is None or not former.source_type else SourceType(former.source_type)
    return document.source_type or before


def _stands(fact: FactRecord, now: datetime) -> bool:
    """Say whether nothing has replaced a fact yet."""
    return fact.superseded_at is None or fact.superseded_at > now


def _as_written(contents: set[str], policy: IngestionPolicy) -> dict[str, Written]:
    """Return what becomes of texts; of those that a caller has cut there is no report. CPU-bound, linear."""
    if policy == "report":
        return {content: Written(content) for content in contents}
    return {content: as_written(content, policy) for content in contents}


def _is(one: Written, treatment: Treatment) -> bool:
    return one.finding is not None and one.treatment is treatment
