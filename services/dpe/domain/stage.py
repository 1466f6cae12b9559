"""What a stage is besides its row: what it asks the models, in which batch, and what it does with the answers.

A stage is one file of ``stages/`` that ends with ``STAGE``. What several stages ask goes out together: a stage gives
its ``shares`` of common batches, and one stage for each of them ``sends`` it before its own turn. What can only be
asked once earlier answers are there it asks by itself, with ``plan``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum, unique

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import Requests
from services.dpe.domain.stage_row import StageKey, StageRow

Plan = Callable[[Analysis], Requests]


@unique
class Batch(StrEnum):
    """What several stages ask of the models together, in the order in which it goes out."""

    NAMES = "NAMES"
    """Before stage 1: entities of all that is read."""
    VECTORS = "VECTORS"
    """Before stage 2: embeddings, once the claims are known."""
    PAIRS = "PAIRS"
    """Before stage 3: what is held against what, once it is known what the claims rest on."""


def ask_nothing(_: Analysis) -> Requests:
    """Return no request."""
    return Requests()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(StageRow):
    """A stage of the pipeline, pure: what ``plan`` and ``shares`` ask for is computed and lies in the analysis.

    Attributes:
        apply: returns the analysis with exactly one more outcome, this stage's, and its result.
        plan: what it asks for in its own turn.
        shares: what it asks for in common batches.
        sends: the common batch that goes out in its turn.
        score: what it gives where it could read enough (ADR 0047); without it nothing of what has remedies is known.
    """

    apply: Callable[[Analysis], Analysis] = field(compare=False, repr=False)
    plan: Plan = field(default=ask_nothing, compare=False, repr=False)
    shares: Mapping[Batch, Plan] = field(default_factory=dict, compare=False, repr=False)
    sends: Batch | None = field(default=None, compare=False, repr=False)
    score: Callable[[Analysis], float | None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """A stage in a run: all that goes out in its turn, its own and what others ask with it."""

    stage: Stage
    asks: tuple[Plan, ...]

    @property
    def key(self) -> StageKey:
        """The key of its stage."""
        return self.stage.key

    def plan(self, analysis: Analysis) -> Requests:
        """Return what the models are asked before the stage is applied, nothing twice."""
        return Requests.merge(ask(analysis) for ask in self.asks)

    def apply(self, analysis: Analysis) -> Analysis:
        """Return the analysis with the stage's outcome and result."""
        return self.stage.apply(analysis)
