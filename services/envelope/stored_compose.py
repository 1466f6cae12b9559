"""KnowledgeService in small: what tells of stored facts and sources, for a command that reads and asks no model."""

from collections.abc import Callable
from typing import Final

import grpc
from crp.ckf.v1 import knowledge_service_pb2_grpc as ckf_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.envelope.domain.namespaces import Namespaces
from services.envelope.outlines import Outlines
from services.envelope.readable_facts import ErasedSources, ReadableFacts
from services.envelope.readable_sources import ReadableSources
from services.envelope.stored_knowledge import StoredKnowledge
from services.envelope.stored_knowledge_servicer import StoredKnowledgeServicer

KNOWLEDGE_SERVICE: Final = "crp.ckf.v1.KnowledgeService"
STORED_ROLES: Final = dict.fromkeys(("GetFact", "ListFacts", "ListSources", "GetSource"), Role.READER)


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return the service; the store of facts is opened when a fact is asked for.

    Where a crash left a write unfinished, the whole of the envelope service is returned, which settles it first.
    """
    graph = await adapters.knowledge_graph()
    if await graph.unfinished_sources():
        from services.envelope.compose import build as build_whole

        return await build_whole(settings, adapters)
    namespaces, erased = Namespaces(settings.envelope.shared_namespaces), ErasedSources()

    async def facts() -> ReadableFacts:
        return ReadableFacts(await adapters.fact_store(), namespaces, erased)

    sources = ReadableSources(graph, namespaces, erased)
    servicer = StoredKnowledgeServicer(StoredKnowledge(facts, sources, graph, Outlines(graph), adapters.clock))
    add: Callable[[StoredKnowledgeServicer, grpc.aio.Server], None] = ckf_grpc.add_KnowledgeServiceServicer_to_server
    return [ServedService(KNOWLEDGE_SERVICE, lambda server: add(servicer, server), STORED_ROLES, graph.check)]
