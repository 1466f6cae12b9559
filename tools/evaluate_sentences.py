"""Measure what ERCP takes sentences and pairs of them for, beside two baselines (ADR 0118).

    python -m tools.evaluate_sentences FILE... [--json OUT]

Files are JSON lines, ``.gz`` or ``.tar.gz`` of them: sentences with their kinds, pairs with their relation, as in
training/ercp_sentences. Columns: what ERCP decides (exact rules, and heads above their bound); the same heads at the
threshold of their best F1 on the training data's left-out domains; the readers of predicates alone, as before there
were heads; a bag of words, a logistic regression on the same training data.
"""

import argparse
import asyncio
import json
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from services.common.adapters.encoders.sentence_heads import HEADS_FILE, open_sentence_heads
from services.common.ports.sentence_heads import SentenceHeads
from services.common.settings import load_settings
from services.ercp.domain import units
from services.ercp.domain.predicates import Span, extract_facts
from training.sentence_baselines import (
    BagOfWords,
    fit_bag,
    kinds_by_readers,
    relation_by_readers,
    words_of_couple,
    words_of_single,
)
from training.sentence_heads import DATA, KINDS, RELATIONS, Couple, SentenceDataError, Single, read_rows, truths

SYSTEMS: Final = ("decided", "heads at best F1", "readers alone", "bag of words")
SLICE: Final = 64
WIDTH: Final = 150
Answers = np.ndarray


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser(
        "python -m tools.evaluate_sentences", description=__doc__, formatter_class=described
    )
    found.add_argument("files", nargs="+", type=Path, metavar="FILE", help="sentences and pairs with labels")
    found.add_argument("--json", type=Path, metavar="OUT", help="write the figures as JSON")
    return found


def rows_of(paths: Sequence[Path]) -> tuple[list[Single], list[Couple]]:
    """Read files, archives unpacked into a folder that goes again."""
    plain = [path for path in paths if not path.name.endswith((".tar.gz", ".tgz"))]
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(path for path in paths if path not in plain):
            with tarfile.open(path) as archive:
                archive.extractall(Path(folder) / str(number), filter="data")
        return read_rows([*plain, *sorted(Path(folder).rglob("*.jsonl"))])


async def seen_by_heads(
    heads: SentenceHeads, singles: Sequence[Single], couples: Sequence[Couple]
) -> tuple[list[units.Unit], list[units.Units], list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return what ERCP makes of each sentence and pair, and what each head says of it."""
    told, kinds, relations = list[units.Unit](), list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for start in range(0, len(singles), SLICE):
        part = singles[start : start + SLICE]
        reading = await heads.read([each.text for each in part], ())
        for each, seen in zip(part, reading.kinds, strict=True):
            ruled = units.by_rules(extract_facts(each.text, [Span(0, len(each.text))]))
            told += units.with_heads(ruled, [seen], (), ()).units
        kinds += reading.kinds
    pairs = list[units.Units]()
    for start in range(0, len(couples), SLICE):
        part_of = couples[start : start + SLICE]
        texts = [text for each in part_of for text in (each.first, each.second)]
        asked = [(2 * at, 2 * at + 1) for at in range(len(part_of))]
        reading = await heads.read(texts, asked)
        pairs += [units.with_heads(units.Units(()), (), [(0, 1)], [seen]) for seen in reading.relations]
        relations += reading.relations
    return told, pairs, kinds, relations


def figures(truth: Answers, answers: Answers, names: Sequence[str]) -> dict[str, dict[str, float | int | None]]:
    """Return precision, recall and F1 of each name, and of all together."""
    found: dict[str, dict[str, float | int | None]] = {}
    for at, name in enumerate(names):
        found[name] = _scores(truth[:, at], answers[:, at])
    found["all"] = _scores(truth.ravel(), answers.ravel())
    return found


def _scores(truth: Answers, answers: Answers) -> dict[str, float | int | None]:
    right, said, wanted = int((truth & answers).sum()), int(answers.sum()), int(truth.sum())
    both = said + wanted
    return {
        "rows": wanted,
        "precision": round(right / said, 3) if said else None,
        "recall": round(right / wanted, 3) if wanted else None,
        "f1": round(2 * right / both, 3) if both else None,
    }


def _marked(found: Sequence[frozenset[str]], names: Sequence[str]) -> Answers:
    return np.array([[name in each for name in names] for each in found]).reshape(len(found), len(names))


def _at_best(seen: Sequence[Mapping[str, Any]], names: Sequence[str], thresholds: Mapping[str, float]) -> Answers:
    return _marked(
        [
            frozenset(name for name, one in each.items() if one.probability >= thresholds.get(name, 2.0))
            for each in seen
        ],
        names,
    )


def _thresholds(group: Mapping[str, Any]) -> dict[str, float]:
    return {name: head["measured"]["best_f1_from"] for name, head in group["heads"].items()}


def _bags() -> tuple[BagOfWords, BagOfWords]:
    singles, couples = read_rows(sorted(DATA.glob("*.jsonl")))
    kinds, relations = truths(singles, couples)
    return (
        fit_bag([words_of_single(each) for each in singles], [each.domain for each in singles], kinds),
        fit_bag([words_of_couple(each) for each in couples], [each.domain for each in couples], relations),
    )


async def measure(singles: Sequence[Single], couples: Sequence[Couple]) -> dict[str, Any]:
    """Return all figures, by what is looked for and by system.

    Raises:
        SentenceDataError: there are no heads to measure.
    """
    settings = load_settings().inference
    heads = await open_sentence_heads(settings)
    if heads is None:
        raise SentenceDataError("the model repository holds no sentence heads: python -m training.sentence_heads")
    try:
        told, pairs, seen_kinds, seen_relations = await seen_by_heads(heads, singles, couples)
    finally:
        await heads.close()
    root = Path("model_repository") / settings.entailment_model / HEADS_FILE
    content = json.loads(await asyncio.to_thread(root.read_text, encoding="utf-8"))
    bag_kinds, bag_relations = await asyncio.to_thread(_bags)
    kinds, relations = truths(singles, couples)
    found: dict[str, Any] = {"heads": heads.fingerprint}
    if singles:
        answers = (
            _marked([frozenset(kind.value for kind in each.kinds) for each in told], KINDS),
            _at_best(seen_kinds, KINDS, _thresholds(content["kinds"])),
            _marked([kinds_by_readers(each) for each in singles], KINDS),
            bag_kinds.answers([words_of_single(each) for each in singles]),
        )
        found["kinds"] = {name: figures(kinds, each, KINDS) for name, each in zip(SYSTEMS, answers, strict=True)}
    if couples:
        answers = (
            _marked([frozenset(one.relation.value for one in each.relations) for each in pairs], RELATIONS),
            _at_best(seen_relations, RELATIONS, _thresholds(content["relations"])),
            _marked([relation_by_readers(each) for each in couples], RELATIONS),
            bag_relations.answers([words_of_couple(each) for each in couples]),
        )
        named = zip(SYSTEMS, answers, strict=True)
        found["relations"] = {name: figures(relations, each, RELATIONS) for name, each in named}
    return found


def table(title: str, group: Mapping[str, Any]) -> Table:
    """Return the figures of one group: precision / recall / F1."""
    made = Table(title=f"{title}: precision / recall / F1")
    for column in ("", "rows", *SYSTEMS):
        made.add_column(column)
    for name, first in group[SYSTEMS[0]].items():
        cells = [group[system][name] for system in SYSTEMS]
        shown = [" / ".join(_shown(cell[part]) for part in ("precision", "recall", "f1")) for cell in cells]
        made.add_row(name, str(first["rows"]), *shown)
    return made


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main() -> int:
    """Measure and print."""
    options = parser().parse_args()
    console = Console(width=WIDTH)
    try:
        singles, couples = rows_of(options.files)
        found = asyncio.run(measure(singles, couples))
    except (OSError, SentenceDataError, tarfile.TarError) as error:
        console.print(f"evaluate_sentences: {error}", markup=False)
        return 1
    console.print(f"{len(singles)} sentences, {len(couples)} pairs, {found['heads']}")
    for title in ("kinds", "relations"):
        if title in found:
            console.print(table(title, found[title]))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
