"""The ``groundtrail`` command: that of the services where they are installed, else how to get it."""

import sys
from importlib.util import find_spec
from typing import Final

_COMMAND: Final = "services.cli"
MISSING: Final = 'the command comes with the services: pip install "groundtrail[embedded]"'


def main() -> None:
    """Run the command line."""
    if find_spec(_COMMAND.partition(".")[0]) is None:
        sys.exit(f"groundtrail: {MISSING}")
    from services.cli.__main__ import main as command

    command()


if __name__ == "__main__":
    main()
