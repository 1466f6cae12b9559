"""``groundtrail stores``: what it is called and takes."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import stores
else:
    stores = Later("services.cli.commands.stores")

store_app = typer.Typer(no_args_is_help=True, help="The stores of the knowledge.")
_WHERE = "a data directory; ENGINE:DIR or ENGINE:DIR@URL; or `settings` for the stores that the settings name"


@store_app.callback()
def store_commands() -> None:
    """Hold the commands together."""


@store_app.command("copy")
def copy_stores(
    source: Annotated[str, typer.Argument(metavar="FROM", help=f"Where the facts are: {_WHERE}.")],
    target: Annotated[str, typer.Argument(metavar="TO", help=f"Where they are to stand: {_WHERE}.")],
    tenant: Annotated[
        list[str] | None, typer.Option(metavar="TENANT", help="Copy this tenant's alone; repeatable. None = all.")
    ] = None,
    *,
    merge: Annotated[
        bool, typer.Option("--merge", help="The target may have other facts of the tenant, and keeps them.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy facts with vectors, sources and communities between stores, and prove it by counts and hashes.

    ENGINE:DIR is a data directory whose vectors an engine of the extras proposes, in its files there or at a URL: it is
    filled, and read back. DIR may be the same on both sides then. milvus:DIR@URL has facts on Milvus, sources in DIR.

    FROM stays as it is. The same command again goes on where one was broken off, and writes nothing that is there.
    No server may have either side. Exit code 2 when nothing may be written (other facts there, another embedding
    model), 3 when the sides differ afterwards.
    """
    wish = partial(stores.CopyWish, source, target, tuple(tenant or ()), merge, dry_run)
    run(lambda settings, output: stores.copy(settings, output, wish()), as_json=as_json)
