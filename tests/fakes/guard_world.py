"""GuardService over memory models, beside the knowledge service in one process, as the all-in-one server has them."""

import contextlib
from dataclasses import dataclass, field
from typing import Any

import grpc
from crp.dpe.v1 import guard_service_pb2, guard_service_pb2_grpc

from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.tokens.counter import open_token_counter
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.dpe import DpeSettings
from services.common.settings.guard import GuardSettings
from services.common.settings.guard.coherence import CoherenceSettings
from services.common.settings.inference import InferenceSettings
from services.common.telemetry import open_telemetry
from services.dpe.compose import provenance_servicer
from services.dpe.guard.compose import KNOWLEDGE, GuardParts, guard_over
from services.dpe.ports import AnalysisModels
from services.envelope.compose import EnvelopeParts, assemble_services
from services.envelope.version_writer import TextModels
from tests.fakes import envelope_world
from tests.fakes.documents import ThreadReader
from tests.fakes.dpe_world import FixedIds, StandingClock, models

FEE = "The fee for late reports is 5 euros."
HAIL = "Hail is covered up to 900 euros."


@dataclass
class GuardClient:
    """Calls the guard, and the knowledge service, as one subject."""

    channel: grpc.aio.Channel
    subject: str

    async def score(self, response=FEE, prompt="What is the fee?", facts=(), within=20.0, **fields):
        """Score an answer beside facts, each a text or (id, text)."""
        brought = [(f"f{n}", one) if isinstance(one, str) else one for n, one in enumerate(facts, start=1)]
        request = guard_service_pb2.ScoreCoherenceRequest(prompt=prompt, response=response, **fields)
        for name, text in brought:
            request.facts.add(id=name, content=text)
        return await self.send(request, within)

    async def send(self, request, within=20.0):
        stub = guard_service_pb2_grpc.GuardServiceStub(self.channel)
        return await stub.ScoreCoherence(request, metadata=(("authorization", self.subject),), timeout=within)

    @property
    def knowledge(self):
        return envelope_world.Client(self.channel, self.subject)


@dataclass
class GuardWorld:
    """A served guard; ``knows`` puts the knowledge service beside it."""

    models: AnalysisModels = field(default_factory=models)
    coherence: CoherenceSettings = field(default_factory=CoherenceSettings)
    limits: DpeSettings = field(default_factory=DpeSettings)
    knows: bool = True
    knowledge: envelope_world.World = field(default_factory=envelope_world.World)
    registry: Any = None

    @contextlib.asynccontextmanager
    async def serving(self):
        """Serve and yield a function that gives a client for a subject."""
        settings = Settings(
            server=ServerSettings(port=0, reflection=False, drain_grace_s=5),
            telemetry=TelemetrySettings(http_port=None),
            dpe=self.limits,
            guard=GuardSettings(coherence=self.coherence),
        )
        channels = PeerChannels(settings, KNOWLEDGE)
        _, analyses = provenance_servicer(self.models, self.limits, StandingClock(), FixedIds(), ThreadReader())
        served = [guard_over(self.models, settings, analyses, GuardParts(channels=channels))]
        if self.knows:
            served += await self._knowledge_services()
        telemetry = open_telemetry(settings.telemetry, "guard-test", "0")
        self.registry = telemetry.registry
        server = RpcServer(served, settings, envelope_world.SubjectAuthenticator(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield lambda subject="alice": GuardClient(channel, subject)
        finally:
            await server.drain()
            await channels.close()
            telemetry.close()

    async def _knowledge_services(self):
        world = self.knowledge
        tokens = await open_token_counter(InferenceSettings())
        text_models = TextModels(world.embedding, MemoryEntityRecognizer(), tokens)
        parts = EnvelopeParts(
            *(world.facts, world.graph, text_models, world.settings, world.clock),
            *(envelope_world.provider_of(None), envelope_world.provider_of(None)),
        )
        return await assemble_services(parts)
