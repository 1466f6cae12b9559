"""The second opinion in one line, for screens and pages (ADR 0119)."""

from typing import Final

from crp.dpe.v1 import opinion_pb2, report_pb2

from services.cli.words import enum_text
from services.common.counting import counted

_GAPS: Final = {
    "ENDPOINT_FAILED": "the endpoint failed",
    "ANSWER_REFUSED": "its answer was refused",
    "NO_VOTE": "it gave no vote",
    "OUT_OF_CALLS": "the calls were used up",
    "OUT_OF_TOKENS": "the tokens were used up",
    "OUT_OF_TIME": "the time was up",
}


def opinion_line(report: report_pb2.DpeReport) -> str:
    """Return what the second opinion did; empty where none was to be asked for."""
    if not report.HasField("second_opinion"):
        return ""
    found = report.second_opinion
    who = f"{enum_text(opinion_pb2.OpinionKind, found.kind).lower()} {found.model}"
    left = sum(len(one.claim_ids) for one in found.left)
    if not found.votes and not left:
        return f"second opinion: no claim needed one ({who})"
    moved = sum(vote.moved for vote in found.votes)
    parts = [f"{counted(len(found.votes), 'vote')}, {moved} moved a verdict"] if found.votes else []
    parts += [f"none on {counted(left, 'claim')}, whose first verdict stands: {_why(found)}"] if left else []
    tokens = sum(call.prompt_tokens + call.completion_tokens for call in found.calls)
    spent = [f"{counted(len(found.calls), 'call')}, {counted(tokens, 'token')}"] if found.calls else []
    spent = spent or (["remembered"] if found.votes else [])
    return f"second opinion: {'; '.join(parts)} ({', '.join([who, *spent])})"


def _why(found: opinion_pb2.SecondOpinion) -> str:
    reasons = [_told(enum_text(opinion_pb2.OpinionGap, one.gap)) for one in found.left]
    causes = dict.fromkeys(call.reason for call in found.calls if call.reason)
    return ", ".join(reasons) + (f" ({', '.join(causes)})" if causes else "")


def _told(gap: str) -> str:
    return _GAPS.get(gap, gap.lower().replace("_", " "))
