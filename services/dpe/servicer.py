"""``crp.dpe.v1.ProvenanceService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.dpe.v1 import provenance_service_pb2_grpc as pb_grpc

from services.common.computing import compute
from services.common.settings.dpe import DpeSettings
from services.dpe.app import ProvenanceApp
from services.dpe.checking import CheckApp
from services.dpe.convert.checks import check_input, check_response
from services.dpe.convert.requests import analysis_input, grounded_spans
from services.dpe.convert.responses import analyze_response, segment_response, stream_response
from services.dpe.convert.summaries import summary_response
from services.dpe.validate import validate_analyze, validate_check, validate_segment, validate_summary


class ProvenanceServicer(pb_grpc.ProvenanceServiceServicer):
    """Translates between the wire and the apps."""

    def __init__(self, app: ProvenanceApp, checks: CheckApp, settings: DpeSettings) -> None:
        self._app = app
        self._checks = checks
        self._settings = settings

    async def Analyze(self, request: pb.AnalyzeRequest, _: Any) -> pb.AnalyzeResponse:
        """Analyse one answer."""
        validate_analyze(request, self._settings)
        finished = await self._app.analyze(analysis_input(request))
        return await compute(analyze_response, finished)

    async def AnalyzeStream(self, request: pb.AnalyzeStreamRequest, _: Any) -> AsyncIterator[pb.AnalyzeStreamResponse]:
        """Analyse one answer, stage by stage."""
        validate_analyze(request.analysis, self._settings, prefix="analysis.")
        # Closed at once when the caller goes away: nothing is computed for nobody.
        async with aclosing(self._app.analyze_stages(analysis_input(request.analysis))) as events:
            async for event in events:
                yield await compute(stream_response, event)

    async def SegmentClaims(self, request: pb.SegmentClaimsRequest, _: Any) -> pb.SegmentClaimsResponse:
        """Split a text into claims."""
        validate_segment(request, self._settings)
        return await compute(segment_response, await self._app.segment(request.text))

    async def VerifySummary(self, request: pb.VerifySummaryRequest, _: Any) -> pb.VerifySummaryResponse:
        """Check a summary against what it condenses."""
        validate_summary(request, self._settings)
        verified = await self._app.verify_summary(request.summary, request.original, grounded_spans(request))
        return await compute(summary_response, verified)

    async def Check(self, request: pb.CheckRequest, _: Any) -> pb.CheckResponse:
        """Check an answer against facts that the caller brings."""
        validate_check(request, self._settings)
        return await compute(check_response, await self._checks.check(check_input(request)))
