"""The envelope service's applications over any fact store, without gRPC: for properties that take many examples."""

import contextlib
import itertools
import uuid

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.tokens.counter import open_token_counter
from services.common.envelope_request import EnvelopeRequest
from services.common.errors import NotFoundError
from services.common.ports.facts import FactFilter
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.inference import InferenceSettings
from services.common.taxonomy import RetrievalMode
from services.envelope.compose import EnvelopeParts, open_apps
from services.envelope.domain.importance import SourceType
from services.envelope.requests import FactEntries, FactEntry, WriteTicket
from services.envelope.version_writer import TextModels
from tests.contract.adapters import DIMENSION, MODEL
from tests.fakes.envelope_world import TurnedClock

SETTINGS = {"retrieval_k": 5, "recluster_after_facts": 0}


class NamedEmbeddingModel(MemoryEmbeddingModel):
    """The bag of words under the fingerprint that the contract's stores are opened with."""

    @property
    def fingerprint(self):
        return MODEL


class Knowledge:
    """One deployment: what callers of any tenant can do, as they can do it."""

    def __init__(self, apps, store, graph):
        self.apps = apps
        self.store = store
        self.graph = graph
        self.sources = {}
        self._numbers = itertools.count()

    def _ticket(self, rpc):
        return WriteTicket(rpc, str(uuid.UUID(int=next(self._numbers))), "0" * 64, lambda _: b"")

    async def ingest(self, tenant, uri, contents):
        """Ingest facts; return their ids."""
        entries = FactEntries(uri, uri, SourceType.USER, tuple(FactEntry(text) for text in contents))
        outcome = await self.apps.ingestion.ingest_facts(tenant, entries, self._ticket("IngestFacts"))
        self.sources[tenant, uri] = outcome.source.source_id
        return outcome.fact_ids

    async def erase(self, tenant, uri):
        await self.erase_id(tenant, self.sources.pop((tenant, uri)))

    async def erase_id(self, tenant, source_id):
        await self.apps.knowledge.erase(tenant, source_id, self._ticket("EraseSource"))

    async def quarantine(self, tenant, fact_id):
        await self.apps.knowledge.quarantine(tenant, fact_id, self._ticket("QuarantineFact"))

    async def restore(self, tenant, fact_id):
        await self.apps.knowledge.restore(tenant, fact_id, self._ticket("RestoreFact"))

    async def cluster(self, tenant):
        await self.apps.communities.rebuild(tenant, self._ticket("RebuildCommunities"))

    async def build(self, tenant, query, **fields):
        return await self.apps.envelopes.build(tenant, EnvelopeRequest(query, "gpt-4o", **fields))

    async def everything_read(self, tenant, query, where=None, ids=()):
        """Return every fact that any read gives for this text, filter and these ids, as (id, content)."""
        where, knowledge = where or FactFilter(), self.apps.knowledge
        read = {(fact.fact_id, fact.content) for fact in await knowledge.facts(tenant, where, "", 1_000)}
        for mode in (RetrievalMode.DENSE, RetrievalMode.TEXT, RetrievalMode.HYBRID):
            found = await knowledge.search(tenant, query, mode, where, 100)
            read |= {(hit.fact.fact_id, hit.fact.content) for hit in found.hits}
            built = await self.build(
                tenant, query, retrieval_mode=mode, deferred_fact_ids=ids, transferred_fact_ids=ids, active_fact_ids=ids
            )
            read |= {(fact.candidate.fact_id, fact.candidate.content) for fact in (*built.facts, *built.deferred)}
        for fact_id in ids:
            with contextlib.suppress(NotFoundError):
                fact = await knowledge.fact(tenant, fact_id)
                read.add((fact.fact_id, fact.content))
        return read


async def open_knowledge(store=None, graph=None, **settings):
    """Open a deployment over these stores; fresh ones in memory where none are given."""
    store, graph = store or MemoryFactStore(DIMENSION), graph or MemoryKnowledgeGraph()
    tokens = await open_token_counter(InferenceSettings())
    models = TextModels(NamedEmbeddingModel(DIMENSION), MemoryEntityRecognizer(), tokens)
    clock = TurnedClock()
    chosen = EnvelopeSettings(**{**SETTINGS, **settings})
    apps = await open_apps(EnvelopeParts(store, graph, models, chosen, clock))
    return Knowledge(apps, store, graph)
