"""Reading claims beside their passages: windows, pairs, one batch, and what comes out of it per claim.

A claim that is longer than ``statements.PIECE_WORDS`` words, or than the encoder takes beside a window, is read in
pieces; the piece that is supported least speaks for the whole. Of a piece's windows the one that supports it most does:
a window that does not speak of something says nothing against it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from services.common.adapters.encoders.backend import EncoderBackend, Outputs, TokenIds
from services.common.adapters.encoders.readout import Readout
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.computing import compute
from services.common.grounding.combiner import logistic
from services.common.grounding.passage_index import PassageIndex
from services.common.grounding.signals import signals
from services.common.grounding.spans import TokenDoubt, WordDoubt, word_doubts
from services.common.grounding.statements import Statement, pieces, statement
from services.common.grounding.windows import Window, WindowCutter, WindowSettings
from services.common.model_repository import ModelRepositoryError
from services.common.ports.grounding import GroundingRequest

IN_PLACE_TOKENS: Final = 1_000
"""Tokens whose doubts are read on the event loop; more of them take it for milliseconds."""
LEAST_PREMISE_TOKENS: Final = 32
"""However long the statement, a window keeps this many tokens; a longer statement is cut into pieces instead."""
CUT_WORDS: Final = 200
"""By so many tokens a part may be shorter than as a part of the whole: those of two words that the cuts go through."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of one request before the combiner judges it.

    Attributes:
        signals: in the order of ``signals.SIGNALS``.
        encoder: in the order of ``combiner.ENCODER_FEATURES``; ``None`` when there was nothing to read.
        doubts: the claim's words that the encoder read, in order.
        evidence: indexes of the passages that it read, nearest first.
    """

    signals: NDArray[np.float64]
    encoder: NDArray[np.float64] | None
    doubts: tuple[WordDoubt, ...]
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a claim as the encoder gets it.

    Attributes:
        tokens: per token of the statement that belongs to the claim: its place in the statement, start and end in the
            claim.
        items: one per window, the composed one first.
        starts: where the statement's tokens begin in each item.
        windows: what is read.
    """

    tokens: tuple[tuple[int, int, int], ...]
    items: tuple[TokenIds, ...]
    starts: tuple[int, ...]
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    signals: NDArray[np.float64]
    pieces: tuple[_Piece, ...]


class GroundingReader:
    """Has an encoder read requests; what it means for the verdict is left to the combiner.

    Args:
        backend: runs the encoder; ``Readout`` says what its outputs may be.
        tokenizer: the encoder's own.
        windows: how much is read.

    Raises:
        ModelRepositoryError: the manifest names other outputs, or too few tokens for window and statement.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer, windows: WindowSettings) -> None:
        entry = backend.entry
        self._readout = Readout(entry)
        self._backend = backend
        self._tokenizer = tokenizer
        self._windows = windows
        self._room = (entry.max_tokens or 0) - tokenizer.pair_specials
        if self._room < 2 * LEAST_PREMISE_TOKENS:
            msg = f"MANIFEST.json: max_tokens of {entry.name} leaves {self._room} tokens for a window and a statement"
            raise ModelRepositoryError(msg)

    async def read(self, requests: Sequence[GroundingRequest]) -> list[Reading]:
        """Return a reading per request, in order; all windows of all requests go to the backend in one call.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        texts = [text for request in requests for text in (request.claim, *request.passages)]
        plans = await off_the_loop(texts, lambda _: self._plans(requests))
        items = [item for plan in plans for piece in plan.pieces for item in piece.items]
        outputs = await self._backend.run(items)
        if sum(map(len, items)) <= IN_PLACE_TOKENS:
            return _readings(requests, plans, outputs, self._readout)
        return await compute(_readings, requests, plans, outputs, self._readout)

    def _plans(self, requests: Sequence[GroundingRequest]) -> list[_Plan]:
        known: dict[tuple[str, ...], tuple[PassageIndex, WindowCutter]] = {}
        known_ids = _OnceTokenized(self._tokenizer)
        plans = []
        for request in requests:
            if request.passages not in known:
                index = PassageIndex(request.passages)
                known[request.passages] = (index, WindowCutter(index, known_ids.counts))
            plans.append(self._plan(request, *known[request.passages], known_ids))
        return plans

    def _plan(
        self, request: GroundingRequest, index: PassageIndex, cutter: WindowCutter, known_ids: "_OnceTokenized"
    ) -> _Plan:
        measured = signals(index, request.claim, request.query)
        if not index.sentences:
            return _Plan(measured, ())
        parts = [
            part
            for start, end in pieces(request.claim)
            for part in self._statements(request.claim, start, end, request.query, _Places(self._tokenizer))
        ]
        about = request.query if len(parts) == 1 else " ".join(filter(None, (request.query, request.claim)))
        most = min(self._windows.max_windows, request.max_windows or self._windows.max_windows)
        asked = _Asked(request.claim, about, most, cutter, known_ids)
        found = (self._piece(asked, part) for part in parts)
        return _Plan(measured, tuple(found))

    def _statements(self, claim: str, start: int, end: int, query: str | None, whole: "_Places") -> list["_Presented"]:
        """Return how a piece is presented, cut further where the encoder could not read it beside a window.

        Args:
            claim: what the piece is of.
            start: of the piece.
            end: of the piece.
            query: what the claim answers.
            whole: tokens of the piece that this one was cut from, so that each half is not tokenized to be cut again.
        """
        text, most = claim[start:end], self._room - LEAST_PREMISE_TOKENS
        if len(text) <= 2 * (most + CUT_WORDS) or whole.within(claim, start, end) <= most + CUT_WORDS:
            for shown in dict.fromkeys((statement(text, query), Statement(text, 0, len(text)))):
                (encoding,) = self._tokenizer.encodings([shown.text])
                if len(encoding.ids) <= most:
                    return [_Presented(start, shown, encoding)]
        middle = start + len(text) // 2
        space = claim.find(" ", middle, end - 1)
        cut = space if space > start else middle
        return self._statements(claim, start, cut, query, whole) + self._statements(claim, cut, end, query, whole)

    def _piece(self, asked: "_Asked", part: "_Presented") -> _Piece:
        start, shown, encoding = part.start, part.shown, part.encoding
        ids = tuple(encoding.ids)
        room = min(self._windows.premise_tokens, self._room - len(ids))
        settings = WindowSettings(room, asked.most)
        piece = asked.claim[start : start + shown.claim_end - shown.claim_start]
        windows = tuple(asked.cutter.cut(piece, asked.about, settings))
        # Joining sentences may take a token more than they have apart: what is too long then is read without its end.
        premises = [premise[: self._room - len(ids)] for premise in asked.known_ids([w.text for w in windows])]
        tokens = tuple(
            (place, first - shown.claim_start + start, last - shown.claim_start + start)
            for place, (first, last) in enumerate(encoding.offsets)
            if shown.claim_start <= first < last <= shown.claim_end
        )
        return _Piece(
            tokens,
            tuple(self._tokenizer.pair(premise, ids) for premise in premises),
            tuple(self._tokenizer.second_start(premise) for premise in premises),
            windows,
        )


@dataclass(frozen=True, slots=True)
class _Presented:
    """A piece of a claim as the encoder reads it: where it begins in the claim, its text, its tokens."""

    start: int
    shown: Statement
    encoding: Encoding


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all pieces of a request share."""

    claim: str
    about: str | None
    most: int
    cutter: WindowCutter
    known_ids: "_OnceTokenized"


class _Places:
    """Where the tokens of a long piece begin, found once for all parts that it is cut into.

    Args:
        tokenizer: the encoder's own.
    """

    def __init__(self, tokenizer: EncoderTokenizer) -> None:
        self._tokenizer = tokenizer
        self._begins: list[int] | None = None

    def within(self, claim: str, start: int, end: int) -> int:
        """Return how many tokens begin in a part; of the first part that is asked about, all are found."""
        if self._begins is None:
            (encoding,) = self._tokenizer.encodings([claim[start:end]])
            self._begins = [start + first for first, _ in encoding.offsets]
        return bisect_left(self._begins, end) - bisect_left(self._begins, start)


class _OnceTokenized:
    """Token ids of each text, made once: claims of one call have most of their passages and windows in common."""

    def __init__(self, tokenizer: EncoderTokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, TokenIds] = {}

    def __call__(self, texts: Sequence[str]) -> list[TokenIds]:
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._tokenizer.ids(unknown), strict=True))
        return [self._known[text] for text in texts]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        return [len(ids) for ids in self(texts)]


def _readings(
    requests: Sequence[GroundingRequest], plans: Sequence[_Plan], outputs: Sequence[Outputs], readout: Readout
) -> list[Reading]:
    rest = iter(outputs)
    return [_reading(request.claim, plan, rest, readout) for request, plan in zip(requests, plans, strict=True)]


def _reading(claim: str, plan: _Plan, outputs: Iterator[Outputs], readout: Readout) -> Reading:
    if not plan.pieces:
        return Reading(plan.signals, None, (), ())
    support, composed = [], []
    tokens: list[TokenDoubt] = []
    for piece in plan.pieces:
        read = [next(outputs) for _ in piece.items]
        places = [place for place, _, _ in piece.tokens]
        logits = [
            readout.support(one, [start + place for place in places])
            for one, start in zip(read, piece.starts, strict=True)
        ]
        support.append(max(logits))
        composed.append(logits[0])
        if readout.marks_tokens:
            tokens += _token_doubts(piece, [readout.doubts(one) for one in read])
    doubts = word_doubts(claim, tokens)
    peak = max((word.unsupported for word in doubts), default=0.0)
    mean = sum(word.unsupported for word in doubts) / max(1, len(doubts))
    evidence = dict.fromkeys(number for piece in plan.pieces for window in piece.windows for number in window.passages)
    encoder = np.array([min(support), min(composed), peak, mean])
    return Reading(plan.signals, encoder, tuple(doubts), tuple(evidence))


def _token_doubts(piece: _Piece, logits: Sequence[NDArray[np.float64]]) -> Iterator[TokenDoubt]:
    """Yield the claim's tokens; what one window supports is supported."""
    by_window = [logistic(row[start:]) for row, start in zip(logits, piece.starts, strict=True)]
    for place, first, last in piece.tokens:
        yield TokenDoubt(first, last, float(min(row[place] for row in by_window)))
