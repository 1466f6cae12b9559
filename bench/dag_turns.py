"""The record in this checkout against another one, by turns in one run: what verifying and committing cost now.

    python -m bench.dag_turns CHECKOUT [--rounds 3] [--windows 10000] [--seconds 4]

CHECKOUT is a folder of this repository at another commit (``git worktree add``), with its own ``.venv`` or none. Every
round measures, in a process of its own, first one of the two and then the other, each with its own ``bench.dag``:
windows verified whole from SQLite, commits at the store port with 32 sessions, the same sealed and logged first, and
windows opened and committed over gRPC. Shown are the medians.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.report import Row, show

VERIFIED: Final = "windows read from SQLite and verified whole"
COMMITS: Final = "commits at the store port, FULL, 32 sessions"
SEALED: Final = "… sealed and logged first, 32 sessions"
SERVED: Final = "windows opened and committed over gRPC, FULL, 32 clients"
MOST_TIMES: Final = 1.3
LEAST_SHARE: Final = 0.9
_ONE_ROUND: Final = """
import asyncio, json, sys, tempfile
from pathlib import Path
from bench import dag, dag_chain
windows, seconds = int(sys.argv[1]), float(sys.argv[2])
with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-dag-") as place:
    folder = Path(place)
    session = dag_chain.write_session("chain", windows)
    found = [
        asyncio.run(dag._from_store(folder, session)),
        asyncio.run(dag._store_commits(folder, dag.SESSIONS, 60, seal=False)),
        asyncio.run(dag._store_commits(folder, dag.SESSIONS, 60, seal=True)),
        dag.served_rows(folder, seconds)[-1].value,
    ]
print(json.dumps(found))
"""
_DEADLINE_S: Final = 600.0


def one_round(checkout: Path, windows: int, seconds: float) -> list[float]:
    """Measure a checkout once, in a process of its own.

    Raises:
        RuntimeError: it cannot be measured.
    """
    own = checkout / ".venv/bin/python"
    python = str(own) if own.exists() else sys.executable
    command = [python, "-c", _ONE_ROUND, str(windows), str(seconds)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    if done.returncode:
        msg = f"{checkout} cannot be measured: {done.stderr[-2_000:]}"
        raise RuntimeError(msg)
    return [float(value) for value in json.loads(done.stdout.splitlines()[-1])]


def compare(other: Path, rounds: int, windows: int, seconds: float) -> list[Row]:
    """Measure both by turns, and return what this checkout takes against the other."""
    here, there = Path.cwd(), other.resolve()
    found: dict[Path, list[list[float]]] = {here: [], there: []}
    for number in range(rounds):
        for checkout in (here, there) if number % 2 == 0 else (there, here):
            found[checkout].append(one_round(checkout, windows, seconds))
            print(f"{checkout}: {[round(value, 1) for value in found[checkout][-1]]}", file=sys.stderr)
    mine, theirs = ([statistics.median(each) for each in zip(*found[place], strict=True)] for place in (here, there))
    rows = []
    for place, (name, unit) in enumerate(_measured(windows)):
        rows.append(Row(f"{name}: the other checkout", theirs[place], unit))
        ratio = theirs[place] / mine[place] if unit == "ms" else mine[place] / theirs[place]
        target = 1 / MOST_TIMES if unit == "ms" else LEAST_SHARE
        rows.append(Row(f"{name}: this one", mine[place], unit, "the other checkout", ratio, target))
    return rows


def _measured(windows: int) -> Sequence[tuple[str, str]]:
    return (f"{windows:,} {VERIFIED}", "ms"), (COMMITS, "commits/s"), (SEALED, "commits/s"), (SERVED, "windows/s")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.dag_turns", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="the repository at another commit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--windows", type=int, default=10_000, help="length of the chain (default 10000)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of load over gRPC (default 4)")
    given = parser.parse_args()
    show("The record by turns", compare(given.checkout, given.rounds, given.windows, given.seconds))


if __name__ == "__main__":
    main()
