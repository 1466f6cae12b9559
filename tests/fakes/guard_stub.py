"""A GuardService that answers by the book and remembers what it was asked; it judges nothing."""

import asyncio
from dataclasses import dataclass, field

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from tests.fakes.ercp_stub import Asked


def answer(rpc: str):
    """Return what an RPC answers: every field set that has presence in one answer, none in another."""
    completed = taxonomy_pb2.STAGE_STATUS_COMPLETED
    return {
        "ScoreCoherence": pb.ScoreCoherenceResponse(
            approved=True, coherence=0.91, factual_divergence=0.1, threshold=0.6, status=completed
        ),
        "VerifyClaims": pb.VerifyClaimsResponse(approved=False, status=completed),
        "DetectInjection": pb.DetectInjectionResponse(
            detected=True,
            combined_score=0.9,
            threshold=0.7,
            pattern_score=0.9,
            blocked=True,
            matches=[pb.InjectionMatch(pattern_class=pb.INJECTION_PATTERN_CLASS_OVERRIDE, weight=0.9)],
            status=taxonomy_pb2.STAGE_STATUS_SKIPPED,
        ),
    }[rpc]


@dataclass
class GuardStub:
    """Stands where the generated stub stands.

    Attributes:
        failing: raised by every call, when set.
    """

    failing: Exception | None = None
    asked: list[Asked] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event | None = None

    def __getattr__(self, rpc):
        if rpc.startswith("_"):
            raise AttributeError(rpc)

        def call(request, *, timeout, metadata):
            self.asked.append(Asked(rpc, request, dict(metadata), timeout))
            return self._answered(rpc)

        return call

    async def _answered(self, rpc):
        if self.failing is not None:
            raise self.failing
        if self.held is not None:
            try:
                await self.held.wait()
            except asyncio.CancelledError:
                self.left.set()
                raise
        return answer(rpc)
