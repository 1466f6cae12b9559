"""The provenance service over memory models: names from a table, entailment from a table, a clock that stands."""

import contextlib
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import grpc
import numpy as np
from crp.dpe.v1 import provenance_service_pb2_grpc as pb_grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.context import Caller, Role
from services.common.errors import ErrorReason, UnauthenticatedError, UnavailableError
from services.common.ports.grounding import GroundingVerdict, UnsupportedSpan
from services.common.ports.recognition import Entity, EntityKind
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.dpe import DpeSettings
from services.common.telemetry import open_telemetry
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.compose import provenance_service
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.policy import Policy
from services.dpe.gazetteer import load_gazetteer
from services.dpe.ports import AnalysisModels
from tests.fakes.documents import ThreadReader

NOW = datetime(2026, 5, 25, 8, 30, 0, 250000, tzinfo=UTC)
READER = Caller("tenant-a", "crp_gw_test_reader12", frozenset({Role.READER}), "reader")


class StandingClock:
    def now(self):
        return NOW


class FixedIds:
    def alphanumeric(self, length):
        return "x" * length

    def uuid(self):
        return str(uuid.UUID(int=7, version=4))


class TableRecognizer:
    """Finds the names of a table, wherever they stand."""

    fingerprint = "table-ner@1+sha256:0000000000000000"

    def __init__(self, **names):
        self.kinds = {name: EntityKind(kind) for kind, listed in names.items() for name in listed}
        self.calls = []

    async def recognize(self, texts):
        self.calls.append(tuple(texts))
        return [self._names(text) for text in texts]

    def _names(self, text):
        found = []
        for name, kind in self.kinds.items():
            at = text.find(name)
            while at >= 0:
                found.append(Entity(kind, name, at, at + len(name)))
                at = text.find(name, at + 1)
        return tuple(sorted(found, key=lambda entity: entity.start))


class TableEntailment:
    """Answers (premise, hypothesis) by a function; neutral when it says nothing."""

    fingerprint = "table-nli@1+sha256:1111111111111111"

    def __init__(self, judge, max_tokens=128):
        self._judge = judge
        self.max_tokens = max_tokens
        self.calls = []

    async def classify(self, pairs):
        self.calls.append(tuple(pairs))
        return np.array([self._judge(*pair) for pair in pairs], dtype=np.float32).reshape(len(pairs), 3)


class TableGrounding:
    """Gives a request's support by a function; what is not supported has the spans of another.

    From ``open_from`` to the threshold it says neither.
    """

    fingerprint = "table-grounding@1+sha256:3333333333333333"
    threshold = 0.5

    def __init__(self, support, spans=lambda _: (), open_from=1.0):
        self._support = support
        self._spans = spans
        self._open_from = open_from
        self.calls = []

    async def judge(self, requests):
        self.calls.append(tuple(requests))
        return [self._verdict(request) for request in requests]

    def _verdict(self, request):
        if not request.passages:
            return GroundingVerdict(0.0, supported=False, encoder_support=None, signals=(), spans=(), evidence=())
        support = self._support(request)
        supported = support >= self.threshold
        spans = () if supported else tuple(UnsupportedSpan(*span) for span in self._spans(request))
        is_open = not supported and support >= self._open_from
        return GroundingVerdict(support, supported, support, (), spans, (0,), undecided=is_open)


class DownModel:
    """Any model, unreachable."""

    name = "down"
    fingerprint = "down@1+sha256:2222222222222222"
    dimension = 384
    max_tokens = 128
    threshold = 0.5
    calibration = None

    def __init__(self, error=None):
        self._error = error or UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "The model does not answer.")

    async def embed(self, texts):
        raise self._error

    async def recognize(self, texts):
        raise self._error

    async def classify(self, pairs):
        raise self._error

    async def judge(self, requests):
        raise self._error


NAMES = {
    "ORGANISATION": (
        "NIST",
        "ISO",
        "Acme Mutual",
        "Globex",
        "National Institute of Standards and Technology",
        "Alpenrose",
    ),
    "PERSON": ("Jane Doe", "John Smith", "Anna Miller", "Miller"),
    "LOCATION": ("France", "Atlantis"),
}


def models(**changes):
    parts: dict[str, Any] = {
        "embedding": MemoryEmbeddingModel(),
        "entity_recognizer": TableRecognizer(**NAMES),
        "entailment": None,
    }
    parts |= {"grounding": None} | changes
    return AnalysisModels(**parts)


def app(limits=None, policy=None, **changes):
    workplace = AnalysisConfig(policy or Policy(), load_gazetteer(), limits or Limits(), StandingClock(), FixedIds())
    return ProvenanceApp(models(**changes), workplace)


def facts(*contents, importance=0.5):
    return tuple(EnvelopeFact(f"f{number}", text, importance) for number, text in enumerate(contents, start=1))


def changed(analysis, **values):
    """Return an analysis with some results changed: ``flow__score=0.1`` is the score of the result ``flow``."""
    outputs = analysis.outputs
    for name, value in values.items():
        result, _, part = name.partition("__")
        outputs = replace(outputs, **{result: replace(getattr(outputs, result), **{part: value}) if part else value})
    return replace(analysis, outputs=outputs)


async def analyse(answer, *contents, query="What holds?", using=None, importance=0.5, **given):
    """Return the outputs and the finished analysis of an answer against facts."""
    window = {"window_number": 1} | given
    request = AnalysisInput(
        "s1", "w1", query=query, answer=answer, facts=facts(*contents, importance=importance), **window
    )
    return await (using or app()).analyze(request)


def statuses(finished):
    return {
        f"{outcome.key.number}{outcome.key.sub_stage}": (str(outcome.status), str(outcome.reason))
        for outcome in finished.analysis.outcomes
    }


class OneCaller:
    """Lets one caller in by the credential "reader", bare or as a bearer's."""

    def remembered(self, authorization):
        return READER if authorization in {"reader", "Bearer reader"} else None

    async def authenticate(self, authorization):
        if self.remembered(authorization) is None:
            raise UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, "Send a credential.")
        return READER


@dataclass
class World:
    """A served provenance service."""

    settings: DpeSettings = field(default_factory=DpeSettings)
    models: AnalysisModels = field(default_factory=models)

    @contextlib.asynccontextmanager
    async def serving(self):
        settings = Settings(
            server=ServerSettings(port=0, reflection=False),
            telemetry=TelemetrySettings(http_port=None),
            dpe=self.settings,
        )
        telemetry = open_telemetry(settings.telemetry, "dpe-test", "0")
        service = provenance_service(self.models, self.settings, StandingClock(), FixedIds(), ThreadReader())
        server = RpcServer([service], settings, OneCaller(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield Client(pb_grpc.ProvenanceServiceStub(channel), channel, address=server.address)
        finally:
            await server.drain()
            telemetry.close()


@dataclass
class Client:
    stub: pb_grpc.ProvenanceServiceStub
    channel: grpc.aio.Channel
    metadata: tuple = (("authorization", "reader"),)
    address: str = ""

    async def call(self, rpc, request, **kwargs):
        return await getattr(self.stub, rpc)(request, metadata=self.metadata, **kwargs)

    async def raw(self, rpc, data):
        """Send bytes as they are."""
        path = f"/crp.dpe.v1.ProvenanceService/{rpc}"
        call = (self.channel.unary_stream if rpc == "AnalyzeStream" else self.channel.unary_unary)(path)(
            data, metadata=self.metadata
        )
        return [part async for part in call] if rpc == "AnalyzeStream" else await call

    async def stream(self, request):
        return [event async for event in self.stub.AnalyzeStream(request, metadata=self.metadata)]


def refusal(error):
    """Return code, reason and the violated fields of an RpcError."""
    status = rpc_status.from_call(error)
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        if detail.Is(bad.DESCRIPTOR):
            detail.Unpack(bad)
    return error.code(), info.reason, [violation.field for violation in bad.field_violations]
