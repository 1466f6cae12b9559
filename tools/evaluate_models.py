"""Measure the encoders on labelled data, with the figures of other systems beside them (``make eval-models``).

    GROUNDTRAIL_EVAL_DATA=DIR python -m tools.evaluate_models [TASK…] [--limit N] [--json] [--out DIR]
    python -m tools.evaluate_models --grounding FILE [--errors FILE]
    python -m tools.evaluate_models pipeline --fold calibrate [--memory FILE] [--errors FILE]
    python -m tools.evaluate_models --save --out docs/results && python -m tools.evaluate_models --markdown

Models, backend and threads are those of the product's settings: GROUNDTRAIL_INFERENCE__BACKEND=triton measures Triton,
GROUNDTRAIL_INFERENCE__ENTAILMENT_MODEL another model. Nothing is left out of what is measured, and there is no target.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn

from evaluation import pages, results
from evaluation.data import VARIABLE, EvaluationDataError, folder
from evaluation.grounding_models import REPORT
from evaluation.labelled import FOLDS
from evaluation.measuring import ENCODERS, TASKS, Measured, Order, measure
from evaluation.model_source import ModelSource
from evaluation.peers import read_peers
from evaluation.tables import peer_tables, tables_of
from services.common.errors import CrpError, StartupError
from services.common.settings import SettingsError, load_settings
from training.synthetic_spans import synthetic_claims

PAGES: Final = (
    "docs/models.md",
    "docs/quality.md",
    "model_repository/nli/README.md",
    "model_repository/grounding/README.md",
)
WORST: Final = 50
WIDTH: Final = 170


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.evaluate_models", description=__doc__, formatter_class=described)
    found.add_argument(
        "tasks", nargs="*", metavar="TASK", help=f"{', '.join(TASKS)}; none = the encoders, all but the last"
    )
    found.add_argument("--nli", type=Path, metavar="FILE", help="labelled pairs instead of nli/dev.jsonl.gz")
    found.add_argument(
        "--grounding", type=Path, metavar="FILE", help="labelled claims instead of grounding/dev.jsonl.gz"
    )
    found.add_argument("--limit", type=int, metavar="N", help="at most N rows of each origin or data set")
    found.add_argument(
        "--fold",
        choices=FOLDS,
        default=REPORT,
        help="of the claims that pipeline checks; report unless told, and only that is saved",
    )
    found.add_argument(
        "--memory", type=Path, metavar="FILE", help="keep what the encoders say to pipeline, for further runs"
    )
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--out", type=Path, metavar="DIR", help="draw the reliability diagrams into this folder")
    found.add_argument("--errors", type=Path, metavar="FILE", help="write the most confident mistakes, as JSON Lines")
    found.add_argument(
        "--worst", type=int, default=WORST, metavar="N", help=f"so many of each set; {WORST} unless told"
    )
    default = results.DEFAULT_FILE
    found.add_argument(
        "--save", type=Path, nargs="?", const=default, metavar="FILE", help=f"keep the results ({default})"
    )
    found.add_argument(
        "--markdown", type=Path, nargs="*", metavar="PAGE", help="measure nothing: write the tables of PAGEs"
    )
    found.add_argument(
        "--results", type=Path, default=default, metavar="FILE", help=f"what --markdown reads ({default})"
    )
    found.add_argument(
        "--check", action="store_true", help="with --markdown: change nothing, fail when a page is stale"
    )
    return found


def order_of(options: argparse.Namespace, environment: Mapping[str, str]) -> Order:
    """Return what to measure, on which files.

    Raises:
        EvaluationDataError: the folder is not named, and some file is asked for that only it can hold.
    """
    named = {name: path for name in ("nli", "grounding") if (path := getattr(options, name)) is not None}
    tasks = tuple(options.tasks) or (tuple(named) if named else ENCODERS)
    needed = {"grounding" if task == "pipeline" else task for task in tasks}
    data = folder(environment) if needed - named.keys() else Path()
    known = Path(environment[VARIABLE]) / "grounding/dev.jsonl.gz" if environment.get(VARIABLE) else None
    files = {"nli": data / "nli/dev.jsonl.gz", "grounding": data / "grounding/dev.jsonl.gz"} | named
    return Order(
        tasks,
        files["nli"],
        files["grounding"],
        known if known is not None and known.is_file() else None,
        data / "ner/wikigold_dev.jsonl.gz",
        data / "pii/dev.jsonl.gz",
        options.limit,
        synthetic_claims,
        options.fold,
    )


def write_pages(paths: Sequence[Path], source: Path, *, check: bool) -> int:
    """Rewrite the tables of pages, or only tell whether they are as they should be; 1 = a page is stale."""
    known = results.load(source)
    stale = []
    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = pages.rewritten(before, path.parent, known, source.parent)
        if after != before:
            stale.append(path)
            if not check:
                path.write_text(after, encoding="utf-8")
    for path in stale:
        print(f"{path}: {'stale: run python -m tools.evaluate_models --markdown' if check else 'written'}")
    return int(check and bool(stale))


def give(options: argparse.Namespace, measured: Measured) -> None:
    """Print, draw and keep what was measured."""
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, picture in measured.pictures.items():
            (options.out / f"{name}-reliability.svg").write_text(picture, encoding="utf-8")
    if options.errors is not None:
        lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in measured.worst(options.worst)]
        options.errors.write_text("".join(lines), encoding="utf-8")
    if options.save is not None:
        results.save(options.save, measured.models)
    if options.json:
        print(json.dumps(results.document(measured.models), indent=1, ensure_ascii=False))
    else:
        show(measured.models)


def show(models: Mapping[str, Any]) -> None:
    """Print the tables of all models, and the peers' beside ours."""
    console = Console(width=WIDTH)
    for name, model in models.items():
        limit = "" if model["limit"] is None else f", at most {model['limit']} rows of each set"
        console.print(
            f"\n{name}: {model['fingerprint']}, {model['backend']}, {model['data']}{limit}\n", highlight=False
        )
        for table in tables_of(model):
            table.show(console)
    if any(model["kind"] != "entity_recognition" for model in models.values()):
        for table in peer_tables(read_peers(), models):
            table.show(console)


async def measure_with_bars(order: Order, source: ModelSource) -> Measured:
    """Measure with progress bars on stderr."""
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        return await measure(order, source, progress)


def run(arguments: Sequence[str], source: ModelSource | None = None) -> int:
    """Do what the command line says and return the exit status.

    Args:
        arguments: without the program's name.
        source: opens the models; ``None`` = those of the model repository, as the settings say.
    """
    options = parser().parse_args(arguments)
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser().error(f"{', '.join(unknown)}: the tasks are {', '.join(TASKS)}")
    if any(number is not None and number < 1 for number in (options.limit, options.worst)):
        parser().error("--limit and --worst must be at least 1")
    if options.fold != REPORT and options.save is not None:
        parser().error(f"--save keeps figures of the fold {REPORT} alone")
    try:
        if options.markdown is not None:
            return write_pages(options.markdown or [*map(Path, PAGES)], options.results, check=options.check)
        order = order_of(options, os.environ)
        if source is None:
            from evaluation.repository_models import RepositoryModels

            source = RepositoryModels(load_settings(), options.memory)
        give(options, asyncio.run(measure_with_bars(order, source)))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
