"""What the loop of ERCP costs beside its models: ``python -m bench.ercp``.

The generator is scripted and answers at once. *Loop alone*: ERCP and dag on SQLite in one process over gRPC, with a
dpe and an envelope service that answer at once, no NLI model and a hashing embedder: what is left is checks by
predicates, the solver, signatures, windows and events. The baseline is what dag takes for the same windows and events
without ERCP. *Embedded suite*: the whole suite with its encoders.
"""

import asyncio
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import grpc
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.dpe.v1 import report_pb2
from ercp.v1 import ercp_pb2, ercp_service_pb2, ercp_service_pb2_grpc

from bench.report import Row, show
from services.allinone.embedded import embedded
from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.composition import Adapters
from services.common.concurrency import KeyedLock
from services.common.encoding import sha256_hex
from services.common.ports.language_model import LanguageModel
from services.common.provenance import report_hash
from services.common.rpc.canonical import message_json
from services.common.rpc.main import running_server
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import ServedService
from services.common.settings import Settings, StoreSettings, TelemetrySettings
from services.dag.compose import build as build_dag
from services.ercp.clients.knowledge import GrpcKnowledgeSource
from services.ercp.clients.sessions import GrpcTraceSessions
from services.ercp.deciding import Deciding
from services.ercp.domain import predicates, readings, solver
from services.ercp.domain.constraint_checks import ConstraintVerdict
from services.ercp.domain.records import Claim
from services.ercp.generating import Generating, Generator
from services.ercp.journal import TraceWriter
from services.ercp.node_key import open_node_signer
from services.ercp.operator_app import OperatorApp
from services.ercp.ports import Analysis, Knowledge, Segments, Window
from services.ercp.redaction import NoRedactor
from services.ercp.run_app import RunApp
from services.ercp.run_parts import OperatorParts
from services.ercp.servicer import ROLES, SERVICE_NAME, ErcpServicer
from services.ercp.understanding import Wording
from services.ercp.verifying import Verifying

RUNS: Final = 9
ITERATIONS: Final = 10
PASSAGE: Final = "The boiling point of water is 100 °C at sea level. The deadline is 30 days."
FILLING: Final = " The valve is blue. The pump has four screws. The pipe is 2 m long because the room is small."


def drafts(count: int) -> list[str]:
    """Return candidates that are wrong in another way each, so that no run ends before its bound."""
    return [f"The boiling point of water is {number} °C at sea level.{FILLING}" for number in range(40, 40 + count)]


class InstantProvenance:
    """Answers as the dpe service would for a text without findings, at once."""

    async def segment(self, text: str) -> Segments:
        """Split by rule."""
        sentences = readings.sentences_of(text)
        return Segments(sentences, tuple(Claim(each.text) for each in sentences))

    async def analyze(
        self,
        _query: str,
        text: str,
        _knowledge: Knowledge,
        window: Window,
        _verdicts: Sequence[ConstraintVerdict] = (),
    ) -> Analysis:
        """Return a report that fits its window."""
        return Analysis(fitting_report(window.session_id, window.window_id, window.window_number, text), (), ())

    def read(self, report: bytes, _knowledge: Knowledge) -> Analysis:
        """Return the stored report."""
        return Analysis(report, (), ())


def fitting_report(session_id: str, window_id: str, number: int, text: str) -> bytes:
    """Return a report of this window and text, serialised."""
    report = report_pb2.DpeReport(
        report_id=str(uuid.uuid4()),
        session_id=session_id,
        window_id=window_id,
        window_number=number,
        response_content_hash=sha256_hex(text),
        risk_level="RISK_LEVEL_LOW",
    )
    report.report_hash = report_hash(message_json(report))
    return report.SerializeToString()


async def light(settings: Settings, adapters: Adapters, model: LanguageModel) -> list[ServedService]:
    """Return dag and an ERCP service over instant engines."""
    channels = PeerChannels(settings, {"dag": "crp.dag.v1.SessionService"})
    adapters.closing(channels.close)
    sessions = GrpcTraceSessions(channels.to("dag"), adapters.ids)
    signer = open_node_signer(settings.ercp, Path(settings.store.data_dir))
    scribe = TraceWriter(sessions, signer, NoRedactor(), adapters.clock)
    provenance = InstantProvenance()
    parts = OperatorParts(
        generating=Generating(Generator(model, generative=True), sessions, provenance, settings.ercp),
        verifying=Verifying(None, settings.ercp),
        deciding=Deciding(MemoryEmbeddingModel(), settings.ercp),
        knowledge=GrpcKnowledgeSource(channels.to("dag"), "gpt-4o-mini"),
    )
    turns = KeyedLock()
    runs = RunApp(parts, scribe, settings.ercp, adapters.clock, turns)
    operators = OperatorApp(parts, provenance, scribe, turns, runs.counts)
    servicer = ErcpServicer(runs, operators, signer, settings.ercp, Wording())
    served = ServedService(
        SERVICE_NAME,
        partial(ercp_service_pb2_grpc.add_ErcpServiceServicer_to_server, servicer),
        ROLES,
        channels.check,
        listening=channels.listening,
    )
    return [*await build_dag(settings, adapters), served]


def run_request() -> ercp_service_pb2.RunRequest:
    """Return a run of ``ITERATIONS`` rounds."""
    return ercp_service_pb2.RunRequest(
        request_id=str(uuid.uuid4()),
        problem=ercp_pb2.Problem(id="bench", description="Why does water boil at different temperatures?"),
        config=ercp_service_pb2.RunConfig(max_iterations=ITERATIONS),
        retrieval_context=[ercp_service_pb2.RetrievalPassage(source="handbook", text=PASSAGE)],
    )


async def timed_runs(stub: ercp_service_pb2_grpc.ErcpServiceStub, metadata: Sequence[tuple[str, str]]) -> list[float]:
    """Return milliseconds for each iteration of each run, the first run left out."""
    times = []
    for number in range(RUNS + 1):
        started = time.perf_counter()
        answer = await stub.Run(run_request(), metadata=metadata, timeout=300)
        assert answer.iterations == ITERATIONS, answer.status_reason
        if number:
            times.append((time.perf_counter() - started) * 1_000 / ITERATIONS)
    return times


async def bare_sessions(channel: grpc.aio.Channel) -> list[float]:
    """Return milliseconds that dag takes for a window and three events, as one iteration writes them."""
    stub = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
    times = []
    for _ in range(RUNS):
        begun = await stub.CreateSession(
            session_service_pb2.CreateSessionRequest(request_id=str(uuid.uuid4()), trace_id=str(uuid.uuid4()))
        )
        token, started = begun.session_token, time.perf_counter()
        for number in range(ITERATIONS):
            token = await _one_window(stub, token, drafts(ITERATIONS)[number])
        times.append((time.perf_counter() - started) * 1_000 / ITERATIONS)
    return times


async def _one_window(stub: session_service_pb2_grpc.SessionServiceStub, token: str, text: str) -> str:
    opened = await stub.OpenWindow(
        session_service_pb2.OpenWindowRequest(
            request_id=str(uuid.uuid4()), session_token=token, available_budget_tokens=0
        )
    )
    window = opened.window
    report = fitting_report(window.session_id, window.window_id, window.window_number, text)
    committed = await stub.CommitWindow(
        session_service_pb2.CommitWindowRequest(
            request_id=str(uuid.uuid4()),
            session_id=window.session_id,
            window_id=window.window_id,
            response_text=text,
            report=report_pb2.DpeReport.FromString(report),
            quality_tier="QUALITY_TIER_D",
        )
    )
    for _ in range(3):
        await stub.AppendEvent(
            session_service_pb2.AppendEventRequest(
                request_id=str(uuid.uuid4()),
                session_id=window.session_id,
                window_id=window.window_id,
                event_type=dag_pb2.AUDIT_EVENT_TYPE_ERCP_OPERATOR,
                data='{"trace_event":{"output_summary":"' + "x" * 2_000 + '"}}',
            )
        )
    return str(committed.session_token)


class _ScriptedAdapters(Adapters):
    """The process's adapters with a scripted language model."""

    model: LanguageModel | None = None

    async def language_model(self) -> LanguageModel | None:
        """Return the scripted model."""
        return self.model


@asynccontextmanager
async def _settings() -> AsyncIterator[Settings]:
    with tempfile.TemporaryDirectory() as folder:
        yield Settings(
            store=StoreSettings(data_dir=Path(folder)),
            telemetry=TelemetrySettings(log_calls=False, log_level="error"),
        )


async def loop_alone() -> list[Row]:
    """Measure the loop without models against dag alone."""
    async with _settings() as settings:
        own = settings.model_copy(
            update={"server": settings.server.model_copy(update={"port": 0, "insecure_local": True})}
        )
        model = MemoryLanguageModel(drafts(ITERATIONS) * (RUNS + 1))
        build = partial(_built, model)
        async with running_server("bench", build, own) as server, grpc.aio.insecure_channel(server.address) as channel:
            baseline = statistics.median(await bare_sessions(channel))
            times = await timed_runs(ercp_service_pb2_grpc.ErcpServiceStub(channel), ())  # type: ignore[no-untyped-call]
    median = statistics.median(times)
    note = f"{RUNS} runs of {ITERATIONS} iterations, one error each"
    return [
        Row("dag alone: a window and three events", baseline, "ms"),
        Row("loop alone: one iteration", median, "ms", "dag alone", baseline / median, note=note),
    ]


async def _built(model: LanguageModel, settings: Settings, adapters: Adapters) -> list[ServedService]:
    return await light(settings, adapters, model)


async def real_engines() -> list[Row]:
    """Measure the loop in the embedded suite, with its encoders."""
    async with _settings() as settings, _ScriptedAdapters(settings) as adapters:
        adapters.model = MemoryLanguageModel(drafts(ITERATIONS) * (RUNS + 1))
        async with embedded(settings, adapters=adapters) as system:
            metadata = (("authorization", f"Bearer {await system.issue_key('bench')}"),)
            async with grpc.aio.insecure_channel(system.address) as channel:
                stub = ercp_service_pb2_grpc.ErcpServiceStub(channel)  # type: ignore[no-untyped-call]
                times = await timed_runs(stub, metadata)
    note = "analysis by the dpe service, NLI pairs, personal data, embedder"
    return [Row("embedded suite with its encoders: one iteration", statistics.median(times), "ms", note=note)]


async def main() -> None:
    """Measure and print."""
    solver.warm()
    predicates.warm()
    rows = await loop_alone()
    show("ERCP loop, generator without latency", rows + await real_engines())


if __name__ == "__main__":
    asyncio.run(main())
