"""``Reranker`` over the grounding encoder: how far a fact bears out what was asked (ADR 0067).

Nothing was trained for it: the encoder reads fact and query as the pair that it judges anyway, and its support logit
orders the facts. One pair a fact where it fits, windows over the fact where it does not; the best window counts.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backend import EncoderBackend, TokenIds
from services.common.adapters.encoders.readout import Readout
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.windows import readings
from services.common.grounding.combiner import logistic

_Item: TypeAlias = tuple[TokenIds, range]
"""What is read, and where the query's tokens stand in it."""


class EncoderReranker:
    """Scores pairs; belongs to one event loop. Backend and tokenizer stay their owner's.

    Args:
        backend: runs the encoder; ``Readout`` says what its outputs may be.
        tokenizer: the encoder's own.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        self._backend = backend
        self._tokenizer = tokenizer
        self._readout = Readout(backend.entry)
        self._room = (backend.entry.max_tokens or 0) - tokenizer.pair_specials

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over weights, tokenizer and combiner."""
        return self._backend.entry.fingerprint

    async def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return for each (query, passage) a number in (0, 1), higher is better; one call of the encoder for all.

        A query that leaves less than half of what is read at once is read in pieces, whose scores are averaged.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        plans = await off_the_loop(texts, lambda distinct: self._plans(pairs, distinct))
        items = [item for plan in plans for windows in plan for item in windows]
        outputs = await self._backend.run([ids for ids, _ in items])
        read = (self._readout.support(one, places) for one, (_, places) in zip(outputs, items, strict=True))
        logits = iter(np.array(list(read), dtype=np.float64))
        found = [np.mean([max(next(logits) for _ in windows) for windows in plan]) for plan in plans]
        return logistic(np.array(found, dtype=np.float64)).astype(np.float32)

    def _plans(self, pairs: Sequence[tuple[str, str]], texts: Sequence[str]) -> list[list[list[_Item]]]:
        """Return per pair, per piece of its query, what the encoder reads."""
        known = dict(zip(texts, self._tokenizer.ids(texts), strict=True))
        return [self._items(known[passage], known[query]) for query, passage in pairs]

    def _items(self, passage: TokenIds, query: TokenIds) -> list[list[_Item]]:
        plan = readings(len(passage), query, self._room, self._tokenizer.sentence_ends)
        return [
            [self._item(passage[slice(*one.premise)], query[slice(*one.hypothesis)]) for one in windows]
            for windows in plan
        ]

    def _item(self, passage: TokenIds, query: TokenIds) -> _Item:
        start = self._tokenizer.second_start(passage)
        return self._tokenizer.pair(passage, query), range(start, start + len(query))
