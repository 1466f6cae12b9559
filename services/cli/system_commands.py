"""``groundtrail systems``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import systems
else:
    systems = Later("services.cli.commands.systems")

system_app = typer.Typer(no_args_is_help=True, help="The AI systems of the tenant (EU AI Act).")


@system_app.command("register")
def register_system(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="JSON that describes the system.")],
    expect_version: Annotated[
        int | None, typer.Option(min=0, help="Refuse unless this version stands; 0 = none.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Register an AI system, or describe it anew."""
    run(partial(systems.register, path=path, expected_version=expect_version), as_json=as_json)


@system_app.command("list")
def list_systems(*, as_json: AsJson = False) -> None:
    """List the systems with what their class follows from."""
    run(systems.list_systems, as_json=as_json)


@system_app.command("versions")
def list_system_versions(
    system_id: Annotated[str, typer.Argument(metavar="ID", help="The system's id.")], *, as_json: AsJson = False
) -> None:
    """List every version of a system; reports name the one that stood."""
    run(partial(systems.list_systems, versions_of=system_id), as_json=as_json)
