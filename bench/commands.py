"""What commands cost without a server, and what each service takes of memory: idle, with its models, after questions.

Processor seconds and the peak of resident memory are the kernel's account of each finished command, the median of the
rounds; byte code is cached, as in an installed package. Memory of a server is its proportional set size (PSS), that of
its worker processes included: once it is ready and has rested, with every model loaded at the start, and for the whole
suite after the first question, which loads them.

    python -m bench.commands [--python PYTHON] [--rounds N]

``--python`` names the interpreter of another installation, for a comparison: what it does not know stays out.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

ROUNDS: Final = 3
QUESTIONS: Final = 5
REST_S: Final = 5.0
START_S: Final = 300.0
MIB: Final = 1024 * 1024
QUESTION: Final = "How long are claims files kept after a claim is closed?"
SERVICES: Final = ("envelope", "dpe", "dag", "gateway", "ercp")
FEW_THREADS: Final = {"GROUNDTRAIL_INFERENCE__INTRA_OP_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: processor seconds, peak of resident memory in MiB, exit status, and what it printed."""

    cpu_s: float
    peak_mib: float
    status: int
    output: bytes


@dataclass(frozen=True, slots=True)
class Memory:
    """What a server takes in MiB at rest, the most that it took till then, and the processor seconds of its start."""

    pss_mib: float
    peak_mib: float
    start_cpu_s: float


@dataclass(frozen=True, slots=True)
class Installation:
    """Runs the command line of one installation over a data directory of its own."""

    python: str
    folder: Path

    def environment(self, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of its processes: no settings but these, byte code cached."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDTRAIL_", "PYTHON"))}
        own = {
            "GROUNDTRAIL_STORE__DATA_DIR": str(self.folder / "data"),
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
        }
        return kept | own | dict(given or {})

    def run(self, *arguments: str, given: Mapping[str, str] | None = None) -> Cost:
        """Run a command to its end."""
        with subprocess.Popen(
            [self.python, "-m", "services.cli", *arguments],
            cwd=self.folder,
            env=self.environment(given),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            output = process.stdout.read() if process.stdout else b""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, output)

    def median(self, *arguments: str, rounds: int, given: Mapping[str, str] | None = None) -> Cost:
        """Run a command once for its byte code, then ``rounds`` times; return medians."""
        self.run(*arguments, given=given)
        costs = [self.run(*arguments, given=given) for _ in range(rounds)]
        failed = next((cost.status for cost in costs if cost.status), 0)
        return Cost(
            statistics.median(cost.cpu_s for cost in costs),
            statistics.median(cost.peak_mib for cost in costs),
            failed,
            costs[-1].output,
        )

    @contextmanager
    def serving(self, *services: str, given: Mapping[str, str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Serve until the block ends; yields the process id and what the ready file says."""
        ready = self.folder / f"ready-{time.monotonic_ns()}.json"
        arguments = ["serve", *services, "--port", "0", "--insecure-local", "--ready-file", str(ready)]
        process = subprocess.Popen(
            [self.python, "-m", "services.cli", *arguments],
            cwd=self.folder,
            env=self.environment(given),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until = time.monotonic() + START_S
            while not ready.exists():
                if process.poll() is not None or time.monotonic() > until:
                    msg = f"serve {' '.join(services)} did not start"
                    raise RuntimeError(msg)
                time.sleep(0.2)
            yield process.pid, json.loads(ready.read_text(encoding="utf-8"))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def tree(pid: int) -> list[int]:
    """Return the process and all that descend from it."""
    found, seen = [pid], 0
    while seen < len(found):
        for tasks in Path(f"/proc/{found[seen]}/task").glob("*/children"):
            found += [int(child) for child in tasks.read_text(encoding="ascii").split()]
        seen += 1
    return found


def pss_mib(pid: int) -> float:
    """Return the proportional set size of a process and its descendants."""
    total = 0
    for one in tree(pid):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it ended meanwhile
            lines = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def peak_mib(pid: int) -> float:
    """Return the sum of the peaks of resident memory of a process and its descendants."""
    total = 0
    for one in tree(pid):
        lines = Path(f"/proc/{one}/status").read_text(encoding="utf-8").splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return total / 1024


def cpu_s(pid: int) -> float:
    """Return the processor seconds that a process and its living descendants have taken."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = (Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split() for one in tree(pid))
    return sum(int(field[11]) + int(field[12]) for field in fields) / ticks


def commands(session: str, report: str, target: Path) -> list[tuple[str, ...]]:
    """Return the commands that need no model."""
    return [
        ("--version",),
        ("--help",),
        ("version",),
        ("doctor",),
        ("keys", "list"),
        ("systems", "list"),
        ("sessions",),
        ("verify", session),
        ("show", report),
        ("dag", session),
        ("checkpoint",),
        ("export", "--force", session, str(target)),
        ("sources", "list"),
    ]


def measure_commands(installation: Installation, rounds: int) -> list[tuple[str, Cost]]:
    """Fill a data directory by the demo, then measure every command, without a server and some against one."""
    demo = installation.run("demo", "--json", given=FEW_THREADS)
    found: list[tuple[str, Cost]] = [("demo (8 documents, 2 questions)", demo)]
    answer = json.loads(demo.output)["answers"][-1]["answer"]
    session, report = answer["session_id"], answer["report"]["report_id"]
    for arguments in commands(session, report, installation.folder / "export.ndjson"):
        name = " ".join(text for text in arguments if not text.startswith(("crp_", "/")) and text != report)
        found.append((name, installation.median(*arguments, rounds=rounds)))
    found.append(("ask", installation.median("ask", QUESTION, rounds=1, given=FEW_THREADS)))
    with installation.serving(given=FEW_THREADS) as (_, ready):
        client = {"GROUNDTRAIL_CLIENT__SERVER": ready["address"], "GROUNDTRAIL_CLIENT__API_KEY": "local"}
        for arguments in (("sessions",), ("sources", "list"), ("keys", "list"), ("checkpoint",)):
            cost = installation.median(*arguments, rounds=rounds, given=client)
            found.append((f"{' '.join(arguments)}, against a server", cost))
    return found


def measure_service(installation: Installation, *services: str, load: str) -> Memory:
    """Start a server, let it rest, and say what it takes; other services are named, but not there."""
    peers = {f"GROUNDTRAIL_PEERS__{name.upper()}": "127.0.0.1:9" for name in ("envelope", "dpe", "dag")}
    given = {"GROUNDTRAIL_INFERENCE__LOAD": load} if load else {}
    with installation.serving(*services, given=given | (peers if services else {})) as (pid, _):
        started = cpu_s(pid)
        time.sleep(REST_S)
        return Memory(pss_mib(pid), peak_mib(pid), started)


def measure_suite(installation: Installation, questions: int) -> list[tuple[str, float]]:
    """Return the memory of the whole suite in one process: idle, after one question, after more."""
    with installation.serving() as (pid, ready):
        time.sleep(REST_S)
        found = [("idle", pss_mib(pid))]
        client = {"GROUNDTRAIL_CLIENT__SERVER": ready["address"], "GROUNDTRAIL_CLIENT__API_KEY": "local"}
        installation.run("ingest", str(Path(__file__).parents[1] / "examples" / "handbook"), given=client)
        found.append(("after the handbook was ingested", pss_mib(pid)))
        for number in range(questions):
            installation.run("ask", QUESTION, given=client)
            if number in {0, questions - 1}:
                found.append((f"after {number + 1} question{'s' if number else ''}", pss_mib(pid)))
        found.append(("the most that was resident", peak_mib(pid)))
    return found


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    shown = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        shown.add_column(column, justify="right" if number else "left")
    for row in rows:
        shown.add_row(*row)
    Console(width=140).print(shown)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.commands", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the installation that is measured")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each command, default {ROUNDS}")
    parser.add_argument("--only", choices=("commands", "services", "suite"), help="one of the tables; none = all")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="groundtrail-commands-") as folder:
        installation = Installation(arguments.python, Path(folder))
        if arguments.only in {None, "commands"}:
            rows = [
                (name, f"{cost.cpu_s:.2f}", f"{cost.peak_mib:.0f}", str(cost.status))
                for name, cost in measure_commands(installation, arguments.rounds)
            ]
            table("Commands", ("command", "processor s", "peak MiB", "exit"), rows)
        if arguments.only in {None, "services"}:
            show_services(installation)
        if arguments.only in {None, "suite"}:
            suite = [(when, f"{pss:.0f}") for when, pss in measure_suite(installation, QUESTIONS)]
            table("The whole suite in one process", ("when", "MiB PSS"), suite)


def show_services(installation: Installation) -> None:
    """Measure each service and the whole suite, under every way of loading that the installation knows."""
    has_load = installation.run("version", given={"GROUNDTRAIL_INFERENCE__LOAD": "start"}).status == 0
    loads = ("first-use", "start") if has_load else ("",)
    rows = []
    for names in (*((name,) for name in SERVICES), ()):
        cells: list[str] = []
        for load in loads:
            one = measure_service(installation, *names, load=load)
            cells += [f"{one.pss_mib:.0f}", f"{one.peak_mib:.0f}", f"{one.start_cpu_s:.1f}"]
        rows.append((" ".join(names) or "whole suite", *cells))
    heads = [
        f"{load} {what}".strip() for load in loads for what in ("idle, MiB PSS", "peak, MiB", "start, processor s")
    ]
    table("Services", ("service", *heads), rows)


if __name__ == "__main__":
    main()
