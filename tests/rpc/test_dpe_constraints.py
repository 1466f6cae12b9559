"""Constraint verdicts in Analyze and AnalyzeStream: fidelity with and without, the hash, refusals (ADR 0078)."""

import grpc
import pytest
from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, constraint_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.provenance import kept_report, report_hash
from services.common.rpc.canonical import message_json
from services.gateway.clients.inputs import request_digest
from tests.fakes.dpe_world import World, refusal
from tests.rpc.test_dpe_provenance import FEE, request

TEXT = f"{FEE} The branch is open on Mondays."
HELD, VIOLATED, UNKNOWN = (constraint_pb2.ConstraintState.Value(f"CONSTRAINT_STATE_{name}") for name in
                           ("HELD", "VIOLATED", "UNKNOWN"))  # fmt: skip


def verdict(constraint_id="r1", state=VIOLATED, denied=(), **changes):
    spans = [text_pb2.TextSpan(start=TEXT.index(words), end=TEXT.index(words) + len(words)) for words in denied]
    values = {"constraint_id": constraint_id, "nl_text": "The branch is closed on Mondays.", "state": state}
    values |= {"spans": spans, "why": "The text says otherwise.", "detector": "solver"}
    return constraint_pb2.ConstraintVerdict(**(values | changes))


def told(*verdicts, text=TEXT):
    return request(text, constraint_verdicts=constraint_pb2.ConstraintVerdicts(verdicts=verdicts))


@pytest.fixture
async def client():
    async with World().serving() as client:
        yield client


async def test_fidelity_with_and_without_the_violation(client):
    plain = (await client.call("Analyze", request(TEXT))).report
    held = (await client.call("Analyze", told(verdict(state=HELD)))).report
    denied = (await client.call("Analyze", told(verdict(denied=["open on Mondays"])))).report
    as_a_whole = (await client.call("Analyze", told(verdict()))).report
    assert [each.fidelity_score for each in (plain, held, denied, as_a_whole)] == pytest.approx(
        [1.0, 1.0, 0.925, 0.925]
    )
    assert not plain.HasField("constraint_outcomes")
    assert denied.constraint_outcomes.fidelity_score_without == plain.fidelity_score
    assert denied.composite_score > plain.composite_score == held.composite_score
    second = denied.claims[1]
    assert (second.verdict, second.judgement.basis) == (
        claim_pb2.CLAIM_VERDICT_CONTRADICTED,
        claim_pb2.VERDICT_BASIS_CONSTRAINT,
    )
    assert list(second.judgement.constraint_conflict.constraint_ids) == ["r1"]
    assert second.attribution == plain.claims[1].attribution
    assert denied.claims[0] == plain.claims[0]
    assert as_a_whole.claims == plain.claims
    # What the specification counts is counted as ever: a constraint is no claim of the answer.
    assert (denied.contradiction_count, list(denied.contradictions)) == (0, [])
    assert (denied.quality_score, denied.maximum_quality_tier) == (plain.quality_score, plain.maximum_quality_tier)


async def test_what_was_held_stands_under_the_reports_hash(client):
    report = (await client.call("Analyze", told(verdict(denied=["Mondays"]), verdict("r2", UNKNOWN)))).report
    assert report.report_hash == report_hash(kept_report(message_json(report)))
    assert [each.verdict for each in report.constraint_outcomes.outcomes] == [
        verdict(denied=["Mondays"]),
        verdict("r2", UNKNOWN),
    ]
    assert report.constraint_outcomes.not_computed_count == 1
    report.constraint_outcomes.outcomes[1].verdict.why = "Nobody looked."
    assert report.report_hash != report_hash(kept_report(message_json(report)))


async def test_the_stream_counts_the_finding_in_stage_3(client):
    streamed = [event async for event in client.stub.AnalyzeStream(
        pb.AnalyzeStreamRequest(analysis=told(verdict())), metadata=client.metadata)]  # fmt: skip
    (stage3,) = [each.stage for each in streamed if each.stage.outcome.name == "Fidelity Verification"]
    assert stage3.findings == 1
    assert streamed[-1].result.report.fidelity_score == pytest.approx(0.925)


def test_a_request_without_constraints_keeps_its_digest():
    """Analyses that were kept before there were constraints are found again by the digest of their request."""
    plain = request(TEXT)
    assert "constraint_verdicts" not in message_json(plain)
    assert request_digest(plain) != request_digest(told(verdict()))


SPAN = text_pb2.TextSpan
OUTSIDE = [SPAN(start=0, end=len(TEXT) + 1)]
REFUSED = [
    pytest.param([], "", id="none"),
    pytest.param([verdict(f"r{number}") for number in range(201)], "", id="too-many"),
    pytest.param([verdict(""), verdict("")], "[0].constraint_id [1].constraint_id", id="no-id"),
    pytest.param([verdict("x" * 65)], "[0].constraint_id", id="long-id"),
    pytest.param([verdict(), verdict(state=HELD)], "[1].constraint_id", id="one-id-twice"),
    pytest.param([verdict(nl_text="")], "[0].nl_text", id="no-words"),
    pytest.param([verdict(nl_text="x" * 2_001)], "[0].nl_text", id="many-words"),
    pytest.param([verdict(state=0)], "[0].state", id="no-state"),
    pytest.param([verdict(state=9)], "[0].state", id="unknown-state"),
    pytest.param([verdict(state=UNKNOWN, why=" ")], "[0].why", id="unknown-without-a-reason"),
    pytest.param([verdict(why="x" * 1_001)], "[0].why", id="long-reason"),
    pytest.param([verdict(detector="")], "[0].detector", id="no-detector"),
    pytest.param([verdict(detector="The solver")], "[0].detector", id="detector-is-no-token"),
    pytest.param([verdict(state=HELD, denied=["Mondays"])], "[0].spans", id="held-with-a-place"),
    pytest.param([verdict(spans=[SPAN(start=0, end=1)] * 65)], "[0].spans", id="too-many-spans"),
    pytest.param([verdict(spans=OUTSIDE)], "[0].spans[0]", id="outside-of-the-text"),
    pytest.param([verdict(spans=[SPAN(start=0, end=2), SPAN(start=5, end=5)])], "[0].spans[1]", id="without-length"),
    pytest.param([verdict(spans=[SPAN(start=5, end=2)])], "[0].spans[0]", id="turned-round"),
]


@pytest.mark.parametrize(("verdicts", "fields"), REFUSED)
async def test_a_verdict_that_cannot_be_read_is_refused(client, verdicts, fields):
    path = "constraint_verdicts.verdicts"
    expected = [f"{path}{field}" for field in fields.split(" ")]
    for rpc, sent, prefix in (
        ("Analyze", told(*verdicts), ""),
        ("AnalyzeStream", pb.AnalyzeStreamRequest(analysis=told(*verdicts)), "analysis."),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.raw(rpc, sent.SerializeToString())
        code, reason, found = refusal(refused.value)
        assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
        assert found == [f"{prefix}{field}" for field in expected]


async def test_offsets_are_code_points(client):
    text = "🙂🙂 The fee for late reports is 5 euros."
    places = [SPAN(start=0, end=len(text))]
    report = (await client.call("Analyze", told(verdict(spans=places), text=text))).report
    assert report.constraint_outcomes.outcomes[0].claims_total == 1
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.call("Analyze", told(verdict(spans=[SPAN(start=0, end=len(text) + 1)]), text=text))
    assert refusal(refused.value)[1] == "INVALID_FIELD"
