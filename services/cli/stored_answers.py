"""A stored report with what it names: the answer, and the words of facts that are still there (ADR 0097)."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dpe.v1 import report_pb2

from services.cli.connection import Suite
from services.common.errors import FieldViolation, InvalidRequestError, NotFoundError, PermissionDeniedError

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A report and what is shown with it.

    Attributes:
        text: the answer; empty when it was erased, or its window stands in another store.
        contents: facts by id; those that were erased, or that this caller may not read, are missing.
    """

    found: sessions.GetReportResponse
    window: sessions.GetWindowResponse | None
    contents: dict[str, str]

    @property
    def report(self) -> report_pb2.DpeReport:
        """The report."""
        return self.found.report

    @property
    def text(self) -> str:
        """The answer."""
        return "" if self.window is None else self.window.response_text


def check_report_id(report_id: str) -> None:
    """Refuse what cannot be a report's id, and say where that is to be had.

    Raises:
        InvalidRequestError: INVALID_FIELD: it is empty, or a session's.
    """
    listed = "`groundtrail sessions` lists the latest report of each session"
    if not report_id.strip():
        raise InvalidRequestError.of(FieldViolation("REPORT", f"must be a report's id; {listed}"))
    if report_id.startswith("crp_sess_"):
        text = f"{report_id} is a session, and not a report; {listed}, `groundtrail dag` draws a session"
        raise InvalidRequestError.of(FieldViolation("REPORT", text))


async def stored_answer(suite: Suite, report_id: str) -> StoredAnswer:
    """Read a report, its answer and the facts that it names.

    Raises:
        NotFoundError: REPORT_NOT_FOUND.
    """
    found = await suite.call(suite.sessions.GetReport, sessions.GetReportRequest(report_id=report_id))
    place = found.summary
    asked = sessions.GetWindowRequest(session_id=place.session_id, window_id=place.window_id, include_response=True)
    try:
        window = await suite.call(suite.sessions.GetWindow, asked)
    except NotFoundError:
        window = None
    return StoredAnswer(found, window, await _contents(suite, found.report))


async def _contents(suite: Suite, report: report_pb2.DpeReport) -> dict[str, str]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def read(fact_id: str) -> str:
        async with gate:
            try:
                found = await suite.call(suite.knowledge.GetFact, knowledge.GetFactRequest(fact_id=fact_id))
            except (NotFoundError, PermissionDeniedError):
                return ""
        return str(found.fact.content)

    wanted = list(dict.fromkeys(_named(report)))
    texts = await asyncio.gather(*(read(fact_id) for fact_id in wanted))
    return {fact_id: text for fact_id, text in zip(wanted, texts, strict=True) if text}


def _named(report: report_pb2.DpeReport) -> Iterator[str]:
    """Yield the facts that are shown with words."""
    for claim in report.claims:
        for item in (claim.judgement.evidence or claim.attribution.evidence)[:1]:
            yield item.fact_id
    for omission in report.omissions[:3]:
        yield omission.fact_id
