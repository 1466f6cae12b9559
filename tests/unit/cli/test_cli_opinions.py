"""The second opinion as people read it: one line (ADR 0119)."""

import pytest
from crp.dpe.v1 import opinion_pb2 as pb
from crp.dpe.v1 import report_pb2

from services.cli.opinions import opinion_line

VOTE = pb.ClaimOpinion(claim_id="c1", vote=pb.OPINION_VOTE_SUPPORTED, moved=True)
CACHED = pb.ClaimOpinion(claim_id="c2", vote=pb.OPINION_VOTE_UNSUPPORTED, cached=True)
CALL = pb.OpinionCall(claims=2, model="opinion/m", prompt_tokens=100, completion_tokens=10)
FAILED = pb.OpinionCall(claims=2, reason="http_500")
LEFT = pb.OpinionLeft(gap=pb.OPINION_GAP_ENDPOINT_FAILED, claim_ids=["c3", "c4"])


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (None, ""),
        ({}, "second opinion: no claim needed one (judge opinion/m)"),
        (
            {"votes": [VOTE, CACHED], "calls": [CALL]},
            "second opinion: 2 votes, 1 moved a verdict (judge opinion/m, 1 call, 110 tokens)",
        ),
        ({"votes": [CACHED]}, "second opinion: 1 vote, 0 moved a verdict (judge opinion/m, remembered)"),
        (
            {"left": [LEFT], "calls": [FAILED, FAILED]},
            (
                "second opinion: none on 2 claims, whose first verdict stands: the endpoint failed (http_500)"
                " (judge opinion/m, 2 calls, 0 tokens)"
            ),
        ),
        (
            {"left": [pb.OpinionLeft(gap=pb.OPINION_GAP_OUT_OF_TIME, claim_ids=["c3"])]},
            "second opinion: none on 1 claim, whose first verdict stands: the time was up (judge opinion/m)",
        ),
    ],
)
def test_the_line(found, line):
    report = report_pb2.DpeReport()
    if found is not None:
        report.second_opinion.CopyFrom(pb.SecondOpinion(kind=pb.OPINION_KIND_JUDGE, model="opinion/m", **found))
    assert opinion_line(report) == line


def test_every_gap_has_words():
    from services.cli import opinions

    assert set(opinions._GAPS) == {name.removeprefix("OPINION_GAP_") for name in pb.OpinionGap.keys()} - {"UNSPECIFIED"}  # noqa: SIM118 - no mapping
