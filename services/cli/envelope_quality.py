"""What is told at the command line of an envelope's quality: one line, where it may have cost this answer something.

The contract tells the trend of the whole session in up to two warnings (SPEC-004 §13.2, SPEC-003 §14.3), however good
the answer is; ``--json`` and ``--headers`` have them as they are. Under an answer that is LOW, and that answers what
was asked, there is nothing to be done about them, and the line that says how to go on would say otherwise than they do.
"""

from typing import TYPE_CHECKING, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import quality_pb2

from services.cli.told import ToldAnswer

if TYPE_CHECKING:
    from crp.dpe.v1 import report_pb2
    from crp.gateway.v1 import dispatch_service_pb2 as dispatch

TREND: Final = frozenset({"QUALITY_DEGRADING", "QUALITY_CRITICAL", "STRATEGY_RECOMMENDED"})
"""Warnings that speak of the envelopes of a session and not of the answer."""
REFUSED: Final = "CONTINUATION_REFUSED"
"""The warning that the session's next question would be refused."""
_SOUND: Final = (quality_pb2.RELEVANCE_STATUS_UNSPECIFIED, quality_pb2.RELEVANCE_STATUS_RELEVANT)


def quality_line(response: "dispatch.DispatchResponse", report: "report_pb2.DpeReport", told: ToldAnswer) -> str:
    """Return what to know of the envelope; empty where its trend is none, or the answer wants nothing."""
    if not any(each.code in TREND for each in response.warnings) or _wants_nothing(report, told):
        return ""
    known = {header.name: header.value for header in response.headers}
    facts = known.get("CRP-Context-Facts-Used", "")
    had = ", ".join(
        filter(None, (f"tier {known.get('CRP-Context-Quality-Tier', 'not told')}", facts and f"{facts} facts"))
    )
    return (
        f"the quality of this session's envelopes fell, of this one's to {had}: if something is missing here, ask for "
        "it without --session, or in parts with --strategy hierarchical"
    )


def is_refused_next(response: "dispatch.DispatchResponse") -> bool:
    """Say whether the deployment would refuse the session's next question."""
    return any(each.code == REFUSED for each in response.warnings)


def _wants_nothing(report: "report_pb2.DpeReport", told: ToldAnswer) -> bool:
    clean = not told.unanswered and not any(claim.is_problem for claim in told.claims)
    return clean and report.risk_level == taxonomy.RISK_LEVEL_LOW and report.relevance.status in _SOUND
