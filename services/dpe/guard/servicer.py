"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from typing import Any

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.computing import compute
from services.common.settings import Settings
from services.dpe.convert.guard.injection import detect_response, injection_input
from services.dpe.guard.injection import InjectionApp
from services.dpe.guard.injection_validate import validate_detect


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps."""

    def __init__(self, injection: InjectionApp, settings: Settings) -> None:
        self._injection = injection
        self._settings = settings

    async def DetectInjection(self, request: pb.DetectInjectionRequest, _: Any) -> pb.DetectInjectionResponse:
        """Search an input, and the answer to it, for injections."""
        wanted = self._settings.guard.injection
        validate_detect(request, wanted, self._settings.dpe.max_response_chars)
        threshold = request.threshold if request.HasField("threshold") else wanted.threshold
        return await compute(detect_response, await self._injection.detect(injection_input(request), threshold))
