"""``groundtrail feedback right | wrong | list | export``: what people say about verdicts.

An export holds the words of claims and facts, which the gateway's feedback does not: they are read where they are
kept, so that what was erased is in none.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dpe.v1 import claim_pb2
from crp.gateway.v1 import feedback_pb2
from crp.gateway.v1 import feedback_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError, NotFoundError
from services.common.settings import Settings

_PAGE: Final = 500
_PREFIX: Final = "CLAIM_VERDICT_"
_SUPPORTED: Final = "supported"
_NOT_SUPPORTED: Final = "not supported"


async def give(
    settings: Settings, output: Output, report_id: str, claim_id: str, *, right: bool, expected: str = ""
) -> Exit:
    """Keep whether a verdict was right."""
    request = service.GiveFeedbackRequest(
        request_id=str(uuid.uuid4()),
        report_id=report_id,
        claim_id=claim_id,
        judgement=feedback_pb2.JUDGEMENT_RIGHT if right else feedback_pb2.JUDGEMENT_WRONG,
        expected_verdict=_verdict(expected) if expected else None,
    )
    async with connect(settings, Part.SESSIONS, Part.FEEDBACK) as suite:
        kept: service.GiveFeedbackResponse = await suite.call(suite.feedback.GiveFeedback, request)
    said = kept.feedback
    output.say(f"{said.claim_id}, {enum_text(claim_pb2.ClaimVerdict, said.verdict)}: {'right' if right else 'wrong'}")
    output.result(render.response_json(kept))
    return Exit.OK


async def list_feedback(settings: Settings, output: Output, report_id: str = "", limit: int = 100) -> Exit:
    """List up to ``limit`` entries."""
    found: list[feedback_pb2.Feedback] = []
    more = False
    async with connect(settings, Part.SESSIONS, Part.FEEDBACK) as suite:
        async for one in _every(suite, report_id):
            if more := len(found) == limit:
                break
            found.append(one)
    rows: list[tuple[str, ...]] = [
        (
            f"{one.report_id}\n{one.claim_id}",
            enum_text(claim_pb2.ClaimVerdict, one.verdict),
            enum_text(feedback_pb2.Judgement, one.judgement).lower()
            + (f"\n{enum_text(claim_pb2.ClaimVerdict, one.expected_verdict)}" if one.expected_verdict else ""),
            f"{one.given_by}\n{one.give_time.ToDatetime():%Y-%m-%d %H:%M} UTC",
        )
        for one in found
    ]
    output.table(f"Feedback ({len(rows)})", ("report, claim", "verdict", "said to be", "by"), rows)
    if more:
        output.say(render.more_text(limit), style="yellow")
    output.result({"feedback": [render.response_json(one) for one in found], "more": more})
    return Exit.OK


@dataclass(slots=True)
class _Exported:
    """What an export came to."""

    pairs: int = 0
    left_out: int = 0


async def export(settings: Settings, output: Output, path: Path) -> Exit:
    """Write pairs of evidence and claim; what was erased, or has no label or evidence, is left out and counted."""
    came = _Exported()
    lines: list[str] = []
    async with connect(settings, Part.SESSIONS, Part.STORED_KNOWLEDGE, Part.FEEDBACK) as suite:
        async for one in _every(suite, ""):
            pair = await _pair(suite, one)
            if pair is None:
                came.left_out += 1
                continue
            lines.append(json.dumps(pair, ensure_ascii=False) + "\n")
            came.pairs += 1
    await asyncio.to_thread(path.write_text, "".join(lines), encoding="utf-8")
    output.say(f"{counted(came.pairs, 'pair')} in {path}, {came.left_out} left out")
    output.result({"path": str(path), "pairs": came.pairs, "left_out": came.left_out})
    return Exit.OK


async def _every(suite: Suite, report_id: str) -> AsyncIterator[feedback_pb2.Feedback]:
    request = service.ListFeedbackRequest(report_id=report_id, page_size=_PAGE)
    while True:
        page: service.ListFeedbackResponse = await suite.call(suite.feedback.ListFeedback, request)
        for one in page.feedback:
            yield one
        request.page_token = page.next_page_token
        if not page.next_page_token:
            return


async def _pair(suite: Suite, one: feedback_pb2.Feedback) -> dict[str, Any] | None:
    """Return the pair, or ``None`` where nothing can be said of it."""
    label = label_of(one)
    try:
        stored: sessions.GetReportResponse = await suite.call(
            suite.sessions.GetReport, sessions.GetReportRequest(report_id=one.report_id)
        )
    except NotFoundError:
        return None
    claim = next((each for each in stored.report.claims if each.claim_id == one.claim_id), None)
    if label is None or claim is None or not claim.text or not claim.attribution.evidence:
        return None
    facts = [await _fact(suite, each.fact_id) for each in claim.attribution.evidence]
    premise = "\n".join(text for text in facts if text)
    if not premise:
        return None
    return {
        "premise": premise,
        "hypothesis": claim.text,
        "label": label,
        "report_id": one.report_id,
        "claim_id": one.claim_id,
        "given_by": one.given_by,
    }


def label_of(one: feedback_pb2.Feedback) -> str | None:
    """Return what the pair's label is by this person; ``None`` where they did not say.

    A wrong verdict of two kinds leaves one other, of more kinds it leaves open which unless they named it: then only
    that a SUPPORTED claim is not supported is sure.
    """
    supported = claim_pb2.CLAIM_VERDICT_SUPPORTED
    if one.judgement == feedback_pb2.JUDGEMENT_RIGHT:
        meant = one.verdict
    elif one.expected_verdict:
        meant = one.expected_verdict
    else:
        return _NOT_SUPPORTED if one.verdict == supported else None
    decided = {supported, claim_pb2.CLAIM_VERDICT_CONTRADICTED, claim_pb2.CLAIM_VERDICT_UNSUPPORTED}
    if meant not in decided:
        return None
    return _SUPPORTED if meant == supported else _NOT_SUPPORTED


async def _fact(suite: Suite, fact_id: str) -> str:
    """Return a fact's words; empty for one that was erased."""
    try:
        found: knowledge.GetFactResponse = await suite.call(
            suite.knowledge.GetFact, knowledge.GetFactRequest(fact_id=fact_id)
        )
    except NotFoundError:
        return ""
    return found.fact.content


def _verdict(word: str) -> Any:
    numbers = {name.removeprefix(_PREFIX).lower(): number for name, number in claim_pb2.ClaimVerdict.items() if number}
    number = numbers.get(word.lower().replace("-", "_").replace(" ", "_"))
    if number is None:
        raise InvalidRequestError.of(FieldViolation("--expected", f"must be one of {', '.join(numbers)}"))
    return number
