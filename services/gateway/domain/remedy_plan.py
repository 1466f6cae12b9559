"""The dpe's plan of remedies in the gateway's words (SPEC-005 §19; ADR 0042)."""

from dataclasses import dataclass

from services.common.taxonomy import Remedy, RemedyCall, RemedyCondition, RemedyForce


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a bracket of an instruction stands for: a stretch of a window's answer, in code points."""

    placeholder: str
    window_id: str
    start: int
    end: int
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class RemedyStep:
    """One advised remedy; ``audit_events`` are the names of the events that it is recorded by, in order."""

    remedy: Remedy
    force: RemedyForce
    call: RemedyCall
    stage_number: int
    reason: str
    instruction: str = ""
    sub_queries: tuple[str, ...] = ()
    conditions: tuple[RemedyCondition, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    audit_events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemedyPlan:
    """What could be done about an analysis, most urgent first; ``temperature`` and the rest are §19.2's."""

    steps: tuple[RemedyStep, ...] = ()
    temperature: float | None = None
    max_redispatches: int = 0
    stages_not_computed: tuple[int, ...] = ()
