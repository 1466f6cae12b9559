"""Asks the models what a stage needs: one batch per model, all models at once, nothing twice (ADR 0041).

What was asked before in the same analysis is not asked again, equal texts and pairs go out once, and what the cache
knows for the tenant does not go out at all. Models that do not depend on each other compute at the same time. One that
is down leaves its answers ``None`` for the rest of the analysis, for the stages to say so; a full queue ends the call.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from services.common.context import current_call
from services.common.errors import UnavailableError
from services.common.ports.grounding import GroundingRequest, GroundingVerdict
from services.common.ports.on_demand import LoadedOnDemand
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity
from services.dpe.answer_cache import AnswerCache, ModelRole, cache_keys
from services.dpe.domain.analysis import ModelAnswers, Pair, Requests, VectorTable
from services.dpe.ports import AnalysisModels

AskedT = TypeVar("AskedT")
AnswerT = TypeVar("AnswerT")
ModelT = TypeVar("ModelT")

_ENTITY_BYTES: Final = 160
"""What an entity takes besides its text."""
_VERDICT_BYTES: Final = 1_600
"""What a grounding verdict takes with its named signals."""
_SPAN_BYTES: Final = 120
_NO_TENANT: Final = ""


@dataclass(frozen=True, slots=True)
class _Question:
    """How one model is asked: what stands in a key, what goes out, and what an answer takes in bytes."""

    role: ModelRole
    fingerprint: str
    texts: Callable[[Any], Sequence[str]]
    ask: Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]
    size: Callable[[Any], int]


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

    def unasked(self) -> ModelAnswers:
        """Return what is known before anything was asked: which models there are."""
        own, entailment, grounding = self._models.embedding, self._models.entailment, self._models.grounding
        return ModelAnswers(
            entailment_tokens=None if entailment is None else entailment.max_tokens,
            grounding_configured=grounding is not None,
            recognised={},
            vectors=VectorTable({}, np.empty((0, own.dimension), dtype=np.float32), own.calibration),
            classified=None if entailment is None else {},
            judged=None if grounding is None else {},
            personal_data_configured=self._models.personal_data is not None,
            personal_data=None if self._models.personal_data is None else {},
            fingerprints=self._models.fingerprints(),
        )

    async def fulfil(self, requests: Requests, known: ModelAnswers) -> ModelAnswers:
        """Return ``known`` with the answers to ``requests``.

        Raises:
            LimitExceededError: a queue is full.
        """
        asked: dict[str, Coroutine[Any, Any, Any]] = {}
        if requests.recognise and known.recognised is not None:
            asked["recognised"] = self._extended(self._recogniser(), requests.recognise, known.recognised)
        if requests.embed and known.vectors is not None:
            asked["vectors"] = self._vectors(requests.embed, known.vectors)
        if requests.classify and known.classified is not None and self._models.entailment is not None:
            asked["classified"] = self._extended(self._entailment(), requests.classify, known.classified)
        if requests.judge and known.judged is not None and self._models.grounding is not None:
            asked["judged"] = self._extended(self._grounding(), requests.judge, known.judged)
        if requests.detect and known.personal_data is not None:
            asked["personal_data"] = self._extended(self._personal_data(), requests.detect, known.personal_data)
        answers = await _together(asked.values())
        return replace(known, **dict(zip(asked, answers, strict=True)))

    async def check(self) -> None:
        """Return when every configured model answers; one that its first use would load is not loaded for this.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        probes: list[Coroutine[Any, Any, Any]] = [
            _awaited(self._models.recognizer.recognize([""])),
            _probe(self._models.embedding, lambda model: model.embed([""])),
        ]
        if self._models.entailment is not None:
            probes.append(_probe(self._models.entailment, lambda model: model.classify([("a", "a")])))
        if self._models.grounding is not None:
            probes.append(_probe(self._models.grounding, lambda model: model.judge([GroundingRequest("a", ("a",))])))
        if self._models.personal_data is not None:
            probes.append(_awaited(self._models.personal_data.detect([RecognisedText("a")])))
        await _together(probes)

    async def _extended(
        self, question: _Question, asked: Sequence[AskedT], known: Mapping[AskedT, AnswerT]
    ) -> Mapping[AskedT, AnswerT] | None:
        """Return ``known`` with what is asked beyond it, or ``None`` when the model is down."""
        missing = [item for item in dict.fromkeys(asked) if item not in known]
        if not missing:
            return known
        try:
            answers = await self._answers(question, missing)
        except UnavailableError:
            return None
        return {**known, **dict(zip(missing, answers, strict=True))}

    async def _vectors(self, asked: Sequence[str], known: VectorTable) -> VectorTable | None:
        missing = [text for text in dict.fromkeys(asked) if text not in known.index]
        if not missing:
            return known
        try:
            rows = await self._answers(self._embedding(), missing)
        except UnavailableError:
            return None
        return known.extended(missing, np.stack(rows))

    async def _answers(self, question: _Question, asked: Sequence[Any]) -> list[Any]:
        """Return an answer for each thing asked, from the cache where it has one."""
        tenant = _tenant()
        keys = cache_keys(tenant, question.fingerprint, map(question.texts, asked))
        found = self._cache.find(tenant, question.role, keys)
        open_ = [position for position in range(len(asked)) if position not in found]
        if open_:
            fresh = await question.ask([asked[position] for position in open_])
            found.update(zip(open_, fresh, strict=True))
            self._cache.keep(
                tenant, {keys[position]: (found[position], question.size(found[position])) for position in open_}
            )
        return [found[position] for position in range(len(asked))]

    def _recogniser(self) -> _Question:
        model = self._models.recognizer
        return _Question(ModelRole.ENTITY_RECOGNIZER, model.fingerprint, _one_text, model.recognize, _bytes_of_entities)

    def _embedding(self) -> _Question:
        model = self._models.embedding
        return _Question(ModelRole.EMBEDDING, model.fingerprint, _one_text, self._embed, _bytes_of_array)

    def _entailment(self) -> _Question:
        model = self._models.entailment
        if model is None:
            raise _not_configured(ModelRole.ENTAILMENT)

        async def classify(pairs: Sequence[Pair]) -> list[NDArray[np.float32]]:
            return list(await model.classify(pairs))

        return _Question(ModelRole.ENTAILMENT, model.fingerprint, _pair_texts, classify, _bytes_of_array)

    def _grounding(self) -> _Question:
        model = self._models.grounding
        if model is None:
            raise _not_configured(ModelRole.GROUNDING)
        return _Question(ModelRole.GROUNDING, model.fingerprint, _request_texts, model.judge, _bytes_of_verdict)

    def _personal_data(self) -> _Question:
        model = self._models.personal_data
        if model is None:
            raise _not_configured(ModelRole.PERSONAL_DATA)
        role = ModelRole.PERSONAL_DATA
        return _Question(role, model.fingerprint, _recognised_texts, model.detect, _bytes_of_personal_data)

    async def _embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed in calls of a bounded size, so that a long answer cannot fill the queue."""
        size = self._embed_batch_size
        parts = [await self._models.embedding.embed(texts[at : at + size]) for at in range(0, len(texts), size)]
        return [row for part in parts for row in part]


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


async def _awaited(work: Awaitable[AnswerT]) -> AnswerT:
    return await work


async def _probe(model: ModelT, ask: Callable[[ModelT], Awaitable[Any]]) -> None:
    """Ask a model something small; one at rest only whether it could be loaded, as far as it knows."""
    if isinstance(model, LoadedOnDemand) and model.at_rest:
        await model.check()
        return
    await ask(model)


def _tenant() -> str:
    """Return who asks; outside of a call (tools, tests) everything belongs to the nameless tenant."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return _NO_TENANT


def _not_configured(role: ModelRole) -> RuntimeError:
    return RuntimeError(f"no {role} model is configured")


def _one_text(text: str) -> Sequence[str]:
    return (text,)


def _pair_texts(pair: Pair) -> Sequence[str]:
    return pair


def _request_texts(request: GroundingRequest) -> Sequence[str]:
    """Return the texts of a request so that no two give the same list: query and windows are told apart."""
    asked = () if request.query is None else (request.query,)
    return (f"{len(asked)} {request.max_windows}", *asked, request.claim, *request.passages)


def _recognised_texts(asked: RecognisedText) -> Sequence[str]:
    """Return the text, and the entities without which the same text gives other findings."""
    return (asked.text, *(f"{one.kind} {one.start} {one.end}" for one in asked.entities))


def _bytes_of_personal_data(found: tuple[PersonalData, ...]) -> int:
    return _ENTITY_BYTES * len(found)


def _bytes_of_entities(entities: tuple[Entity, ...]) -> int:
    return sum(_ENTITY_BYTES + 4 * len(entity.text) for entity in entities)


def _bytes_of_array(row: NDArray[np.float32]) -> int:
    return int(row.nbytes)


def _bytes_of_verdict(verdict: GroundingVerdict) -> int:
    return _VERDICT_BYTES + _SPAN_BYTES * len(verdict.spans)
