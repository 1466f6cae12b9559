"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.computing import compute
from services.common.settings import Settings
from services.dpe.convert.guard.injection import detect_response, injection_input
from services.dpe.convert.guard.oversight import message_of, response_of
from services.dpe.convert.guard.verification import batch_response, sources_of, texts_of, verified_response
from services.dpe.domain.guard.stream_messages import Message
from services.dpe.domain.guard.verification import ClaimedText
from services.dpe.guard.coherence import CoherenceApp
from services.dpe.guard.coherence_messages import coherence_order, coherence_response, validate_coherence
from services.dpe.guard.injection import InjectionApp
from services.dpe.guard.injection_validate import validate_detect
from services.dpe.guard.oversight import OversightApp
from services.dpe.guard.oversight_validate import validate_message
from services.dpe.guard.verification import VerificationApp
from services.dpe.guard.verification_validate import validate_batch, validate_verify


@dataclass(frozen=True, slots=True)
class GuardApps:
    """What the guard does, one app for each part."""

    coherence: CoherenceApp
    oversight: OversightApp
    injection: InjectionApp
    verification: VerificationApp


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps.

    Args:
        apps: the parts.
        settings: limits on texts, facts and sources.
    """

    def __init__(self, apps: GuardApps, settings: Settings) -> None:
        self._apps = apps
        self._settings = settings

    async def ScoreCoherence(self, request: pb.ScoreCoherenceRequest, _: Any) -> pb.ScoreCoherenceResponse:
        """Score prompt and answer by dual entropy."""
        validate_coherence(request, self._settings.dpe)
        return coherence_response(await self._apps.coherence.review(coherence_order(request)))

    async def OverseeStream(
        self, requests: AsyncIterator[pb.OverseeStreamRequest], _: Any
    ) -> AsyncIterator[pb.OverseeStreamResponse]:
        """Oversee one token stream."""
        # Closed at once when the caller goes away: nothing is scored for nobody.
        async with aclosing(self._apps.oversight.oversee(self._messages(requests))) as events:
            async for event in events:
                yield response_of(event)

    async def _messages(self, requests: AsyncIterator[pb.OverseeStreamRequest]) -> AsyncIterator[Message]:
        settings = self._settings.guard.oversight
        async for request in requests:
            validate_message(request, settings)
            yield message_of(request, settings)

    async def DetectInjection(self, request: pb.DetectInjectionRequest, _: Any) -> pb.DetectInjectionResponse:
        """Search an input, and the answer to it, for injections."""
        wanted = self._settings.guard.injection
        validate_detect(request, wanted, self._settings.dpe.max_response_chars)
        threshold = request.threshold if request.HasField("threshold") else wanted.threshold
        return await compute(detect_response, await self._apps.injection.detect(injection_input(request), threshold))

    async def VerifyClaims(self, request: pb.VerifyClaimsRequest, _: Any) -> pb.VerifyClaimsResponse:
        """Verify the claims of an answer."""
        validate_verify(request, self._settings.guard.verification, self._settings.dpe.max_response_chars)
        texts = [ClaimedText(request.response, request.question)]
        verified = await self._apps.verification.verify(texts, sources_of(request.sources))
        return await compute(verified_response, verified)

    async def VerifyClaimsBatch(self, request: pb.VerifyClaimsBatchRequest, _: Any) -> pb.VerifyClaimsBatchResponse:
        """Verify the claims of several texts."""
        validate_batch(request, self._settings.guard.verification, self._settings.dpe.max_response_chars)
        texts = texts_of(request)
        verified = await self._apps.verification.verify(texts, sources_of(request.sources))
        return await compute(batch_response, texts, verified)
