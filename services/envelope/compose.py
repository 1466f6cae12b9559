"""The envelope service's composition: adapters and settings in, served services out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

import grpc
from crp.ckf.v1 import knowledge_service_pb2_grpc as ckf_grpc
from crp.envelope.v1 import envelope_service_pb2_grpc as envelope_grpc

from services.common.clock import Clock
from services.common.composition import Adapters
from services.common.context import Role
from services.common.documents.cutting import CuttingLimits, ThreadDocumentReader
from services.common.ports.documents import DocumentReader
from services.common.ports.facts import FactStore
from services.common.ports.graph import KnowledgeGraph
from services.common.ports.reranking import Reranker
from services.common.ports.token_vectors import TokenVectorModel
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import RetrievalMode
from services.envelope.checked_embedding import CheckedEmbedding
from services.envelope.community_app import CommunityApp
from services.envelope.domain.namespaces import Namespaces
from services.envelope.envelope_app import EnvelopeApp
from services.envelope.envelope_servicer import EnvelopeServicer
from services.envelope.granted_states import GrantedStates
from services.envelope.ingestion_app import IngestionApp
from services.envelope.inspection_app import InspectionApp
from services.envelope.knowledge_app import KnowledgeApp
from services.envelope.knowledge_reads import KnowledgeReads
from services.envelope.knowledge_servicer import KnowledgeServicer
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.leiden import LeidenCommunityDetector
from services.envelope.metrics import RetrievalMetrics
from services.envelope.neighbour_facts import NeighbourFacts
from services.envelope.outlines import Outlines
from services.envelope.ports import FactSearch
from services.envelope.readable_facts import ErasedSources, ReadableFacts
from services.envelope.readable_sources import ReadableSources
from services.envelope.rescoring import CrossEncoderRescorer, LateInteractionRescorer, Provider, Rescorer, no_model
from services.envelope.retrieval import Retriever
from services.envelope.retrieval_counts import RetrievalCounts
from services.envelope.selection import Selector
from services.envelope.state_hashes import StateHashes
from services.envelope.stored_compose import KNOWLEDGE_SERVICE, STORED_ROLES
from services.envelope.token_cache import TokenVectorCache
from services.envelope.version_writer import TextModels
from services.envelope.warm_facts import WarmFacts
from services.envelope.work import ENVELOPE_WORK, KNOWLEDGE_WORK

MIB: Final = 1024 * 1024
KNOWLEDGE_ROLES: Final = {
    "IngestSource": Role.WRITER,
    "IngestSourceStream": Role.WRITER,
    "PreviewIngestion": Role.WRITER,
    "DiffSources": Role.READER,
    "IngestFacts": Role.WRITER,
    "EraseSource": Role.WRITER,
    "QuarantineFact": Role.WRITER,
    "RestoreFact": Role.WRITER,
    "RebuildCommunities": Role.WRITER,
    "SearchFacts": Role.READER,
    "ListCommunities": Role.READER,
    "GetState": Role.READER,
} | STORED_ROLES
ENVELOPE_SERVICE: Final = "crp.envelope.v1.EnvelopeService"
ENVELOPE_ROLES: Final = {"BuildEnvelope": Role.READER, "PreviewEnvelope": Role.READER, "CountTokens": Role.READER}


@dataclass(frozen=True, slots=True)
class EnvelopeParts:
    """What the service is made of.

    Attributes:
        reranker: opens the cross-encoder of the mode RERANKED when it is first needed.
        token_vectors: opens the encoder of the mode LATE_INTERACTION when it is first needed.
        reader: reads documents; threads of this process when not given.
    """

    facts: FactStore
    graph: KnowledgeGraph
    models: TextModels
    settings: EnvelopeSettings
    clock: Clock
    reranker: Provider[Reranker] = no_model
    token_vectors: Provider[TokenVectorModel] = no_model
    reader: DocumentReader | None = None


async def open_parts(settings: Settings, adapters: Adapters) -> EnvelopeParts:
    """Return what the service is made of, from the process's shared adapters."""
    models = TextModels(await adapters.embedding(), await adapters.entity_recognizer(), await adapters.tokens())
    facts, graph = await adapters.fact_store(), await adapters.knowledge_graph()
    if settings.envelope.retrieval_mode == "reranked":  # open now what every envelope will ask for
        await adapters.reranker()
    if settings.envelope.retrieval_mode == "late_interaction":
        await adapters.token_vectors()
    return EnvelopeParts(
        facts,
        graph,
        models,
        settings.envelope,
        adapters.clock,
        adapters.reranker,
        adapters.token_vectors,
        await adapters.documents(),
    )


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return KnowledgeService and EnvelopeService; what a crash left half-written is settled first."""
    parts = await open_parts(settings, adapters)
    apps = await open_apps(parts)
    apps.communities.start()
    adapters.closing(apps.communities.close)
    return served(parts, apps)


@dataclass(frozen=True, slots=True)
class EnvelopeApps:
    """The applications, wired."""

    knowledge: KnowledgeApp
    ingestion: IngestionApp
    inspection: InspectionApp
    communities: CommunityApp
    envelopes: EnvelopeApp
    searches: RetrievalCounts


async def open_apps(parts: EnvelopeParts) -> EnvelopeApps:
    """Wire the applications over any adapters and settle unfinished writes."""
    settings, models = parts.settings, replace(parts.models, embedding=CheckedEmbedding(parts.models.embedding))
    fingerprint = models.embedding.fingerprint
    states = StateHashes(parts.facts, parts.graph, fingerprint, shared_store=settings.shared_store)
    stores = KnowledgeStores.over(parts.facts, parts.graph, states, parts.clock)
    await stores.recovery.recover()
    communities = CommunityApp(stores, LeidenCommunityDetector(), settings, fingerprint)
    searches = RetrievalCounts()
    reads = open_reads(parts, states, searches)
    reader = parts.reader or ThreadDocumentReader(CuttingLimits.of(settings), settings.tokenizer_model, models.tokens)
    neighbours = NeighbourFacts(reads.outlines, settings.neighbours_each_side)
    selector = Selector(reads, models.embedding, models.tokens, settings, neighbours)
    return EnvelopeApps(
        knowledge=KnowledgeApp(stores, reads, models.embedding, communities),
        ingestion=IngestionApp(stores, reads, models, reader, communities, settings),
        inspection=InspectionApp(stores, reads, models, reader, settings),
        communities=communities,
        envelopes=EnvelopeApp(parts.facts, selector, models.tokens, reads.states, settings, parts.clock),
        searches=searches,
    )


def open_reads(parts: EnvelopeParts, states: StateHashes, searches: RetrievalCounts) -> KnowledgeReads:
    """Wire what reads: a tenant's own knowledge and the shared namespaces that the settings grant to it."""
    namespaces, erased = Namespaces(parts.settings.shared_namespaces), ErasedSources()
    facts = ReadableFacts(parts.facts, namespaces, erased)
    return KnowledgeReads(
        facts=facts,
        sources=ReadableSources(parts.graph, namespaces, erased),
        retriever=open_retriever(parts, searches, facts),
        states=GrantedStates(states, namespaces),
        warm=WarmFacts(parts.settings.warm_facts),
        erased=erased,
        outlines=Outlines(parts.graph),
    )


def open_retriever(parts: EnvelopeParts, searches: RetrievalCounts, facts: FactSearch | None = None) -> Retriever:
    """Wire the search of every mode; its models are opened when they are first needed."""
    settings = parts.settings
    cache = TokenVectorCache(settings.token_cache_tenant_mib * MIB, settings.token_cache_total_mib * MIB)
    rescorers: dict[RetrievalMode, Rescorer] = {
        RetrievalMode.RERANKED: CrossEncoderRescorer(parts.reranker),
        RetrievalMode.LATE_INTERACTION: LateInteractionRescorer(parts.token_vectors, cache),
    }
    return Retriever(facts or parts.facts, settings, rescorers, searches)


async def assemble_services(parts: EnvelopeParts) -> list[ServedService]:
    """Wire applications and servicers over any adapters."""
    return served(parts, await open_apps(parts))


def served(parts: EnvelopeParts, apps: EnvelopeApps) -> list[ServedService]:
    """Return the services of wired applications."""
    limit = parts.settings.max_query_chars
    knowledge = KnowledgeServicer(apps.knowledge, apps.ingestion, apps.inspection, apps.communities, limit)
    envelope = EnvelopeServicer(apps.envelopes, limit)
    add_knowledge: Callable[[KnowledgeServicer, grpc.aio.Server], None] = (
        ckf_grpc.add_KnowledgeServiceServicer_to_server
    )
    add_envelope: Callable[[EnvelopeServicer, grpc.aio.Server], None] = (
        envelope_grpc.add_EnvelopeServiceServicer_to_server
    )
    check = _check(parts.facts, parts.graph)
    return [
        ServedService(
            KNOWLEDGE_SERVICE,
            lambda server: add_knowledge(knowledge, server),
            KNOWLEDGE_ROLES,
            check,
            metrics=RetrievalMetrics(apps.searches, apps.envelopes.times),
            work=KNOWLEDGE_WORK,
        ),
        ServedService(
            ENVELOPE_SERVICE,
            lambda server: add_envelope(envelope, server),
            ENVELOPE_ROLES,
            check,
            work=ENVELOPE_WORK,
        ),
    ]


def _check(facts: FactStore, graph: KnowledgeGraph) -> Callable[[], Awaitable[None]]:
    async def check() -> None:
        await facts.check()
        await graph.check()

    return check
