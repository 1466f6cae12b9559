"""``groundtrail feedback``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import MOST_LISTED, AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import feedback
else:
    feedback = Later("services.cli.commands.feedback")

feedback_app = typer.Typer(no_args_is_help=True, help="What people say about verdicts, for whoever measures them.")
Report = Annotated[str, typer.Argument(metavar="REPORT", help="The report's id.")]
Claim = Annotated[str, typer.Argument(metavar="CLAIM", help="The claim within the report: c1, c2, …")]


@feedback_app.command("right")
def right(report: Report, claim: Claim, *, as_json: AsJson = False) -> None:
    """Say that the verdict on a claim was right."""
    run(partial(feedback.give, report_id=report, claim_id=claim, right=True), as_json=as_json)


@feedback_app.command("wrong")
def wrong(
    report: Report,
    claim: Claim,
    expected: Annotated[str, typer.Option(metavar="VERDICT", help="What it should have been: supported, …")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say that the verdict on a claim was wrong."""
    wanted = partial(feedback.give, report_id=report, claim_id=claim, right=False, expected=expected)
    run(wanted, as_json=as_json)


@feedback_app.command("list")
def list_feedback(
    report: Annotated[str, typer.Option(metavar="REPORT", help="Only on this report.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Most entries.")] = 100,
    *,
    as_json: AsJson = False,
) -> None:
    """List what was said, by whom."""
    run(partial(feedback.list_feedback, report_id=report, limit=limit), as_json=as_json)


@feedback_app.command("export")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines; written anew.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write pairs of evidence and claim with their labels, as `groundtrail models evaluate FILE` reads them."""
    run(partial(feedback.export, path=file), as_json=as_json)
