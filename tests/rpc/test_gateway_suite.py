"""The whole suite in one process over memory adapters: ingest, ask twice, verify, through generated stubs alone."""

import asyncio
import contextlib
import re
import socket
import sys
from pathlib import Path

import grpc
import pytest
import structlog
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2, session_service_pb2_grpc
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.allinone.compose import build
from services.allinone.embedded import embedded
from services.common.adapters.memory import (
    MemoryCredentialStore,
    MemoryFactStore,
    MemoryKnowledgeGraph,
    MemorySessionStore,
)
from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.feedback import MemoryFeedbackStore
from services.common.adapters.memory.inference import MemoryEntityRecognizer, MemoryLanguageModel
from services.common.adapters.memory.reviews import MemoryReviewStore
from services.common.adapters.memory.violation_reports import MemoryViolationReportStore
from services.common.composition import Adapters
from services.common.documents.cutting import CuttingLimits, ThreadDocumentReader
from services.common.ports.personal_data import PersonalData, PersonalDataCategory
from services.common.rpc.canonical import message_json
from services.common.rpc.main import running_server
from services.common.settings import (
    DagSettings,
    GatewaySettings,
    PeerSettings,
    ServerSettings,
    Settings,
    SettingsError,
    StoreSettings,
    TelemetrySettings,
)
from services.common.settings.http import HttpSettings
from services.gateway.compose import build as build_gateway
from services.gateway.compose import build_alone
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import headers_of
from tests.patience import patient
from tests.tenth import WHOLE

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
FIRST_KEY = re.compile(r"first API key, an administrator's without expiry .*: (crp_gw_dev_\w{32})\n")
PAGES = ("02-claims-reporting-deadlines.md", "16-broker-commissions.md")


class MailDetector:
    """Finds e-mail addresses and nothing else."""

    fingerprint = "mail@1+sha256:0000000000000000"

    async def detect(self, texts):
        return [tuple(self._mails(given.text)) for given in texts]

    def _mails(self, text):
        for found in re.finditer(r"\S+@\S+\.\w+", text):
            yield PersonalData(PersonalDataCategory.DIRECT_IDENTIFIER, "EMAIL_ADDRESS", *found.span(), 1.0)


class MemoryAdapters(Adapters):
    """Everything in memory but the tokenizers; documents are read in this process."""

    def __init__(self, settings, language_model=None):
        super().__init__(settings)
        self._language_model = language_model
        self._facts = MemoryFactStore(384)
        self._graph = MemoryKnowledgeGraph()
        self._sessions = MemorySessionStore()
        self._credentials = MemoryCredentialStore()
        self._reviews = MemoryReviewStore()
        self._feedback = MemoryFeedbackStore()
        self._reports = MemoryViolationReportStore()
        self._model = MemoryEmbeddingModel()

    async def documents(self):
        envelope = self.settings.envelope
        return ThreadDocumentReader(CuttingLimits.of(envelope), envelope.tokenizer_model, await self.tokens())

    async def embedding(self):
        return self._model

    async def language_model(self):
        return self._language_model

    async def entity_recognizer(self):
        return MemoryEntityRecognizer()

    async def entailment(self):
        return None

    async def grounding(self):
        return None

    async def personal_data(self):
        return MailDetector()

    async def fact_store(self):
        return self._facts

    async def knowledge_graph(self):
        return self._graph

    async def session_store(self):
        return self._sessions

    async def credentials(self):
        return self._credentials

    async def violation_reports(self):
        return self._reports

    async def feedback(self):
        return self._feedback

    async def reviews(self):
        return self._reviews


class Caller:
    def __init__(self, system, channel, key):
        self.system = system
        self.channel = channel
        self.metadata = (("authorization", f"Bearer {key}"),)
        self.sessions = session_service_pb2_grpc.SessionServiceStub(channel)
        self._knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)
        self._dispatch = pb_grpc.DispatchServiceStub(channel)

    async def ingest(self, page):
        request = knowledge_service_pb2.IngestSourceRequest(
            request_id=fresh_uuid(),
            uri=page.name,
            source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
            content=page.read_bytes(),
        )
        return await self._knowledge.IngestSource(request, metadata=self.metadata, timeout=patient(30))

    async def stream(self, query, **fields):
        """Return the text that left, and the outcome."""
        request = pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": query} | fields))
        asked = pb.DispatchStreamRequest(dispatch=request)
        call = self._dispatch.DispatchStream(asked, metadata=self.metadata, timeout=patient(30))
        events = [event async for event in call]
        return "".join(event.token for event in events), events[-1].outcome

    async def ask(self, query, **fields):
        request = pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": query} | fields))
        return await self._dispatch.Dispatch(request, metadata=self.metadata, timeout=patient(30))

    async def verify(self, session_id):
        request = session_service_pb2.VerifyChainRequest(session_id=session_id)
        return await self.sessions.VerifyChain(request, metadata=self.metadata, timeout=patient(30))


@contextlib.asynccontextmanager
async def suite(tmp_path, model=None, **sections):
    settings = Settings(store=StoreSettings(data_dir=tmp_path), **sections)
    async with MemoryAdapters(settings, model) as adapters, embedded(settings, adapters=adapters) as system:
        key = await system.first_key()
        async with grpc.aio.insecure_channel(system.address) as channel:
            yield Caller(system, channel, key)


async def test_ingest_ask_continue_verify(tmp_path):
    async with suite(tmp_path) as caller:
        for page in PAGES:
            assert (await caller.ingest(HANDBOOK / page)).facts_created > 0
        first = await caller.ask("Within how many days must a motor accident be reported?", max_envelope_tokens=400)
        answer = first.answer
        second = await caller.ask(
            "What commission is paid for new home business?",
            session_token=answer.session_token,
            continuation_ids=[answer.continuation_id],
        )
        verified = await caller.verify(answer.session_id)
    assert "within 7 days" in answer.text
    assert answer.model_fingerprint.startswith("groundtrail-extractive@2;sha256:")
    assert answer.report.claims_total > 0
    assert {stage.number for stage in answer.report.stages} == set(range(1, 14))
    skipped = [stage for stage in answer.report.stages if stage.status == taxonomy.STAGE_STATUS_SKIPPED]
    assert skipped
    assert all(stage.reason for stage in skipped)
    assert "18 percent" in second.answer.text
    assert "within 7 days" not in second.answer.text
    assert headers_of(second)["CRP-Context-Window"] == "2/5"
    assert headers_of(second)["CRP-Provenance-Chain-Integrity"] == "VALID"
    handed_on = set(answer.envelope.fact_ids) & set(second.answer.envelope.fact_ids)  # FULL_CONTEXT: ADR 0022
    assert len(handed_on) >= len(answer.envelope.fact_ids) - 1  # one is a near-duplicate for the new query: §6.6
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert verified.windows_verified == verified.windows_total == 2


class Unhurried(MemoryLanguageModel):
    """Writes so slowly that sentences are judged while it writes."""

    async def before_piece(self, number):
        await asyncio.sleep(0.02)


RIGHT = "A motor accident must be reported within 7 days."
WRONG = "A motor accident must be reported within 900 days."
DUE = "Within how many days must a motor accident be reported?"


async def test_a_streamed_answer_has_the_report_of_the_same_answer_unstreamed(tmp_path):
    def bare(report):
        """Without ids, times and what is hashed over them."""
        copy = report_pb2.DpeReport.FromString(report.SerializeToString())
        for name in ("report_id", "session_id", "window_id", "timestamp", "timings", "report_hash", "hmac"):
            copy.ClearField(name)
        return message_json(copy)

    model = Unhurried([f"{RIGHT} Write to claims@example.org. It is best to call first."])
    async with suite(tmp_path, model) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        text, streamed = await caller.stream(DUE)
        plain = await caller.ask(DUE)
    assert text == streamed.answer.text == plain.answer.text
    assert headers_of(streamed)["CRP-Stream-Safety-Mode"] == "hold-back"
    assert bare(streamed.answer.report) == bare(plain.answer.report)
    assert streamed.answer.report.claims


async def test_a_streamed_answer_ends_before_what_the_facts_contradict(tmp_path):
    model = Unhurried([f"{RIGHT} {WRONG} It is best to call first."])
    async with suite(tmp_path, model) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        text, outcome = await caller.stream(DUE, safety_policy="block-contradiction")
    assert text == f"{RIGHT} "
    assert outcome.halted.halt_reason == "block-contradiction"
    assert model.left == 1


async def test_an_unchanged_question_can_be_asked_conditionally(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        query = "Within how many days must a motor accident be reported?"
        first = await caller.ask(query)
        etag = first.answer.envelope.etag
        same = await caller.ask(query, if_match=etag)
        forced = await caller.ask(query, if_match=etag, cache_directives=["no-cache"])
        await caller.ingest(HANDBOOK / PAGES[1])
        changed = await caller.ask(query, if_match=etag)
    assert same.WhichOneof("outcome") == "not_modified"
    assert (same.not_modified.etag, headers_of(same)["CRP-Context-Cache-Status"].split(";")[0]) == (etag, "HIT")
    assert forced.WhichOneof("outcome") == "answer"
    assert changed.WhichOneof("outcome") == "answer"


async def test_a_question_that_nothing_answers_says_so(tmp_path):
    async with suite(tmp_path) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask("Who wins the world cup?")
    assert response.answer.text == "The provided context does not contain an answer to this question."


@pytest.mark.tenth
@pytest.mark.parametrize("refusals", [40 if WHOLE else 8])
async def test_refusals_in_a_row_cost_no_budget_and_an_answer_does(tmp_path, refusals):
    """Real analyses, without encoders, so that what is no refusal is MEDIUM (ADR 0018, 0096; ADR 0103)."""
    topics = ("world cup", "chess title", "regatta", "marathon", "song contest")
    async with suite(tmp_path, dag=DagSettings(max_windows=refusals + 1)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        token = ""
        for number in range(refusals):
            query = f"Who won the {topics[number % 5]} in the year {1950 + number}?"
            said = await caller.ask(query, session_token=token)
            assert headers_of(said)["CRP-Quality-Relevance"] == "REFUSAL"
            assert (said.answer.safety_budget, said.answer.report.risk_level) == (1.0, taxonomy.RISK_LEVEL_LOW)
            token = said.answer.session_token
        asked = await caller.ask("Within how many days must a motor accident be reported?", session_token=token)
    assert "within 7 days" in asked.answer.text
    assert asked.answer.safety_budget == 0.95


async def test_the_last_window_issues_no_continuation(tmp_path):
    async with suite(tmp_path, dag=DagSettings(max_windows=1)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask("Within how many days must a motor accident be reported?")
    assert response.answer.continuation_id == ""
    assert "CRP-Context-Continuation-Id" not in headers_of(response)
    assert headers_of(response)["CRP-Context-Window"] == "1/1"
    assert "LAST_WINDOW" in [warning.code for warning in response.warnings]


async def test_keys_of_the_embedded_system(tmp_path):
    async with suite(tmp_path) as caller:
        assert await caller.system.first_key() is None
        issued = await caller.system.issue_key("a script")
        assert await caller.system.accepts(issued)
        assert not await caller.system.accepts("crp_gw_dev_" + "x" * 32)


async def test_the_first_key_is_printed_once_on_a_terminal(tmp_path, capsys, monkeypatch):
    settings = Settings(store=StoreSettings(data_dir=tmp_path), server=ServerSettings(port=0))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    printed = []
    async with MemoryAdapters(settings) as adapters:
        for _ in range(2):
            async with running_server("allinone", build, settings, adapters=adapters) as server:
                printed.append(FIRST_KEY.findall(capsys.readouterr().out))
                assert server.readiness.ready
    assert [len(keys) for keys in printed] == [1, 0]


async def test_no_key_comes_to_what_is_no_terminal(tmp_path, capsys):
    settings = Settings(store=StoreSettings(data_dir=tmp_path), server=ServerSettings(port=0))
    async with MemoryAdapters(settings) as adapters:
        with structlog.testing.capture_logs() as logs:
            async with running_server("allinone", build, settings, adapters=adapters):
                pass
        assert await (await adapters.credentials()).count_keys() == 0
    assert "crp_gw_" not in "".join(capsys.readouterr()) + str(logs)
    advice = [line["advice"] for line in logs if line["event"] == "no API key is stored yet"]
    assert advice == ["make one in the data directory: groundtrail keys create --label NAME --role admin"]


@pytest.mark.parametrize("taken", ["server", "telemetry"])
async def test_a_start_that_fails_makes_no_key(tmp_path, capsys, monkeypatch, taken):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = Settings(
            store=StoreSettings(data_dir=tmp_path),
            server=ServerSettings(port=port if taken == "server" else 0),
            telemetry=TelemetrySettings(http_port=port if taken == "telemetry" else None),
        )
        async with MemoryAdapters(settings) as adapters:
            with pytest.raises(SettingsError, match=str(port)):
                async with running_server("allinone", build, settings, adapters=adapters):
                    pass
            assert await (await adapters.credentials()).count_keys() == 0
    assert "crp_gw_" not in capsys.readouterr().out


async def test_a_gateway_alone_is_told_what_peers_it_lacks_along_with_its_policy(tmp_path):
    settings = Settings(
        store=StoreSettings(data_dir=tmp_path),
        http=HttpSettings(port=0),
        gateway=GatewaySettings(default_safety_policy="halt-upon"),
        peers=PeerSettings(dag="dag:1"),
    )
    async with MemoryAdapters(settings) as adapters:
        with pytest.raises(SettingsError) as caught:
            await build_alone(settings, adapters)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "GROUNDTRAIL_GATEWAY__DEFAULT_SAFETY_POLICY",
        "GROUNDTRAIL_PEERS__ENVELOPE",
        "GROUNDTRAIL_PEERS__DPE",
        "GROUNDTRAIL_PEERS__ERCP",
    ]


async def test_a_default_policy_that_cannot_be_read_stops_the_start(tmp_path):
    settings = Settings(
        store=StoreSettings(data_dir=tmp_path), gateway=GatewaySettings(default_safety_policy="halt-on NEVER")
    )
    async with MemoryAdapters(settings) as adapters:
        with pytest.raises(SettingsError, match="GROUNDTRAIL_GATEWAY__DEFAULT_SAFETY_POLICY: halt-on"):
            await build(settings, adapters)


async def test_readiness_follows_the_peers(tmp_path):
    """A gateway of its own is ready while its peers are, and not when they are gone."""
    store = StoreSettings(data_dir=tmp_path)
    everything = Settings(store=store, server=ServerSettings(port=0))
    async with MemoryAdapters(everything) as adapters:
        async with running_server("allinone", build, everything, adapters=adapters) as peers:
            target = peers.address
            alone = Settings(
                store=store,
                server=ServerSettings(port=0),
                peers=PeerSettings(envelope=target, dpe=target, dag=target),
            )
            async with running_server("gateway", build_gateway, alone, adapters=adapters) as gateway:
                assert gateway.readiness.ready
        async with running_server("gateway", build_gateway, alone, adapters=adapters) as gateway:
            assert not gateway.readiness.ready
