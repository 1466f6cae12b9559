"""``groundtrail sessions``: what it is called and takes."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import MOST_LISTED, AsJson, StatusWord, sure
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import retention, sessions
else:
    retention, sessions = (Later(f"services.cli.commands.{name}") for name in ("retention", "sessions"))

session_app = typer.Typer(help="The sessions of the tenant: lists, how long they stay, legal holds.")
Reason = Annotated[str, typer.Option(help="Why; stands in the audit trail, so name no content.")]
Session = Annotated[str, typer.Argument(metavar="SESSION", help="crp_sess_…")]


@session_app.callback(invoke_without_command=True)
def sessions_command(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the sessions, newest first; the commands below do more."""
    if context.invoked_subcommand is None:
        run(sessions.list_sessions, as_json=as_json)


@session_app.command("list")
def list_sessions(  # noqa: PLR0913, PLR0917 - one for each option
    status: Annotated[StatusWord | None, typer.Option(help="Only those of this status.")] = None,
    opened_since: Annotated[str, typer.Option(metavar="TIME", help="Begun then or later: ISO 8601, UTC.")] = "",
    opened_until: Annotated[str, typer.Option(metavar="TIME", help="Begun before.")] = "",
    updated_since: Annotated[str, typer.Option(metavar="TIME", help="Last written to then or later.")] = "",
    updated_until: Annotated[str, typer.Option(metavar="TIME", help="Last written to before.")] = "",
    parent: Annotated[str, typer.Option(metavar="SESSION", help="Only those that its agents began.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Most sessions.")] = 100,
    *,
    as_json: AsJson = False,
) -> None:
    """List the sessions, newest first, also those without an answer."""
    times = {
        "opened_since": opened_since,
        "opened_until": opened_until,
        "updated_since": updated_since,
        "updated_until": updated_until,
    }
    word = status.value if status else ""
    wanted = partial(sessions.list_sessions, status=word, times=times, parent=parent, limit=limit)
    run(wanted, as_json=as_json)


@session_app.command("expire")
def expire(
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Most sessions.")] = 1_000,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; what is erased comes back by nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Do what the rules make due: end idle sessions, erase ended ones, put tombstones; a server does it by itself."""
    if dry_run:
        run(partial(retention.preview, limit=limit), as_json=as_json)
        return
    sure("Do what is due, erasing what the rules say for good?", yes=yes, as_json=as_json)
    run(partial(retention.apply, limit=limit), as_json=as_json)


@session_app.command("hold")
def hold(session: Session, reason: Reason, *, as_json: AsJson = False) -> None:
    """Exempt a session from being erased (legal hold)."""
    run(partial(retention.hold, session_id=session, reason=reason, held=True), as_json=as_json)


@session_app.command("release")
def release(session: Session, reason: Reason, *, as_json: AsJson = False) -> None:
    """End a session's legal hold."""
    run(partial(retention.hold, session_id=session, reason=reason, held=False), as_json=as_json)


@session_app.command("rules")
def rules(*, as_json: AsJson = False) -> None:
    """Show how long sessions stay."""
    run(retention.show_rules, as_json=as_json)


Days = Annotated[int | None, typer.Option(min=0, max=36_500, help="0 = never; none = the deployment's.")]


@session_app.command("set-rules")
def set_rules(
    reason: Reason,
    idle_expiry_s: Annotated[
        int | None, typer.Option(min=0, help="Seconds, from 3600; 0 = never; none = the deployment's.")
    ] = None,
    erase_after_days: Days = None,
    tombstone_after_days: Days = None,
    *,
    legal_hold: Annotated[bool, typer.Option("--legal-hold", help="Erase nothing of the tenant.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace the tenant's rules, all at once: what is not named goes back to the deployment's."""
    given = {
        "idle_expiry_s": idle_expiry_s,
        "erase_after_days": erase_after_days,
        "tombstone_after_days": tombstone_after_days,
    }
    named = {name: number for name, number in given.items() if number is not None}
    run(partial(retention.set_rules, numbers=named, legal_hold=legal_hold, reason=reason), as_json=as_json)
