"""The part of ``crp.ckf.v1.KnowledgeService`` that tells of stored facts and sources."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from typing import Any

import grpc
from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1 import knowledge_service_pb2_grpc as pb_grpc

from services.common.context import current_call
from services.common.rpc.paging import decode_page, encode_page_token
from services.envelope.convert import stored as convert
from services.envelope.stored_knowledge import StoredKnowledge
from services.envelope.validate import stored as validate

Context = grpc.aio.ServicerContext[Any, Any]


class StoredKnowledgeServicer(pb_grpc.KnowledgeServiceServicer):
    """Serves what is stored.

    Args:
        stored: reads it.
    """

    def __init__(self, stored: StoredKnowledge) -> None:
        self._stored = stored

    async def GetFact(self, request: pb.GetFactRequest, context: Context) -> pb.GetFactResponse:
        """Return a fact."""
        validate.fact_id(request)
        fact = await self._stored.fact(tenant_of_call(), request.fact_id)
        return convert.fact_response(convert.fact_message(fact), await self._stored.standing(fact))

    async def ListFacts(self, request: pb.ListFactsRequest, context: Context) -> pb.ListFactsResponse:
        """List facts."""
        validate.list_facts(request)
        where = convert.list_filter(request)
        filters = (*where.source_ids, "|", *where.communities, "|", *where.statuses, "|", request.fact_id_prefix)
        bound = ("ListFacts", tenant_of_call(), *filters)
        page = decode_page(request.page_size, request.page_token, bound)
        facts = await self._stored.facts(tenant_of_call(), where, page.after, page.limit, request.fact_id_prefix)
        token = encode_page_token(facts[-1].fact_id, bound) if len(facts) == page.limit else ""
        return pb.ListFactsResponse(facts=[convert.fact_message(fact) for fact in facts], next_page_token=token)

    async def ListSources(self, request: pb.ListSourcesRequest, context: Context) -> pb.ListSourcesResponse:
        """List sources."""
        bound = ("ListSources", tenant_of_call())
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._stored.sources(tenant_of_call(), page.after, page.limit)
        token = encode_page_token(found[-1].source_id, bound) if len(found) == page.limit else ""
        sources = [convert.source_message(source) for source in found]
        return pb.ListSourcesResponse(sources=sources, next_page_token=token)

    async def GetSource(self, request: pb.GetSourceRequest, context: Context) -> pb.GetSourceResponse:
        """Return a source."""
        validate.source_id(request)
        source = await self._stored.source(tenant_of_call(), request.source_id)
        versions = convert.version_messages(await self._stored.versions(source))
        return pb.GetSourceResponse(source=convert.source_message(source), versions=versions)


def tenant_of_call() -> str:
    """Return the tenant of the running call."""
    return current_call().caller.tenant_id
