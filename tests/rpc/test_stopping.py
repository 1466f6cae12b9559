"""What its caller has left is not computed further: for each service that computes long, over gRPC and over HTTP."""

import asyncio
import contextlib
import json

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2
from crp.dag.v1 import session_service_pb2
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as guard
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.envelope.v1 import envelope_pb2
from ercp.v1 import ercp_pb2
from ercp.v1 import ercp_service_pb2 as ercp
from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub

from services.common import computing
from services.common.clock import SystemClock
from services.common.computing import WorkEndedError
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.rpc import pipeline
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings import ServerSettings
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.server import HttpServer
from tests.fakes import dpe_world
from tests.fakes.dag_world import World as DagWorld
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.envelope_world import World as EnvelopeWorld
from tests.fakes.ercp_world import GOOD, ErcpWorld
from tests.fakes.gateway_world import GatewayWorld, WordCounter
from tests.fakes.open_gate import open_gate
from tests.fakes.verified_claims import GuardWorld
from tests.rpc.test_runtime_errors import failure
from tests.unit.common.test_computing import Spinning, until

TEXT = "The fee for late reports is 6 euros. " * 30
SECONDS = 60


@pytest.fixture
def work(monkeypatch):
    """Put work in the place of a function that goes on until it is ended."""

    def put(where):
        spinning = Spinning()
        monkeypatch.setattr(where, lambda *_, **__: spinning())
        return spinning

    return put


async def ended(spinning):
    """Wait until the work has ended and no other is left; ``Spinning`` would never end by itself."""
    await until(lambda: spinning.ended_by is not None)
    await until(lambda: computing._POOL.load() == (0, 0))
    assert spinning.ended_by is WorkEndedError


async def left(call, spinning):
    """Begin, go away, and see the work end."""
    reading = asyncio.ensure_future(call.read() if hasattr(call, "read") else call)
    await until(spinning.began.is_set)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await reading
    await ended(spinning)


def analysis():
    envelope = envelope_pb2.ContextEnvelope(facts=[envelope_pb2.EnvelopeFact(fact_id="f1", content=TEXT)])
    return dpe.AnalyzeRequest(
        session_id="s1", window_id="w1", window_number=1, query="What?", response_text=TEXT, envelope=envelope
    )


@pytest.mark.parametrize(
    ("rpc", "request_of", "where"),
    [
        ("Analyze", analysis, "services.dpe.app.begin"),
        ("Analyze", analysis, "services.dpe.servicer.analyze_response"),
        ("AnalyzeStream", lambda: dpe.AnalyzeStreamRequest(analysis=analysis()), "services.dpe.app.begin"),
        ("SegmentClaims", lambda: dpe.SegmentClaimsRequest(text=TEXT), "services.dpe.app.begin"),
        (
            "VerifySummary",
            lambda: dpe.VerifySummaryRequest(summary=TEXT, original=TEXT),
            "services.dpe.app.summaries.conclude",
        ),
        (
            "Check",
            lambda: dpe.CheckRequest(answer=TEXT, facts=[dpe.CheckFact(content=TEXT)]),
            "services.dpe.app.begin",
        ),
    ],
)
async def test_the_provenance_engine(rpc, request_of, where, work):
    spinning = work(where)
    async with dpe_world.World().serving() as client:
        await left(getattr(client.stub, rpc)(request_of(), metadata=client.metadata), spinning)


LONG = "The fee for late reports is 6 euros. " * 600
FACTS = [guard_pb2.GroundingText(id="f1", content=LONG)]


@pytest.mark.parametrize(
    ("rpc", "request_", "where"),
    [
        (
            "ScoreCoherence",
            guard.ScoreCoherenceRequest(prompt="What?", response=TEXT, facts=FACTS),
            "services.dpe.guard.coherence.grounds_of",
        ),
        (
            "ScoreCoherence",
            guard.ScoreCoherenceRequest(prompt="What?", response=TEXT, facts=FACTS),
            "services.dpe.guard.coherence.divergences",
        ),
        ("DetectInjection", guard.DetectInjectionRequest(input=LONG), "services.dpe.guard.injection.find_injections"),
        (
            "VerifyClaims",
            guard.VerifyClaimsRequest(response=TEXT, sources=FACTS),
            "services.dpe.guard.verification.passages_of",
        ),
        (
            "VerifyClaimsBatch",
            guard.VerifyClaimsBatchRequest(texts=[guard.ClaimedText(id="t1", content=TEXT)], sources=FACTS),
            "services.dpe.guard.verification.verified_text",
        ),
    ],
)
async def test_the_guard(rpc, request_, where, work):
    spinning = work(where)
    async with GuardWorld().serving() as client:
        await left(getattr(client.stub, rpc)(request_, metadata=(("authorization", "reader"),)), spinning)


@pytest.mark.parametrize(
    ("rpc", "fields", "where"),
    [
        ("IngestSource", {"uri": "a.txt", "content": b"A rule.", "media_type": "text/plain"}, "drafted"),
        ("BuildEnvelope", {"query": LONG[:20_000], "model": "gpt-4o"}, "EnvelopeApp._plan"),
    ],
)
async def test_knowledge_and_envelopes(rpc, fields, where, work):
    module = "services.envelope.ingestion_app." if rpc == "IngestSource" else "services.envelope.envelope_app."
    spinning = work(module + where)
    async with EnvelopeWorld().serving() as client_of:
        if rpc == "IngestSource":
            fields = {"source_type": ckf_pb2.SOURCE_TYPE_INTERNAL, **fields}
        await left(asyncio.ensure_future(client_of().call(rpc, **fields)), spinning)


VERIFY = ercp.VerifyRequest(reasoning_text=GOOD)
EXTRACT = ercp.ExtractConstraintsRequest(
    reasoning_text=GOOD,
    errors=[ercp_pb2.Error(error_id="e1", type=ercp_pb2.ERROR_TYPE_CONTRADICTION, span=[0, 4], confidence=0.9)],
)
RUN = ercp.RunRequest(problem=ercp_pb2.Problem(id="p1", description="Why?"))


@pytest.mark.parametrize(
    ("rpc", "request_", "where"),
    [
        ("Verify", VERIFY, "services.ercp.operator_app.check_constraints"),
        ("Verify", VERIFY, "services.ercp.verifying._checked"),
        ("ExtractConstraints", EXTRACT, "services.ercp.deciding.extract"),
        ("Run", RUN, "services.ercp.generating.check_constraints"),
        ("RunStream", RUN, "services.ercp.generating.check_constraints"),
    ],
)
async def test_the_constraint_loop(rpc, request_, where, work):
    spinning = work(where)
    request = type(request_)()
    request.CopyFrom(request_)
    request.request_id = fresh_uuid()
    async with ErcpWorld(replies=(GOOD,)).serving() as client:
        await left(getattr(client.stub, rpc)(request, metadata=(("authorization", "alice"),)), spinning)


async def test_the_answerer_without_a_model(work):
    """The gateway has asked for a window and an envelope when its answerer computes; the window is given up."""
    spinning = work("services.common.extractive.model.extract")
    model = ExtractiveLanguageModel(WordCounter(), "m", ExtractLimits(3, 0.0))
    world = GatewayWorld(model=model)
    async with world.serving() as client:
        await left(client.start(), spinning)
        await until(lambda: world.statuses() == ["FAILED"])


async def test_the_chain(work, monkeypatch):
    monkeypatch.setattr("services.dag.chains._INLINE_EVENTS", -1)
    async with DagWorld().serving() as client:
        committed = await client.window()
        spinning = work("services.dag.chains.verify_chain")
        request = session_service_pb2.VerifyChainRequest(session_id=committed.session.session_id)
        await left(client.stub.VerifyChain(request, metadata=(("authorization", "alice"),)), spinning)


async def test_a_connection_that_closes(work):
    """Over HTTP nobody cancels: the peer is simply gone."""
    spinning = work("services.ercp.operator_app.check_constraints")
    settings = HttpSettings(port=0, drain_grace_s=1)
    async with ErcpWorld(replies=(GOOD,)).serving() as client:
        stub = ErcpServiceStub(PeerChannel(client.channel, Peer("ercp", "ercp"), SECONDS))
        server = await HttpServer.open(create_app(stub, open_gate(), settings, SystemClock(), "0.1.0"), settings)
        try:
            body = json.dumps({"reasoning_text": GOOD}).encode()
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            head = (
                f"POST /ercp/v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: alice\r\nContent-Length: {len(body)}\r\n"
            )
            writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
            await until(spinning.began.is_set)
            writer.close()
            await ended(spinning)
        finally:
            await server.close()


async def test_a_deadline_says_so_and_ends_the_work(work, monkeypatch):
    monkeypatch.setattr(pipeline, "_MOST_MARGIN", 0.95)
    spinning = work("services.dpe.app.begin")
    monkeypatch.setattr(dpe_world, "ServerSettings", lambda **given: ServerSettings(deadline_margin_ms=10_000, **given))
    async with dpe_world.World().serving() as client:
        call = client.stub.Analyze(analysis(), metadata=client.metadata, timeout=11)
        error, details = await failure(call)
        await ended(spinning)
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert details["ErrorInfo"].metadata["done"] == "nothing"
