"""The dpe's plan of remedies in the gateway's words (SPEC-005 §19; ADR 0042)."""

from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class Remedy(StrEnum):
    """What a step does, by the section that asks for it."""

    UPGRADE_STRATEGY = "UPGRADE_STRATEGY"
    ANTI_REPETITION = "ANTI_REPETITION"
    CORRECT_CONTRADICTION = "CORRECT_CONTRADICTION"
    AUTO_CONTINUE = "AUTO_CONTINUE"
    AUGMENT_FLOW = "AUGMENT_FLOW"
    STITCH_FLOW = "STITCH_FLOW"
    WARN_CLIENT = "WARN_CLIENT"


@unique
class RemedyForce(StrEnum):
    """How strongly the text asks for a step."""

    REQUIRED = "REQUIRED"
    RECOMMENDED = "RECOMMENDED"
    ALTERNATIVE = "ALTERNATIVE"


@unique
class RemedyCall(StrEnum):
    """What carrying a step out takes."""

    RE_DISPATCH = "RE_DISPATCH"
    CONTINUATION = "CONTINUATION"
    STITCH = "STITCH"
    NOTICE = "NOTICE"


@unique
class RemedyCondition(StrEnum):
    """What only the gateway can find true."""

    UPGRADE_ON_RISK = "UPGRADE_ON_RISK"
    PROMPT_AUGMENTATION = "PROMPT_AUGMENTATION"
    REDISPATCH_OVER_BUDGET = "REDISPATCH_OVER_BUDGET"


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
