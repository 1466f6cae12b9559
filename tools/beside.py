"""Run a command beside processes that do nothing but compute: ``python -m tools.beside 4 -- make test``.

They end with the command, with this program, however that ends, and after an hour at the latest. The exit status is the
command's.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

LONGEST_S: Final = 3_600
_BUSY: Final = """
import os, sys, time
parent, until = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
while os.getppid() == parent and time.monotonic() < until:
    sum(range(100_000))
"""


def beside(count: int, command: Sequence[str]) -> int:
    """Run the command beside so many busy processes; return its exit status."""
    busy = [sys.executable, "-I", "-S", "-c", _BUSY, str(os.getpid()), str(LONGEST_S)]
    others = [subprocess.Popen(busy) for _ in range(count)]
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.beside", description=__doc__)
    parser.add_argument("count", type=int, help="busy processes")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    sys.exit(beside(arguments.count, arguments.command))


if __name__ == "__main__":
    main()
