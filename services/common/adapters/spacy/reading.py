"""Reading texts with a spaCy pipeline; blocking, for whoever owns the thread or the process that it happens in.

Only the component ``ner`` is loaded.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from services.common.adapters.spacy.decoding import annotate, can_step
from services.common.adapters.spacy.library import import_spacy
from services.common.adapters.spacy.long_runs import ShortRuns, with_short_runs
from services.common.adapters.spacy.spans import merge
from services.common.model_repository import ModelRepositoryError
from services.common.ports.recognition import Entity, EntityKind

PIECE_CHARS: Final = 20_000
"""Longer texts are read in pieces, cut at white space: spaCy's memory grows with the length of a document."""
PIECE_TOKENS: Final = 5_000
"""Prose of ``PIECE_CHARS`` has some 4,000. Marks and digits can be as many tokens as characters: they are cut into more
pieces, so that no piece takes more memory than prose would."""
_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
"""About a token of spaCy's."""
_EXCLUDED: Final = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
_KINDS: Final = {
    "PERSON": EntityKind.PERSON,
    "ORG": EntityKind.ORGANISATION,
    "GPE": EntityKind.LOCATION,
    "LOC": EntityKind.LOCATION,
    "FAC": EntityKind.LOCATION,
    "DATE": EntityKind.DATE,
    "TIME": EntityKind.TIME,
    "MONEY": EntityKind.MONEY,
    "PERCENT": EntityKind.PERCENT,
    "QUANTITY": EntityKind.QUANTITY,
    "CARDINAL": EntityKind.NUMBER,
    "ORDINAL": EntityKind.NUMBER,
    "PRODUCT": EntityKind.PRODUCT,
    "EVENT": EntityKind.EVENT,
    "LAW": EntityKind.LAW,
    "NORP": EntityKind.OTHER,
    "WORK_OF_ART": EntityKind.OTHER,
    "LANGUAGE": EntityKind.OTHER,
}


class SpacyReading:
    """A loaded pipeline; not for two threads at once.

    Args:
        pipeline: the spaCy ``Language``.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._recognizer = pipeline.get_pipe("ner") if can_step(pipeline) else None

    @classmethod
    def load(cls, folder: Path) -> "SpacyReading":
        """Load the pipeline of a folder.

        Raises:
            ModelRepositoryError: spaCy cannot load it.
        """
        try:
            return cls(import_spacy().load(folder, exclude=_EXCLUDED))
        except Exception as error:
            raise ModelRepositoryError(f"{folder} cannot be loaded: {error}") from error

    @property
    def pipeline(self) -> Any:
        """The spaCy ``Language``."""
        return self._pipeline

    def entities(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return for each text its entities, ordered by start, not overlapping, every digit in exactly one."""
        ready = [with_short_runs(text) for text in texts]
        pieces = [(row, offset, piece) for row, one in enumerate(ready) for offset, piece in _pieces(one.text)]
        found: list[list[Entity]] = [[] for _ in texts]
        # The zone frees the words that these texts added to spaCy's vocabulary.
        with self._pipeline.memory_zone():
            documents = self._read([piece for _, _, piece in pieces])
            for (row, offset, _), document in zip(pieces, documents, strict=True):
                found[row] += _entities(texts[row], ready[row], offset, document.ents)
        return [merge(text, entities) for text, entities in zip(texts, found, strict=True)]

    def _read(self, pieces: Sequence[str]) -> Iterable[Any]:
        """Return the documents of pieces, with their entities."""
        if self._recognizer is None:
            return self._pipeline.pipe(pieces)  # type: ignore[no-any-return]
        documents = [self._pipeline.make_doc(piece) for piece in pieces]
        annotate(self._recognizer, documents)
        return documents


def _pieces(text: str) -> list[tuple[int, str]]:
    pieces = []
    start = 0
    while len(text) - start > PIECE_TOKENS:
        end = _end(text, start)
        if end >= len(text):
            break
        cut = end
        while cut > start and not text[cut - 1].isspace():
            cut -= 1
        if cut == start:
            cut = end
        pieces.append((start, text[start:cut]))
        start = cut
    pieces.append((start, text[start:]))
    return pieces


def _end(text: str, start: int) -> int:
    """Return how far a piece reaches at most."""
    full = start + PIECE_CHARS
    over = next(itertools.islice(_TOKEN.finditer(text, start, full), PIECE_TOKENS, None), None)
    return full if over is None else over.start()


def _entities(text: str, ready: ShortRuns, offset: int, spans: Iterable[Any]) -> Iterator[Entity]:
    for span in spans:
        place = ready.place(offset + span.start_char, offset + span.end_char)
        if place is not None:
            yield Entity(_KINDS.get(span.label_, EntityKind.OTHER), text[slice(*place)], *place)
