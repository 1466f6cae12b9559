"""The shared adapters of a process, each built once, on first use, and closed in reverse order.

Only composition roots (``services/*/compose.py``, ``__main__.py``, the command line) use this module; the services'
own code gets ports. Which adapter stands behind a port is decided here and nowhere else, from typed settings.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self, cast

from services.common.answering import check_milvus_client, check_neo4j_driver
from services.common.build_manifest import BuildIdentity, installed_build
from services.common.clock import Clock, SystemClock
from services.common.encoder_models import EncoderModels
from services.common.engine_counts import EngineCounts
from services.common.errors import StartupError
from services.common.ids import IdSource, RandomIds
from services.common.keywords import Stemming
from services.common.oversight_stores import AdapterT, OversightStores
from services.common.ports.chat_provider import ChatProvider
from services.common.ports.credentials import CredentialStore
from services.common.ports.event_endpoint import EventEndpoint
from services.common.ports.event_feed import EventFeed
from services.common.ports.graph import KnowledgeGraph
from services.common.ports.language_model import LanguageModel
from services.common.ports.log_signer import LogSigner
from services.common.ports.personal_data import PersonalDataDetector
from services.common.ports.recognition import EntityRecognizer
from services.common.ports.second_opinion import SecondOpinion
from services.common.ports.sessions import SessionStore
from services.common.ports.tokens import TokenCounter
from services.common.ports.witness import Witness
from services.common.provider_composition import (
    has_language_model,
    open_chat_provider,
    open_language_models,
    open_messages_provider,
)
from services.common.queue_counts import QueueCounts
from services.common.reading_counts import ReadingCounts
from services.common.settings import EventSinkSettings, Settings, SettingsError
from services.common.telemetry.model_calls import ModelCalls
from services.common.telemetry.usage_audit import UsageAudit
from services.common.workers.counts import WorkerCounts
from services.common.workers.frames import Json
from services.common.workers.pool import WorkerLimits, WorkerPool

if TYPE_CHECKING:  # most bring NumPy, which not every process needs
    from services.common.adapters.sqlite.claims import StoreClaim
    from services.common.adapters.text_workers import TextWorkers
    from services.common.ports.documents import DocumentReader
    from services.common.ports.facts import FactStore
    from services.common.ports.vector_engine import VectorEngine
    from services.common.rpc.credential_gate import CredentialGate

FACTS_FILE = "knowledge.db"
GRAPH_FILE = "graph.db"
SESSIONS_FILE = "sessions.db"
GATEWAY_FILE = "gateway.db"

_LOG: Final = logging.getLogger(__name__)


class _Closable(Protocol):
    async def close(self) -> None: ...


class _Queued(Protocol):
    @property
    def queue_counts(self) -> QueueCounts: ...


class _Fed(Protocol):
    def event_feed(self) -> EventFeed: ...


class Adapters(OversightStores, EncoderModels):
    """Builds what a composition root asks for and keeps it for the process's life.

    Concurrent first uses build once. ``async with Adapters(settings) as adapters`` closes everything that was built,
    in reverse order, also when a later construction fails.

    Args:
        settings: of the process.
        clock, ids: the system's when not given.
        serving: the process serves calls: it takes the embedded stores for itself alone, unless the settings share them
            (ADR 0090). Else it is a command, which takes them together with other commands.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        serving: bool = False,
    ) -> None:
        self.settings = settings
        self._serving = serving
        self._claims: list[StoreClaim] = []
        self.clock: Clock = clock or SystemClock()
        self.ids: IdSource = ids or RandomIds()
        self.worker_counts = WorkerCounts()
        """What the pools of worker processes count; for a registry."""
        self.engine_counts = EngineCounts()
        """What is counted of a vector engine; for a registry."""
        self.reading_counts = ReadingCounts()
        """What is counted of encoders that read again; for a registry."""
        self.model_calls = ModelCalls(shows_content=settings.telemetry.log_content)
        """What is told of calls of language models; for a registry, and for a tracer."""
        self.usage_audit = UsageAudit(self.tokens)
        """Holds what providers count against our own count; for a registry."""
        self.model_calls.listeners.append(self.usage_audit.note)
        self.queue_counts: list[QueueCounts] = []  # of the models and processes that there are
        self._built: dict[str, object] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._stack = AsyncExitStack()
        self._stack.push_async_callback(self.usage_audit.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def build_identity(self) -> BuildIdentity:
        """Return which code and weights this process runs, checked against the build manifest (SPEC-005 §21.1).

        Raises:
            BuildError: a file is not the one that was released, or the settings demand a signature that is not there.
        """
        opened = partial(asyncio.to_thread, installed_build, self.settings.integrity, self.settings.inference)
        return await self._once("build_identity", opened)

    async def entity_recognizer(self) -> EntityRecognizer:
        """Return the entity recogniser of the model repository, its digests verified."""
        from services.common.adapters.spacy.recognizer import open_recognizer

        workers = await self._text_workers()
        return await self._once("entity_recognizer", lambda: open_recognizer(self.settings.inference, workers=workers))

    async def personal_data(self) -> PersonalDataDetector:
        """Return the detector of personal data."""
        from services.common.adapters.presidio.detector import open_detector

        workers = await self._text_workers()
        return await self._once("personal_data", lambda: open_detector(self.settings.inference, workers))

    async def _text_workers(self) -> "TextWorkers":
        from services.common.adapters.text_workers import TextWorkers

        async def build() -> "TextWorkers":
            return TextWorkers(self.settings.workers, self.worker_counts)

        return await self._once("text_workers", build)

    async def tokens(self) -> TokenCounter:
        """Return the token counter for all target models."""
        from services.common.adapters.tokens.counter import open_token_counter

        return await self._once("tokens", lambda: open_token_counter(self.settings.inference))

    async def language_model(self) -> LanguageModel | None:
        """Return the configured LLM provider, or ``None`` when none is set (ADR 0020: the extractive answerer)."""
        if not has_language_model(self.settings):
            return None
        return await self._once("language_model", lambda: open_language_models(self.settings, self.model_calls))

    async def chat_provider(self) -> ChatProvider | None:
        """Return the configured LLM provider as one that bodies go through to, or ``None`` when none is set."""
        if not self.settings.llm.base_url:
            return None
        return await self._once("chat_provider", lambda: open_chat_provider(self.settings, self.model_calls))

    async def messages_provider(self) -> ChatProvider | None:
        """Return the configured provider of Anthropic's form, or ``None`` when none is set."""
        if not self.settings.anthropic.base_url:
            return None
        return await self._once("messages_provider", lambda: open_messages_provider(self.settings, self.model_calls))

    async def second_opinion(self) -> SecondOpinion | None:
        """Return the endpoint that is asked about claims, or ``None`` when none is set (ADR 0119).

        Raises:
            StartupError: its prompt file cannot be used.
        """
        wanted = self.settings.second_opinion
        if not wanted.configured:
            return None
        from services.common.adapters.openai.second_opinion import open_second_opinion

        try:
            return await self._once("second_opinion", lambda: open_second_opinion(wanted))
        except ValueError as error:
            raise StartupError(str(error)) from None

    async def documents(self) -> "DocumentReader":
        """Return what reads documents and cuts them into facts, in processes of its own (ADR 0085)."""
        from services.common.documents.cutting import WorkerDocumentReader, document_pool

        async def build() -> "DocumentReader":
            return WorkerDocumentReader(self.worker_pool(*document_pool(self.settings)))

        return await self._once("documents", build)

    async def fact_store(self) -> "FactStore":
        """Return the store of facts and vectors.

        Raises:
            StartupError: Milvus or a vector engine is asked for and its client is not installed.
        """
        if self.settings.store.facts == "milvus":
            return await self._once("fact_store", self._milvus_facts)
        from services.common.adapters.sqlite.facts import SqliteFactStore

        async def opened() -> "FactStore":
            path = await self._claimed(FACTS_FILE)  # before the weights are read: a refusal comes at once
            model = await self.embedding()
            engine = await self._vector_engine(model.dimension)
            counts, store = self.engine_counts, self.settings.store
            return await SqliteFactStore.open(path, store, dimension=model.dimension, engine=engine, counts=counts)

        return await self._once("fact_store", opened)

    async def knowledge_graph(self) -> KnowledgeGraph:
        """Return the store of sources and communities.

        Raises:
            StartupError: Neo4j is asked for and its driver is not installed.
        """
        if self.settings.store.graph == "neo4j":
            return await self._once("knowledge_graph", self._neo4j_knowledge)
        from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph

        async def opened() -> KnowledgeGraph:
            return await SqliteKnowledgeGraph.open(await self._claimed(GRAPH_FILE), self.settings.store)

        return await self._once("knowledge_graph", opened)

    async def session_store(self) -> SessionStore:
        """Return the store of sessions, windows, events and reports.

        Raises:
            StartupError: Neo4j is asked for and its driver is not installed.
        """
        if self.settings.store.sessions == "neo4j":
            return await self._once("session_store", self._neo4j_sessions)
        from services.common.adapters.sqlite.sessions import SqliteSessionStore

        async def opened() -> SessionStore:
            return await SqliteSessionStore.open(await self._claimed(SESSIONS_FILE), self.settings.store)

        return await self._once("session_store", opened)

    async def event_feed(self) -> EventFeed:
        """Return the feed of the events in the session store."""
        store = await self.session_store()
        return cast("_Fed", store).event_feed()

    async def event_endpoint(self) -> EventEndpoint | None:
        """Return the endpoint that events are streamed to, or ``None`` when none is set."""
        if not self.settings.event_sink.url:
            return None
        from services.common.adapters.http import open_event_endpoint

        return await self._once("event_endpoint", lambda: open_event_endpoint(self.settings.event_sink, self.clock))

    async def checkpoint_endpoint(self) -> EventEndpoint | None:
        """Return the endpoint that signed heads are posted to, or ``None`` when none is set."""
        wanted = self.settings.checkpoints
        if not wanted.url:
            return None
        from services.common.adapters.http import open_event_endpoint

        shared = EventSinkSettings(**wanted.model_dump(include=set(EventSinkSettings.model_fields)))
        return await self._once("checkpoint_endpoint", lambda: open_event_endpoint(shared, self.clock))

    async def witnesses(self) -> list[Witness]:
        """Return the witnesses that are asked to cosign heads.

        Raises:
            SettingsError: the certificates to trust cannot be read.
        """
        wanted = self.settings.checkpoints
        if not wanted.witnesses:
            return []
        from services.common.adapters.http import HttpWitness

        try:
            made = [HttpWitness(one, wanted) for one in wanted.witnesses]
        except OSError as error:
            text = f"GROUNDTRAIL_CHECKPOINTS__CA_FILE: {wanted.ca_file} cannot be used: {error.strerror or error}"
            raise SettingsError([text]) from None
        for one in made:
            self.closing(one.close)
        return list(made)

    async def log_signer(self) -> LogSigner | None:
        """Return the process that signs heads, or ``None`` when the service signs them itself."""
        if self.settings.log_signer.socket is None:
            return None
        from services.common.adapters.http import open_log_signer

        return await self._once("log_signer", lambda: open_log_signer(self.settings.log_signer))

    async def credentials(self) -> CredentialStore:
        """Return the store of API keys, AI systems and policies; every process of an installation shares it."""
        from services.common.adapters.sqlite.credentials import SqliteCredentialStore

        return await self._once(
            "credentials", lambda: SqliteCredentialStore.open(self._path(GATEWAY_FILE), self.settings.store)
        )

    def worker_pool(self, name: str, module: str, configuration: Json, limits: WorkerLimits) -> WorkerPool:
        """Return a pool of worker processes, ended with the adapters."""
        pool = WorkerPool(name, module, configuration, limits, self.worker_counts.of_pool(name))
        self.closing(pool.close)
        self.queue_counts.append(pool.queue_counts)
        return pool

    async def credential_gate(self, settings: Settings) -> "CredentialGate":
        """Return where callers are proven, over gRPC and HTTP alike; ``settings``: of the process that asks first."""
        kind = "open" if settings.server.insecure_local else "proving"
        return await self._once(f"credential_gate {kind}", lambda: self._gate(settings))

    def closing(self, close: Callable[[], Awaitable[None]]) -> None:
        """Close this too when the adapters are closed, before whatever was built or added earlier."""
        self._stack.push_async_callback(close)

    def listening(self, address: str) -> None:
        """Write down where this process listens, for whoever finds its stores taken."""
        for claim in self._claims:
            claim.tell(address)

    async def _claimed(self, name: str) -> Path:
        """Return the path of an embedded store that this process may open now; it is let go after the store is closed.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: another process has it.
        """
        from services.common.adapters.sqlite.claims import StoreClaim

        path = self._path(name)
        alone = self._serving and not self.settings.envelope.shared_store
        claim = await StoreClaim.take(path, exclusive=alone, serving=self._serving)
        self._stack.push_async_callback(claim.close)
        self._claims.append(claim)
        return path

    async def _gate(self, settings: Settings) -> "CredentialGate":
        from services.common.rpc.authentication import LocalAuthenticator, open_authenticator
        from services.common.rpc.credential_gate import CredentialGate

        if settings.server.insecure_local:
            return CredentialGate(LocalAuthenticator(), settings)
        return CredentialGate(open_authenticator(settings.auth, await self.credentials(), self.clock), settings)

    async def _neo4j_knowledge(self) -> KnowledgeGraph:
        check_neo4j_driver()
        from services.common.adapters.neo4j import Neo4jKnowledgeGraph

        return await Neo4jKnowledgeGraph.open(self.settings.neo4j)

    async def _neo4j_sessions(self) -> SessionStore:
        check_neo4j_driver()
        from services.common.adapters.neo4j import Neo4jSessionStore

        return await Neo4jSessionStore.open(self.settings.neo4j)

    async def _vector_engine(self, dimension: int) -> "VectorEngine | None":
        if not self.settings.vectors.engine:
            return None
        from services.common.adapters.vector_engines import open_engine

        return await asyncio.to_thread(open_engine, self.settings.vectors, self.settings.store.data_dir, dimension)

    async def _milvus_facts(self) -> "FactStore":
        check_milvus_client()
        from services.common.adapters.milvus import MilvusFactStore

        model = await self.embedding()
        return await MilvusFactStore.open(
            self.settings.milvus,
            embedding_model=model.fingerprint,
            dimension=model.dimension,
            stemming=Stemming(self.settings.store.text_stemming),
        )

    def _path(self, name: str) -> Path:
        folder = Path(self.settings.store.data_dir)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / name

    async def _once(self, name: str, build: Callable[[], Awaitable[AdapterT]]) -> AdapterT:
        async with self._locks[name]:  # one each, so that models are opened side by side
            if name not in self._built:
                adapter = await build()
                if hasattr(adapter, "close"):
                    self._stack.push_async_callback(cast("_Closable", adapter).close)
                if hasattr(adapter, "queue_counts"):
                    counts = cast("_Queued", adapter).queue_counts
                    if not any(known is counts for known in self.queue_counts):  # models of one trunk share a queue
                        self.queue_counts.append(counts)
                self._built[name] = adapter
            return cast("AdapterT", self._built[name])
