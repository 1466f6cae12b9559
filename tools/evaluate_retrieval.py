"""Measure every mode of retrieval on Cranfield and WiCE (``make eval-retrieval``).

    GROUNDTRAIL_EVAL_DATA=DIR python -m tools.evaluate_retrieval [--half HALF] [--sets SET…] [--modes MODE…]
        [--limit N] [--save]
    python -m tools.evaluate_retrieval --markdown [--check]

The product's own store and retriever answer, with the models and numbers of the settings. ``--save`` keeps the figures
in docs/results/retrieval.json and writes table and picture. What is chosen is chosen on the half ``development``.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn

from evaluation.data import EvaluationDataError, folder
from evaluation.measured import measured_now
from evaluation.results import digest
from evaluation.retrieval_modes import MODES, Order, measure, results
from evaluation.retrieval_page import picture, rewritten, table
from evaluation.retrieval_sets import CRANFIELD, DEVELOPMENT, HALVES, REPORT, WICE, RetrievalSet, cranfield, wice
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.taxonomy import RetrievalMode

RESULTS: Final = Path("docs/results/retrieval.json")
PAGE: Final = Path("docs/retrieval.md")
PICTURE: Final = Path("docs/results/retrieval.svg")
SCHEMA_VERSION: Final = 1
BOTH: Final = "both"
WIDTH: Final = 200


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser(
        "python -m tools.evaluate_retrieval", description=__doc__, formatter_class=described
    )
    found.add_argument("--half", choices=(REPORT, DEVELOPMENT, BOTH), default=REPORT, help="of the queries; report")
    found.add_argument("--limit", type=int, metavar="N", help="at most N queries of each set; never fewer facts")
    found.add_argument("--sets", nargs="+", choices=(CRANFIELD, WICE), default=(CRANFIELD, WICE), help="all")
    choices = [mode.name for mode in MODES]
    found.add_argument("--modes", nargs="+", choices=choices, help="besides DENSE and TEXT, which are always measured")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS}; write table and picture")
    found.add_argument("--markdown", action="store_true", help="measure nothing: write table and picture from the file")
    found.add_argument("--check", action="store_true", help="with --markdown: change nothing, fail when one is stale")
    return found


async def measured(
    settings: Settings, sets: Sequence[RetrievalSet], order: Order, data: Path, names: Collection[str]
) -> dict[str, Any]:
    """Return the results document of these halves of the named sets, with progress bars on stderr meanwhile."""
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    found: dict[str, Any] = {half: {} for half in order.halves}
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for one in (one for one in sets if one.name in names):
            for half, modes in (await measure(settings, one, order, progress)).items():
                counts = {"queries": len(one.of_half(half, order.limit)), "facts": len(one.facts)}
                found[half][one.name] = {**counts, "modes": results(modes)}
    files = sorted({name for one in sets for name in one.files})
    return {
        "schema_version": SCHEMA_VERSION,
        "limit": order.limit,
        "settings": {
            **{name: getattr(settings.envelope, name) for name in _DECISIVE},
            "text_stemming": settings.store.text_stemming,
        },
        "data": {name: digest(data / name) for name in files},
        "halves": found,
    }


_DECISIVE: Final = (
    "fusion_depth",
    "hybrid_words_weight",
    "hybrid_exact_weight",
    "reranked_candidates",
    "reranked_weight",
    "late_interaction_candidates",
    "late_interaction_weight",
    "retrieval_least_cosine",
)


def kept(path: Path) -> dict[str, Any]:
    """Return the results file; without halves when there is none yet.

    Raises:
        EvaluationDataError: it is no results file of this version.
    """
    if not path.is_file():
        return {"schema_version": SCHEMA_VERSION, "halves": {}}
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        raise EvaluationDataError(f"{path} is no results file of version {SCHEMA_VERSION}")
    return found


def save(document: dict[str, Any]) -> None:
    """Keep the measured halves and modes; what was measured before with other settings or data goes.

    ``measured`` says of each half when and from what it was measured the last time.
    """
    former = kept(RESULTS)
    same = all(former.get(name) == document[name] for name in ("limit", "settings", "data"))
    halves = _merged(former["halves"] if same else {}, document["halves"])
    now = measured_now()
    told = {**(former.get("measured", {}) if same else {}), **dict.fromkeys(document["halves"], now)}
    kept_now = {
        "measured": {half: told[half] for half in HALVES if half in told},
        **document,
        "halves": {half: halves[half] for half in HALVES if half in halves},
    }
    text = json.dumps(kept_now, indent=1)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(text + "\n", encoding="utf-8")


def _merged(former: Any, latter: Any) -> Any:
    """Return the former mapping with the latter laid over it, down to the figures of a mode."""
    if not isinstance(former, dict) or not isinstance(latter, dict):
        return latter
    return {name: _merged(former.get(name), latter.get(name, former.get(name))) for name in {**former, **latter}}


def write(*, check: bool) -> int:
    """Write table and picture from the results file; with ``check`` only tell whether they are as they should be."""
    document = kept(RESULTS)
    wanted = {PAGE: rewritten(PAGE.read_text(encoding="utf-8"), document)}
    if REPORT in document["halves"]:
        wanted[PICTURE] = picture(REPORT, document["halves"][REPORT])
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path}: {'stale: run python -m tools.evaluate_retrieval --markdown' if check else 'written'}")
    return int(check and bool(stale))


async def evaluate(options: argparse.Namespace, data: Path) -> dict[str, Any]:
    """Read the sets and measure."""
    sets = [await cranfield(data), await wice(data)]
    halves = HALVES if options.half == BOTH else (options.half,)
    modes = tuple(MODES if options.modes is None else (RetrievalMode[name] for name in options.modes))
    return await measured(load_settings(), sets, Order(halves, options.limit, modes), data, options.sets)


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    if options.limit is not None and options.limit < 1:
        parser().error("--limit must be at least 1")
    try:
        if options.markdown:
            return write(check=options.check)
        document = asyncio.run(evaluate(options, folder(os.environ)))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        for half, sets in document["halves"].items():
            table(half, sets).show(Console(width=WIDTH))
    if options.save:
        save(document)
        return write(check=False)
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
