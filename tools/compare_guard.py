"""Hold the guard beside another system, director-ai, on the same rows in the same run (``make eval-guard``).

    GROUNDTRAIL_EVAL_DATA=DIR python -m tools.compare_guard [injection] [claims] [coherence] [faults]
    python -m tools.compare_guard injection --file ROWS.jsonl
    python -m tools.compare_guard claims coherence --grounding ROWS.jsonl --fold all

Ours is asked over gRPC, as callers do; the other one in an environment of its own (.cache/peers), which this command
makes from the package registry. Where the registry is out of reach, or this build does not serve a call, that column
stays out and the reason is said. Prints tables; --save keeps the figures as docs/results/guard-TASK.json. Texts are
never printed. ``--half test`` opens the set of tests/vectors/guard/injection, which is done once.
"""

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from evaluation.data import EvaluationDataError, folder
from evaluation.encoder_memory import DEFAULT_FILE
from evaluation.guard import guard_rows, peer_faults
from evaluation.guard.comparison import Rows, Said, figures_of, kinds_of, per_set, taken
from evaluation.guard.comparison_page import Comparison
from evaluation.guard.guard_rows import NO_QUESTION, InjectionRow, SupportRow
from evaluation.guard.own_guard import NAME, NotServedError, OwnGuard, open_guard
from evaluation.guard.peers import NAME as PEER
from evaluation.guard.peers import RELEASES, WITHOUT, Peer, PeerError, running
from evaluation.labelled import LabelledClaim
from evaluation.measured import measured_now
from evaluation.pipeline import AT_ONCE, claim_support
from evaluation.results import plain
from evaluation.tables import Table
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.telemetry import configure_logs
from services.dpe.domain.findings import Verdict

TASKS: Final = ("injection", "claims", "coherence", "faults")
ENGINE: Final = "Groundtrail, provenance engine"
MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
RESULTS: Final = Path("docs/results")
WIDTH: Final = 190
_VARIANTS: Final = {
    "claims": ("every claim", "the same scores, approved where every claim is supported"),
    "coherence": ("no kernel", "the heuristics of the base package, without its compiled kernel"),
}
"""What else the peer may be taken for: its default may not be its best."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.compare_guard", description=__doc__, formatter_class=described)
    found.add_argument("tasks", nargs="*", metavar="TASK", help=f"{', '.join(TASKS)}; none = all")
    found.add_argument(
        "--file", type=Path, action="append", metavar="FILE", help="these rows of injection alone; repeatable"
    )
    found.add_argument(
        "--grounding", type=Path, metavar="FILE", help="labelled claims; those of the data folder unless told"
    )
    found.add_argument(
        "--fold",
        choices=("report", "all"),
        default=guard_rows.REPORT,
        help="of labelled claims; report, on which nothing is fitted, unless told",
    )
    found.add_argument(
        "--half", choices=("development", "test"), default="development", help="test: the closed set of injection alone"
    )
    found.add_argument("--limit", type=int, metavar="N", help="at most N rows of each set and label")
    found.add_argument(
        "--peer", action="append", choices=RELEASES, metavar="RELEASE", help="of them this one; repeatable"
    )
    found.add_argument("--no-peer", action="store_true", help="ours alone")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--save", action="store_true", help=f"keep the figures as {RESULTS}/guard-TASK.json")
    found.add_argument("--fresh", action="store_true", help="ask the encoders anew; remember nothing")
    return found


@dataclass(slots=True)
class Systems:
    """What is compared: our guard, the peers that could be had, and why others could not."""

    settings: Settings
    memory: Path | str
    peers: Sequence[Peer]
    left_out: Mapping[str, str]
    guard: OwnGuard = field(init=False)

    def comparison(self, task: str) -> Comparison:
        """Return an empty one."""
        return Comparison(task, {peer.name: WITHOUT for peer in self.peers}, dict(self.left_out))

    async def own(self, found: Comparison, ask: Callable[[], Awaitable[Sequence[tuple[float, bool]]]]) -> list[Any]:
        """Return our column, none when this build does not serve the call."""
        try:
            said = list(await ask())
        except NotServedError as error:
            found.left_out[NAME] = str(error)
            return []
        found.systems[NAME] = "over gRPC, with the models that are delivered"
        return said

    def of_peers(self, found: Comparison, order: str, name: str, rows: Sequence[Any]) -> dict[str, list[Any]]:
        """Return the peers' columns; one that fails is left out."""
        columns = {}
        for peer in self.peers:
            try:
                columns[peer.name] = peer.ask_rows(order, name, rows)
            except PeerError as error:
                found.systems.pop(peer.name, None)
                found.left_out[peer.name] = str(error)
        return columns


async def compare_injection(systems: Systems, rows: Sequence[InjectionRow]) -> Comparison:
    """Compare what is taken for an injection."""
    found, texts = systems.comparison("injection"), [row.text for row in rows]
    columns: dict[str, list[Any]] = {}
    own = await systems.own(found, lambda: systems.guard.injection(texts))
    if own:
        columns[NAME] = own
    columns |= systems.of_peers(found, "injection", "texts", texts)
    said = [_said(name, [one[0] for one in column], [one[1] for one in column]) for name, column in columns.items()]
    positive = np.array([row.injection for row in rows])
    datasets, carriers = [row.dataset for row in rows], [row.carrier for row in rows]
    _measure(found, said, positive, datasets, carriers)

    def kinds(dataset: str, some: Rows) -> None:
        names = [rows[place].kind for place in some]
        for one in said:
            found.kinds.extend(kinds_of(dataset, taken(one, some), positive[some], names))

    per_set(datasets, kinds)
    return found


async def compare_support(systems: Systems, task: str, rows: Sequence[SupportRow]) -> Comparison:
    """Compare which texts are not borne out, by verified claims or by coherence."""
    found = systems.comparison(task)
    plain_rows = [{"claim": row.claim, "passages": row.passages, "prompt": row.question or NO_QUESTION} for row in rows]
    ask = systems.guard.claims if task == "claims" else systems.guard.coherence
    said = []
    own = await systems.own(found, lambda: ask(rows))
    if own:
        said.append(_refused(NAME, own))
    if task == "claims":
        said.append(_refused(ENGINE, await engine_verdicts(systems, rows)))
        found.systems[ENGINE] = "its own verdicts, what groundtrail check gives"
    for name, column in systems.of_peers(found, task, "rows", plain_rows).items():
        said.append(_refused(name, column))
        variant, how = _VARIANTS[task]
        said.append(_refused(f"{name}, {variant}", [_variant(task, one) for one in column]))
        found.systems[f"{name}, {variant}"] = how
    positive = np.array([not row.supported for row in rows])
    _measure(found, said, positive, [row.dataset for row in rows], [row.carrier for row in rows])
    return found


async def engine_verdicts(systems: Systems, rows: Sequence[SupportRow]) -> list[tuple[float, bool]]:
    """Return the support of the weakest claim, and whether every claim is SUPPORTED, by the provenance engine alone."""
    from evaluation.embedded_engine import open_engine

    claims = [
        LabelledClaim(
            str(number), row.dataset, row.passages, row.claim, row.question or None, row.supported, None, None
        )
        for number, row in enumerate(rows)
    ]
    found = []
    async with open_engine(systems.settings, systems.memory) as engine:
        for start in range(0, len(claims), AT_ONCE):  # the encoders batch over texts that are checked together
            some = list(zip(claims, rows, strict=True))[start : start + AT_ONCE]
            for one in await asyncio.gather(*(engine.check(claim, are_facts=row.are_facts) for claim, row in some)):
                support = min(map(claim_support, one.judgements), default=0.0)
                whole = all(item.verdict is Verdict.SUPPORTED for item in one.judgements)
                found.append((support, bool(one.judgements) and whole))
    return found


def _said(system: str, scores: Sequence[float], found: Sequence[bool]) -> Said:
    return Said(system, np.array(scores, dtype=np.float64), np.array(found, dtype=np.bool_))


def _variant(task: str, one: Sequence[Any]) -> tuple[float, bool]:
    return (one[0], one[2]) if task == "claims" else (one[2], one[3])


def _refused(system: str, column: Sequence[Sequence[Any]]) -> Said:
    return _said(system, [1.0 - one[0] for one in column], [not one[1] for one in column])


def _measure(
    found: Comparison, said: Sequence[Said], positive: Any, datasets: Sequence[str], carriers: Sequence[str]
) -> None:
    def of(dataset: str, some: Rows) -> None:
        own = [carriers[place] for place in some]
        found.figures.extend(figures_of(dataset, taken(one, some), positive[some], own) for one in said)

    per_set(datasets, of)


class Runs:
    """The tasks on one set of options."""

    def __init__(self, options: argparse.Namespace, environment: Mapping[str, str]) -> None:
        self._options = options
        self._environment = environment

    async def run(self, task: str, systems: Systems) -> tuple[Sequence[Table], dict[str, Any]]:
        """Return the tables of a task, and what its results file holds.

        Raises:
            EvaluationDataError: its rows are not there.
        """
        if task == "faults":
            columns = {peer.name: peer_faults.of_peer(peer) for peer in systems.peers}
            columns[NAME] = await peer_faults.of_guard(systems.guard)
            inputs = {name: {"fault": what, "input": given} for name, (what, given) in peer_faults.FAULTS.items()}
            document = {"command": self.command(task), "inputs": inputs, "found": columns}
            return [peer_faults.table_of(columns)], document
        if task == "injection":
            texts = guard_rows.first_of(
                self._injection(), lambda row: f"{row.dataset} {row.injection}", self._options.limit
            )
            found = await compare_injection(systems, texts)
        else:
            rows = guard_rows.first_of(
                self._support(task), lambda row: f"{row.dataset} {row.supported}", self._options.limit
            )
            found = await compare_support(systems, task, rows)
        return found.tables(), found.document(self.command(task))

    def command(self, task: str) -> str:
        """Return the command line that gives the same figures; files by their names alone."""
        options = self._options
        parts = ["python -m tools.compare_guard", task]
        if task == "injection":
            parts += [f"--file {shlex.quote(path.name)}" for path in options.file or ()]
            parts += [f"--half {options.half}"] * (options.half != "development")
        if task in {"claims", "coherence"}:
            parts += [f"--grounding {shlex.quote(options.grounding.name)}"] if options.grounding else []
            parts += [f"--fold {options.fold}"] * (options.fold != guard_rows.REPORT)
        return " ".join((*parts, *([f"--limit {options.limit}"] if options.limit else ())))

    def _injection(self) -> list[InjectionRow]:
        if self._options.half == "test":
            return guard_rows.closed_rows()
        if self._options.file:
            return [row for path in self._options.file for row in guard_rows.injection_file(path)]
        return guard_rows.injection_rows(folder(self._environment))

    def _support(self, task: str) -> list[SupportRow]:
        path = self._options.grounding or folder(self._environment) / "grounding" / "dev.jsonl.gz"
        fold = None if self._options.fold == "all" else guard_rows.REPORT
        if task == "claims":
            return guard_rows.claim_rows(path, fold)
        rows = guard_rows.support_rows(path, guard_rows.COHERENCE_SETS, fold)
        if not rows:
            raise EvaluationDataError(f"{path} holds no row of {' or '.join(guard_rows.COHERENCE_SETS)}")
        return rows


async def compare(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Run the tasks, print their tables, and return what the results files hold."""
    runs, documents = Runs(options, os.environ), {}
    memory: Path | str = ":memory:" if options.fresh else Path(os.environ.get(MEMORY) or DEFAULT_FILE)
    console = Console(width=WIDTH, stderr=options.json)
    with ExitStack() as stack:
        peers, left_out = [], {}
        for release in () if options.no_peer else options.peer or RELEASES:
            try:
                peers.append(stack.enter_context(running(release)))
            except PeerError as error:
                left_out[f"{PEER} {release}"] = str(error)
        systems = Systems(settings, memory, peers, left_out)
        async with open_guard(settings, memory) as systems.guard:
            for task in options.tasks or TASKS:
                tables, documents[task] = await runs.run(task, systems)
                for table in tables:
                    table.show(console)
    for name, why in left_out.items():
        console.print(f"{name} is left out: {why}", highlight=False)
    return documents


def save(documents: Mapping[str, Any], half: str) -> None:
    """Keep the figures."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    now = measured_now()
    for task, document in documents.items():
        name = f"guard-{task}" + ("-closed" if half == "test" and task == "injection" else "")
        text = json.dumps({"measured": now, **plain(document)}, indent=1, ensure_ascii=False)
        (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser().error(f"{', '.join(unknown)}: the tasks are {', '.join(TASKS)}")
    if options.limit is not None and options.limit < 1:
        parser().error("--limit must be at least 1")
    try:
        settings = load_settings()
        configure_logs(settings.telemetry.model_copy(update={"log_level": "error"}), sys.stderr)
        documents = asyncio.run(compare(options, settings))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.save:
        save(documents, options.half)
    if options.json:
        print(json.dumps(plain(documents), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
