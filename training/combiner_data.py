"""What the combiner is fitted on: signals and encoder outputs of every row of grounding/dev.

Signals are computed anew each time. What the encoder says of a row is kept on disk under a digest of everything it
depends on (weights, tokenizer, windows, the row), so that a run that was cut off goes on where it stopped.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from services.common.adapters.encoders.grounding_reading import GroundingReader, Reading
from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.encoding import canonical_json, sha256_hex
from services.common.grounding.passage_index import PassageIndex
from services.common.grounding.signals import signals
from services.common.grounding.windows import WindowSettings
from services.common.model_repository import ModelEntry, ModelRepository
from services.common.ports.grounding import GroundingRequest
from services.common.settings.inference import InferenceSettings
from training.rows import CheckedText

Values = NDArray[np.float64]

READING_VERSION: Final = 1
"""Grows when windows, statements or the reading of outputs change, which the digest does not see."""
BLOCK: Final = 32
DIGEST_CHARS: Final = 16
POOLED_BELOW: Final = 20
"""A data set with fewer rows of a class than this in ``calibrate`` is pooled with others of its kind."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows side by side with what is known of them.

    Attributes:
        rows: the data.
        signals: shape ``(rows, len(SIGNALS))``.
        encoder: shape ``(rows, len(ENCODER_FEATURES))``; ``None`` when no encoder was run.
        doubts: per row (start, end, probability of being unsupported) of each word; empty without an encoder.
    """

    rows: tuple[CheckedText, ...]
    signals: Values
    encoder: Values | None
    doubts: tuple[tuple[tuple[int, int, float], ...], ...]

    @property
    def supported(self) -> NDArray[np.bool_]:
        """The labels."""
        return np.array([row.supported for row in self.rows], dtype=np.bool_)

    @property
    def datasets(self) -> NDArray[np.str_]:
        """Whose row it is."""
        return np.array([row.dataset for row in self.rows])

    @property
    def contexts(self) -> NDArray[np.intp]:
        """A number per row; rows that share it share their passages, and must not be torn apart."""
        known: dict[tuple[str, ...], int] = {}
        return np.array([known.setdefault(row.context, len(known)) for row in self.rows], dtype=np.intp)

    def fold(self, name: str) -> "Table":
        """Return the rows of one fold."""
        chosen = [number for number, row in enumerate(self.rows) if row.fold == name]
        return Table(
            tuple(self.rows[number] for number in chosen),
            self.signals[chosen],
            None if self.encoder is None else self.encoder[chosen],
            tuple(self.doubts[number] for number in chosen) if self.doubts else (),
        )


def measure_signals(rows: Sequence[CheckedText], progress: Progress) -> Values:
    """Return the signals of every row; shape ``(rows, len(SIGNALS))``."""
    indexes: dict[tuple[str, ...], PassageIndex] = {}
    task = progress.add_task("signals", total=len(rows))
    found = []
    for row in rows:
        if row.context not in indexes:
            indexes[row.context] = PassageIndex(row.context)
        found.append(signals(indexes[row.context], row.claim, row.query))
        progress.advance(task)
    return np.array(found)


async def read_rows(
    rows: Sequence[CheckedText], repository: ModelRepository, model: str, cache: Path, progress: Progress
) -> list[dict[str, Any]]:
    """Return per row what the encoder says: ``encoder`` (or None) and ``doubts``.

    Args:
        rows: what to read.
        repository: holds the encoder.
        model: its name there.
        cache: a file of JSON lines that is read first and added to.
        progress: shows how far it is.
    """
    settings = InferenceSettings(grounding_model=model)
    backend = await open_backend(settings, repository, model, "grounding")
    try:
        windows = WindowSettings()
        reader = GroundingReader(backend, EncoderTokenizer.load(repository, model), windows)
        digests = [_digest(backend.entry, windows, row) for row in rows]
        known = _cached(cache)
        missing = [number for number, digest in enumerate(digests) if digest not in known]
        task = progress.add_task("encoder", total=len(rows), completed=len(rows) - len(missing))
        with cache.open("a", encoding="utf-8") as lines:
            for start in range(0, len(missing), BLOCK):
                block = missing[start : start + BLOCK]
                requests = [GroundingRequest(rows[n].claim, rows[n].context, rows[n].query) for n in block]
                for number, reading in zip(block, await reader.read(requests), strict=True):
                    known[digests[number]] = _plain(reading)
                    lines.write(json.dumps({"digest": digests[number], **known[digests[number]]}) + "\n")
                lines.flush()
                progress.advance(task, len(block))
        return [known[digest] for digest in digests]
    finally:
        await backend.close()


def tabulate(
    rows: Sequence[CheckedText], repository: ModelRepository | None, model: str, cache: Path, progress: Progress
) -> Table:
    """Return the rows with their signals and, where a repository is given, what its encoder says.

    Raises:
        ValueError: a row has no passage with a word in it, so that the encoder has nothing to say.
    """
    measured = measure_signals(rows, progress)
    if repository is None:
        return Table(tuple(rows), measured, None, ())
    found = asyncio.run(read_rows(rows, repository, model, cache, progress))
    unread = [row.id for row, said in zip(rows, found, strict=True) if said["encoder"] is None]
    if unread:
        raise ValueError(f"row {unread[0]} has no passage to read")
    doubts = tuple(tuple((int(s), int(e), float(p)) for s, e, p in said["doubts"]) for said in found)
    return Table(tuple(rows), measured, np.array([said["encoder"] for said in found]), doubts)


def pooled_datasets(table: Table) -> dict[str, str]:
    """Return for each data set the group that it is weighted in: itself, or, when too small, all the small ones."""
    groups = {}
    for name in sorted(set(table.datasets)):
        labels = table.supported[table.datasets == name]
        small = min(labels.sum(), (~labels).sum()) < POOLED_BELOW
        groups[str(name)] = "small sets" if small else str(name)
    return groups


def _digest(entry: ModelEntry, windows: WindowSettings, row: CheckedText) -> str:
    decisive = {file.path: file.sha256 for file in entry.files if file.role in {"weights", "tokenizer"}}
    content = {
        "files": decisive,
        "windows": [windows.premise_tokens, windows.max_windows, READING_VERSION],
        "row": [row.claim, list(row.context), row.query or ""],
    }
    return sha256_hex(canonical_json(content))[:DIGEST_CHARS]


def _plain(reading: Reading) -> dict[str, Any]:
    return {
        "encoder": None if reading.encoder is None else [round(float(value), 5) for value in reading.encoder],
        "doubts": [[doubt.start, doubt.end, round(doubt.unsupported, 4)] for doubt in reading.doubts],
    }


def _cached(path: Path) -> dict[str, dict[str, Any]]:
    if not path.is_file():
        return {}
    known = {}
    for line in _whole_lines(path):
        entry = json.loads(line)
        known[entry.pop("digest")] = entry
    return known


def _whole_lines(path: Path) -> Iterable[str]:
    """Return the lines that were written to their end; a run that was killed may have left half of one."""
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text, encoding="utf-8")
    return text.splitlines()
