"""Entry of the ``groundtrail`` command: Ctrl-C is quiet from the first moment, any terminal can show what is said.

With ``--json`` a wrong command line, too, is one JSON document on stdout: a script reads one stream, whatever happens.
"""

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

EXIT_INTERRUPTED: Final = 130
"""What shells expect of a process that SIGINT ended."""


def main() -> None:
    """Run the command line."""
    try:
        from services.cli.streams import settle_streams

        settle_streams()
        from services.cli.app import app

        if _asks_for_json(sys.argv[1:]):
            sys.exit(_as_json(app))
        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


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
