"""Measure how documents are read, on labelled ones.

    python -m tools.evaluate_documents FOLDER [--only TEXT] [--mistakes] [--json] [--save FILE]

FOLDER holds documents, each with what a careful person sees in it beside it, as ``NAME.EXT.label.json``. Cells: every
labelled cell in a table at its row and column. Heads: rows and columns that name the others. Order: adjacent snippets
in order. Headings: known as such. Together: strings within one fact. Hidden, furniture, false: numbers of labelled
texts that stand in facts though nobody sees them, though they are no content, and of strings that stand in one sentence
or row though this makes it false.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from evaluation.document_labels import LabelledDocument, read_labelled
from evaluation.documents import APART, COUNTS, FURNITURE, HIDDEN, SHARES, Score, score_document
from evaluation.measured import measured_now
from evaluation.tables import Table
from services.common.adapters.tokens.counter import open_counter_of
from services.common.settings.envelope import EnvelopeSettings

_NONE: Final = "-"


def measure(
    documents: Sequence[LabelledDocument], count: Callable[[str], int]
) -> tuple[dict[str, Score], dict[str, Score]]:
    """Return the scores by document, and those by origin, by kind of file and of all."""
    each: dict[str, Score] = {}
    groups: dict[str, Score] = {}
    for labelled in documents:
        score = each[labelled.path.name] = score_document(labelled, count)
        for group in (f"*{labelled.path.suffix}", labelled.origin, "all"):
            groups.setdefault(group, Score()).add(score)
    return each, groups


def table_of(scores: Mapping[str, Score], title: str) -> Table:
    """Return a row for each."""
    columns = ("document", "facts", *SHARES, *(f"{name} wrong" for name in (HIDDEN, FURNITURE)), "false")
    rows = [
        (name, str(one.facts), *map(_share, (one.share(m) for m in SHARES)), *_counts(one))
        for name, one in scores.items()
    ]
    return Table("documents", title, columns, tuple(rows))


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _counts(score: Score) -> tuple[str, ...]:
    return tuple(f"{score.wrong(name)}/{score.wholes[name]}" for name in (HIDDEN, FURNITURE, APART))


def as_json(score: Score) -> dict[str, Any]:
    """Return a score as it is saved."""
    return {
        "documents": score.documents,
        "unread": score.unread,
        "facts": score.facts,
        "right": {name: score.rights[name] for name in (*SHARES, *COUNTS)},
        "of": {name: score.wholes[name] for name in (*SHARES, *COUNTS)},
    }


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+", help="labelled documents")
    parser.add_argument("--only", default="", help="part of the documents' names")
    parser.add_argument("--mistakes", action="store_true", help="what was wrong, document by document")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.add_argument("--save", type=Path, help="write the JSON to this file as well")
    arguments = parser.parse_args()
    documents = [one for folder in arguments.folder for one in read_labelled(folder) if arguments.only in one.path.name]
    counts = open_counter_of(EnvelopeSettings().tokenizer_model, (), 1.0)
    each, groups = measure(documents, lambda text: counts([text])[0])
    result = {
        name: {key: as_json(one) for key, one in part.items()}
        for name, part in (("documents", each), ("groups", groups))
    }
    written = json.dumps(result, indent=1, ensure_ascii=False)
    if arguments.save:
        kept = json.dumps({"measured": measured_now(), **result}, indent=1, ensure_ascii=False)
        arguments.save.write_text(f"{kept}\n", encoding="utf-8")
    if arguments.json:
        print(written)
        return
    console = Console(width=150)
    table_of(each, "Documents").show(console)
    table_of(groups, "Together").show(console)
    if arguments.mistakes:
        for name, one in each.items():
            for miss in one.misses:
                console.print(f"{name}: {miss}", markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
