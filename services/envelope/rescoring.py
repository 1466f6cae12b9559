"""Scoring candidates anew, with query and fact side by side: a cross-encoder, or late interaction (ADR 0067).

Every rescorer asks its model once for all sub-queries. A model is opened when it is first needed, and a deployment may
lack it: ``RescoringUnavailableError`` then says why, and the retriever answers without it.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from services.common.errors import ErrorReason, LimitExceededError, StartupError, UnavailableError
from services.common.ports.facts import FactRecord
from services.common.ports.reranking import Reranker
from services.common.ports.token_vectors import TokenVectorModel
from services.envelope.domain.late_interaction import late_interaction_scores
from services.envelope.token_cache import TokenVectorCache

_LOG: Final = logging.getLogger(__name__)
ModelT = TypeVar("ModelT")
Provider = Callable[[], Awaitable[ModelT | None]]
"""Opens a model on first use and returns the same one from then on; ``None`` where the deployment has none."""


class RescoringUnavailableError(Exception):
    """The model could not serve this time; the candidates keep their order.

    Attributes:
        reason: the stable reason, for the warning and the metrics.
    """

    def __init__(self, reason: ErrorReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Rescoring:
    """One sub-query's candidates."""

    query: str
    facts: tuple[FactRecord, ...]


class Rescorer(Protocol):
    """Orders candidates by a model of its own."""

    async def scores(self, tenant_id: str, tasks: Sequence[Rescoring]) -> list[NDArray[np.float32]]:
        """Return per task one score per fact, higher is better; one call of the model for all of them.

        Raises:
            RescoringUnavailableError: the model is not delivered, cannot be opened, is overloaded or failed.
        """
        ...

    def forget(self, tenant_id: str) -> None:
        """Drop what is kept of the tenant's facts."""
        ...


async def no_model() -> None:
    """Provide nothing: the model of a deployment without one."""


class CrossEncoderRescorer:
    """``Rescorer`` by a cross-encoder.

    Args:
        provide: opens the cross-encoder.
    """

    def __init__(self, provide: Provider[Reranker]) -> None:
        self._provide = provide

    async def scores(self, tenant_id: str, tasks: Sequence[Rescoring]) -> list[NDArray[np.float32]]:  # noqa: ARG002
        """Return the cross-encoder's scores; equal pairs are scored once."""
        model = await _opened(self._provide)
        pairs = list(dict.fromkeys((task.query, fact.content) for task in tasks for fact in task.facts))
        known = dict(zip(pairs, await _asked(model.score(pairs)), strict=True)) if pairs else {}
        return [np.array([known[task.query, fact.content] for fact in task.facts], dtype=np.float32) for task in tasks]

    def forget(self, tenant_id: str) -> None:
        """Do nothing: it keeps nothing."""


class LateInteractionRescorer:
    """``Rescorer`` by the token vectors of the embedder.

    Args:
        provide: opens the encoder.
        cache: keeps the facts' token vectors.
    """

    def __init__(self, provide: Provider[TokenVectorModel], cache: TokenVectorCache) -> None:
        self._provide = provide
        self._cache = cache

    async def scores(self, tenant_id: str, tasks: Sequence[Rescoring]) -> list[NDArray[np.float32]]:  # noqa: ARG002
        """Return the mean highest cosines; queries and facts that are not in the cache are encoded in one call."""
        model = await _opened(self._provide)
        wanted: dict[str, dict[str, str]] = {}
        for fact in (fact for task in tasks for fact in task.facts):
            wanted.setdefault(fact.tenant_id, {})[fact.content_hash] = fact.content
        known = {key: vectors for own, texts in wanted.items() for key, vectors in self._cache.get(own, texts).items()}
        missing = {key: text for texts in wanted.values() for key, text in texts.items() if key not in known}
        queries = list(dict.fromkeys(task.query for task in tasks))
        encoded = await _asked(model.token_vectors([*queries, *missing.values()]))
        made = dict(zip(missing, encoded[len(queries) :], strict=True))
        for own, texts in wanted.items():  # what is shared is kept with its namespace, so that erasing there forgets it
            known |= self._cache.put(own, {key: made[key] for key in texts if key in made})
        asked = dict(zip(queries, encoded, strict=False))
        return [
            late_interaction_scores(asked[task.query], [known[fact.content_hash] for fact in task.facts])
            for task in tasks
        ]

    def forget(self, tenant_id: str) -> None:
        """Drop the tenant's token vectors."""
        self._cache.forget(tenant_id)


async def _opened(provide: Provider[ModelT]) -> ModelT:
    try:
        model = await provide()
    except (StartupError, UnavailableError) as error:
        _LOG.warning("a retrieval model cannot be opened: %s", error)
        raise RescoringUnavailableError(ErrorReason.MODEL_UNAVAILABLE) from error
    if model is None:
        raise RescoringUnavailableError(ErrorReason.MODEL_UNAVAILABLE)
    return model


AnswerT = TypeVar("AnswerT")


async def _asked(answer: Awaitable[AnswerT]) -> AnswerT:
    try:
        return await answer
    except (UnavailableError, LimitExceededError) as error:
        raise RescoringUnavailableError(error.reason) from error
