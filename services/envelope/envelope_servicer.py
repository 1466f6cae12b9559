"""``crp.envelope.v1.EnvelopeService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from typing import Any

import grpc
from crp.envelope.v1 import envelope_service_pb2 as pb
from crp.envelope.v1 import envelope_service_pb2_grpc as pb_grpc

from services.common.context import current_call
from services.common.rpc.envelope_request import read_build, read_preview
from services.common.telemetry.notes import note
from services.envelope.convert import envelope as convert
from services.envelope.domain.caching import MissReason, miss_status
from services.envelope.envelope_app import EnvelopeApp
from services.envelope.validate import envelope as validate

Context = grpc.aio.ServicerContext[Any, Any]


class EnvelopeServicer(pb_grpc.EnvelopeServiceServicer):
    """Serves envelopes.

    Args:
        app: does the work.
        max_query_chars: longest query.
    """

    def __init__(self, app: EnvelopeApp, max_query_chars: int) -> None:
        self._app = app
        self._max_query_chars = max_query_chars

    async def BuildEnvelope(self, request: pb.BuildEnvelopeRequest, context: Context) -> pb.BuildEnvelopeResponse:
        """Build one window's envelope."""
        note(session_id=request.session_id, window_id=request.window_id)
        validate.build_envelope(request, self._max_query_chars)
        asked = read_build(request)
        tenant_id = current_call().caller.tenant_id
        built = await (self._app.compare if request.compare_only else self._app.build)(tenant_id, asked)
        if isinstance(built, MissReason):
            return pb.BuildEnvelopeResponse(cache_status=miss_status(built))
        return convert.build_response(asked, built, include_embeddings=request.include_embeddings)

    async def PreviewEnvelope(self, request: pb.PreviewEnvelopeRequest, context: Context) -> pb.PreviewEnvelopeResponse:
        """Assess an envelope."""
        validate.preview_envelope(request, self._max_query_chars)
        built = await self._app.preview(current_call().caller.tenant_id, read_preview(request))
        return convert.preview_response(built)

    async def CountTokens(self, request: pb.CountTokensRequest, context: Context) -> pb.CountTokensResponse:
        """Count tokens."""
        validate.count_tokens(request)
        return convert.count_response(await self._app.count_tokens(convert.count_request(request)))
