"""The quality history and its trend (SPEC-004 §13).

The trend is read off the longest run of windows at the end of the history in which no window is better than the one
before it: no drop in the run is NONE, one is FIRST_DROP, two or more are SUSTAINED; a drop to D is CRITICAL, and D
twice in a row is PERSISTENT, whatever came before.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum, unique
from typing import Final

from services.dag.domain.view import DagView

TIERS: Final = ("S", "A", "B", "C", "D")
_RANK: Final[Mapping[str, int]] = {tier: rank for rank, tier in enumerate(TIERS)}
_DEFICIENT: Final = "D"
_SUSTAINED_DROPS: Final = 2


@unique
class Degradation(StrEnum):
    """The rows of SPEC-004 §13.2."""

    NONE = "NONE"
    FIRST_DROP = "FIRST_DROP"
    SUSTAINED = "SUSTAINED"
    CRITICAL = "CRITICAL"
    PERSISTENT = "PERSISTENT"


ADVICE: Final[Mapping[Degradation, str]] = {
    Degradation.NONE: "",
    Degradation.FIRST_DROP: "The envelope's quality dropped once; continue and watch it.",
    Degradation.SUSTAINED: "The envelope's quality keeps dropping; use a stronger strategy, such as reflexive or pull.",
    Degradation.CRITICAL: "The envelope's quality dropped to D; start a new session.",
    Degradation.PERSISTENT: "The envelope's quality stays at D; start a new session, continuing may be refused.",
}


def degradation(history: Sequence[str]) -> Degradation:
    """Return the trend of tiers from the root on."""
    ranks = [_RANK[tier] for tier in history]
    drops = 0
    for before, after in zip(reversed(ranks[:-1]), reversed(ranks[1:]), strict=True):
        if after < before:
            break
        drops += after > before
    if list(history[-2:]) == [_DEFICIENT, _DEFICIENT]:
        return Degradation.PERSISTENT
    if drops and history[-1] == _DEFICIENT:
        return Degradation.CRITICAL
    if drops >= _SUSTAINED_DROPS:
        return Degradation.SUSTAINED
    return Degradation.FIRST_DROP if drops else Degradation.NONE


def history_of(dag: DagView, window_ids: Sequence[str], earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tiers of the windows and their ancestors, from the root on.

    Args:
        dag: the session.
        window_ids: the leaf, or the parents that a window is opened on.
        earlier: tiers of windows that are not in this store: those up to and including an adopted leaf (§10.2).
    """
    return (*earlier, *(window.quality_tier for window in dag.lineage(window_ids) if window.report_id))


def printed_history(history: Sequence[str]) -> str:
    """Return ``A,A,B`` (SPEC-004 §13.1)."""
    return ",".join(history)
