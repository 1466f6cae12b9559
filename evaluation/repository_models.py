"""The models of the model repository, opened as a process opens them, on the backend that the settings name.

Imports stand where they are needed: whoever measures entities alone loads no ONNX Runtime.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from evaluation.model_source import Entailment, Grounding, Recognition
from evaluation.pipeline import Engine
from services.common.composition import Adapters
from services.common.model_repository import open_repository
from services.common.settings import Settings


class RepositoryModels:
    """``ModelSource`` over the model repository.

    Args:
        settings: name the repository, the models and the backend.
        memory: file of what the encoders said to the whole engine in earlier runs; ``None`` = nothing is kept.
    """

    def __init__(self, settings: Settings, memory: Path | None = None) -> None:
        self._settings = settings
        self._memory: Path | str = ":memory:" if memory is None else memory

    @property
    def backend(self) -> str:
        """What runs the encoders."""
        return self._settings.inference.backend

    @asynccontextmanager
    async def entailment(self) -> AsyncIterator[Entailment]:
        """Open the entailment model."""
        from services.common.adapters.encoders.entailment import open_entailment

        inference = self._settings.inference
        repository = open_repository(inference)
        model = await open_entailment(inference, repository)
        try:
            softmax = repository.entry(inference.entailment_model).softmax
            yield Entailment(inference.entailment_model, model, softmax.temperature if softmax else None)
        finally:
            await model.close()

    @asynccontextmanager
    async def grounding(self) -> AsyncIterator[Grounding]:
        """Open the grounding model."""
        from evaluation.grounding_columns import columns_of
        from services.common.adapters.encoders.grounding import open_grounding, read_combiner

        inference = self._settings.inference
        repository = open_repository(inference)
        model = await open_grounding(inference, repository)
        try:
            columns = columns_of(read_combiner(repository, inference.grounding_model))
            yield Grounding(inference.grounding_model, model, columns)
        finally:
            await model.close()

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Engine]:
        """Open the whole engine with all models."""
        from evaluation.embedded_engine import open_engine

        async with open_engine(self._settings, self._memory) as opened:
            yield opened

    @asynccontextmanager
    async def recognition(self) -> AsyncIterator[Recognition]:
        """Open the entity recogniser."""
        async with Adapters(self._settings) as adapters:
            yield Recognition(self._settings.inference.ner_model, await adapters.entity_recognizer())
