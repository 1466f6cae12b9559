"""GuardService over memory models, for verified claims."""

import contextlib
from dataclasses import dataclass, field

import grpc
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.guard import GuardSettings
from services.common.settings.guard.verification import VerificationSettings
from services.common.telemetry import open_telemetry
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.compose import provenance_servicer
from services.dpe.domain.guard.source_passages import SourceText
from services.dpe.domain.guard.verification import ClaimedText
from services.dpe.domain.guard.verification_votes import VerificationPolicy
from services.dpe.domain.policy import Policy
from services.dpe.gazetteer import load_gazetteer
from services.dpe.guard.compose import guard_over
from services.dpe.guard.verification import VerificationApp
from services.dpe.ports import AnalysisModels
from tests.fakes.documents import ThreadReader
from tests.fakes.dpe_world import FixedIds, OneCaller, StandingClock, TableEntailment, TableGrounding, models


def neutral(premise, hypothesis):
    return (0.9, 0.1, 0.0) if premise == hypothesis else (0.1, 0.8, 0.1)


def said_in(request):
    """Support what stands word for word in a passage."""
    return float(any(request.claim.rstrip(".") in passage for passage in request.passages))


def judged(support=said_in, entails=neutral, **changes):
    return models(entailment=TableEntailment(entails), grounding=TableGrounding(support), **changes)


async def verified(answer, *sources, using=None, policy=None, question=""):
    """Return what the app says of an answer, over memory models."""
    parts = using or judged()
    workplace = AnalysisConfig(Policy(), load_gazetteer(), Limits(), StandingClock(), FixedIds())
    app = VerificationApp(ProvenanceApp(parts, workplace), policy or VerificationPolicy(), parts.fingerprints())
    given = [SourceText(f"s{number}", text) for number, text in enumerate(sources, start=1)]
    return await app.verify([ClaimedText(answer, question)], given)


@dataclass
class GuardWorld:
    """A served guard."""

    models: AnalysisModels = field(default_factory=judged)
    verification: VerificationSettings = field(default_factory=VerificationSettings)

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, reflection=False),
            telemetry=TelemetrySettings(http_port=None),
            guard=GuardSettings(verification=self.verification),
        )
        telemetry = open_telemetry(settings.telemetry, "guard-test", "0")
        _, app = provenance_servicer(self.models, settings.dpe, StandingClock(), FixedIds(), ThreadReader())
        server = RpcServer([guard_over(self.models, settings, app)], settings, OneCaller(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield GuardClient(pb_grpc.GuardServiceStub(channel), channel, telemetry)
        finally:
            await server.drain()
            telemetry.close()


@dataclass
class GuardClient:
    stub: pb_grpc.GuardServiceStub
    channel: grpc.aio.Channel
    telemetry: object = None

    async def verify(self, response, *sources, question=""):
        request = pb.VerifyClaimsRequest(response=response, sources=texts(*sources), question=question)
        return await self.call("VerifyClaims", request)

    async def call(self, rpc, request):
        return await getattr(self.stub, rpc)(request, metadata=(("authorization", "reader"),))

    async def raw(self, rpc, data):
        call = self.channel.unary_unary(f"/crp.dpe.v1.GuardService/{rpc}")
        return await call(data, metadata=(("authorization", "reader"),))


def texts(*contents):
    return [guard_pb2.GroundingText(id=f"s{number}", content=text) for number, text in enumerate(contents, start=1)]


def verdict_of(claim):
    return pb.VerifiedClaimVerdict.Name(claim.verdict).removeprefix("VERIFIED_CLAIM_VERDICT_")


def votes_of(claim):
    return {
        pb.VerificationSignalKind.Name(one.kind).removeprefix("VERIFICATION_SIGNAL_KIND_"): pb.SignalVote.Name(
            one.vote
        ).removeprefix("SIGNAL_VOTE_")
        for one in claim.signals
    }
