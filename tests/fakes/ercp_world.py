"""The ERCP service between a real dag service (memory store) and scripted envelope and dpe services, over real gRPC.

Models are in memory: the embedder hashes words, entailment is a table of sentence pairs, personal data is one pattern.
``faults`` holds, by RPC name, what an RPC of the other services raises.
"""

import contextlib
import re
from dataclasses import dataclass, field
from functools import partial

import grpc
import numpy as np
from crp.common.v1 import text_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc as dag_grpc
from crp.dpe.v1 import claim_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import provenance_service_pb2_grpc as dpe_grpc
from crp.envelope.v1 import envelope_service_pb2_grpc
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc
from ercp.v1 import ercp_service_pb2_grpc as pb_grpc

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.concurrency import KeyedLock
from services.common.context import Caller, Role
from services.common.ids import RandomIds
from services.common.ports.language_model import LanguageReply
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import ErcpSettings, ServerSettings, Settings, TelemetrySettings
from services.common.telemetry import open_telemetry
from services.dag.compose import ROLES as DAG_ROLES
from services.ercp.clients.knowledge import GrpcKnowledgeSource
from services.ercp.clients.provenance import GrpcProvenance
from services.ercp.clients.sessions import GrpcTraceSessions
from services.ercp.deciding import Deciding
from services.ercp.domain.readings import sentences_of
from services.ercp.generating import Generating, Generator
from services.ercp.journal import TraceWriter
from services.ercp.node_key import HmacNodeSigner
from services.ercp.operator_app import OperatorApp
from services.ercp.run_app import RunApp
from services.ercp.run_parts import OperatorParts
from services.ercp.servicer import ROLES, SERVICE_NAME, ErcpServicer
from services.ercp.understanding import Wording
from services.ercp.unit_reading import UnitReading
from services.ercp.verifying import Verifying
from tests.fakes.dag_world import CALLERS, Refusal, World, fresh_uuid, report_for
from tests.fakes.gateway_world import Script, ScriptedEnvelopes, ScriptedSessions
from tests.patience import patient

NODE_KEY = bytes(range(32, 64))
WRITER = Caller("tenant-a", "crp_gw_test_writer12", frozenset({Role.WRITER}), "writer")
QUESTION = "Why does water boil at different temperatures at different altitudes?"
GOOD = "The boiling point of water is 100 °C at sea level. It falls with altitude because the air pressure falls."
BAD = "The boiling point of water is 90 °C at sea level. It falls with altitude because the air pressure falls."


class Subjects:
    """The credential is the subject's name."""

    def remembered(self, authorization):
        return WRITER if authorization == "writer" else CALLERS.get(authorization)

    async def authenticate(self, authorization):
        return self.remembered(authorization)


class TableEntailment:
    """Calls the pairs of a table contradictions, both ways; everything else is neutral. Counts its batches."""

    fingerprint = "table-nli@1+sha256:0000000000000000"
    max_tokens = 512

    def __init__(self, *pairs, score=0.9):
        self.pairs = {frozenset(pair) for pair in pairs}
        self.score = score
        self.batches = []

    async def classify(self, pairs):
        self.batches.append(list(pairs))
        rows = [
            (0.05, 0.95 - self.score, self.score) if frozenset(pair) in self.pairs else (0.1, 0.85, 0.05)
            for pair in pairs
        ]
        return np.array(rows, dtype=np.float32).reshape(len(pairs), 3)


class PromptedModel:
    """Answers as a function of its prompt: ``good`` once a constraint is in it that holds ``needle``, else ``bad``."""

    default_model = "gpt-4o-mini"

    def __init__(self, bad=BAD, good=GOOD, needle="must"):
        self.bad, self.good, self.needle = bad, good, needle
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        rules = request.messages[0].content.partition("Each line is one constraint")[2]
        text = self.good if self.needle in rules else self.bad
        return LanguageReply(text, "stop", "prompted/model@1")

    async def check(self):
        return None

    async def close(self):
        return None


class PatternRedactor:
    """Takes out e-mail addresses."""

    async def redact(self, texts):
        return [re.sub(r"\S+@\S+\.\w+", "<EMAIL_ADDRESS>", text) for text in texts]


class ScriptedProvenance(dpe_grpc.ProvenanceServiceServicer):
    """Splits sentences by rule and reports what ``script.report_of`` makes of a request."""

    def __init__(self, script):
        self.script = script

    async def SegmentClaims(self, request, context):  # noqa: N802
        async def answer():
            spans = [text_pb2.TextSpan(start=each.start, end=each.end) for each in sentences_of(request.text)]
            claims = [
                claim_pb2.Claim(claim_id=f"c{n}", text=request.text[s.start : s.end], span=s, sentence_index=n)
                for n, s in enumerate(spans)
            ]
            return dpe.SegmentClaimsResponse(claims=claims, sentences=spans)

        return await self.script.around("SegmentClaims", request, answer)

    async def Analyze(self, request, context):  # noqa: N802
        async def answer():
            made = self.script.report_of(request) if self.script.report_of else {}
            where = (request.session_id, request.window_id, request.window_number)
            return dpe.AnalyzeResponse(report=report_for(*where, request.response_text, self.script.risk, **made))

        return await self.script.around("Analyze", request, answer)


class FaultySessions(ScriptedSessions):
    """The real dag servicer with faults around what ERCP calls."""

    async def CreateSession(self, request, context):  # noqa: N802
        return await self.script.around("CreateSession", request, partial(super().CreateSession, request, context))

    async def TerminateSession(self, request, context):  # noqa: N802
        call = partial(super().TerminateSession, request, context)
        return await self.script.around("TerminateSession", request, call)


@dataclass
class ErcpWorld:
    """One process with ercp, dag and the scripted services; ``again`` is the same world after a restart of ercp."""

    replies: tuple = (BAD, GOOD)
    script: Script = field(default_factory=lambda: Script(facts=()))
    dag: World = field(default_factory=World)
    model: object = None
    generative: bool = True
    entailment: object = field(default_factory=TableEntailment)
    heads: object = None
    settings: ErcpSettings = field(
        default_factory=lambda: ErcpSettings(solver_deadline_ms=min(60_000, int(patient(2_000))))
    )
    embedding: MemoryEmbeddingModel = field(default_factory=MemoryEmbeddingModel)
    second: object = None

    def __post_init__(self):
        self.model = self.model or MemoryLanguageModel(list(self.replies))

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, drain_grace_s=5), telemetry=TelemetrySettings(), ercp=self.settings
        )
        channels = PeerChannels(settings)
        servicer, generating = self._servicer(channels)
        telemetry = open_telemetry(settings.telemetry, "ercp", "0")
        server = RpcServer(self._services(servicer, channels), settings, Subjects(), telemetry)
        await server.start()
        channel = grpc.aio.insecure_channel(server.address)
        try:
            yield ErcpClient(self, channel)
        finally:
            await channel.close()
            await server.drain()
            await generating.close()
            await channels.close()
            telemetry.close()

    def _servicer(self, channels):
        clock = self.dag.clock
        self.signer = HmacNodeSigner([NODE_KEY])
        sessions = GrpcTraceSessions(channels.to("dag"), RandomIds())
        scribe = TraceWriter(sessions, self.signer, PatternRedactor(), clock)
        provenance = GrpcProvenance(channels.to("dpe"))
        generating = Generating(Generator(self.model, self.generative), sessions, provenance, self.settings)
        parts = OperatorParts(
            generating=generating,
            verifying=Verifying(
                self.entailment, self.settings, self.second, UnitReading(self.heads, self.settings.max_nli_pairs)
            ),
            deciding=Deciding(self.embedding, self.settings),
            knowledge=GrpcKnowledgeSource(channels.to("envelope"), "words"),
        )
        turns = KeyedLock()
        runs = RunApp(parts, scribe, self.settings, clock, turns)
        self.counts = runs.counts
        operators = OperatorApp(parts, provenance, scribe, turns, runs.counts)
        return ErcpServicer(runs, operators, self.signer, self.settings, Wording()), generating

    def _services(self, servicer, channels):
        async def ready():
            return None

        script = self.script
        served = (
            (SERVICE_NAME, partial(pb_grpc.add_ErcpServiceServicer_to_server, servicer), ROLES),
            (
                "crp.dag.v1.SessionService",
                partial(dag_grpc.add_SessionServiceServicer_to_server, FaultySessions(self.dag, script)),
                DAG_ROLES,
            ),
            (
                "crp.envelope.v1.EnvelopeService",
                partial(envelope_service_pb2_grpc.add_EnvelopeServiceServicer_to_server, ScriptedEnvelopes(script)),
                {"BuildEnvelope": Role.READER},
            ),
            (
                "crp.dpe.v1.ProvenanceService",
                partial(dpe_grpc.add_ProvenanceServiceServicer_to_server, ScriptedProvenance(script)),
                {"Analyze": Role.READER, "SegmentClaims": Role.READER},
            ),
        )
        return [
            ServedService(name, add, roles, ready, channels.listening if name == SERVICE_NAME else None)
            for name, add, roles in served
        ]

    def asked(self, name):
        """Requests that an RPC of the other services got."""
        return self.script.asked.get(name, [])

    def windows(self):
        return [window for session in self.dag.store._sessions.values() for window in session.windows.values()]

    def sessions(self):
        return [session.record for session in self.dag.store._sessions.values()]


@dataclass
class ErcpClient:
    """Calls the service as one subject."""

    world: ErcpWorld
    channel: grpc.aio.Channel

    @property
    def stub(self):
        return pb_grpc.ErcpServiceStub(self.channel)

    async def call(self, name, request, subject="alice", seconds=20):
        return await getattr(self.stub, name)(request, metadata=(("authorization", subject),), timeout=seconds)

    async def run(self, subject="alice", seconds=20, **fields):
        return await self.call("Run", run_request(**fields), subject, seconds)

    async def stream(self, subject="alice", **fields):
        request = rpc.RunStreamRequest.FromString(run_request(**fields).SerializeToString())
        call = self.stub.RunStream(request, metadata=(("authorization", subject),), timeout=patient(20))
        return [message async for message in call]

    async def fails(self, name, request, subject="alice"):
        try:
            answer = await self.call(name, request, subject)
        except grpc.aio.AioRpcError as error:
            return Refusal.of(error)
        raise AssertionError(f"{name} answered {answer}")

    async def trace(self, trace_id, subject="alice"):
        return await self.call("GetTrace", rpc.GetTraceRequest(trace_id=trace_id), subject)

    async def chain(self, session_id):
        stub = dag_grpc.SessionServiceStub(self.channel)
        request = dag.VerifyChainRequest(session_id=session_id)
        return await stub.VerifyChain(request, metadata=(("authorization", "alice"),), timeout=patient(20))


def run_request(**fields):
    values = {"request_id": fresh_uuid(), "problem": pb.Problem(id="p1", description=QUESTION)}
    return rpc.RunRequest(**(values | fields))


def constraint(
    name, *, immutable=False, priority="MEDIUM", kind="PREDICATE", constraint_id="", words="A rule.", **args
):
    made = pb.Constraint(
        constraint_id=constraint_id,
        type=f"CONSTRAINT_TYPE_{kind}",
        priority=f"CONSTRAINT_PRIORITY_{priority}",
        nl_text=words,
        immutable=immutable,
    )
    made.predicate.predicate_name = name
    made.predicate.args.update(args)
    return made


def words_of(enum, value):
    return enum.Name(value).split("_")[-1].lower()


def operators(events):
    return [pb.Operator.Name(each.operator).removeprefix("OPERATOR_").lower() for each in events]


def status(response):
    return pb.RunStatus.Name(response.status).removeprefix("RUN_STATUS_").lower()


__all__ = ["BAD", "GOOD", "NODE_KEY", "QUESTION", "ErcpWorld", "TableEntailment", "constraint", "operators", "status"]
