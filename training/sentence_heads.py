"""Fit the heads that say what a sentence is, and what two sentences are to each other (ADR 0118).

    python -m training.sentence_heads [--data training/ercp_sentences] [--cache FOLDER] [--repository model_repository]
    python tools/update_manifest.py

Reads the sentences with the delivered entailment model, through the code that serves them, once: what it makes of them
is kept in the cache folder. Fits on all of them, takes the bounds from predictions on domains that were left out, and
writes ``sentence_heads.json`` and its golden vectors beside the model. New weights of the model need this command again.
NumPy alone; the same data gives the same file on the same machine.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.common.adapters.encoders.opening import verified_entry
from services.common.adapters.encoders.sentence_heads import (
    HEADS_FILE,
    SentenceEncoder,
    SentenceVectors,
    open_sentence_encoder,
    pair_numbers,
)
from services.common.model_repository import ModelEntry, ModelRepository
from services.common.sentence_heads.features import OVERLAPS, Values, marks, pair_marks
from services.common.sentence_heads.model import SCHEMA_VERSION, HeadGroup, SentenceHeads
from services.common.settings.inference import InferenceSettings
from training.sentence_fit import FOLDS, RIDGE, Rows, fitted, out_of_fold

DATA: Final = Path("training/ercp_sentences")
CACHE: Final = Path(".cache/sentence_heads")
KINDS: Final = ("order", "justification", "condition", "definition", "assumption", "result")
RELATIONS: Final = ("justifies", "contradicts", "depends_on", "restates")
NONE: Final = "none"
WIDTH: Final = 768
STATES: Final = ("layer_norm_10",)
"""The last layer but one: what words do in a sentence is plainer there than in the last, which is made for pairs."""
VERSION: Final = "1"
GOLDEN_FILE: Final = "heads_golden.json"
GOLDEN_EVERY: Final = 60
TOLERANCE: Final = 1e-4
SLICE: Final = 64


@dataclass(frozen=True, slots=True)
class Single:
    """A sentence and what it is."""

    text: str
    kinds: tuple[str, ...]
    domain: str


@dataclass(frozen=True, slots=True)
class Couple:
    """Two sentences, and what the second is to the first."""

    first: str
    second: str
    relation: str
    domain: str


class SentenceDataError(ValueError):
    """A file of sentences cannot be used; the message names it, the line and what is wrong with it."""


def read_rows(paths: Sequence[Path]) -> tuple[list[Single], list[Couple]]:
    """Read JSON lines of sentences and of pairs, also gzipped.

    Raises:
        SentenceDataError: a line is neither.
    """
    singles, couples = list[Single](), list[Couple]()
    for path in paths:
        opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
        with opened as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                    if "text" in row:
                        singles.append(_single(row))
                    else:
                        couples.append(_couple(row))
                except (KeyError, TypeError, ValueError) as error:
                    raise SentenceDataError(f"{path}, line {number}: {error!r}") from error
    return singles, couples


def _single(row: dict[str, Any]) -> Single:
    unknown = set(row["kinds"]) - set(KINDS)
    if unknown:
        raise ValueError(f"unknown kinds {sorted(unknown)}")
    return Single(str(row["text"]), tuple(row["kinds"]), str(row.get("domain", "")))


def _couple(row: dict[str, Any]) -> Couple:
    if row["relation"] not in (*RELATIONS, NONE):
        raise ValueError(f"unknown relation {row['relation']!r}")
    return Couple(str(row["first"]), str(row["second"]), row["relation"], str(row.get("domain", "")))


async def vectors_of(
    encoder: SentenceEncoder, singles: Sequence[Single], couples: Sequence[Couple]
) -> tuple[Values, list[SentenceVectors]]:
    """Return what the encoder makes of sentences, and of each pair with its two sentences."""
    states = []
    for start in range(0, len(singles), SLICE):
        states.append((await encoder.read([each.text for each in singles[start : start + SLICE]], ())).sentences)
    read = []
    for start in range(0, len(couples), SLICE):
        part = couples[start : start + SLICE]
        texts = [text for each in part for text in (each.first, each.second)]
        read.append(await encoder.read(texts, [(2 * place, 2 * place + 1) for place in range(len(part))]))
    return np.concatenate(states), read


def kind_rows(singles: Sequence[Single], states: Values) -> Rows:
    """Return sentences as rows to fit on."""
    return Rows(states, (states.shape[1],), [marks(each.text) for each in singles], [each.domain for each in singles])


def relation_rows(couples: Sequence[Couple], read: Sequence[SentenceVectors]) -> Rows:
    """Return pairs as rows to fit on; each must have been short enough to be read."""
    numbers = []
    for place, vectors in enumerate(read):
        part = couples[place * SLICE : (place + 1) * SLICE]
        if len(vectors.pairs) != len(part):
            raise SentenceDataError("a pair is longer than the encoder reads at once")
        pairs = [(2 * number, 2 * number + 1) for number in range(len(part))]
        numbers.append(pair_numbers([(each.first, each.second) for each in part], vectors, pairs))
    joined = np.concatenate(numbers)
    states = read[0].states.shape[1]
    few = joined.shape[1] - states
    return Rows(
        joined,
        (few, states),
        [pair_marks(each.first, each.second) for each in couples],
        [each.domain for each in couples],
    )


def truths(singles: Sequence[Single], couples: Sequence[Couple]) -> tuple[Any, Any]:
    """Return which kinds and relations hold; shapes ``(sentences, kinds)`` and ``(pairs, relations)``."""
    kinds = np.array([[kind in each.kinds for kind in KINDS] for each in singles])
    relations = np.array([[each.relation == relation for relation in RELATIONS] for each in couples])
    return kinds, relations


def heads_file(entry: ModelEntry, kinds: dict[str, Any], relations: dict[str, Any], told: dict[str, Any]) -> str:
    """Return the text of ``sentence_heads.json``."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "version": VERSION,
        "encoder": entry.fingerprint,
        "width": WIDTH,
        "states": list(STATES),
        "kinds": kinds,
        "relations": relations,
        "fitted_on": told,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _encoder_of(entry: ModelEntry) -> SentenceHeads:
    """Return heads without weights: they say which states the encoder has to give."""
    none = HeadGroup(np.zeros(0), np.ones(0), {}, ())
    return SentenceHeads(VERSION, entry.fingerprint, WIDTH, STATES, none, none)


async def read_all(
    singles: Sequence[Single], couples: Sequence[Couple], repository: ModelRepository, cache: Path
) -> tuple[Values, list[SentenceVectors]]:
    """Return what the encoder makes of the data, from the cache when it is the same encoder's and the same data's."""
    settings = InferenceSettings(model_repository=repository.root)
    entry = verified_entry(repository, settings.entailment_model, "entailment")
    asked = repr(
        [entry.fingerprint, STATES, [each.text for each in singles], [(each.first, each.second) for each in couples]]
    )
    kept = cache / f"{hashlib.sha256(asked.encode()).hexdigest()[:16]}.pickle"
    if kept.is_file():
        found: tuple[Values, list[SentenceVectors]] = pickle.loads(kept.read_bytes())  # noqa: S301 - our own file
        return found
    encoder = await open_sentence_encoder(settings, repository, entry, _encoder_of(entry))
    try:
        found = await vectors_of(encoder, singles, couples)
    finally:
        await encoder.close()
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(found))
    return found


def digest_of(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of the files' bytes, one behind the other."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m training.sentence_heads", description=__doc__, formatter_class=described)
    found.add_argument("--data", type=Path, default=DATA, help=f"folder with *.jsonl; {DATA}")
    found.add_argument("--cache", type=Path, default=CACHE, help=f"keeps what the encoder made of them; {CACHE}")
    found.add_argument("--repository", type=Path, default=Path("model_repository"), help="where the model lies")
    return found


def main() -> int:
    """Fit and write; prints how the heads fared on domains that they had not seen."""
    options = parser().parse_args()
    paths = sorted(options.data.glob("*.jsonl"))
    singles, couples = read_rows(paths)
    repository = ModelRepository.open(options.repository)
    states, read = asyncio.run(read_all(singles, couples, repository, options.cache))
    rows = (kind_rows(singles, states), relation_rows(couples, read))
    groups = []
    for names, each, truth in zip((KINDS, RELATIONS), rows, truths(singles, couples), strict=True):
        groups.append(fitted(names, each, truth, out_of_fold(each, truth)))
        for name in names:
            found = groups[-1]["heads"].get(name)
            print(f"{name:14} {'left to the rules' if found is None else json.dumps(found['measured'])}")
    entry = repository.entry(InferenceSettings().entailment_model)
    told = {
        "data": "training/ercp_sentences",
        "sha256": digest_of(paths),
        "sentences": len(singles),
        "pairs": len(couples),
        "domains": sorted({each.domain for each in (*singles, *couples)}),
        "folds": FOLDS,
        "ridge": RIDGE,
        "relation_numbers": list(OVERLAPS),
    }
    path = options.repository / entry.name / HEADS_FILE
    path.write_text(heads_file(entry, groups[0], groups[1], told), encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes; now: python tools/update_manifest.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
