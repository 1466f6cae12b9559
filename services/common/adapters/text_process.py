"""``python -m services.common.adapters.text_process``: finds entities and personal data, for ``TextWorkers``."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from services.common.adapters.spacy.library import import_spacy
from services.common.adapters.spacy.reading import SpacyReading
from services.common.model_repository import ModelRepositoryError
from services.common.workers.child import Handler, serve
from services.common.workers.frames import Json

Search = Callable[[str, list[tuple[int, int]]], list[tuple[str, int, int, float]]]
"""A text and where persons stand in it, to what was found: type, start, end, confidence."""


def build(configuration: Json) -> Mapping[str, Handler]:
    """Load what the parent will ask for."""
    handlers: dict[str, Handler] = {}
    recognizer = configuration["recognizer"]
    if recognizer is not None:
        handlers["entities"] = _reader(_loaded(Path(recognizer["folder"]), recognizer["files"]))
    if configuration["personal_data"]:
        import_spacy()  # which Presidio imports whole
        from services.common.adapters.presidio.engine import Analyzer, search

        handlers["personal_data"] = _searcher(search(Analyzer()))
    return handlers


def _loaded(folder: Path, files: list[list[str]]) -> SpacyReading:
    """Load the pipeline; the files may have been changed since the process that serves has proved them."""
    for path, pinned in files:
        with (folder / path).open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != pinned:  # SPEC-005 §21.1
                raise ModelRepositoryError(f"{folder / path} is not the pinned file any more")
    return SpacyReading.load(folder / "1")


def _reader(reading: SpacyReading) -> Handler:
    def entities(texts: Json, _: bytes) -> Iterator[Json]:
        yield [[[one.kind.value, one.start, one.end] for one in row] for row in reading.entities(texts)]

    return entities


def _searcher(search: Search) -> Handler:
    def personal_data(pieces: Json, _: bytes) -> Iterator[Json]:
        started = time.perf_counter()
        found: list[Any] = [search(text, persons) for text, persons in pieces]
        yield [found, time.perf_counter() - started]

    return personal_data


if __name__ == "__main__":
    serve(build)
