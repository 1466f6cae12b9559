"""Measure quality on labelled data, each figure beside a simple baseline in the same run (``make eval``).

    GROUNDTRAIL_EVAL_DATA=DIR python -m tools.evaluate [TASK…] [--limit N] [--json]

Everything is reported as it is: there is no target and no figure is left out.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn

from evaluation import entities, grounding, personal_data, retrieval
from evaluation.data import EvaluationDataError, folder
from evaluation.figures import Figure, as_json, show
from services.common.adapters.encoders.embedding import open_embedding
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings

TASKS: Final = ("retrieval", "attribution", "entities", "personal-data")


async def measure(data: Path, tasks: Sequence[str], limit: int | None) -> tuple[list[Figure], dict[str, str]]:
    """Run the tasks and return the figures, and what they were measured with."""
    settings = InferenceSettings()
    started = time.monotonic()
    found: list[Figure] = []
    model = await open_embedding(settings, open_repository(settings))
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            if "retrieval" in tasks:
                found += await retrieval.measure(data, model, progress, limit)
            if "attribution" in tasks:
                found += await grounding.measure(data, model, progress, limit)
            if "entities" in tasks:
                found += await entities.measure(data, progress, limit)
            if "personal-data" in tasks:
                found += await personal_data.measure(data, progress, limit)
    finally:
        await model.close()
    return found, {
        "embedder": model.fingerprint,
        "limit": "none" if limit is None else str(limit),
        "seconds": f"{time.monotonic() - started:.0f}",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tools.evaluate", description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"{', '.join(TASKS)}; none = all")
    parser.add_argument("--limit", type=int, help="at most N queries, claims per data set and sentences")
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    options = parser.parse_args()
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser.error(f"{', '.join(unknown)}: the tasks are {', '.join(TASKS)}")
    if options.limit is not None and options.limit < 1:
        parser.error("--limit must be at least 1")
    try:
        data = folder(os.environ)
        figures, facts = asyncio.run(measure(data, options.tasks or TASKS, options.limit))
    except EvaluationDataError as error:
        sys.exit(str(error))
    if options.json:
        print(as_json(figures, facts))
    else:
        show(figures)
        print(", ".join(f"{name} {value}" for name, value in facts.items()))


if __name__ == "__main__":
    main()
