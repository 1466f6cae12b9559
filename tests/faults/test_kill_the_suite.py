"""kill -9 of the whole suite in the middle of ingestion and of commits: what was acknowledged is there, whole."""

import os
import random
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.gateway.v1 import dispatch_service_pb2, dispatch_service_pb2_grpc

from tests.e2e.processes import environment, start
from tests.patience import patient

ROUNDS = int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "2"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120 + 60 * ROUNDS)]


@dataclass
class Acknowledged:
    """What the server said it had done before it died."""

    facts_of_source: dict[str, int] = field(default_factory=dict)
    windows: dict[str, tuple[str, str]] = field(default_factory=dict)
    """window id -> (session id, hmac)"""


class Load:
    """Ingests and asks from several threads until the server is gone."""

    def __init__(self, address: str, seen: Acknowledged):
        self.channel = grpc.insecure_channel(address)
        self.knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(self.channel)
        self.sessions = session_service_pb2_grpc.SessionServiceStub(self.channel)
        self.gateway = dispatch_service_pb2_grpc.DispatchServiceStub(self.channel)
        self.seen = seen
        self.ingested = threading.Event()
        self.answered = threading.Event()

    def ingest(self, worker: int) -> None:
        for number in range(10_000):
            name = f"file:{worker}-{number}-{uuid.uuid4()}.txt"
            lines = [f"Rule {i} of {name} allows {i * 7 + 3} days for the complaint of kind {i}." for i in range(12)]
            request = knowledge_service_pb2.IngestSourceRequest(
                request_id=str(uuid.uuid4()),
                uri=name,
                title=name,
                media_type="text/plain",
                source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
                content="\n\n".join(lines).encode(),
            )
            try:
                response = self.knowledge.IngestSource(request, timeout=patient(30))
            except grpc.RpcError:
                return
            self.seen.facts_of_source[response.source.source_id] = response.source.fact_count
            self.ingested.set()

    def ask(self) -> None:
        answer = None
        while True:
            request = dispatch_service_pb2.DispatchRequest(
                request_id=str(uuid.uuid4()),
                query="How many days does rule 3 allow for the complaint?",
                strategies=[taxonomy_pb2.DISPATCH_STRATEGY_PUSH],
            )
            if answer is not None and answer.continuation_id:
                request.session_token = answer.session_token
                request.continuation_ids.append(answer.continuation_id)
            try:
                answer = self.gateway.Dispatch(request, timeout=patient(30)).answer
            except grpc.RpcError:
                return
            self.seen.windows[answer.window.window_id] = (answer.session_id, answer.window.hmac)
            self.answered.set()


def facts_per_source(client: Load) -> dict[str, int]:
    counts: dict[str, int] = {}
    token = ""
    while True:
        page = client.knowledge.ListFacts(
            knowledge_service_pb2.ListFactsRequest(page_size=500, page_token=token), timeout=30
        )
        for fact in page.facts:
            counts[fact.source_id] = counts.get(fact.source_id, 0) + 1
        token = page.next_page_token
        if not token:
            return counts


def sources(client: Load) -> dict[str, "ckf_pb2.Source"]:
    found = {}
    token = ""
    while True:
        page = client.knowledge.ListSources(
            knowledge_service_pb2.ListSourcesRequest(page_size=100, page_token=token), timeout=30
        )
        found.update({source.source_id: source for source in page.sources})
        token = page.next_page_token
        if not token:
            return found


def check(client: Load, seen: Acknowledged) -> None:
    counts, listed = facts_per_source(client), sources(client)
    for source_id, fact_count in seen.facts_of_source.items():
        assert listed[source_id].status == ckf_pb2.SOURCE_STATUS_ACTIVE
        assert counts[source_id] == fact_count
    for source_id, source in listed.items():
        assert source.status == ckf_pb2.SOURCE_STATUS_ACTIVE, "recovery left an unfinished source"
        assert counts.get(source_id, 0) == source.fact_count, "half of a source is visible"
    assert set(counts) <= set(listed), "facts without a source"
    for session_id in {session for session, _ in seen.windows.values()}:
        verdict = client.sessions.VerifyChain(
            session_service_pb2.VerifyChainRequest(session_id=session_id), timeout=patient(30)
        )
        assert verdict.integrity in {taxonomy_pb2.CHAIN_INTEGRITY_VALID, taxonomy_pb2.CHAIN_INTEGRITY_UNVERIFIED}
        dag = client.sessions.GetDag(session_service_pb2.GetDagRequest(session_id=session_id), timeout=patient(30))
        stored = {w.window_id: w for w in dag.windows if w.status == dag_pb2.WINDOW_STATUS_COMMITTED}
        for window_id, (owner, hmac) in seen.windows.items():
            if owner == session_id:
                assert stored[window_id].hmac == hmac


@pytest.mark.whole
def test_acknowledged_writes_survive_and_nothing_is_half_written(tmp_path):
    seen = Acknowledged()
    env = environment(tmp_path / "data")
    chance = random.Random(20260522)
    for _ in range(ROUNDS):
        server = start(tmp_path, "suite", "--insecure-local", env=env)
        load = Load(server.address, seen)
        with ThreadPoolExecutor(4) as pool:
            for worker in range(2):
                pool.submit(load.ingest, worker)
            for _ in range(2):
                pool.submit(load.ask)
            for begun in (load.ingested, load.answered):
                assert begun.wait(patient(40)), server.log.read_text()[-3000:]
            threading.Event().wait(0.5 + chance.random() * 2)
            server.kill()
        load.channel.close()
        server = start(tmp_path, "suite", "--insecure-local", env=env)
        survivor = Load(server.address, seen)
        check(survivor, seen)
        survivor.channel.close()
        assert server.stop() == 0
    assert len(seen.facts_of_source) >= ROUNDS
    assert seen.windows
