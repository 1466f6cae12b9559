"""Rows of public sets and of this repository: what lies in the folder of evaluation data, where a licence allows it."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from training.injection.grammar import FOLDER
from training.injection.rows import Row, fold_of, read_lines, sampled, without_repeats

DOCUMENTS_EACH: Final = 60
CLAIMS_EACH: Final = 60
SENTENCES_EACH: Final = 350
LONGEST: Final = 1500
"""Characters that are taken of a document."""
LONGEST_CLAIM: Final = 300
LEAST: Final = 12
_NLI: Final = ("snli", "mnli", "conjnli", "cad", "fool_me_twice")
_SKIPPED: Final = ("fib_swaps", "factcc_human", "infotabs", "paws")
"""Sets whose texts stand in another one, or are tables and word games."""
_CLEAR: Final = "clear"


def attack_sets(folder: Path, split: str) -> list[Row]:
    """Return the rows of s-labs (MIT); the fold is that of a row's first words, so that near repeats lie together."""
    made = list[Row]()
    for row in read_lines(folder / "injection" / "train_dev.jsonl.gz"):
        if row["split"] == split:
            family = " ".join(sorted(row["text"].lower().split()[:2]))
            attack = bool(row["injection"])
            made.append(
                Row(row["text"], attack, "s-labs", f"s-labs {family}", fold_of(family), share=f"s-labs {attack}")
            )
    return made


def benign_sets(folder: Path, seed: int) -> list[Row]:
    """Return benign rows of public sets, the licence of each row clear."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    pools: dict[tuple[str, str], list[str]] = {}
    for kind, origin, text in _texts(folder):
        if len(text) >= LEAST:
            pools.setdefault((kind, origin), []).append(text[:LONGEST])
    made = list[Row]()
    for (kind, origin), texts in sorted(pools.items()):
        most = {"document": DOCUMENTS_EACH, "claim": CLAIMS_EACH, "sentence": SENTENCES_EACH}[kind]
        for text in sampled(sorted(set(texts)), most, rng):
            name = f"public.{kind}"
            if kind == "claim" and len(text) > LONGEST_CLAIM:
                continue
            made.append(Row(text, attack=False, kind=name, family=f"{name} {origin}", fold=fold_of(text), share=name))
    return without_repeats(made)


def repository_rows() -> list[Row]:
    """Return paragraphs of this repository's documentation, handbook, code and configuration."""
    made = list[Row]()
    for row in read_lines(FOLDER / "benign_repository.jsonl"):
        text, kind = row["text"], f"repository.{row['kind']}"
        made.append(Row(text, attack=False, kind=kind, family=kind, fold=fold_of(text), share="repository"))
    return made


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield kind, origin and text."""
    for row in read_lines(folder / "grounding" / "more.jsonl.gz"):
        if row["licence"] == _CLEAR and row["fold"] == "fit" and row["dataset"] not in _SKIPPED:
            yield from _grounding(row)
    for row in read_lines(folder / "nli" / "train.jsonl.gz"):
        if row["origin"] in _NLI and row["licence"] == _CLEAR:
            yield "sentence", row["origin"], row["hypothesis"]
    for row in read_lines(folder / "retrieval" / "cranfield_docs.jsonl.gz"):
        yield "document", "cranfield", row["text"]
    for row in read_lines(folder / "retrieval" / "cranfield_queries.jsonl.gz"):
        yield "sentence", "cranfield", row["text"]
    for row in read_lines(folder / "pii" / "dev.jsonl.gz"):
        yield "sentence", "pii", row["text"]


def _grounding(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield "document", row["dataset"], "\n".join(row["context"])
    yield "claim", row["dataset"], row["claim"]
    if row.get("query"):
        yield "claim", f"{row['dataset']} questions", row["query"]
