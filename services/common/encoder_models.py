"""The encoders of a process and what reads with them. A part of ``Adapters``."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal

from services.common.oversight_stores import AdapterT
from services.common.reading_counts import ReadingCounts
from services.common.settings import Settings

if TYPE_CHECKING:  # they bring NumPy, which not every process needs
    from services.common.adapters.encoders.grounding import EncoderGroundingModel
    from services.common.adapters.encoders.trunks import SharedBackends
    from services.common.ports.embedding import EmbeddingModel
    from services.common.ports.entailment import EntailmentModel
    from services.common.ports.grounding import GroundingModel
    from services.common.ports.injection import InjectionClassifier
    from services.common.ports.reranking import Reranker
    from services.common.ports.sentence_heads import SentenceHeads
    from services.common.ports.token_vectors import TokenVectorModel

_LOG: Final = logging.getLogger(__name__)


class EncoderModels:
    """Opens each model once; models of one trunk share its backend."""

    settings: Settings
    reading_counts: ReadingCounts

    if TYPE_CHECKING:

        async def _once(self, name: str, build: Callable[[], Awaitable[AdapterT]]) -> AdapterT: ...

    async def embedding(self) -> "EmbeddingModel":
        """Return the embedding model of the model repository, its digests verified."""
        from services.common.adapters.encoders.embedding import open_embedding

        return await self._once("embedding", lambda: open_embedding(self.settings.inference))

    async def entailment(self) -> "EntailmentModel | None":
        """Return the NLI encoder, its digests verified.

        ``None`` while the repository holds no model of the default name; stages that need it say so. A model that the
        settings name must be there.
        """
        if not await self._delivered("entailment"):
            return None
        from services.common.adapters.encoders.entailment import open_entailment

        terms = self.settings.inference.second_reading
        first = await self._once("entailment", partial(open_entailment, self.settings.inference, shared=self._backends))
        if terms.entailment_model is None:
            return first
        from services.common.adapters.encoders.second_reading import SecondReadEntailment

        other = self.settings.inference.model_copy(update={"entailment_model": terms.entailment_model})
        opened = partial(_second, "ENTAILMENT", partial(open_entailment, other, shared=self._backends))
        second = await self._once("second entailment", opened)

        async def both() -> "EntailmentModel":
            return SecondReadEntailment(first, second, terms, self.reading_counts)

        return await self._once("entailment read again", both)

    @cached_property
    def _backends(self) -> "SharedBackends":
        from services.common.adapters.encoders.trunks import SharedBackends

        return SharedBackends()

    async def sentence_heads(self) -> "SentenceHeads | None":
        """Return the heads on the NLI encoder, its digests verified; ``None`` without the model, or where it has none.

        Their encoder is loaded by its first use, a second time beside the one that gives probabilities (ADR 0118).
        """
        if not await self._delivered("entailment"):
            return None
        from services.common.adapters.encoders.sentence_heads import open_sentence_heads

        return await self._once("sentence_heads", lambda: open_sentence_heads(self.settings.inference))

    async def grounding(self) -> "GroundingModel | None":
        """Return the grounding model, its digests verified; ``None`` as ``entailment``.

        With a second one in the settings, what the first leaves open is read again (ADR 0206).
        """
        first = await self._judge()
        terms = self.settings.inference.second_reading
        if first is None or terms.grounding_model is None:
            return first
        from services.common.adapters.encoders.grounding import open_grounding
        from services.common.adapters.encoders.second_reading import SecondReadGrounding

        other = self.settings.inference.model_copy(update={"grounding_model": terms.grounding_model})
        opened = partial(_second, "GROUNDING", partial(open_grounding, other, shared=self._backends))
        second = await self._once("second grounding", opened)

        async def both() -> "GroundingModel":
            return SecondReadGrounding(first, second, terms, self.reading_counts)

        return await self._once("grounding read again", both)

    async def _judge(self) -> "EncoderGroundingModel | None":
        if not await self._delivered("grounding"):
            return None
        from services.common.adapters.encoders.grounding import open_grounding

        opened = partial(open_grounding, self.settings.inference, shared=self._backends)
        return await self._once("grounding", opened)

    async def reranker(self) -> "Reranker | None":
        """Return the cross-encoder that orders facts: the grounding model's encoder (ADR 0067); ``None`` without it."""
        from services.common.adapters.encoders.grounding import EncoderGroundingModel
        from services.common.adapters.encoders.second_reading import SecondReadGrounding

        judge = await self.grounding()
        if isinstance(judge, SecondReadGrounding):
            judge = judge.first
        return judge.reranker() if isinstance(judge, EncoderGroundingModel) else None

    async def token_vectors(self) -> "TokenVectorModel":
        """Return the embedder read token by token; it takes as much memory again as the embedder (ADR 0067)."""
        from services.common.adapters.encoders.token_vectors import open_token_vectors

        return await self._once("token_vectors", lambda: open_token_vectors(self.settings.inference))

    async def injection_classifier(self) -> "InjectionClassifier | None":
        """Return the classifier of injections; ``None`` as ``entailment``, or beside another embedder (ADR 0126)."""
        if not await self._delivered("injection"):
            return None
        from services.common.adapters.encoders.injection import open_injection_classifier as opened

        model = await self.embedding()
        return await self._once("injection_classifier", lambda: opened(self.settings.inference, model))

    async def _delivered(self, kind: Literal["entailment", "grounding", "injection"]) -> bool:
        """Say whether to open a model: it is in the repository, or was asked for by name, so that its absence fails."""
        from services.common.adapters.encoders.opening import COMMANDS
        from services.common.model_repository import open_repository

        inference = self.settings.inference
        setting = f"{kind}_model"
        if setting in inference.model_fields_set:
            return True
        name = getattr(inference, setting)
        repository = await asyncio.to_thread(open_repository, inference)
        if any(entry.name == name for entry in repository.models):
            return True
        _LOG.info("no %s model %s in %s; `%s` makes it", kind, name, repository.root, COMMANDS[kind])
        return False


async def _second(kind: str, opened: Callable[[], Awaitable[AdapterT]]) -> AdapterT:
    """Open a second reader; what is wrong with it is said of the setting that names it."""
    from services.common.model_repository import ModelRepositoryError

    try:
        return await opened()
    except ModelRepositoryError as error:
        raise ModelRepositoryError(f"GROUNDTRAIL_INFERENCE__SECOND_READING__{kind}_MODEL: {error}") from error
