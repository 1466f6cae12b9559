"""``groundtrail mcp`` on the command line: its options; what it does is in ``commands/mcp.py``."""

from functools import partial
from typing import Annotated

import typer

from services.cli.later import run


def serve_tools(
    http: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65_535, help="Over HTTP on 127.0.0.1 instead; 0 = a free port."),
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say where it listens as one JSON document; with --http.")
    ] = False,
) -> None:
    """Serve search, ask, check and verify as tools for language models (Model Context Protocol)."""
    from services.cli.commands.mcp import mcp as command

    if as_json and http is None:
        raise typer.BadParameter("standard output is the protocol's: needs --http", param_hint="--json")
    run(partial(command, port=http), as_json=as_json)
