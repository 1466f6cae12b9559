"""Feedback on verdicts: kept by whom, listed, and exported as what evaluation reads.

The suite is the real one in one process, all in memory; only generated stubs and the command speak to it.
"""

import json
from contextlib import asynccontextmanager
from typing import Any

import grpc
import numpy as np
import pytest
from crp.dpe.v1 import claim_pb2
from crp.gateway.v1 import feedback_pb2
from crp.gateway.v1 import feedback_service_pb2 as pb
from crp.gateway.v1.feedback_service_pb2_grpc import FeedbackServiceStub

from services.allinone.embedded import embedded
from services.cli.commands import feedback
from services.cli.connection import Suite
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.adapters.own_encoders.pairs_file import read_pairs
from services.common.settings import Settings, StoreSettings
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.patience import patient
from tests.rpc.test_gateway_erasure import FACT, QUERY, erase
from tests.rpc.test_gateway_retrieval import ingest_facts
from tests.rpc.test_gateway_suite import Caller, MemoryAdapters

RIGHT, WRONG = feedback_pb2.JUDGEMENT_RIGHT, feedback_pb2.JUDGEMENT_WRONG


@asynccontextmanager
async def suite(tmp_path):
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    async with MemoryAdapters(settings) as adapters, embedded(settings, adapters=adapters) as system:
        key = await system.first_key()
        async with grpc.aio.insecure_channel(system.address) as channel:
            caller: Any = Caller(system, channel, key)
            caller.feedback = FeedbackServiceStub(channel)
            caller.suite = Suite("here", key, channel)
            await ingest_facts(caller, FACT)
            yield caller


async def give(caller, report_id, claim_id="c1", judgement=RIGHT, **fields):
    asked = {"request_id": fresh_uuid()} | fields
    request = pb.GiveFeedbackRequest(report_id=report_id, claim_id=claim_id, judgement=judgement, **asked)
    return (await caller.feedback.GiveFeedback(request, metadata=caller.metadata, timeout=patient(10))).feedback


async def refused(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return Refusal.of(caught.value)


async def test_the_last_word_of_a_person_stands_and_is_listed(tmp_path):
    async with suite(tmp_path) as caller:
        answer = (await caller.ask(QUERY)).answer
        report_id, claim = answer.report.report_id, answer.report.claims[0]
        first = await give(caller, report_id, claim.claim_id)
        last = await give(caller, report_id, claim.claim_id, WRONG)
        listed = await caller.feedback.ListFeedback(pb.ListFeedbackRequest(), metadata=caller.metadata)
        other = await caller.feedback.ListFeedback(pb.ListFeedbackRequest(report_id="x"), metadata=caller.metadata)
    assert first.feedback_id == last.feedback_id
    assert list(listed.feedback) == [last]
    assert list(other.feedback) == []
    assert (last.verdict, last.session_id) == (claim.verdict, answer.session_id)
    assert last.given_by


async def test_what_cannot_be_said_is_refused_by_name(tmp_path):
    async with suite(tmp_path) as caller:
        report = (await caller.ask(QUERY)).answer.report
        verdict = report.claims[0].verdict
        unknown = await refused(give(caller, "nothing"))
        stray = await refused(give(caller, report.report_id, "c999"))
        same = await refused(give(caller, report.report_id, "c1", WRONG, expected_verdict=verdict))
        bad = await refused(give(caller, "", "x", 0, request_id="y", expected_verdict=1))
    assert unknown.reason == "REPORT_NOT_FOUND"
    assert (stray.reason, list(stray.fields)) == ("INVALID_FIELD", ["claim_id"])
    assert list(same.fields) == ["expected_verdict"]
    assert set(bad.fields) == {"request_id", "report_id", "claim_id", "judgement", "expected_verdict"}


async def test_an_export_is_what_evaluation_reads_and_nothing_of_what_was_erased(tmp_path, monkeypatch, capsys):
    file = tmp_path / "pairs.jsonl"
    async with suite(tmp_path) as caller:

        @asynccontextmanager
        async def connect(_settings, *_parts):
            yield caller.suite

        monkeypatch.setattr(feedback, "connect", connect)
        kept, gone = [(await caller.ask(QUERY)).answer for _ in range(2)]
        for answer in (kept, gone):
            supported = claim_pb2.CLAIM_VERDICT_SUPPORTED
            verdict = answer.report.claims[0].verdict
            said = {} if verdict == supported else {"judgement": WRONG, "expected_verdict": supported}
            await give(caller, answer.report.report_id, "c1", **said)
        await erase(caller, gone.session_id)
        capsys.readouterr()
        assert await feedback.export(Settings(), Output(as_json=True), file) is Exit.OK
        assert await feedback.list_feedback(Settings(), Output(as_json=False)) is Exit.OK
    (line,) = file.read_text(encoding="utf-8").splitlines()
    pair = json.loads(line)
    assert (pair["hypothesis"], pair["label"]) == (kept.report.claims[0].text, "supported")
    assert pair["premise"] == FACT
    read = read_pairs(file, three_way=False)
    assert (read.premises, read.hypotheses) == ((FACT,), (pair["hypothesis"],))
    assert np.array_equal(read.labels, [1])


@pytest.mark.parametrize(
    ("verdict", "judgement", "expected", "label"),
    [
        ("SUPPORTED", RIGHT, None, "supported"),
        ("SUPPORTED", WRONG, None, "not supported"),
        ("CONTRADICTED", RIGHT, None, "not supported"),
        ("CONTRADICTED", WRONG, None, None),
        ("CONTRADICTED", WRONG, "SUPPORTED", "supported"),
        ("UNSUPPORTED", WRONG, "CONTRADICTED", "not supported"),
        ("UNDECIDED", RIGHT, None, None),
    ],
)
def test_the_label_of_a_pair_is_what_the_person_said(verdict, judgement, expected, label):
    one = feedback_pb2.Feedback(
        verdict=f"CLAIM_VERDICT_{verdict}",
        judgement=judgement,
        expected_verdict=f"CLAIM_VERDICT_{expected}" if expected else None,
    )
    assert feedback.label_of(one) == label
