"""A stored report as one page to put into a file: question, answer, why, record (ADR 0097).

The page needs nothing but itself: no script, no picture, no address that is fetched. Every text is escaped by the
template engine, and characters that draw nothing or turn the direction of reading are spelled out, as on a screen.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import report_pb2
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from services.cli.console import spelled
from services.cli.told import ToldAnswer
from services.cli.words import enum_text

_TEMPLATE: Final = "report_page.html"
_SOUND: Final = frozenset({"COMPLETED", "NOT_APPLICABLE"})


@dataclass(frozen=True, slots=True)
class PageMatter:
    """Everything on a page.

    Attributes:
        question: empty where it was not kept.
        chain: what the chain was found to be when the page was made.
        made_at: when that was, UTC.
        broken: what a reader has to know of a record that does not hold; empty for one that does.
    """

    report: report_pb2.DpeReport
    told: ToldAnswer
    question: str
    chain: str
    made_at: str
    broken: str = ""


def page(matter: PageMatter) -> str:
    """Return the page as HTML."""
    report = matter.report
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled,
        keep_trailing_newline=True,
    )
    return environment.get_template(_TEMPLATE).render(
        report_id=report.report_id,
        session_id=report.session_id,
        told=matter.told,
        question=matter.question,
        broken=matter.broken,
        not_run=[
            f"{stage.name}: {stage.detail or stage.reason}"
            for stage in report.stages
            if enum_text(taxonomy.StageStatus, stage.status) not in _SOUND
        ],
        record=_record(matter),
    )


def _record(matter: PageMatter) -> list[tuple[str, str]]:
    report = matter.report
    return [
        ("report", report.report_id),
        ("session, window", f"{report.session_id}, {report.window_number} ({report.window_id})"),
        ("analysed (UTC)", f"{report.timestamp.ToDatetime():%Y-%m-%d %H:%M:%S}"),
        ("chain", matter.chain),
        ("page made (UTC)", matter.made_at),
        ("report hash", report.report_hash),
        ("answer hash", report.response_content_hash),
        ("window HMAC", report.hmac),
        ("envelope", report.envelope_etag),
        ("code", report.build.code_digest or "not stated"),
        *((f"model: {model.role}", model.fingerprint) for model in report.models),
    ]


def _spelled(value: Any) -> Any:
    """Spell out what acts or hides; what the engine has escaped already is text of the template."""
    return spelled(value) if type(value) is str else value
