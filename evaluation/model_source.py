"""What is measured, behind ports: models that are opened one at a time."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from evaluation.grounding_scores import System
from evaluation.pipeline import Engine
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel, GroundingVerdict
from services.common.ports.recognition import EntityRecognizer


@dataclass(frozen=True, slots=True)
class Entailment:
    """An entailment model, its name, and the temperature that it applies (``None`` = none)."""

    name: str
    model: EntailmentModel
    temperature: float | None


@dataclass(frozen=True, slots=True)
class Grounding:
    """A grounding model, its name, and the columns to read from its verdicts."""

    name: str
    model: GroundingModel
    columns: tuple[System[GroundingVerdict], ...]


@dataclass(frozen=True, slots=True)
class Recognition:
    """An entity recogniser and its name."""

    name: str
    model: EntityRecognizer


class ModelSource(Protocol):
    """Opens models one at a time; each is closed when its context ends."""

    @property
    def backend(self) -> str:
        """What runs the encoders."""
        ...

    def entailment(self) -> AbstractAsyncContextManager[Entailment]:
        """Open the entailment model.

        Raises:
            StartupError: it cannot be used; the message says why.
        """
        ...

    def grounding(self) -> AbstractAsyncContextManager[Grounding]:
        """Open the grounding model.

        Raises:
            StartupError: it cannot be used; the message says why.
        """
        ...

    def engine(self) -> AbstractAsyncContextManager[Engine]:
        """Open the whole engine with all models.

        Raises:
            StartupError: it cannot be used; the message says why.
        """
        ...

    def recognition(self) -> AbstractAsyncContextManager[Recognition]:
        """Open the entity recogniser.

        Raises:
            StartupError: it cannot be used; the message says why.
        """
        ...
