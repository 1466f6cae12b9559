"""``groundtrail reports``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import MOST_LISTED, AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import violation_reports
else:
    violation_reports = Later("services.cli.commands.violation_reports")

violation_report_app = typer.Typer(no_args_is_help=True, help="Violation reports that no endpoint took.")


@violation_report_app.command("dead")
def list_dead(
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Most reports.")] = 100, *, as_json: AsJson = False
) -> None:
    """List the dead reports and why each is."""
    run(partial(violation_reports.list_dead, limit=limit), as_json=as_json)


@violation_report_app.command("replay")
def replay(
    reports: Annotated[list[str] | None, typer.Argument(metavar="REPORT", help="Their ids; none = all.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Queue dead reports anew; a server sends them."""
    run(partial(violation_reports.replay, report_ids=reports or []), as_json=as_json)


@violation_report_app.command("key")
def show_key(*, as_json: AsJson = False) -> None:
    """Show the public key that reports are signed with."""
    run(violation_reports.show_key, as_json=as_json)
