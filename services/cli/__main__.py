"""Entry of the ``groundtrail`` command: Ctrl-C is quiet from the first moment, imports included."""

import sys
from typing import Final

EXIT_INTERRUPTED: Final = 130
"""What shells expect of a process that SIGINT ended."""


def main() -> None:
    """Run the command line."""
    try:
        from services.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
