"""How far an answer has come that was worked on in several steps, as CRP-Agent-* headers say it (CRP-SPEC-002)."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class AgentPhase(StrEnum):
    """Where an agent's work stands (CRP-SPEC-008), as CRP-Agent-Phase spells it."""

    ANALYZE = "ANALYZE"
    PLAN = "PLAN"
    GENERATE = "GENERATE"
    EVALUATE = "EVALUATE"
    CRITIQUE = "CRITIQUE"
    REFINE = "REFINE"
    INTEGRATE = "INTEGRATE"
    COMPLETE = "COMPLETE"


@dataclass(frozen=True, slots=True)
class Revision:
    """CRP-Agent-Revision-Round: answers that were written, of the steps up to now.

    ``1/2``: written and found clean. ``2/3``: written, found wanting, written anew.
    """

    current: int
    most: int

    @classmethod
    def after(cls, rewritten: int) -> "Revision":
        """Return the round after so many answers in the first one's stead."""
        return cls(1 + rewritten, 2 + rewritten)


@dataclass(frozen=True, slots=True)
class AgentState:
    """What of it there is to say; ``None`` = nothing."""

    phase: AgentPhase | None = None
    tool_calls: int | None = None
    revision: Revision | None = None
