"""``crp.ckf.v1.KnowledgeService``: validate, convert, ask the apps, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc
from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1 import knowledge_service_pb2_grpc as pb_grpc
from google.protobuf.message import Message

from services.common.computing import compute
from services.common.concurrency import KeyedLock
from services.common.context import current_call
from services.common.encoding import sha256_hex
from services.common.ports.facts import FactRecord
from services.common.rpc.idempotency import body_hash, replay
from services.common.rpc.paging import after_number, decode_page, encode_page_token
from services.envelope.community_app import CommunityApp
from services.envelope.convert import ingestion as shown
from services.envelope.convert import knowledge as convert
from services.envelope.ingestion_app import IngestionApp
from services.envelope.inspection_app import InspectionApp
from services.envelope.knowledge_app import KnowledgeApp
from services.envelope.progress_events import telling
from services.envelope.requests import ClusteringOutcome, EraseOutcome, IngestOutcome, WriteTicket
from services.envelope.validate import knowledge as validate

Context = grpc.aio.ServicerContext[Any, Any]
OutcomeT = TypeVar("OutcomeT")
ResponseT = TypeVar("ResponseT", bound=Message)


class KnowledgeServicer(pb_grpc.KnowledgeServiceServicer):
    """Serves the knowledge fabric.

    Args:
        knowledge: reads, searches, withholds and erases.
        ingestion: ingests.
        inspection: looks at documents and compares them.
        communities: clusters.
        max_query_chars: longest search query.
    """

    def __init__(
        self,
        knowledge: KnowledgeApp,
        ingestion: IngestionApp,
        inspection: InspectionApp,
        communities: CommunityApp,
        max_query_chars: int,
    ) -> None:
        self._knowledge = knowledge
        self._ingestion = ingestion
        self._inspection = inspection
        self._communities = communities
        self._max_query_chars = max_query_chars
        self._repeats = KeyedLock()

    async def IngestSource(self, request: pb.IngestSourceRequest, context: Context) -> pb.IngestSourceResponse:
        """Ingest a document."""
        validate.ingest_source(request)
        document = convert.source_document(request)

        async def work(ticket: WriteTicket[IngestOutcome]) -> IngestOutcome:
            return await self._ingestion.ingest_source(_tenant(), document, ticket)

        return await self._once(request, pb.IngestSourceResponse, convert.ingest_source_response, work)

    async def IngestSourceStream(
        self, request: pb.IngestSourceStreamRequest, context: Context
    ) -> AsyncIterator[pb.IngestSourceStreamResponse]:
        """Ingest a document and say meanwhile how far it is."""
        async with telling(self.IngestSource(request.source, context)) as (events, work):
            async for progress in events:
                yield shown.progress_event(progress)
            yield pb.IngestSourceStreamResponse(result=await work)

    async def PreviewIngestion(
        self, request: pb.PreviewIngestionRequest, context: Context
    ) -> pb.PreviewIngestionResponse:
        """Say what an ingestion would do."""
        validate.preview_ingestion(request)
        digest = await compute(sha256_hex, request.content)
        bound = ("PreviewIngestion", _tenant(), request.uri, request.media_type, digest)
        page = decode_page(request.page_size, request.page_token, bound)
        first = after_number(page) + 1
        compares = not request.skip_comparison
        document = shown.looked_at(request)
        found = await self._inspection.preview(_tenant(), document, first, page.limit, compares=compares)
        last = first + len(found.facts)
        token = encode_page_token(str(last - 1), bound) if last < found.report.fact_count and found.facts else ""
        return shown.preview_response(found, token)

    async def DiffSources(self, request: pb.DiffSourcesRequest, context: Context) -> pb.DiffSourcesResponse:
        """Compare two versions."""
        validate.diff_sources(request)
        before, after = shown.diff_side(request.before), shown.diff_side(request.after)
        return shown.diff_response(await self._inspection.diff(_tenant(), before, after), request.limit)

    async def IngestFacts(self, request: pb.IngestFactsRequest, context: Context) -> pb.IngestFactsResponse:
        """Ingest facts."""
        validate.ingest_facts(request)
        entries = convert.fact_entries(request)

        async def work(ticket: WriteTicket[IngestOutcome]) -> IngestOutcome:
            return await self._ingestion.ingest_facts(_tenant(), entries, ticket)

        return await self._once(request, pb.IngestFactsResponse, convert.ingest_facts_response, work)

    async def GetFact(self, request: pb.GetFactRequest, context: Context) -> pb.GetFactResponse:
        """Return a fact."""
        validate.fact_id(request)
        fact = await self._knowledge.fact(_tenant(), request.fact_id)
        return shown.fact_response(convert.fact_message(fact), await self._inspection.standing(fact))

    async def ListFacts(self, request: pb.ListFactsRequest, context: Context) -> pb.ListFactsResponse:
        """List facts."""
        validate.list_facts(request)
        where = convert.list_filter(request)
        filters = (*where.source_ids, "|", *where.communities, "|", *where.statuses, "|", request.fact_id_prefix)
        bound = ("ListFacts", _tenant(), *filters)
        page = decode_page(request.page_size, request.page_token, bound)
        facts = await self._knowledge.facts(_tenant(), where, page.after, page.limit, request.fact_id_prefix)
        token = encode_page_token(facts[-1].fact_id, bound) if len(facts) == page.limit else ""
        return pb.ListFactsResponse(facts=[convert.fact_message(fact) for fact in facts], next_page_token=token)

    async def SearchFacts(self, request: pb.SearchFactsRequest, context: Context) -> pb.SearchFactsResponse:
        """Search facts."""
        validate.search_facts(request, self._max_query_chars)
        mode, where, limit = convert.search_terms(request)
        everything = request.include_superseded
        found = await self._knowledge.search(
            _tenant(), request.query, mode, where, limit, include_superseded=everything
        )
        return convert.search_response(found)

    async def EraseSource(self, request: pb.EraseSourceRequest, context: Context) -> pb.EraseSourceResponse:
        """Erase a source."""
        validate.erase_source(request)

        async def work(ticket: WriteTicket[EraseOutcome]) -> EraseOutcome:
            return await self._knowledge.erase(_tenant(), request.source_id, ticket)

        return await self._once(request, pb.EraseSourceResponse, convert.erase_response, work)

    async def QuarantineFact(self, request: pb.QuarantineFactRequest, context: Context) -> pb.QuarantineFactResponse:
        """Withhold a fact."""
        validate.change_fact(request)

        async def work(ticket: WriteTicket[FactRecord]) -> FactRecord:
            return await self._knowledge.quarantine(_tenant(), request.fact_id, ticket)

        return await self._once(request, pb.QuarantineFactResponse, convert.quarantine_response, work)

    async def RestoreFact(self, request: pb.RestoreFactRequest, context: Context) -> pb.RestoreFactResponse:
        """Bring a fact back."""
        validate.change_fact(request)

        async def work(ticket: WriteTicket[FactRecord]) -> FactRecord:
            return await self._knowledge.restore(_tenant(), request.fact_id, ticket)

        return await self._once(request, pb.RestoreFactResponse, convert.restore_response, work)

    async def RebuildCommunities(
        self, request: pb.RebuildCommunitiesRequest, context: Context
    ) -> pb.RebuildCommunitiesResponse:
        """Cluster anew."""
        validate.rebuild(request)

        async def work(ticket: WriteTicket[ClusteringOutcome]) -> ClusteringOutcome:
            return await self._communities.rebuild(_tenant(), ticket)

        return await self._once(request, pb.RebuildCommunitiesResponse, convert.rebuild_response, work)

    async def ListCommunities(self, request: pb.ListCommunitiesRequest, context: Context) -> pb.ListCommunitiesResponse:
        """List communities."""
        bound = ("ListCommunities", _tenant())
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._knowledge.communities(_tenant(), page.after, page.limit)
        token = encode_page_token(found[-1].label, bound) if len(found) == page.limit else ""
        communities = [convert.community_message(community) for community in found]
        return pb.ListCommunitiesResponse(communities=communities, next_page_token=token)

    async def ListSources(self, request: pb.ListSourcesRequest, context: Context) -> pb.ListSourcesResponse:
        """List sources."""
        bound = ("ListSources", _tenant())
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._knowledge.sources(_tenant(), page.after, page.limit)
        token = encode_page_token(found[-1].source_id, bound) if len(found) == page.limit else ""
        sources = [convert.source_message(source) for source in found]
        return pb.ListSourcesResponse(sources=sources, next_page_token=token)

    async def GetSource(self, request: pb.GetSourceRequest, context: Context) -> pb.GetSourceResponse:
        """Return a source."""
        validate.source_id(request)
        source = await self._knowledge.source(_tenant(), request.source_id)
        versions = shown.version_messages(await self._inspection.versions(source))
        return pb.GetSourceResponse(source=convert.source_message(source), versions=versions)

    async def GetState(self, request: pb.GetStateRequest, context: Context) -> pb.GetStateResponse:
        """Return the state."""
        validate.get_state(request)
        return convert.state_response(await self._knowledge.state(_tenant(), tuple(request.communities)))

    async def _once(
        self,
        request: Any,
        response_type: type[ResponseT],
        answer: Callable[[OutcomeT], ResponseT],
        work: Callable[[WriteTicket[OutcomeT]], Awaitable[OutcomeT]],
    ) -> ResponseT:
        """Do the work once for a request id; whoever repeats it, later or meanwhile, gets the first answer."""
        rpc = response_type.DESCRIPTOR.name.removesuffix("Response")
        async with self._repeats.lock(_tenant(), rpc, request.request_id):
            body = body_hash(request)
            receipt = await self._knowledge.receipt(_tenant(), rpc, request.request_id)
            known = replay(receipt, body, response_type)
            if known is not None:
                return known
            ticket: WriteTicket[OutcomeT] = WriteTicket(
                rpc=rpc,
                request_id=request.request_id,
                body_hash=body,
                encode=lambda outcome: answer(outcome).SerializeToString(deterministic=True),
            )
            return answer(await work(ticket))


def _tenant() -> str:
    return current_call().caller.tenant_id
