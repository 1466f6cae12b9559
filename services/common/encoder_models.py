"""The encoders of a process and what reads with them. A part of ``Adapters``."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from services.common.oversight_stores import AdapterT
from services.common.reading_counts import ReadingCounts
from services.common.settings import Settings
from services.common.settings.second_reading import SecondReadingSettings

if TYPE_CHECKING:  # they bring NumPy, which not every process needs
    from services.common.adapters.encoders.trunks import SharedBackends
    from services.common.ports.embedding import EmbeddingModel
    from services.common.ports.entailment import EntailmentModel
    from services.common.ports.grounding import GroundingModel
    from services.common.ports.injection import InjectionClassifier
    from services.common.ports.reranking import Reranker
    from services.common.ports.sentence_heads import SentenceHeads
    from services.common.ports.token_vectors import TokenVectorModel

Kind: TypeAlias = Literal["entailment", "grounding"]

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

        opened = partial(open_entailment, self.settings.inference, shared=self._backends)
        first = await self._once("entailment", opened)
        if self.settings.inference.second_reading.entailment_model is None:
            return first
        from services.common.adapters.encoders.second_reading import SecondReadEntailment

        second = await self._second("entailment", open_entailment)
        return await self._read_again("entailment", SecondReadEntailment, first, second)

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
        if not await self._delivered("grounding"):
            return None
        from services.common.adapters.encoders.grounding import open_grounding

        opened = partial(open_grounding, self.settings.inference, shared=self._backends)
        first = await self._once("grounding", opened)
        if self.settings.inference.second_reading.grounding_model is None:
            return first
        from services.common.adapters.encoders.second_reading import SecondReadGrounding

        second = await self._second("grounding", open_grounding)
        return await self._read_again("grounding", SecondReadGrounding, first, second)

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
        """Return the classifier of injections, its digests verified; ``None`` as ``entailment`` (ADR 0227)."""
        if not await self._delivered("injection"):
            return None
        from services.common.adapters.encoders.injection import open_injection_classifier as opened

        return await self._once("injection_classifier", lambda: opened(self.settings.inference))

    async def _second(self, kind: Kind, opened: Callable[..., Awaitable[AdapterT]]) -> AdapterT:
        """Open the second reader of a kind; what is wrong with it is said of the setting that names it."""
        inference = self.settings.inference
        role = f"{kind}_model"
        other = inference.model_copy(update={role: getattr(inference.second_reading, role)})
        setting = f"GROUNDTRAIL_INFERENCE__SECOND_READING__{role.upper()}"
        return await self._once(f"second {kind}", partial(opened, other, shared=self._backends, named_by=setting))

    async def _read_again(
        self, kind: Kind, pair: Callable[[Any, Any, SecondReadingSettings, ReadingCounts], AdapterT], *readers: object
    ) -> AdapterT:
        async def paired() -> AdapterT:
            first, second = readers
            return pair(first, second, self.settings.inference.second_reading, self.reading_counts)

        return await self._once(f"{kind} read again", paired)

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
