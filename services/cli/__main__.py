"""Entry of the ``groundtrail`` command: Ctrl-C is quiet from the first moment, any terminal can show what is said.

With ``--json`` a wrong command line, too, is one JSON document on stdout: a script reads one stream, whatever happens.
"""

import gc
import sys
import threading
from copy import copy
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

EXIT_INTERRUPTED: Final = 130
"""What shells expect of a process that SIGINT ended."""
UNCOLLECTED_S: Final = 3.0
"""So long nobody looks for objects that only refer to each other: what a short command makes, it imports and keeps."""


def main() -> None:
    """Run the command line."""
    try:
        collect_later()
        from services.cli.streams import settle_streams

        settle_streams()
        from services.cli.app import app

        asked = narrowed(app, sys.argv[1:])
        if _asks_for_json(sys.argv[1:]):
            sys.exit(_as_json(asked))
        asked()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def collect_later() -> None:
    """Stop the collector, a tenth of a short command's time, until the process has lived for a while."""
    gc.disable()
    begin = threading.Timer(UNCOLLECTED_S, gc.enable)
    begin.daemon = True
    begin.start()


def narrowed(app: "typer.Typer", arguments: "Sequence[str]") -> "typer.Typer":
    """Return the command line with the called command alone: 70 signatures take longer to make than keys to list.

    Whatever else stands first (an option, a wrong word, nothing) leaves the command line whole. ``app`` stays as it is.
    """
    name = next(iter(arguments), "")
    commands = [one for one in app.registered_commands if name == (one.name or getattr(one.callback, "__name__", ""))]
    groups = [one for one in app.registered_groups if one.name == name]
    if len(commands) + len(groups) != 1:
        return app
    own = copy(app)
    own.registered_commands, own.registered_groups = commands, groups
    return own


def _asks_for_json(arguments: "Sequence[str]") -> bool:
    """Say whether the option is there; behind ``--`` it is text."""
    return "--json" in arguments[: arguments.index("--") if "--" in arguments else None]


def _as_json(app: "typer.Typer") -> int:
    """Run the command line; what is wrong with it is told as any other error."""
    import typer

    from services.cli.console import Output

    try:
        return int(app(standalone_mode=False) or 0)
    except typer.TyperException as error:
        hint = "`groundtrail --help` and `groundtrail COMMAND --help` say what is allowed"
        Output(as_json=True).error(error.format_message(), reason="COMMAND_LINE_INVALID", hint=hint)
        return error.exit_code


if __name__ == "__main__":
    main()
