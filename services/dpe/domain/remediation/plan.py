"""What a remedy is, what it takes and costs, and in which order remedies stand (SPEC-005 §19.2, §19.3; ADR 0042).

The dpe advises; the gateway's policy decides and carries out. A step therefore names the conditions that only the
gateway can check, and everything that it needs to act: prompt, temperature, excerpts by offset, accounting.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from services.common.reading.text_types import Span
from services.common.taxonomy import Remedy, RemedyCall, RemedyCondition, RemedyForce

REDISPATCH_TEMPERATURE: Final = 0.2  # SPEC-005 §19.2, and §11.5 for the stitch
MAX_REDISPATCHES: Final = 2  # SPEC-005 §19.2, per window
MAX_EXCERPTS: Final = 20
"""Stretches of earlier answers that one bracket of a prompt may stand for."""


@dataclass(frozen=True, slots=True)
class Accounting:
    """SPEC-005 §19.3: how a step that is taken is counted; ``audit_events`` in the order in which they are appended.

    The safety budget is never charged: a remedy is no new risk. A continuation is charged for by its own analysis.
    """

    counts_as_redispatch: bool = False
    opens_window: bool = False
    counts_llm_call: bool = False
    billed: bool = False
    audit_events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a bracket of a prompt stands for: a stretch of a window's answer, by offsets and never by its words."""

    placeholder: str
    window_id: str
    span: Span
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One remedy, and the stage whose finding asks for it."""

    remedy: Remedy
    force: RemedyForce
    stage_number: int
    reason: str
    instruction: str = ""
    claim_ids: tuple[str, ...] = ()
    sub_queries: tuple[str, ...] = ()
    conditions: tuple[RemedyCondition, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    fact_ids: tuple[str, ...] = ()
    window_ids: tuple[str, ...] = ()

    @property
    def call(self) -> RemedyCall:
        """What carrying it out takes."""
        return _CALLS[self.remedy]

    @property
    def temperature(self) -> float | None:
        """Temperature of the call; ``None`` when the request's own holds or no model is called."""
        return REDISPATCH_TEMPERATURE if self.call in {RemedyCall.RE_DISPATCH, RemedyCall.STITCH} else None

    @property
    def accounting(self) -> Accounting:
        """How it is counted."""
        return _ACCOUNTS[self.remedy]


@dataclass(frozen=True, slots=True)
class Plan:
    """All remedies, most urgent first, and the stages that nothing is known of."""

    steps: tuple[Step, ...]
    stages_not_computed: tuple[int, ...] = ()

    @property
    def redispatches(self) -> bool:
        """Whether a re-dispatch is among them."""
        return any(step.call is RemedyCall.RE_DISPATCH for step in self.steps)


def ordered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps, most urgent first: by force, by what they take, by stage (ADR 0042)."""
    forces, calls = list(RemedyForce), list(RemedyCall)
    return tuple(sorted(steps, key=lambda step: (forces.index(step.force), calls.index(step.call), step.stage_number)))


_CALLS: Final = {
    Remedy.UPGRADE_STRATEGY: RemedyCall.RE_DISPATCH,
    Remedy.ANTI_REPETITION: RemedyCall.RE_DISPATCH,
    Remedy.CORRECT_CONTRADICTION: RemedyCall.RE_DISPATCH,
    Remedy.AUTO_CONTINUE: RemedyCall.CONTINUATION,
    Remedy.AUGMENT_FLOW: RemedyCall.RE_DISPATCH,
    Remedy.STITCH_FLOW: RemedyCall.STITCH,
    Remedy.WARN_CLIENT: RemedyCall.NOTICE,
}


def _redispatch(*further_events: str) -> Accounting:
    return Accounting(
        counts_as_redispatch=True, counts_llm_call=True, billed=True, audit_events=("RE_DISPATCH", *further_events)
    )


_ACCOUNTS: Final = {
    Remedy.UPGRADE_STRATEGY: _redispatch("STRATEGY_UPGRADE"),
    Remedy.ANTI_REPETITION: _redispatch(),
    Remedy.CORRECT_CONTRADICTION: _redispatch(),
    Remedy.AUTO_CONTINUE: Accounting(
        opens_window=True, counts_llm_call=True, billed=True, audit_events=("COMPLETENESS_CONTINUATION",)
    ),
    Remedy.AUGMENT_FLOW: _redispatch("FLOW_REMEDIATION"),
    Remedy.STITCH_FLOW: Accounting(counts_llm_call=True, billed=True, audit_events=("FLOW_STITCH",)),
    Remedy.WARN_CLIENT: Accounting(audit_events=("COMPLETENESS_GAP",)),
}
