"""Measure the ERCP loop on scripted problems with planted errors (part of ``make eval``).

    python -m tools.evaluate_ercp [--half development|held_back|both|final|all] [--limit N] [--failures FILE] [--save]
    python -m tools.evaluate_ercp --half final --dry-run
    python -m tools.evaluate_ercp --blind FOLDER [--stubborn] [--json FILE]
    python -m tools.evaluate_ercp --model [--limit N] [--save]
    python -m tools.evaluate_ercp --markdown [--check]

The generator is scripted: it answers from a table, so the figures say what the loop, the verifier and the solver do,
not what a language model can. ``--model`` runs the same loop on a real one: the endpoint that GROUNDTRAIL_LLM__BASE_URL
or GROUNDTRAIL_TEST_LLM_BASE_URL names. Problems: tests/vectors/ercp/problems. ``development`` and ``held_back`` are the
halves that the rules are mended on; ``final`` is only counted, and is the figure to quote (ADR 0081). Unless told,
both halves are measured, and with ``--save`` all three. ``--blind`` counts problems of that form in another folder, and
with ``--stubborn`` how many of its drafts converge, clean and broken, by an answerer that never mends anything.
There is no target and no figure is left out.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn

from evaluation import ercp_tables
from evaluation.data import EvaluationDataError
from evaluation.ercp_failures import failures
from evaluation.ercp_generator import ScriptedGenerator
from evaluation.ercp_measure import REPEATS, Measured, Report, measure, measure_model, measure_stubborn, results
from evaluation.ercp_problems import FINAL, HALVES, SETS, ScriptedProblem, load
from evaluation.ercp_system import ErcpSystem, open_system
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.settings.llm import LlmSettings

VARIABLE: Final = "GROUNDTRAIL_TEST_LLM_BASE_URL"
WIDTH: Final = 150
STUBBORN: Final = "stubborn"
ANSWER_S: Final = 5.0
SEVERAL: Final = {"both": HALVES, "all": SETS}


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.evaluate_ercp", description=__doc__, formatter_class=described)
    found.add_argument("--half", choices=(*SETS, *SEVERAL), help="both unless told; with --save, all")
    found.add_argument("--dry-run", action="store_true", help="check and count the problems: measure nothing")
    found.add_argument("--limit", type=int, metavar="N", help="at most N problems of each half, evenly chosen")
    found.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help=f"runs of each sampled one; {REPEATS}")
    found.add_argument("--failures", type=Path, metavar="FILE", help=f"write what differed; never of {FINAL}")
    found.add_argument("--blind", type=Path, metavar="FOLDER", help="count the problems of this folder alone")
    found.add_argument("--stubborn", action="store_true", help="with --blind: each draft alone, said again and again")
    found.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    found.add_argument("--model", action="store_true", help="generate with a language model instead of the script")
    default = ercp_tables.DEFAULT_FILE
    found.add_argument("--save", action="store_true", help=f"keep the figures in {default} and {ercp_tables.PAGE}")
    found.add_argument(
        "--markdown", action="store_true", help=f"measure nothing: write the tables of {ercp_tables.PAGE}"
    )
    found.add_argument("--check", action="store_true", help="with --markdown: change nothing, fail when it is stale")
    return found


def asked_for(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the sets of problems that the command line asks for."""
    half = options.half or ("all" if options.save else "both")
    return SEVERAL.get(half, (half,))


def told(half: str, problems: Sequence[ScriptedProblem]) -> str:
    """Return what a set holds, in one line."""
    drafts = [draft for problem in problems for draft in problem.script]
    planted = sum(len(draft.errors) for draft in drafts)
    clean = sum(not draft.errors for draft in drafts)
    expected = ", ".join(f"{name} {number}" for name, number in Counter(one.status for one in problems).items())
    return f"{half}: {len(problems)} problems ({expected}), {len(drafts)} drafts, {planted} errors, {clean} clean"


def chosen(half: str, limit: int | None) -> tuple[ScriptedProblem, ...]:
    """Return the problems of a half, or so many of them, spread over all kinds."""
    problems = load(half)
    if limit is None or limit >= len(problems):
        return problems
    return tuple(problems[number * len(problems) // limit] for number in range(limit))


async def measure_half(settings: Settings, problems: Sequence[ScriptedProblem], repeats: int) -> Measured:
    """Measure problems with the scripted generator, with a progress bar on stderr."""
    async with _scripted(settings) as (system, generator, report):
        return await measure(system, generator, problems, repeats, report)


async def insisting(settings: Settings, problems: Sequence[ScriptedProblem]) -> dict[str, int]:
    """Count which drafts converge by an answerer that never mends anything."""
    async with _scripted(settings) as (system, generator, report):
        return await measure_stubborn(system, generator, problems, report)


@asynccontextmanager
async def _scripted(settings: Settings) -> AsyncIterator[tuple[ErcpSystem, ScriptedGenerator, Report]]:
    generator = ScriptedGenerator(settings.llm.model)
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("problems", total=None)

        def report(name: str) -> None:
            progress.update(task, description=name, advance=1)

        async with open_system(settings, Path(folder), generator) as system:
            yield system, generator, report


async def measure_with_model(settings: Settings, problems: Sequence[ScriptedProblem]) -> dict[str, Any]:
    """Run problems with the model of the settings."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_system(settings, Path(folder), None) as system:
            return await measure_model(system, problems, served_name(settings.llm))


def served_name(llm: LlmSettings) -> str:
    """Return what the endpoint calls its only model; with several, or none told, the one that is asked for."""
    asked = urllib.request.Request(f"{llm.base_url}/models", headers=_credential(llm))  # noqa: S310 - as configured
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_S) as answer:  # noqa: S310
            names = [str(one["id"]) for one in json.load(answer)["data"]]
    except (OSError, ValueError, KeyError, TypeError):
        return llm.model
    return names[0] if len(names) == 1 else llm.model


def _credential(llm: LlmSettings) -> dict[str, str]:
    key = llm.api_key.get_secret_value()
    return {"Authorization": f"Bearer {key}"} if key else {}


def model_settings() -> Settings:
    """Return the settings with a language model.

    Raises:
        EvaluationDataError: none is named.
    """
    settings = load_settings()
    if settings.llm.base_url:
        return settings
    base_url = os.environ.get(VARIABLE, "")
    if not base_url:
        raise EvaluationDataError(
            f"no language model is named: set GROUNDTRAIL_LLM__BASE_URL or {VARIABLE} to an OpenAI-compatible one"
        )
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"base_url": base_url})})


def write_page(*, check: bool) -> int:
    """Write the page's tables anew from the kept figures, or tell whether they are; 1 = stale."""
    before = ercp_tables.PAGE.read_text(encoding="utf-8")
    after = ercp_tables.rewritten(before, ercp_tables.load(ercp_tables.DEFAULT_FILE))
    if after == before:
        return 0
    if not check:
        ercp_tables.PAGE.write_text(after, encoding="utf-8")
    print(f"{ercp_tables.PAGE}: {'stale: run python -m tools.evaluate_ercp --markdown' if check else 'written'}")
    return int(check)


def evaluate(options: argparse.Namespace) -> dict[str, Any]:
    """Measure what the command line asks for; return the figures by half, or under ``model``."""
    if options.model:
        problems = chosen("development", options.limit)
        return {ercp_tables.MODEL: asyncio.run(measure_with_model(model_settings(), problems))}
    if options.blind is not None and options.stubborn:
        problems = load(options.blind.name, options.blind.parent)
        return {options.blind.name: {STUBBORN: asyncio.run(insisting(load_settings(), problems))}}
    if options.blind is not None:
        problems = load(options.blind.name, options.blind.parent)
        return {options.blind.name: results(asyncio.run(measure_half(load_settings(), problems, options.repeats)))}
    found, differed = {}, []
    for half in asked_for(options):
        measured = asyncio.run(measure_half(load_settings(), chosen(half, options.limit), options.repeats))
        found[half] = results(measured)
        if half != FINAL:
            differed.append(failures(measured))
    if options.failures is not None:
        options.failures.write_text("\n".join(differed), encoding="utf-8")
    return found


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if any(number is not None and number < 1 for number in (options.limit, options.repeats)):
        parser().error("--limit and --repeats must be at least 1")
    if options.save and not options.model and (options.limit is not None or options.repeats != REPEATS):
        parser().error("--save keeps whole measurements: without --limit and --repeats")
    if options.failures is not None and FINAL in asked_for(options):
        parser().error(f"--failures looks at problems, and {FINAL} is only counted: name --half both or one of them")
    if options.stubborn and options.blind is None:
        parser().error("--stubborn goes with --blind")
    if options.blind is not None and (options.half or options.save or options.failures or options.model):
        parser().error("--blind goes with --json and --repeats alone: what is blind is counted and not looked at")


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the figures."""
    console = Console(width=WIDTH)
    if options.stubborn:
        for name, measured in found.items():
            console.print(f"{name}, each draft said again and again: {measured[STUBBORN]}")
        return
    for table in ercp_tables.tables_of(found):
        if (table.name == ercp_tables.MODEL) == options.model:
            table.show(console)


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    _check(options)
    try:
        if options.markdown:
            return write_page(check=options.check)
        if options.dry_run:
            print("\n".join(told(half, chosen(half, options.limit)) for half in asked_for(options)))
            return 0
        found = evaluate(options)
        show(found, options)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        if options.save:
            ercp_tables.save(ercp_tables.DEFAULT_FILE, found)
            write_page(check=False)
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
