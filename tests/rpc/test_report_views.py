"""How much of a report comes back, from Dispatch and from GetReport (ADR 0097)."""

import grpc
import pytest
from crp.dag.v1 import session_service_pb2 as dag

from services.common.provenance import kept_report, report_hash
from services.common.rpc.canonical import message_json
from tests.fakes.dag_world import fresh_uuid
from tests.patience import patient
from tests.rpc.test_gateway_envelope import refusal
from tests.rpc.test_gateway_erasure import FACT, QUERY, suite

FULL, SUMMARY, NONE = (f"REPORT_VIEW_{name}" for name in ("FULL", "SUMMARY", "NONE"))


async def stored(caller, report_id, view=None):
    request = dag.GetReportRequest(report_id=report_id, view=view)
    return await caller.sessions.GetReport(request, metadata=caller.metadata, timeout=patient(10))


async def test_an_answer_comes_with_as_much_as_is_wanted(tmp_path):
    async with suite(tmp_path) as caller:
        whole = (await caller.ask(QUERY)).answer
        told = (await caller.ask(QUERY, report_view=SUMMARY)).answer
        bare = (await caller.ask(QUERY, report_view=NONE)).answer
        kept = await stored(caller, bare.window.report_id)
    assert not bare.HasField("report")
    assert bare.text == told.text == whole.text
    assert told.ByteSize() < whole.ByteSize()
    assert [claim.judgement.why for claim in told.report.claims] == [
        claim.judgement.why for claim in kept.report.claims
    ]
    assert told.report.claims[0].judgement.evidence[0].quote == FACT
    assert not told.report.models
    assert kept.report.claims[0].judgement.evidence[0].fact_id  # whatever came back, all of it is kept


async def test_what_is_stored_has_no_word_of_a_fact_and_is_what_was_hashed(tmp_path):
    async with suite(tmp_path) as caller:
        answer = (await caller.ask(QUERY)).answer
        kept = await stored(caller, answer.report.report_id)
    evidence = [item for claim in kept.report.claims for item in claim.judgement.evidence]
    assert evidence
    assert not any(item.HasField("quote") for item in evidence)
    assert '"quote"' not in kept.canonical_json
    given = [item for claim in answer.report.claims for item in claim.judgement.evidence]
    assert [item.quote for item in given] == [FACT] * len(given)
    assert report_hash(kept_report(message_json(answer.report))) == answer.report.report_hash
    assert report_hash(message_json(kept.report)) == answer.report.report_hash
    assert given[0].source.title


async def test_a_stored_report_comes_in_the_view_that_is_asked_for(tmp_path):
    async with suite(tmp_path) as caller:
        report_id = (await caller.ask(QUERY)).answer.report.report_id
        whole, told, bare = [await stored(caller, report_id, view) for view in (FULL, SUMMARY, NONE)]
        assert whole == await stored(caller, report_id)
    assert whole.canonical_json
    assert (told.canonical_json, bare.canonical_json) == ("", "")
    assert (told.HasField("report"), bare.HasField("report")) == (True, False)
    assert whole.summary == told.summary == bare.summary


async def test_a_view_that_is_none_is_refused(tmp_path):
    async with suite(tmp_path) as caller:
        refused = await refusal(caller.ask(QUERY, report_view=9))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stored(caller, fresh_uuid(), 9)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_withheld_answer_is_explained_without_its_words(tmp_path):
    async with suite(tmp_path) as caller:
        halted = (await caller.ask(QUERY, safety_policy="halt-on LOW")).halted
        bare = (await caller.ask(QUERY, safety_policy="halt-on LOW", report_view=NONE)).halted
    assert halted.report_id == halted.report.report_id != ""
    assert bare.report_id
    assert not bare.HasField("report")
    (claim,) = halted.report.claims
    assert claim.text == ""
    assert claim.judgement.why
    assert claim.judgement.evidence[0].source.title
    assert FACT not in str(halted)
    assert claim.span.end > claim.span.start
