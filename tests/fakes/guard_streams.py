"""GuardService with a scorer that reads scores from the sentences themselves: "Fine [0.4]." scores 0.4."""

import asyncio
import contextlib
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.context import Caller, Role
from services.common.errors import ErrorReason, UnauthenticatedError
from services.common.reading.text_types import Span
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.guard import GuardSettings
from services.common.settings.guard.oversight import OversightSettings
from services.common.telemetry import open_telemetry
from services.dpe.domain.guard.coherence import Exhibit
from services.dpe.domain.guard.sentence_scores import SentenceScore
from services.dpe.guard.compose import GuardParts, guard_over
from tests.fakes.dpe_world import app, models
from tests.patience import patient

_SCORE = re.compile(r"\((\d(?:\.\d+)?)\)")
CALLERS = {name: Caller(name, f"scope-{name}", frozenset({Role.READER}), name) for name in ("reader", "other")}


class TwoCallers:
    """Lets two tenants in, each by its name."""

    def remembered(self, authorization):
        return CALLERS.get(authorization)

    async def authenticate(self, authorization):
        if authorization not in CALLERS:
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, "Send a credential.")
        return CALLERS[authorization]


@dataclass
class WrittenScores:
    """``Scoring``: a sentence's score stands in it in brackets; without one it asserts nothing.

    Attributes:
        gate: scores wait for it while it is not set.
        error: raised instead of a score, once.
    """

    asked: list = field(default_factory=list)
    gate: asyncio.Event | None = None
    error: Exception | None = None
    running: int = 0
    most_running: int = 0

    async def open(self, prompt, facts):
        return self

    def fingerprints(self):
        return (("scorer", "written@1"),)

    async def score(self, asked):
        self.asked.append(asked)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.gate is not None:
                await self.gate.wait()
            if self.error is not None:
                error, self.error = self.error, None
                raise error
        finally:
            self.running -= 1
        found = _SCORE.search(asked.text)
        if found is None:
            return SentenceScore(None)
        span = Span(asked.start, asked.start + len(asked.text))
        return SentenceScore(float(found.group(1)), (Exhibit("f1", Span(0, 3), span, divergence=1.0),))


@dataclass
class StreamWorld:
    """A served GuardService; ``scoring`` is ``None`` for the engine over memory models."""

    settings: OversightSettings = field(default_factory=OversightSettings)
    scoring: WrittenScores | None = field(default_factory=WrittenScores)
    analyses: Any = None
    server_settings: dict = field(default_factory=dict)

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, reflection=False, **self.server_settings),
            telemetry=TelemetrySettings(http_port=None),
            guard=GuardSettings(oversight=self.settings),
        )
        telemetry = open_telemetry(settings.telemetry, "guard-test", "0")
        self.service = guard_over(models(), settings, self.analyses or app(), GuardParts(scoring=self.scoring))
        server = RpcServer([self.service], settings, TwoCallers(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield StreamClient(pb_grpc.GuardServiceStub(channel))
        finally:
            await server.drain()
            telemetry.close()

    def counts(self):
        """Return what the collector says, by name and labels."""
        return {
            (sample.name, *sample.labels.values()): sample.value
            for metric in self.service.metrics.collect()
            for sample in metric.samples
        }


@dataclass
class StreamClient:
    stub: pb_grpc.GuardServiceStub

    def call(self, caller="reader", **kwargs):
        return self.stub.OverseeStream(metadata=(("authorization", caller),), **kwargs)

    async def refused(self, caller="reader"):
        """Return how a stream ends that is refused before anything is read of it.

        Nothing is written: a message that meets the refusal on its way makes the client say INTERNAL of itself.
        """
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(caller).read()
        return caught.value

    async def run(self, *requests, caller="reader"):
        """Send everything and return every response."""
        call = self.call(caller)
        sending = asyncio.create_task(_send(call, requests))
        try:
            return [response async for response in call]
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _send(call, requests):
    with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
        for request in requests:
            await call.write(request)
        await call.done_writing()


def fresh_id():
    return str(uuid.uuid4())


def start(prompt="What holds?", facts=("The fee is 5 euros.",), **given):
    texts = [guard_pb2.GroundingText(id=f"f{number}", content=text) for number, text in enumerate(facts, 1)]
    return pb.OverseeStreamRequest(start=guard_pb2.StartOversight(prompt=prompt, facts=texts, **given))


def resume(oversight_id, after=0):
    return pb.OverseeStreamRequest(resume=guard_pb2.ResumeOversight(oversight_id=oversight_id, resume_after=after))


def tokens(text, first=0):
    """Return the text as messages, a word each."""
    return [token(index, piece) for index, piece in enumerate(re.findall(r"\s*\S+", text), first)]


def token(index, text):
    return pb.OverseeStreamRequest(token=guard_pb2.StreamToken(index=index, text=text))


def end():
    return pb.OverseeStreamRequest(end=guard_pb2.EndOversight())


def told(responses, kind):
    return [getattr(one, kind) for one in responses if one.WhichOneof("message") == kind]


async def rest_of(call, into=None):
    """Read to the end of a call that is read from; raise what it ended with."""
    found = [] if into is None else into
    while (response := await call.read()) is not grpc.aio.EOF:
        found.append(response)
    await call.code()
    return found


async def eventually(holds):
    """Return when something holds."""
    for _ in range(int(patient(5) / 0.005)):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came about")
