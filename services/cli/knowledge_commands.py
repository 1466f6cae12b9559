"""``groundtrail sources`` and ``groundtrail facts``: what they are called and take."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import AsJson, sure
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import facts, source_diff, sources
else:
    facts, source_diff, sources = (
        Later(f"services.cli.commands.{name}") for name in ("facts", "source_diff", "sources")
    )

source_app = typer.Typer(help="The documents that the knowledge was taken from.")
fact_app = typer.Typer(no_args_is_help=True, help="Single facts of the knowledge.")


@source_app.callback(invoke_without_command=True)
def sources_command(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the sources, the latest first; the commands below do more."""
    if context.invoked_subcommand is None:
        run(sources.list_sources, as_json=as_json)


@source_app.command("list")
def list_sources(*, as_json: AsJson = False) -> None:
    """List the sources by title and uri, the latest first; erased ones stay in the list."""
    run(sources.list_sources, as_json=as_json)


@source_app.command("show")
def show_source(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Its uri (file:fees.md), title or id, as `groundtrail sources` has them."
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a source, and its versions that `sources diff` can compare."""
    run(partial(sources.show_source, named=source), as_json=as_json)


@source_app.command("diff")
def diff_sources(
    before: Annotated[
        str, typer.Argument(metavar="A", help="A source's uri or id, a version of it (file:fees.md@2), or a file.")
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, to compare A with.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most facts of each kind of difference.")] = 100,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what was added, removed, changed, moved and renamed between two versions of a document."""
    run(partial(source_diff.diff_sources, before=before, after=after, limit=limit), as_json=as_json)


@source_app.command("erase")
def erase_source(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Its uri (file:fees.md), title or id, as `groundtrail sources` has them."
        ),
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; nothing brings the facts back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a source and its facts (GDPR Art. 17)."""
    sure(f"Erase {source} and its facts for good?", yes=yes, as_json=as_json)
    run(partial(sources.erase_source, named=source), as_json=as_json)


@fact_app.command("show")
def show_fact(
    fact_id: Annotated[str, typer.Argument(metavar="ID", help="A fact's id, or its first 4 or more characters.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a fact whole, with its document, section and page."""
    run(partial(facts.show_fact, fact_id=fact_id), as_json=as_json)


@fact_app.command("quarantine")
def quarantine_fact(
    fact_id: Annotated[str, typer.Argument(metavar="ID", help="Of a fact, or its beginning.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Withhold a fact from every retrieval."""
    run(partial(sources.quarantine_fact, fact_id=fact_id), as_json=as_json)


@fact_app.command("restore")
def restore_fact(
    fact_id: Annotated[str, typer.Argument(metavar="ID", help="Of a withheld fact, or its start.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Let a withheld fact be retrieved again."""
    run(partial(sources.restore_fact, fact_id=fact_id), as_json=as_json)
