"""``groundtrail policy``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import policy
else:
    policy = Later("services.cli.commands.policy")

policy_app = typer.Typer(no_args_is_help=True, help="The tenant's safety policy: a floor under every request.")
Directives = Annotated[
    str, typer.Argument(metavar="POLICY", help='Directives separated by ";"; those of a file: "$(cat FILE)".')
]


@policy_app.command("show")
def show(*, as_json: AsJson = False) -> None:
    """Show the policy in force."""
    run(policy.show, as_json=as_json)


@policy_app.command("set")
def set_policy(
    directives: Annotated[
        str | None,
        typer.Argument(metavar="POLICY", help='Directives separated by ";"; those of a file: "$(cat FILE)".'),
    ] = None,
    sink_host: Annotated[
        list[str] | None, typer.Option(help="A host that violation reports may go to; repeat for several, - for none.")
    ] = None,
    expect_version: Annotated[
        int | None, typer.Option(min=0, help="Refuse unless this version stands; none = whatever stands now.")
    ] = None,
    *,
    none: Annotated[
        bool, typer.Option("--none", help="Take the policy away: the deployment's default holds again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Set the policy; hosts that are not named stay as they are."""
    if none and directives is not None:
        raise typer.BadParameter("takes the policy away; leave POLICY out", param_hint="--none")
    if not none and not (directives or "").strip():
        text = "must name a directive; --none in its place takes the tenant's policy away"
        raise typer.BadParameter(text, param_hint="POLICY")
    run(
        partial(policy.set_policy, directives=directives or "", sink_hosts=sink_host, expected_version=expect_version),
        as_json=as_json,
    )


@policy_app.command("try")
def try_policy(
    directives: Directives,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Most stored windows to look at.")] = 10_000,
    *,
    as_json: AsJson = False,
) -> None:
    """Say which stored windows a policy would have withheld; nothing is set."""
    run(partial(policy.try_policy, directives=directives, limit=limit), as_json=as_json)
