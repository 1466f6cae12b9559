"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from typing import Any

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.settings.dpe import DpeSettings
from services.dpe.guard.coherence import CoherenceApp
from services.dpe.guard.coherence_messages import coherence_order, coherence_response, validate_coherence


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps.

    Args:
        coherence: scores prompt and answer.
        limits: on texts and facts, those of the provenance service.
    """

    def __init__(self, coherence: CoherenceApp, limits: DpeSettings) -> None:
        self._coherence = coherence
        self._limits = limits

    async def ScoreCoherence(self, request: pb.ScoreCoherenceRequest, _: Any) -> pb.ScoreCoherenceResponse:
        """Score prompt and answer by dual entropy."""
        validate_coherence(request, self._limits)
        return coherence_response(await self._coherence.review(coherence_order(request)))
