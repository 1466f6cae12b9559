"""``groundtrail providers``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson, ProviderWord
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import providers
else:
    providers = Later("services.cli.commands.providers")

provider_app = typer.Typer(no_args_is_help=True, help="The tenant's own providers of language models.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the provider, within the tenant.")]


@provider_app.command("list")
def list_providers(*, as_json: AsJson = False) -> None:
    """List the tenant's own providers; their keys are never shown."""
    run(providers.list_providers, as_json=as_json)


@provider_app.command("set")
def set_provider(
    name: Name,
    base_url: Annotated[str, typer.Option(help="Root of its API, e.g. https://api.openai.com/v1.")],
    model: Annotated[
        list[str], typer.Option(help="A model that is asked there, * for any characters; repeat for several.")
    ],
    form: Annotated[ProviderWord, typer.Option(help="What it speaks.")] = ProviderWord.OPENAI,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A file that holds its key, - for standard input; left out: a kept one stays, else none."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Set a provider: the tenant's questions to its models go there, with its key."""
    address = (form, base_url, key_file)
    run(partial(providers.set_provider, name=name, models=model, address=address), as_json=as_json)


@provider_app.command("remove")
def remove_provider(name: Name, *, as_json: AsJson = False) -> None:
    """Remove a provider, and its key for good."""
    run(partial(providers.remove_provider, name=name), as_json=as_json)
