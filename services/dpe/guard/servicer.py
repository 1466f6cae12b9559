"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from typing import Any

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.computing import compute
from services.common.settings import Settings
from services.dpe.convert.guard.verification import batch_response, sources_of, texts_of, verified_response
from services.dpe.domain.guard.verification import ClaimedText
from services.dpe.guard.verification import VerificationApp
from services.dpe.guard.verification_validate import validate_batch, validate_verify


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps."""

    def __init__(self, verification: VerificationApp, settings: Settings) -> None:
        self._verification = verification
        self._settings = settings

    async def VerifyClaims(self, request: pb.VerifyClaimsRequest, _: Any) -> pb.VerifyClaimsResponse:
        """Verify the claims of an answer."""
        validate_verify(request, self._settings.guard.verification, self._settings.dpe.max_response_chars)
        texts = [ClaimedText(request.response, request.question)]
        return await compute(verified_response, await self._verification.verify(texts, sources_of(request.sources)))

    async def VerifyClaimsBatch(self, request: pb.VerifyClaimsBatchRequest, _: Any) -> pb.VerifyClaimsBatchResponse:
        """Verify the claims of several texts."""
        validate_batch(request, self._settings.guard.verification, self._settings.dpe.max_response_chars)
        texts = texts_of(request)
        verified = await self._verification.verify(texts, sources_of(request.sources))
        return await compute(batch_response, texts, verified)
