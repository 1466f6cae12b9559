"""The row of a stage: all that is said of it beside its code (SPEC-005 §2, ADR 0139).

Every question of the kind "which stages ..." is a column here. A row stands in the file of its stage, and an outcome
carries it, so that who reads outcomes needs no table of numbers.
"""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

REPORT_SHARE: Final = 0.5
"""Of the computing that the stages did, what is kept besides the reserve: a long answer has a long report."""


@dataclass(frozen=True, slots=True, order=True)
class StageKey:
    """A stage or sub-stage: ``3`` or ``3a``."""

    number: int
    sub_stage: str = ""

    def __str__(self) -> str:
        """Return it as reports and logs name it, e.g. ``3a``."""
        return f"{self.number}{self.sub_stage}"


@unique
class RiskSignal(StrEnum):
    """The four signals of SPEC-005 §7.2, in its order."""

    ATTRIBUTION = "ATTRIBUTION"
    FIDELITY = "FIDELITY"
    ENTAILMENT = "ENTAILMENT"
    SPECIFICITY = "SPECIFICITY"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """What a stage is; two rows are equal when their keys are.

    Attributes:
        key: its number, and its letter where it is a part of a stage.
        name: in SPEC-005 §2.
        section: where it is specified.
        needs: the stages whose results or outcomes it reads, all of them earlier ones.
        signals: signals of the risk that rest on it: without it they may be better than they are.
        amplifiers: amplifiers of the risk that it may find a reason for (SPEC-005 §17).
        counts_in_quality: it gives a term of the quality score (SPEC-005 §18.2).
        has_remedies: what it finds can ask for a step of the remediation plan (SPEC-005 §18.5, §19.1).
        always_runs: a deadline never leaves it out (ADR 0042): stages 1-5, the report, and one that looks up a table.
        reads_earlier_windows: it reads the texts of earlier windows.
        reads_prompt: it reads the prompt.
        idle_in_first_window: it has nothing to do in window 1.
        batches_after: batches of models behind its own that must have time.
        computing_ahead: what is still computed behind its batch and for the report, as a multiple of what was computed
            so far; measured on 100,000 characters.
    """

    key: StageKey
    name: str = field(compare=False)
    section: str = field(compare=False)
    needs: "tuple[StageRow, ...]" = field(default=(), compare=False, repr=False)
    signals: frozenset[RiskSignal] = field(default=frozenset(), compare=False, repr=False)
    amplifiers: tuple[str, ...] = field(default=(), compare=False, repr=False)
    counts_in_quality: bool = field(default=False, compare=False, repr=False)
    has_remedies: bool = field(default=False, compare=False, repr=False)
    always_runs: bool = field(default=False, compare=False, repr=False)
    reads_earlier_windows: bool = field(default=False, compare=False, repr=False)
    reads_prompt: bool = field(default=False, compare=False, repr=False)
    idle_in_first_window: bool = field(default=False, compare=False, repr=False)
    batches_after: int = field(default=0, compare=False, repr=False)
    computing_ahead: float = field(default=REPORT_SHARE, compare=False, repr=False)

    @property
    def feeds_risk(self) -> bool:
        """Whether the risk rests on it: by a signal, or by an amplifier."""
        return bool(self.signals or self.amplifiers)
