"""``PersonalDataDetector`` over Presidio (SPEC-005 §13): pieces of bounded length, off the event loop, bounded time.

Presidio compares results with one another and Python's pattern matching is not linear for every pattern, so a text is
read in pieces with a margin to either side: the work grows with the number of pieces and with nothing else. A finding
belongs to the piece in which it begins. It happens in a process of its own that can be ended (``text_workers``), or in
one thread for tools and tests. Errors name the kind of the failure and never carry its text.
"""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final, Protocol, TypeAlias

from services.common.adapters.presidio.choosing import chosen
from services.common.adapters.presidio.kinds import CATEGORIES
from services.common.adapters.presidio.readable import Readable
from services.common.adapters.text_workers import TextWorkers
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import current_tenant
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity, EntityKind
from services.common.queue_counts import QueueCounts, current_class
from services.common.settings.inference import InferenceSettings
from services.common.workers.errors import WorkerError

PIECE_CHARS: Final = 4_000
MARGIN_CHARS: Final = 400
"""Read on either side of a piece, so that words near a finding are seen; a sentence and an address are shorter."""
TURN_PIECES: Final = 8
"""Pieces between two looks at the clock and at a cancellation."""
_NAME: Final = "personal_data"


Asked: TypeAlias = tuple[str, Sequence[tuple[int, int]]]
"""A piece with its margins, and where persons stand in it."""
Found: TypeAlias = tuple[str, int, int, float]
"""Type, start, end, confidence."""


class Searcher(Protocol):
    """Searches the pieces of one turn, off the event loop."""

    async def personal_data(self, pieces: Sequence[Asked]) -> tuple[list[list[Found]], float]:
        """Return what each piece holds, and the seconds that it took; whatever it raises, nothing was searched."""
        ...

    async def close(self) -> None:
        """Release what it has; idempotent."""
        ...


class ThreadSearcher:
    """Searches in one thread of this process.

    Args:
        search: searches one piece.
    """

    def __init__(self, search: Callable[[str, Sequence[tuple[int, int]]], list[Found]]) -> None:
        self._search = search
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="personal-data")

    async def personal_data(self, pieces: Sequence[Asked]) -> tuple[list[list[Found]], float]:
        """Return what each piece holds, and the seconds that it took."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._compute, pieces)

    async def close(self) -> None:
        """Release the thread."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _compute(self, pieces: Sequence[Asked]) -> tuple[list[list[Found]], float]:
        started = time.perf_counter()
        found = [self._search(text, persons) for text, persons in pieces]
        return found, time.perf_counter() - started


class WorkerSearcher:
    """Searches in processes that others use too; whoever made them closes them.

    Args:
        workers: the processes.
    """

    def __init__(self, workers: TextWorkers) -> None:
        self._workers = workers

    async def personal_data(self, pieces: Sequence[Asked]) -> tuple[list[list[Found]], float]:
        """Return what each piece holds, and the seconds that it took."""
        return await self._workers.personal_data(pieces)

    async def close(self) -> None:
        """Need nothing."""


@dataclass(frozen=True, slots=True)
class _Piece:
    row: int
    start: int
    end: int
    low: int
    text: str
    persons: tuple[tuple[int, int], ...]


class PresidioDetector:
    """``PersonalDataDetector`` by Presidio's frame with its recognisers and ours; belongs to one event loop.

    Args:
        searcher: searches the pieces.
        queue_chars: code points of one tenant that may wait or be read before its calls are refused.
        limit_s: seconds that one call may compute.
        counts: of the queue in front of the searcher.
    """

    def __init__(
        self, searcher: Searcher, *, queue_chars: int, limit_s: float, counts: QueueCounts | None = None
    ) -> None:
        self._searcher = searcher
        self._queue_chars = queue_chars
        self._limit_s = limit_s
        self._counts = counts or QueueCounts(_NAME)
        self._waiting: Counter[str] = Counter()  # by tenant
        self._closed = False
        self._fingerprint = fingerprint()

    @property
    def fingerprint(self) -> str:
        """``name@presidio-version+sha256:<16 hex>`` over our rules and the versions of what they rest on."""
        return self._fingerprint

    async def detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        """Return the findings of each text. Raises as the port says."""
        size, tenant = sum(len(one.text) for one in texts), current_tenant()
        if self._waiting[tenant] and self._waiting[tenant] + size > self._queue_chars:
            self._counts.full(current_class())
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"The queue of the {_NAME} detector is full; retry later.",
                retry_after_s=1.0,
                model=_NAME,
                queue_chars=str(self._queue_chars),
            )
        self._waiting[tenant] += size
        try:
            return await self._detect(texts)
        finally:
            self._waiting[tenant] -= size
            if not self._waiting[tenant]:
                del self._waiting[tenant]

    async def close(self) -> None:
        """Release the thread or the process; idempotent."""
        self._closed = True
        await self._searcher.close()

    async def _detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        readable = [Readable(one.text) for one in texts]
        pieces = [
            piece
            for row, (one, plain) in enumerate(zip(texts, readable, strict=True))
            for piece in _pieces(row, plain.text, _persons(one.entities, plain))
        ]
        found: list[list[PersonalData]] = [[] for _ in texts]
        spent_s = 0.0
        for at in range(0, len(pieces), TURN_PIECES):
            if self._closed:
                raise _unavailable("closed")
            turn = pieces[at : at + TURN_PIECES]
            results, elapsed_s = await self._search(turn)
            for piece, result in zip(turn, results, strict=True):
                found[piece.row] += _in_piece(piece, result)
            spent_s += elapsed_s
            if spent_s > self._limit_s and at + TURN_PIECES < len(pieces):
                raise _unavailable("out of time")
        return [
            tuple(_located(one, plain) for one in chosen(each)) for each, plain in zip(found, readable, strict=True)
        ]

    async def _search(self, turn: Sequence[_Piece]) -> tuple[list[list[Found]], float]:
        try:
            return await self._searcher.personal_data([(piece.text, piece.persons) for piece in turn])
        except WorkerError as error:
            raise _unavailable(error.told) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, its text must not leave
            # Without "from": a traceback of Presidio's errors holds the text.
            raise _unavailable(type(error).__name__) from None


async def open_detector(settings: InferenceSettings, workers: TextWorkers | None = None) -> PresidioDetector:
    """Return the detector ready to serve; nothing is fetched.

    Args:
        settings: limits.
        workers: the processes that search, started when they are first needed; a thread of this one when not given.
    """
    if workers is not None:
        workers.search_personal_data()
        searcher: Searcher = WorkerSearcher(workers)
    else:
        searcher = ThreadSearcher(await asyncio.to_thread(_search))
    return PresidioDetector(
        searcher,
        queue_chars=settings.personal_data_queue_chars,
        limit_s=settings.personal_data_limit_s,
        counts=None if workers is None else workers.queue_counts,
    )


def fingerprint() -> str:
    """Return name, Presidio's version and a digest over the rules and the versions of what they rest on."""
    from importlib import resources

    rules = resources.files("services.common.adapters.presidio")
    parts = {entry.name: sha256_hex(entry.read_bytes()) for entry in rules.iterdir() if entry.name.endswith(".py")} | {
        name: version(name) for name in ("phonenumbers", "regex", "tldextract")
    }
    return f"{_NAME}@{version('presidio-analyzer')}+sha256:{sha256_hex(canonical_json(parts))[:16]}"


def _search() -> Callable[[str, Sequence[tuple[int, int]]], list[Found]]:
    from services.common.adapters.presidio.engine import Analyzer, search

    return search(Analyzer())


def _pieces(row: int, text: str, persons: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
    """Yield the pieces of a text, each with the persons that lie in it and its margins."""
    for start in range(0, len(text), PIECE_CHARS):
        end = min(len(text), start + PIECE_CHARS)
        low, high = max(0, start - MARGIN_CHARS), min(len(text), end + MARGIN_CHARS)
        near = persons[bisect_left(persons, (low, 0)) : bisect_left(persons, (high, 0))]
        inside = tuple((begin - low, stop - low) for begin, stop in near if stop <= high)
        yield _Piece(row, start, end, low, text[low:high], inside)


def _in_piece(piece: _Piece, found: Sequence[Found]) -> Iterator[PersonalData]:
    for kind, start, end, score in found:
        if piece.start <= start + piece.low < piece.end:
            at, stop = start + piece.low, end + piece.low
            yield PersonalData(CATEGORIES[kind], kind, at, stop, round(min(1.0, score), 2))


def _persons(entities: Sequence[Entity], plain: Readable) -> list[tuple[int, int]]:
    """Return where the persons among the entities stand in the plain text, in order."""
    places = ((plain.place(one.start), plain.place(one.end)) for one in entities if one.kind is EntityKind.PERSON)
    return sorted((start, end) for start, end in places if start < end)


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
