"""The envelope service over memory adapters, served by the real runtime on a free port."""

import contextlib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.envelope.v1 import envelope_service_pb2, envelope_service_pb2_grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.tokens.counter import open_token_counter
from services.common.context import Caller, Role
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.inference import InferenceSettings
from services.common.telemetry import open_telemetry
from services.envelope.compose import EnvelopeParts, assemble_services
from services.envelope.version_writer import TextModels
from tests.patience import patient

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
MODEL = "gpt-4o"
CALLERS = {
    "alice": Caller("tenant-a", "crp_gw_test_alice123", frozenset({Role.WRITER}), "alice"),
    "reader": Caller("tenant-a", "crp_gw_test_reader12", frozenset({Role.READER}), "reader"),
    "operator": Caller("shared:regulations", "crp_gw_test_operator", frozenset({Role.WRITER}), "operator"),
    "clinics": Caller("shared:clinics", "crp_gw_test_clinics1", frozenset({Role.WRITER}), "clinics"),
    "mallory": Caller("tenant-m", "crp_gw_test_mallory1", frozenset({Role.WRITER}), "mallory"),
}


@dataclass
class TurnedClock:
    """A clock that tests turn; it stands still otherwise."""

    moment: datetime = NOW

    def now(self):
        return self.moment

    def advance(self, **span):
        self.moment += timedelta(**span)


class SubjectAuthenticator:
    """The credential is the subject's name."""

    def remembered(self, authorization):
        return CALLERS.get(authorization)

    async def authenticate(self, authorization):
        return CALLERS[authorization]


class Client:
    """Calls both services as one subject."""

    def __init__(self, channel, subject):
        self._subject = subject
        self.channel = channel
        self._knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)
        self._envelopes = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)

    async def call(self, rpc, **fields):
        """Call an RPC by its name; a request_id is made up when the request wants one and none is given."""
        pb = knowledge_service_pb2 if hasattr(self._knowledge, rpc) else envelope_service_pb2
        stub = self._knowledge if pb is knowledge_service_pb2 else self._envelopes
        request_type = getattr(pb, f"{rpc}Request")
        if "request_id" in request_type.DESCRIPTOR.fields_by_name:
            fields.setdefault("request_id", fresh_id())
        return await getattr(stub, rpc)(
            request_type(**fields), metadata=(("authorization", self._subject),), timeout=patient(20)
        )

    async def ingest(self, content, uri="handbook.md", **fields):
        data = content if isinstance(content, bytes) else content.encode()
        fields = {"source_type": ckf_pb2.SOURCE_TYPE_INTERNAL, **fields}
        return await self.call("IngestSource", uri=uri, content=data, **fields)

    async def build(self, query, **fields):
        return await self.call("BuildEnvelope", **{"query": query, "model": MODEL, **fields})

    async def facts(self, **fields):
        return list((await self.call("ListFacts", page_size=1000, **fields)).facts)


def provider_of(model):
    """Return what opens this model when it is first needed."""

    async def provide():
        return model

    return provide


def fresh_id():
    return str(uuid.uuid4())


@dataclass
class World:
    """One envelope service; replace a part before serving to see it fail."""

    facts: MemoryFactStore = field(default_factory=lambda: MemoryFactStore(384))
    graph: MemoryKnowledgeGraph = field(default_factory=MemoryKnowledgeGraph)
    embedding: MemoryEmbeddingModel = field(default_factory=MemoryEmbeddingModel)
    clock: TurnedClock = field(default_factory=TurnedClock)
    settings: EnvelopeSettings = field(default_factory=EnvelopeSettings)
    reranker: object = None
    token_vectors: object = None

    @contextlib.asynccontextmanager
    async def serving(self):
        """Serve and yield a function that gives a client for a subject."""
        tokens = await open_token_counter(InferenceSettings())
        models = TextModels(self.embedding, MemoryEntityRecognizer(), tokens)
        parts = EnvelopeParts(
            self.facts,
            self.graph,
            models,
            self.settings,
            self.clock,
            provider_of(self.reranker),
            provider_of(self.token_vectors),
        )
        settings = Settings(
            server=ServerSettings(port=0, drain_grace_s=5, health_interval_s=0.05),
            telemetry=TelemetrySettings(http_port=0),
        )
        telemetry = open_telemetry(settings.telemetry, "envelope", "0")
        server = RpcServer(await assemble_services(parts), settings, SubjectAuthenticator(), telemetry)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield lambda subject="alice": Client(channel, subject)
        finally:
            await server.drain()
            telemetry.close()


@contextlib.asynccontextmanager
async def refused(code, reason, field_name=None):
    """Expect a call to fail with this status, ErrorInfo reason and, where given, field."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield
    assert caught.value.code() is code, caught.value.details()
    details = rpc_status.from_call(caught.value).details
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    found = [detail for detail in details if detail.Unpack(info)]
    assert found
    assert (info.reason, info.domain) == (reason, "groundtrail")
    if field_name is not None:
        assert any(detail.Unpack(bad) for detail in details)
        assert field_name in [violation.field for violation in bad.field_violations]
