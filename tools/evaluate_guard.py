"""Measure the guard: each part by a module of its own, on rows that people labelled.

    python -m tools.evaluate_guard PART [OPTION…]
    python -m tools.evaluate_guard PART --help

The parts are the modules of ``evaluation.guard`` that have a ``run``: it takes the rest of the command line and
returns the exit status.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final

PARTS: Final = ("coherence", "injection", "claims", "streams")
PACKAGE: Final = "evaluation.guard"


def parts() -> tuple[str, ...]:
    """Return the parts that can be measured."""
    return tuple(name for name in PARTS if find_spec(f"{PACKAGE}.{name}") is not None)


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    known = parts()
    if arguments and arguments[0] in known:
        return int(import_module(f"{PACKAGE}.{arguments[0]}").run(arguments[1:]))
    asks = bool(arguments) and arguments[0] in {"-h", "--help"}
    print(f"{__doc__}\nParts: {', '.join(known)}", file=sys.stdout if asks else sys.stderr)
    return 0 if asks else 2


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
