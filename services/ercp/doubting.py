"""Holds the statements of a draft against each other and against passages: errors, and doubts (ADR 0179)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.common.computing import compute
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.ercp.domain import doubting
from services.ercp.domain.doubting import Statements
from services.ercp.domain.faults import Suspicion
from services.ercp.domain.records import Doubt


@dataclass(frozen=True, slots=True)
class Doubting:
    """Asks both models about the pairs that rules name, in one batch each; holds no state.

    Attributes:
        most_pairs: of one draft.
    """

    entailment: EntailmentModel
    embedding: EmbeddingModel
    most_pairs: int

    async def read(self, draft: Statements, passages: Sequence[Statements]) -> tuple[list[Suspicion], list[Doubt]]:
        """Return what is at odds, and what may be.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
            LimitExceededError: QUEUE_FULL.
        """
        pairs = await compute(doubting.plan, draft, passages, self.most_pairs)
        if not pairs:
            return [], []
        texts = doubting.texts_of(pairs, draft, passages)
        distinct = list(dict.fromkeys(text for pair in texts for text in pair))
        vectors = np.asarray(await self.embedding.embed(distinct))
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        number = {text: at for at, text in enumerate(distinct)}
        alike = [float(units[number[one]] @ units[number[other]]) for one, other in texts]
        both = [order for one, other in texts for order in ((one, other), (other, one))]
        scores = doubting.scores_of(np.asarray(await self.entailment.classify(both)))
        return await compute(doubting.judge, pairs, draft, passages, scores, alike)
