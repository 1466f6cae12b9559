"""``crp.dag.v1.TransparencyService``: validate, call, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from typing import Any

import grpc
from crp.dag.v1 import transparency_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2_grpc as pb_grpc

from services.common.context import current_call
from services.common.ports.transparency_log import LeafKind
from services.dag import transparency_convert as convert
from services.dag import validate
from services.dag.reading import SessionReads
from services.dag.transparency import CosignedHeads, LogEntries, TransparencyApp

Context = grpc.aio.ServicerContext[Any, Any]


class TransparencyServicer(pb_grpc.TransparencyServiceServicer):
    """Serves each tenant's log."""

    def __init__(self, app: TransparencyApp, reads: SessionReads, entries: LogEntries, cosigned: CosignedHeads) -> None:
        self._app = app
        self._reads = reads
        self._entries = entries
        self._cosigned = cosigned

    async def GetTreeHead(self, request: pb.GetTreeHeadRequest, context: Context) -> pb.GetTreeHeadResponse:
        """Return a signed head."""
        size = request.tree_size if request.HasField("tree_size") else None
        head = await self._app.head(_tenant(), size)
        return convert.heads(*await self._cosigned.with_cosignatures(_tenant(), head))

    async def GetEntries(self, request: pb.GetEntriesRequest, context: Context) -> pb.GetEntriesResponse:
        """Return leaves by index."""
        leaves, size = await self._entries.page(_tenant(), request.first_leaf_index, request.max_entries)
        return pb.GetEntriesResponse(leaves=leaves, tree_size=size)

    async def GetInclusionProof(
        self, request: pb.GetInclusionProofRequest, context: Context
    ) -> pb.GetInclusionProofResponse:
        """Prove that a record is in the log."""
        validate.get_inclusion_proof(request)
        await self._reads.dag(_tenant(), request.session_id)
        kind = LeafKind.EVENT if request.event_id else LeafKind.WINDOW
        size = request.tree_size if request.HasField("tree_size") else None
        record = (kind, request.event_id or request.window_id)
        found = await self._app.inclusion(_tenant(), request.session_id, record, size)
        return convert.inclusion(found, await self._app.head(_tenant(), found.size))

    async def GetConsistencyProof(
        self, request: pb.GetConsistencyProofRequest, context: Context
    ) -> pb.GetConsistencyProofResponse:
        """Prove that the log has only grown."""
        first = request.first_tree_size
        second = request.second_tree_size if request.HasField("second_tree_size") else None
        size, path = await self._app.consistency(_tenant(), first, second)
        return convert.consistency(first, size, path, await self._app.head(_tenant(), size))


def _tenant() -> str:
    return current_call().caller.tenant_id
