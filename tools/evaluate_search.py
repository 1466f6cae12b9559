"""Measure where search puts the answers (``python -m tools.evaluate_search``).

    [GROUNDTRAIL_EVAL_DATA=DIR] python -m tools.evaluate_search [--test] [--sets SET…] [--modes MODE…] [--save]
    python -m tools.evaluate_search --markdown [--check]

The product's own chunker, store and retriever answer the questions of tests/vectors/search and of the handbook, and
Cranfield and WiCE where GROUNDTRAIL_EVAL_DATA names their folder. A library's BM25 stands beside every mode. ``--save``
keeps the ranks in docs/results/search.json and writes the tables. What is chosen is chosen on the half ``development``;
``--test`` opens the other one, for the last run.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn

from evaluation.data import VARIABLE, EvaluationDataError, folder
from evaluation.measured import measured_now
from evaluation.retrieval_sets import CRANFIELD, DEVELOPMENT, HALVES, REPORT, WICE, cranfield, wice
from evaluation.search_modes import Order, measured_ranks
from evaluation.search_page import rewritten, tables
from evaluation.search_sets import CORPORA, HANDBOOK, SearchSet, corpus, handbook, of_documents
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.taxonomy import RetrievalMode

RESULTS: Final = Path("docs/results/search.json")
PAGE: Final = Path("docs/retrieval.md")
SCHEMA_VERSION: Final = 1
SETS: Final = (*CORPORA, HANDBOOK, CRANFIELD, WICE)
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


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.evaluate_search", description=__doc__, formatter_class=described)
    found.add_argument("--test", action="store_true", help="the half that nothing is chosen on; development otherwise")
    found.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="all that are at hand")
    choices = [mode.name for mode in RetrievalMode]
    found.add_argument("--modes", nargs="*", choices=choices, default=choices, help="besides DENSE, TEXT and HYBRID")
    found.add_argument("--vectors", type=Path, metavar="FILE.npz", help="keep vectors there, for the next run")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--save", action="store_true", help=f"keep the ranks in {RESULTS} and write the tables")
    found.add_argument("--markdown", action="store_true", help="measure nothing: write the tables from the file")
    found.add_argument("--check", action="store_true", help="with --markdown: change nothing, fail when one is stale")
    return found


async def read_set(name: str, half: str) -> SearchSet | None:
    """Return a set with the questions of a half; nothing where its data are not at hand, or it has no such half."""
    if name in CORPORA:
        return await corpus(name, (half,))
    if name == HANDBOOK:
        return await handbook() if half == DEVELOPMENT else None
    if VARIABLE not in os.environ:
        return None
    data = folder(os.environ)
    return of_documents(await (cranfield(data) if name == CRANFIELD else wice(data)))


async def measure(settings: Settings, names: Sequence[str], order: Order) -> dict[str, Any]:
    """Return the results document of a half of the named sets, with progress bars on stderr meanwhile."""
    found: dict[str, Any] = {}
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for name in (name for name in SETS if name in names):
            one = await read_set(name, order.half)
            if one is None:
                print(f"{name}: not at hand", file=sys.stderr)
                continue
            ranks = await measured_ranks(settings, one, order, progress)
            questions = one.of_half(order.half)
            kinds = [question.kind for question in questions]
            found[name] = {"questions": len(questions), "facts": len(one.facts), "kinds": kinds, "ranks": ranks}
    kept = {name: getattr(settings.envelope, name) for name in _DECISIVE}
    return {"schema_version": SCHEMA_VERSION, "settings": kept, "halves": {order.half: found}}


def load() -> dict[str, Any]:
    """Return the results file; without halves when there is none yet.

    Raises:
        EvaluationDataError: it is no results file of this version.
    """
    if not RESULTS.is_file():
        return {"schema_version": SCHEMA_VERSION, "halves": {}}
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        raise EvaluationDataError(f"{RESULTS} is no results file of version {SCHEMA_VERSION}")
    return found


def save(document: dict[str, Any]) -> None:
    """Keep the ranks of the measured sets and modes; those of others stay where questions and facts are the same.

    ``measured`` says of each half when and from what it was measured the last time.
    """
    loaded = load()
    former = loaded["halves"]
    told = {**loaded.get("measured", {}), **dict.fromkeys(document["halves"], measured_now())}
    halves: dict[str, Any] = {half: dict(former.get(half, {})) for half in HALVES}
    for half, sets in document["halves"].items():
        for name, one in sets.items():
            before = halves[half].get(name, {})
            same = all(before.get(key) == one[key] for key in ("questions", "facts", "kinds"))
            ranks = {**(before["ranks"] if same else {}), **one["ranks"]}
            halves[half][name] = {**one, "ranks": ranks}
    ordered = {half: {name: found[name] for name in SETS if name in found} for half, found in halves.items() if found}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    whole = {"measured": {half: told[half] for half in HALVES if half in told}, **document, "halves": ordered}
    RESULTS.write_text(json.dumps(whole, separators=(",", ":")) + "\n", encoding="utf-8")


def write(*, check: bool) -> int:
    """Write the tables from the results file; with ``check`` only tell whether they are as they should be."""
    text = rewritten(PAGE.read_text(encoding="utf-8"), load())
    stale = PAGE.read_text(encoding="utf-8") != text
    if stale and not check:
        PAGE.write_text(text, encoding="utf-8")
    if stale:
        print(f"{PAGE}: {'stale: run python -m tools.evaluate_search --markdown' if check else 'written'}")
    return int(check and stale)


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    try:
        if options.markdown:
            return write(check=options.check)
        half = REPORT if options.test else DEVELOPMENT
        order = Order(half, tuple(RetrievalMode[name] for name in options.modes), options.vectors)
        document = asyncio.run(measure(load_settings(), options.sets, order))
        if options.save:
            save(document)
            write(check=False)
    except (EvaluationDataError, CrpError, StartupError, SettingsError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(document))
    elif document["halves"][half]:
        for table in tables(half, document["halves"][half]):
            table.show(Console(width=200))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
