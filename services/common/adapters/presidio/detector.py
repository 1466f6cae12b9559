"""``PersonalDataDetector`` over Presidio (SPEC-005 §13): pieces of bounded length, one worker thread, bounded time.

Presidio compares results with one another and Python's pattern matching is not linear for every pattern, so a text is
read in pieces with a margin to either side: the work grows with the number of pieces and with nothing else. A finding
belongs to the piece in which it begins. Errors name the kind of the failure and never carry its text.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from services.common.adapters.presidio.choosing import chosen
from services.common.adapters.presidio.kinds import CATEGORIES
from services.common.adapters.presidio.readable import Readable
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity
from services.common.settings.inference import InferenceSettings

if TYPE_CHECKING:
    from services.common.adapters.presidio.engine import Analyzer

PIECE_CHARS: Final = 4_000
MARGIN_CHARS: Final = 400
"""Read on either side of a piece, so that words near a finding are seen; a sentence and an address are shorter."""
TURN_PIECES: Final = 8
"""Pieces between two looks at the clock and at a cancellation."""
_NAME: Final = "personal_data"


@dataclass(frozen=True, slots=True)
class _Piece:
    row: int
    start: int
    end: int


class PresidioDetector:
    """``PersonalDataDetector`` by Presidio's frame with its recognisers and ours; belongs to one event loop.

    Args:
        analyzer: the analyzer, which only ``executor`` uses.
        executor: one thread.
        queue_chars: code points that may wait before calls are refused.
        limit_s: seconds that one call may compute.
    """

    def __init__(self, analyzer: "Analyzer", executor: ThreadPoolExecutor, *, queue_chars: int, limit_s: float) -> None:
        self._analyzer = analyzer
        self._executor = executor
        self._queue_chars = queue_chars
        self._limit_s = limit_s
        self._waiting = 0
        self._closed = False
        self._fingerprint = fingerprint()

    @property
    def fingerprint(self) -> str:
        """``name@presidio-version+sha256:<16 hex>`` over our rules and the versions of what they rest on."""
        return self._fingerprint

    async def detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        """Return the findings of each text. Raises as the port says."""
        size = sum(len(one.text) for one in texts)
        if self._waiting and self._waiting + size > self._queue_chars:
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"The queue of the {_NAME} detector is full; retry later.",
                retry_after_s=1.0,
                model=_NAME,
                queue_chars=str(self._queue_chars),
            )
        self._waiting += size
        try:
            return await self._detect(texts)
        finally:
            self._waiting -= size

    async def close(self) -> None:
        """Release the thread; idempotent."""
        self._closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        loop = asyncio.get_running_loop()
        readable = [Readable(one.text) for one in texts]
        entities = [_moved(one.entities, plain) for one, plain in zip(texts, readable, strict=True)]
        pieces = [piece for row, plain in enumerate(readable) for piece in _pieces(row, plain.text)]
        found: list[list[PersonalData]] = [[] for _ in texts]
        spent_s = 0.0
        for at in range(0, len(pieces), TURN_PIECES):
            if self._closed:
                raise _unavailable("closed")
            turn = [(piece, readable[piece.row].text, entities[piece.row]) for piece in pieces[at : at + TURN_PIECES]]
            results, elapsed_s = await loop.run_in_executor(self._executor, self._compute, turn)
            for row, one in results:
                found[row].append(one)
            spent_s += elapsed_s
            if spent_s > self._limit_s and at + TURN_PIECES < len(pieces):
                raise _unavailable("out of time")
        return [
            tuple(_located(one, plain) for one in chosen(each)) for each, plain in zip(found, readable, strict=True)
        ]

    def _compute(
        self, turn: Sequence[tuple[_Piece, str, tuple[Entity, ...]]]
    ) -> tuple[list[tuple[int, PersonalData]], float]:
        started = time.perf_counter()
        try:
            found = [(piece.row, one) for piece, text, entities in turn for one in self._read(piece, text, entities)]
        except Exception as error:  # noqa: BLE001 - whatever it is, its text must not leave
            # Without "from": a traceback of Presidio's errors holds the text.
            raise _unavailable(type(error).__name__) from None
        return found, time.perf_counter() - started

    def _read(self, piece: _Piece, text: str, entities: tuple[Entity, ...]) -> Iterator[PersonalData]:
        low, high = max(0, piece.start - MARGIN_CHARS), min(len(text), piece.end + MARGIN_CHARS)
        near = [
            Entity(one.kind, one.text, one.start - low, one.end - low)
            for one in entities
            if one.start >= low and one.end <= high
        ]
        for one in self._analyzer.analyze(text[low:high], near):
            if piece.start <= one.start + low < piece.end:
                score = round(min(1.0, one.score), 2)
                yield PersonalData(CATEGORIES[one.entity_type], one.entity_type, one.start + low, one.end + low, score)


async def open_detector(settings: InferenceSettings) -> PresidioDetector:
    """Build the recognisers off the event loop and return the detector ready to serve; nothing is fetched."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="personal-data")
    try:
        analyzer = await asyncio.get_running_loop().run_in_executor(executor, _build)
    except BaseException:
        executor.shutdown(wait=False)
        raise
    return PresidioDetector(
        analyzer,
        executor,
        queue_chars=settings.personal_data_queue_chars,
        limit_s=settings.personal_data_limit_s,
    )


def fingerprint() -> str:
    """Return name, Presidio's version and a digest over the rules and the versions of what they rest on."""
    from importlib import resources

    rules = resources.files("services.common.adapters.presidio")
    parts = {entry.name: sha256_hex(entry.read_bytes()) for entry in rules.iterdir() if entry.name.endswith(".py")} | {
        name: version(name) for name in ("phonenumbers", "regex", "tldextract")
    }
    return f"{_NAME}@{version('presidio-analyzer')}+sha256:{sha256_hex(canonical_json(parts))[:16]}"


def _build() -> "Analyzer":
    from services.common.adapters.presidio.engine import Analyzer

    return Analyzer()


def _pieces(row: int, text: str) -> Iterator[_Piece]:
    for start in range(0, len(text), PIECE_CHARS):
        yield _Piece(row, start, min(len(text), start + PIECE_CHARS))


def _moved(entities: Sequence[Entity], plain: Readable) -> tuple[Entity, ...]:
    moved = (Entity(one.kind, one.text, plain.place(one.start), plain.place(one.end)) for one in entities)
    return tuple(one for one in moved if one.start < one.end)


def _located(found: PersonalData, plain: Readable) -> PersonalData:
    start, end = plain.origin(found.start, found.end)
    return PersonalData(found.category, found.type, start, end, found.confidence)


def _unavailable(cause: str) -> UnavailableError:
    return UnavailableError(
        ErrorReason.MODEL_UNAVAILABLE,
        f"The {_NAME} detector cannot compute: {cause}.",
        model=_NAME,
        cause=cause,
    )
