"""Asks the models what a stage needs: one batch per model, all models at once, nothing twice (ADR 0041).

What was asked before in the same analysis is not asked again, equal texts and pairs go out once, and what the cache
knows for the tenant does not go out at all. Models that do not depend on each other compute at the same time. One that
is down leaves its answers ``None`` for the rest of the analysis, for the stages to say so; a full queue ends the call.
"""

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final

from services.common.computing import compute_unless_small
from services.common.context import current_call
from services.common.errors import UnavailableError
from services.common.ports.on_demand import LoadedOnDemand
from services.dpe.answer_cache import AnswerCache, cache_keys
from services.dpe.domain.models import ASKED_MODELS, AskedModel, ModelAnswers, Requests
from services.dpe.ports import AnalysisModels

_NO_TENANT: Final = ""
_ROW_CHARS: Final = 256
"""Laying an answer beside the others takes as long as reading so many characters."""


class Inference:
    """Fulfils ``Requests``; belongs to one event loop.

    Args:
        models: the models.
        cache: remembers what they said, per tenant.
        embed_batch_size: most texts in one call to the embedding model.
    """

    def __init__(self, models: AnalysisModels, cache: AnswerCache, embed_batch_size: int) -> None:
        self._models = models
        self._cache = cache
        self._embed_batch_size = embed_batch_size

    def empty_answers(self) -> ModelAnswers:
        """Return what is known before anything was asked: which models there are."""
        entailment = self._models.entailment
        known = {
            model.answers: None if port is None else model.nothing(port)
            for model, port in ((model, self._models.of(model)) for model in ASKED_MODELS)
        }
        return ModelAnswers(
            entailment_tokens=None if entailment is None else entailment.max_tokens,
            fingerprints=self._models.fingerprints(),
            **known,
        )

    async def fulfil(self, requests: Requests, known: ModelAnswers) -> ModelAnswers:
        """Return ``known`` with the answers to ``requests``.

        Raises:
            LimitExceededError: a queue is full.
        """
        asked: dict[str, Coroutine[Any, Any, Any]] = {}
        for model in ASKED_MODELS:
            wanted, before = getattr(requests, model.requests), getattr(known, model.answers)
            if wanted and before is not None and self._models.of(model) is not None:
                asked[model.answers] = self._extended(model, wanted, before)
        answers = await _together(asked.values())
        return replace(known, **dict(zip(asked, answers, strict=True)))

    async def check(self) -> None:
        """Return when every configured model answers; one that its first use would load is not loaded for this.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await _together([_probe(model, port) for model in ASKED_MODELS if (port := self._models.of(model)) is not None])

    async def load(self) -> None:
        """Return when every model that its first use would load is in memory; what cannot be loaded says so when asked.

        Raises:
            LimitExceededError: a queue is full.
        """
        ports = [(model, self._models.of(model)) for model in ASKED_MODELS]
        resting = [(model, port) for model, port in ports if isinstance(port, LoadedOnDemand) and port.at_rest]
        await _together([_used(model, port) for model, port in resting])

    async def _extended(self, model: AskedModel, asked: Sequence[Any], known: Any) -> Any:
        """Return ``known`` with what is asked beyond it, or ``None`` when the model is down."""
        missing = [item for item in dict.fromkeys(asked) if item not in known]
        if not missing:
            return known
        try:
            answers = await self._answers(model, missing)
        except UnavailableError:
            return None
        return await compute_unless_small(_ROW_CHARS * len(missing), model.extended, known, missing, answers)

    async def _answers(self, model: AskedModel, asked: Sequence[Any]) -> list[Any]:
        """Return an answer for each thing asked, from the cache where it has one."""
        tenant, port = _tenant(), self._models.of(model)
        texts = [model.texts(each) for each in asked]
        size = sum(len(text) for each in texts for text in each)
        keys = await compute_unless_small(size, cache_keys, tenant, port.fingerprint, texts)
        found = self._cache.find(tenant, model.role, keys)
        open_ = [position for position in range(len(asked)) if position not in found]
        if open_:
            fresh = await self._ask(model, [asked[position] for position in open_])
            found.update(zip(open_, fresh, strict=True))
            self._cache.keep(
                tenant, {keys[position]: (found[position], model.size(found[position])) for position in open_}
            )
        return [found[position] for position in range(len(asked))]

    async def _ask(self, model: AskedModel, asked: Sequence[Any]) -> list[Any]:
        ask = getattr(self._models.of(model), model.method)
        size = self._embed_batch_size if model.in_parts else len(asked)
        parts = [await ask(asked[at : at + size]) for at in range(0, len(asked), size)]
        return [answer for part in parts for answer in part]


async def _together(work: "Sequence[Coroutine[Any, Any, Any]] | Any") -> list[Any]:
    """Await all at the same time; the first error cancels the others and is raised when they have ended."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _used(model: AskedModel, port: Any) -> None:
    with contextlib.suppress(UnavailableError):
        await getattr(port, model.method)([model.probe])


async def _probe(model: AskedModel, port: Any) -> None:
    """Ask a model something small; one at rest only whether it could be loaded, as far as it knows."""
    if isinstance(port, LoadedOnDemand) and port.at_rest:
        await port.check()
        return
    await getattr(port, model.method)([model.probe])


def _tenant() -> str:
    """Return who asks; outside of a call (tools, tests) everything belongs to the nameless tenant."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return _NO_TENANT
