"""GuardService over memory models, for the search for injections."""

import contextlib
from dataclasses import dataclass, field

import grpc
from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.ports.injection import InjectionClassifier
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.guard import GuardSettings
from services.common.settings.guard.injection import InjectionSettings
from services.common.telemetry import open_telemetry
from services.dpe.compose import provenance_servicer
from services.dpe.guard.compose import GuardParts, guard_over
from services.dpe.ports import AnalysisModels
from tests.fakes.documents import ThreadReader
from tests.fakes.dpe_world import FixedIds, OneCaller, StandingClock, TableEntailment, models


def far_from(*far):
    """Return an entailment table that finds whatever holds one of the words contradictory."""

    def judge(premise, hypothesis):
        return (0.0, 0.0, 1.0) if any(word in premise + hypothesis for word in far) else (0.8, 0.2, 0.0)

    return TableEntailment(judge)


class TableClassifier:
    """Gives the probability of a table; 0.1 for what is not in it."""

    fingerprint = "table-injection@1+sha256:4444444444444444"

    def __init__(self, probabilities=(), error=None):
        self._probabilities = dict(probabilities)
        self._error = error

    async def score(self, texts):
        if self._error is not None:
            raise self._error
        return [self._probabilities.get(text, 0.1) for text in texts]


@dataclass
class InjectionWorld:
    """A served guard."""

    models: AnalysisModels = field(default_factory=lambda: models(entailment=far_from("bitcoin")))
    classifier: InjectionClassifier | None = None
    injection: InjectionSettings = field(default_factory=InjectionSettings)

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, reflection=False),
            telemetry=TelemetrySettings(http_port=None),
            guard=GuardSettings(injection=self.injection),
        )
        telemetry = open_telemetry(settings.telemetry, "injection-test", "0")
        _, app = provenance_servicer(self.models, settings.dpe, StandingClock(), FixedIds(), ThreadReader())
        service = guard_over(self.models, settings, app, GuardParts(classifier=self.classifier))
        server = RpcServer([service], settings, OneCaller(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield Detecting(pb_grpc.GuardServiceStub(channel), channel)
        finally:
            await server.drain()
            telemetry.close()


@dataclass
class Detecting:
    """A caller of DetectInjection."""

    stub: pb_grpc.GuardServiceStub
    channel: grpc.aio.Channel

    async def detect(self, text, **fields):
        request = pb.DetectInjectionRequest(input=text, **fields)
        return await self.stub.DetectInjection(request, metadata=(("authorization", "reader"),))
