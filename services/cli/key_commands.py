"""``groundtrail keys``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import keys
else:
    keys = Later("services.cli.commands.keys")

key_app = typer.Typer(no_args_is_help=True, help="The API keys of the tenants, and the master key.")


@key_app.command("create")
def create_key(
    label: Annotated[str, typer.Option(help="What the key is for.")],
    role: Annotated[
        list[str] | None, typer.Option(help="reader, writer, reviewer or admin; repeat for several; none = writer.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days until it expires; none = never.")] = None,
    tenant: Annotated[str, typer.Option(help="Its tenant; made in the store, not by a server; none = default.")] = "",
    namespace: Annotated[
        str | None, typer.Option(help="A shared namespace that it writes; made in the store, not by a server.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a key and show it this once."""
    wish = keys.Wish(label, role or ["writer"], days, tenant, namespace or "")
    run(partial(keys.create, wish=wish), as_json=as_json)


@key_app.command("list")
def list_keys(
    tenant: Annotated[str, typer.Option(help="Keys of this tenant alone; none = all of the data directory.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """List keys by prefix, with tenant, roles and state."""
    run(partial(keys.list_keys, tenant=tenant), as_json=as_json)


@key_app.command("revoke")
def revoke_key(key_id: Annotated[str, typer.Argument(help="The key's id.")], *, as_json: AsJson = False) -> None:
    """Revoke a key."""
    run(partial(keys.revoke, key_id=key_id), as_json=as_json)


@key_app.command("rotate-master")
def rotate_master_key(
    after: Annotated[
        int, typer.Option(min=0, max=30 * 86_400, help="Seconds until it signs; other instances need it before.")
    ] = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Add a master key for new sessions; tokens of the old one stay valid until they expire, old chains verify."""
    from services.cli.commands.master_keys import rotate as command

    run(partial(command, after_s=after), as_json=as_json)
