"""``crp.ckf.v1.KnowledgeService``: validate, convert, ask the apps, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from crp.ckf.v1 import knowledge_service_pb2 as pb
from google.protobuf.message import Message

from services.common.computing import compute
from services.common.concurrency import KeyedLock
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
from services.envelope.stored_knowledge_servicer import Context, StoredKnowledgeServicer, tenant_of_call
from services.envelope.validate import knowledge as validate

OutcomeT = TypeVar("OutcomeT")
ResponseT = TypeVar("ResponseT", bound=Message)


class KnowledgeServicer(StoredKnowledgeServicer):
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
        super().__init__(knowledge)
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
            return await self._ingestion.ingest_source(tenant_of_call(), document, ticket)

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
        bound = ("PreviewIngestion", tenant_of_call(), request.uri, request.media_type, digest)
        page = decode_page(request.page_size, request.page_token, bound)
        first = after_number(page) + 1
        compares = not request.skip_comparison
        document = shown.looked_at(request)
        found = await self._inspection.preview(tenant_of_call(), document, first, page.limit, compares=compares)
        last = first + len(found.facts)
        token = encode_page_token(str(last - 1), bound) if last < found.report.fact_count and found.facts else ""
        return shown.preview_response(found, token)

    async def DiffSources(self, request: pb.DiffSourcesRequest, context: Context) -> pb.DiffSourcesResponse:
        """Compare two versions."""
        validate.diff_sources(request)
        before, after = shown.diff_side(request.before), shown.diff_side(request.after)
        return shown.diff_response(await self._inspection.diff(tenant_of_call(), before, after), request.limit)

    async def IngestFacts(self, request: pb.IngestFactsRequest, context: Context) -> pb.IngestFactsResponse:
        """Ingest facts."""
        validate.ingest_facts(request)
        entries = convert.fact_entries(request)

        async def work(ticket: WriteTicket[IngestOutcome]) -> IngestOutcome:
            return await self._ingestion.ingest_facts(tenant_of_call(), entries, ticket)

        return await self._once(request, pb.IngestFactsResponse, convert.ingest_facts_response, work)

    async def SearchFacts(self, request: pb.SearchFactsRequest, context: Context) -> pb.SearchFactsResponse:
        """Search facts."""
        validate.search_facts(request, self._max_query_chars)
        mode, where, limit = convert.search_terms(request)
        everything = request.include_superseded
        found = await self._knowledge.search(
            tenant_of_call(), request.query, mode, where, limit, include_superseded=everything
        )
        return convert.search_response(found)

    async def EraseSource(self, request: pb.EraseSourceRequest, context: Context) -> pb.EraseSourceResponse:
        """Erase a source."""
        validate.erase_source(request)

        async def work(ticket: WriteTicket[EraseOutcome]) -> EraseOutcome:
            return await self._knowledge.erase(tenant_of_call(), request.source_id, ticket)

        return await self._once(request, pb.EraseSourceResponse, convert.erase_response, work)

    async def QuarantineFact(self, request: pb.QuarantineFactRequest, context: Context) -> pb.QuarantineFactResponse:
        """Withhold a fact."""
        validate.change_fact(request)

        async def work(ticket: WriteTicket[FactRecord]) -> FactRecord:
            return await self._knowledge.quarantine(tenant_of_call(), request.fact_id, ticket)

        return await self._once(request, pb.QuarantineFactResponse, convert.quarantine_response, work)

    async def RestoreFact(self, request: pb.RestoreFactRequest, context: Context) -> pb.RestoreFactResponse:
        """Bring a fact back."""
        validate.change_fact(request)

        async def work(ticket: WriteTicket[FactRecord]) -> FactRecord:
            return await self._knowledge.restore(tenant_of_call(), request.fact_id, ticket)

        return await self._once(request, pb.RestoreFactResponse, convert.restore_response, work)

    async def RebuildCommunities(
        self, request: pb.RebuildCommunitiesRequest, context: Context
    ) -> pb.RebuildCommunitiesResponse:
        """Cluster anew."""
        validate.rebuild(request)

        async def work(ticket: WriteTicket[ClusteringOutcome]) -> ClusteringOutcome:
            return await self._communities.rebuild(tenant_of_call(), ticket)

        return await self._once(request, pb.RebuildCommunitiesResponse, convert.rebuild_response, work)

    async def ListCommunities(self, request: pb.ListCommunitiesRequest, context: Context) -> pb.ListCommunitiesResponse:
        """List communities."""
        bound = ("ListCommunities", tenant_of_call())
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._knowledge.communities(tenant_of_call(), page.after, page.limit)
        token = encode_page_token(found[-1].label, bound) if len(found) == page.limit else ""
        communities = [convert.community_message(community) for community in found]
        return pb.ListCommunitiesResponse(communities=communities, next_page_token=token)

    async def GetState(self, request: pb.GetStateRequest, context: Context) -> pb.GetStateResponse:
        """Return the state."""
        validate.get_state(request)
        return convert.state_response(await self._knowledge.state(tenant_of_call(), tuple(request.communities)))

    async def _once(
        self,
        request: Any,
        response_type: type[ResponseT],
        answer: Callable[[OutcomeT], ResponseT],
        work: Callable[[WriteTicket[OutcomeT]], Awaitable[OutcomeT]],
    ) -> ResponseT:
        """Do the work once for a request id; whoever repeats it, later or meanwhile, gets the first answer."""
        rpc = response_type.DESCRIPTOR.name.removesuffix("Response")
        async with self._repeats.lock(tenant_of_call(), rpc, request.request_id):
            body = body_hash(request)
            receipt = await self._knowledge.receipt(tenant_of_call(), rpc, request.request_id)
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
