"""What options take and how they ask: known before a command's own module is loaded."""

import sys
from enum import StrEnum, unique
from typing import Annotated, Final

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]

WitnessKeys = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY", help="A witness's key, as `witness key` prints it, or a file with it; with --offline."),
]
MinCosignatures = Annotated[
    int | None, typer.Option(min=0, help="How many of the witnesses must have cosigned; none = all; with --offline.")
]

UNFINISHED: Final = "copy-unfinished.json"
"""Stands in the target's data directory from the first write of ``stores copy`` to the proof."""

MOST_LISTED: Final = 100_000
"""What --limit of a list takes at most."""


def sure(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask whether to go on, unless it was said.

    Raises:
        typer.BadParameter: nobody can be asked, and ``--yes`` was not said.
        typer.Abort: the answer was no.
    """
    if yes:
        return
    if as_json:
        raise typer.BadParameter("--json does not ask; add --yes to erase", param_hint="--yes")
    try:
        agreed = typer.confirm(question)
    except typer.Abort:
        if sys.stdin.isatty():
            raise  # Ctrl-C, Ctrl-D
        raise typer.BadParameter("there is nobody to ask on stdin; add --yes to erase", param_hint="--yes") from None
    if not agreed:
        raise typer.Abort


def refuse_empty(context: typer.Context) -> None:
    """Refuse an option that was given and left empty, as a variable is that was not set: it would count as not given.

    Raises:
        typer.BadParameter: names the first.
    """
    for option in context.command.params:
        value = context.params.get(option.name or "")
        source = context.get_parameter_source(option.name or "")
        empty = not value.strip() if isinstance(value, str) else isinstance(value, list | tuple) and "" in value
        if empty and source is not None and source.name == "COMMANDLINE" and option.opts[0].startswith("-"):
            raise typer.BadParameter("must not be empty; leave it out for none", param_hint=option.opts[0])


@unique
class DagForm(StrEnum):
    """What ``dag --format`` takes."""

    TREE = "tree"
    DOT = "dot"
    MERMAID = "mermaid"
    JSON = "json"


@unique
class StatusWord(StrEnum):
    """What ``sessions list --status`` takes."""

    OPEN = "OPEN"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"
    BROKEN = "BROKEN"
    EXPIRED = "EXPIRED"
    ERASED = "ERASED"
    TOMBSTONED = "TOMBSTONED"


@unique
class ProviderWord(StrEnum):
    """What ``providers set --form`` takes."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@unique
class ExportForm(StrEnum):
    """What ``export --format`` takes."""

    NDJSON = "ndjson"
    OCSF = "ocsf"


Superseded = Annotated[
    bool,
    typer.Option(
        "--include-superseded",
        help="Also facts that do not hold now: superseded, no longer or not yet valid. Without it only where the "
        "question asks for the past or for what is to come.",
    ),
]
