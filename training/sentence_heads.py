"""Fit the heads that say what a sentence is, and what two sentences are to each other (ADR 0118).

    python -m training.sentence_heads [--data training/ercp_sentences] [--cache FOLDER] [--repository model_repository]
    python tools/update_manifest.py

Reads the sentences with the delivered entailment model, through the code that serves them, once: what it makes of
them is kept in the cache folder. Fits on all of them, takes the bounds from predictions on domains that were left out,
and writes ``sentence_heads.json`` and its golden vectors beside the model. New weights of the model need this command
again. NumPy alone; the same data gives the same file on the same machine.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.common.adapters.encoders.opening import verified_entry
from services.common.adapters.encoders.sentence_heads import (
    GOLDEN_FILE,
    HEADS_FILE,
    EncoderSentenceHeads,
    SentenceEncoder,
    SentenceVectors,
    open_sentence_encoder,
    pair_numbers,
)
from services.common.model_repository import ModelEntry, ModelRepository
from services.common.ports.sentence_heads import Sighting
from services.common.sentence_heads.features import OVERLAPS, Values, marks, pair_marks
from services.common.sentence_heads.model import SCHEMA_VERSION, HeadGroup, SentenceHeads, parse_heads
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
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for number, line in enumerate(content.decode().rstrip("\n").split("\n"), 1):
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
) -> tuple[list[Values], list[SentenceVectors]]:
    """Return what the encoder makes of each sentence, and of each pair with its two sentences."""
    states, read = list[Values](), list[SentenceVectors]()
    for start in range(0, len(singles), SLICE):
        states += list((await encoder.read([each.text for each in singles[start : start + SLICE]], ())).sentences)
    for start in range(0, len(couples), SLICE):
        part = couples[start : start + SLICE]
        texts = [text for each in part for text in (each.first, each.second)]
        found = await encoder.read(texts, [(2 * place, 2 * place + 1) for place in range(len(part))])
        if len(found.pairs) != len(part):
            raise SentenceDataError("a pair is longer than the encoder reads at once")
        read += [
            SentenceVectors(
                found.sentences[2 * place : 2 * place + 2],
                (0,),
                found.logits[place : place + 1],
                found.states[place : place + 1],
            )
            for place in range(len(part))
        ]
    return states, read


def kind_rows(singles: Sequence[Single], states: Values) -> Rows:
    """Return sentences as rows to fit on."""
    return Rows(states, (states.shape[1],), [marks(each.text) for each in singles], [each.domain for each in singles])


def relation_rows(couples: Sequence[Couple], read: Sequence[SentenceVectors]) -> Rows:
    """Return pairs as rows to fit on."""
    joined = np.concatenate(
        [
            pair_numbers([(each.first, each.second)], vectors, [(0, 1)])
            for each, vectors in zip(couples, read, strict=True)
        ]
    )
    states = read[0].states.shape[1]
    return Rows(
        joined,
        (joined.shape[1] - states, states),
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


def read_all(
    singles: Sequence[Single], couples: Sequence[Couple], repository: ModelRepository, cache: Path
) -> tuple[Values, list[SentenceVectors]]:
    """Return what the encoder makes of the data; what it was asked before comes from the cache."""
    settings = InferenceSettings(model_repository=repository.root)
    entry = verified_entry(repository, settings.entailment_model, "entailment")
    name = hashlib.sha256(repr([entry.fingerprint, STATES]).encode()).hexdigest()[:16]
    path = cache / f"{name}.pickle"
    kept: dict[Any, Any] = pickle.loads(path.read_bytes()) if path.is_file() else {}  # noqa: S301 - our own file
    new = [each for each in singles if each.text not in kept]
    pairs = [each for each in couples if (each.first, each.second) not in kept]
    if new or pairs:
        states, read = asyncio.run(_read_now(new, pairs, settings, repository, entry))
        kept |= {each.text: row for each, row in zip(new, states, strict=True)}
        kept |= {(each.first, each.second): row for each, row in zip(pairs, read, strict=True)}
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(kept))
    return np.array([kept[each.text] for each in singles]), [kept[each.first, each.second] for each in couples]


async def _read_now(
    singles: Sequence[Single],
    couples: Sequence[Couple],
    settings: InferenceSettings,
    repository: ModelRepository,
    entry: ModelEntry,
) -> tuple[list[Values], list[SentenceVectors]]:
    encoder = await open_sentence_encoder(settings, repository, entry, _encoder_of(entry))
    try:
        return await vectors_of(encoder, singles, couples)
    finally:
        await encoder.close()


async def golden_of(
    singles: Sequence[Single], couples: Sequence[Couple], repository: ModelRepository, entry: ModelEntry
) -> dict[str, Any]:
    """Return what the heads as written have to answer to some sentences and pairs."""
    settings = InferenceSettings(model_repository=repository.root)
    content = (repository.folder(entry.name) / HEADS_FILE).read_bytes()
    made = parse_heads(content.decode())
    encoder = await open_sentence_encoder(settings, repository, entry, made)
    heads = EncoderSentenceHeads(encoder, made, hashlib.sha256(content).hexdigest())
    try:
        alone = await heads.read([each.text for each in singles], ())
        texts = [text for each in couples for text in (each.first, each.second)]
        both = await heads.read(texts, [(2 * place, 2 * place + 1) for place in range(len(couples))])
    finally:
        await heads.close()
    return {
        "heads": heads.fingerprint,
        "tolerance": TOLERANCE,
        "sentences": [
            {"text": each.text, "kinds": _told(seen)} for each, seen in zip(singles, alone.kinds, strict=True)
        ],
        "pairs": [
            {"first": each.first, "second": each.second, "relations": _told(seen)}
            for each, seen in zip(couples, both.relations, strict=True)
        ],
    }


def _told(seen: Mapping[str, Sighting]) -> dict[str, float]:
    return {name: round(each.probability, 6) for name, each in seen.items()}


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
    states, read = read_all(singles, couples, repository, options.cache)
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
        "domains": sorted({each.domain for each in singles} | {each.domain for each in couples}),
        "folds": FOLDS,
        "ridge": RIDGE,
        "relation_numbers": list(OVERLAPS),
    }
    path = options.repository / entry.name / HEADS_FILE
    path.write_text(heads_file(entry, groups[0], groups[1], told), encoding="utf-8")
    golden = asyncio.run(golden_of(singles[::GOLDEN_EVERY], couples[::GOLDEN_EVERY], repository, entry))
    (path.parent / GOLDEN_FILE).write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes; now: python tools/update_manifest.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
