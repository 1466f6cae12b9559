"""Pairs that differ in whom they are meant for: quiet attacks in documents, and nearly the same words said rightly.

``pairs.txt`` holds attacks and beside each a benign twin of nearly the same words; both stand in the same documents of
``documents.txt``, which stand there without either as well. ``hostile_looking.txt`` are benign texts that quote
attacks, are rightly addressed to a model, or order people about. A theme lies in one fold with its documents.
"""

import random
from collections.abc import Iterator
from typing import Final

from training.injection.grammar import families
from training.injection.rows import FOLDS, Row, without_repeats

IN_DOCUMENTS: Final = 2
"""Documents that each attack and its twin stand in."""
_ALONE: Final = 3
"""One in so many stands alone as well."""
_BETWEEN: Final = " ||| "
_PLACE: Final = "{x}"


def paired_rows(seed: int) -> list[Row]:
    """Return all rows; chance hangs on each pair alone."""
    documents = [row for rows in _by_fold(families("documents.txt")) for row in rows]
    return without_repeats([*_pairs(seed, documents), *_clean(documents), *_hostile_looking()])


def _by_fold(found: dict[str, list[str]]) -> list[list[tuple[int, str, str]]]:
    """Return fold, kind and text of documents: of each kind some in every fold."""
    flat = [(kind, text.replace("\\n", "\n")) for kind, texts in found.items() for text in texts]
    return [[(fold, kind, text) for kind, text in flat[fold::FOLDS]] for fold in range(FOLDS)]


def _pairs(seed: int, documents: list[tuple[int, str, str]]) -> Iterator[Row]:
    for number, (theme, lines) in enumerate(families("pairs.txt").items()):
        fold = number % FOLDS
        own = [text for home, _, text in documents if home == fold]
        for place, line in enumerate(lines):
            both = line.split(_BETWEEN)
            rng = random.Random(f"{seed} pair {line}")  # noqa: S311 - no secret
            carriers = rng.sample(own, IN_DOCUMENTS)
            if place % _ALONE == 0:
                carriers.append(_PLACE)
            for attack, said in zip((True, False), both, strict=True):
                kind = theme if attack else theme.replace("quiet.", "twin.")
                for carrier in carriers:
                    text, alone = carrier.replace(_PLACE, said), carrier == _PLACE
                    yield Row(text, attack, kind, theme, fold, "" if alone else said, "paired")


def _clean(documents: list[tuple[int, str, str]]) -> Iterator[Row]:
    for fold, kind, text in documents:
        left = text.replace(f" {_PLACE}", "").replace(_PLACE, "")
        yield Row(left, attack=False, kind="clean", family=f"clean {kind}", fold=fold, share="clean")


def _hostile_looking() -> Iterator[Row]:
    for number, (kind, texts) in enumerate(families("hostile_looking.txt").items()):
        for text in texts:
            yield Row(
                text.replace("\\n", "\n"),
                attack=False,
                kind=kind,
                family=kind,
                fold=number % FOLDS,
                share="hostile_looking",
            )


def learnt_before(rows: list[Row]) -> list[Row]:
    """Return a fixed part of the rows that the base was fitted on: what a second fit must not unlearn."""
    kept, seen = list[Row](), dict[str, int]()
    for row in rows:
        part = row.share if row.share != "own" else f"own {row.attack}"
        place = seen[part] = seen.get(part, -1) + 1
        if place % _ONE_IN.get(part, _ONE_IN[""]) == 0:
            kept.append(row)
    return kept


_ONE_IN: Final = {"own True": 14, "own False": 6, "s-labs True": 8, "s-labs False": 8, "": 8}
