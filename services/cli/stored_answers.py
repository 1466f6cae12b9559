"""A stored report with what it names: the answer, the words of facts that are still there (ADR 0097), and its chain.

A report keeps what its chain was when it was sealed, and a first window's was UNVERIFIED then. What is shown is what
holds now, so that no view of a report says other than ``groundtrail verify`` does.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dpe.v1 import report_pb2

from services.cli.connection import Suite
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.errors import FieldViolation, InvalidRequestError, NotFoundError, PermissionDeniedError

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A report and what is shown with it.

    Attributes:
        text: the answer; empty when it was erased, or its window stands in another store.
        contents: facts by id; those that were erased, or that this caller may not read, are missing.
        verdict: on the whole chain of its session, recomputed when the report was read.
    """

    found: sessions.GetReportResponse
    window: sessions.GetWindowResponse | None
    contents: dict[str, str]
    verdict: sessions.VerifyChainResponse

    @property
    def report(self) -> report_pb2.DpeReport:
        """The report."""
        return self.found.report

    @property
    def text(self) -> str:
        """The answer."""
        return "" if self.window is None else self.window.response_text

    @property
    def integrity(self) -> str:
        """State of the chain now, as the header says it."""
        return enum_text(taxonomy.ChainIntegrity, self.verdict.integrity)

    @property
    def chain(self) -> str:
        """What was found of the chain, and of how much of it."""
        found = self.verdict
        return f"{self.integrity}, {found.windows_verified} of {found.windows_total} windows recomputed"

    @property
    def broken(self) -> str:
        """What a reader has to know of a record that does not hold; empty for one that does."""
        if self.verdict.integrity != taxonomy.CHAIN_INTEGRITY_BROKEN:
            return ""
        fault, session_id = self.verdict.fault, self.found.summary.session_id
        first = " ".join(filter(None, (fault.record_kind, fault.record_id)))
        return (
            f"the record of session {session_id} was changed, so that neither level nor answer can be relied on; "
            f"first bad record: {first}: {fault.detail}"
        )

    @property
    def code(self) -> Exit:
        """What the report is to a script: one of a broken session is a negative verdict."""
        return Exit.VERDICT if self.broken else Exit.OK


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
    """Read a report, its answer and the facts that it names, and verify the chain of its session.

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
    asked_chain = sessions.VerifyChainRequest(session_id=place.session_id)
    verdict: sessions.VerifyChainResponse = await suite.call(suite.sessions.VerifyChain, asked_chain)
    return StoredAnswer(found, window, await _contents(suite, found.report), verdict)


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
