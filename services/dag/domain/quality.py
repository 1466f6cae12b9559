"""The quality history and its trend (SPEC-004 §13).

The trend is read off the longest run of windows at the end of the history in which no window is better than the one
before it: no drop in the run is NONE, one is FIRST_DROP, two or more are SUSTAINED; a drop to D is CRITICAL, and D
twice in a row is PERSISTENT, whatever came before.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from services.common.ports.sessions import WindowRecord
from services.common.taxonomy import Degradation, QualityTier
from services.dag.domain.view import DagView

_RANK: Final[Mapping[str, int]] = {tier.value: tier.rank for tier in QualityTier}
_DEFICIENT: Final = QualityTier.D
_SUSTAINED_DROPS: Final = 2


ADVICE: Final[Mapping[Degradation, str]] = {
    Degradation.NONE: "",
    Degradation.FIRST_DROP: "The envelope's quality dropped once; continue and watch it.",
    Degradation.SUSTAINED: "The envelope's quality keeps dropping; use a stronger strategy, such as reflexive or pull.",
    Degradation.CRITICAL: "The envelope's quality dropped to D; start a new session.",
    Degradation.PERSISTENT: "The envelope's quality stays at D; start a new session, continuing may be refused.",
}


def degradation(history: Sequence[str]) -> Degradation:
    """Return the trend of a quality history from the root on; parallel windows count as their worst."""
    ranks = [max(_RANK[tier] for tier in tiers_of((entry,))) for entry in history]
    drops = 0
    for before, after in zip(reversed(ranks[:-1]), reversed(ranks[1:]), strict=True):
        if after < before:
            break
        drops += after > before
    deficient = [rank == _RANK[_DEFICIENT] for rank in ranks]
    if len(deficient) > 1 and all(deficient[-2:]):
        return Degradation.PERSISTENT
    if drops and deficient[-1]:
        return Degradation.CRITICAL
    if drops >= _SUSTAINED_DROPS:
        return Degradation.SUSTAINED
    return Degradation.FIRST_DROP if drops else Degradation.NONE


def history_of(
    dag: DagView, window_ids: Sequence[str], earlier: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """Return the quality history of windows and their ancestors: one entry for each window number, from the root on.

    An entry is a tier, or for parallel windows their tiers in brackets, by window id: ``[A,A,B]`` (appendix A). Windows
    are parallel when the leaf has others that neither descend from them nor lead to them.

    Args:
        dag: the session.
        window_ids: the leaf, or the parents that a window is opened on.
        earlier: for each window that stands for another instance's, the history up to and including it (§10.2).
    """
    lineage = dag.lineage(window_ids)
    adopted = dag.latest_adopted(window_ids)
    levels = _levels_elsewhere(dag, adopted, earlier or {})
    covered = {above for window in adopted for above in _above(dag, window)}
    serial = _serial(dag, lineage, window_ids)
    for number, level in groupby(lineage, key=lambda window: window.window_number):
        windows = [window for window in level if window.report_id and window.window_id not in covered]
        tiers = ",".join(window.quality_tier for window in windows)
        if windows:
            beside = levels.get(number)
            alone = windows[0].window_id in serial and beside is None
            levels[number] = tiers if alone else f"[{','.join((*tiers_of((beside or '',)), tiers))}]"
    return tuple(levels[number] for number in sorted(levels))


def _levels_elsewhere(
    dag: DagView, adopted: Sequence[WindowRecord], earlier: Mapping[str, Sequence[str]]
) -> dict[int, str]:
    """Return the entries by window number that the latest adopted windows came with; what two have in common, once."""
    levels: dict[int, str] = {}
    seen: set[str] = set()
    for window in adopted:
        above = _above(dag, window)
        shared = max((dag.by_id[each].window_number for each in seen & above), default=0)
        history = earlier.get(window.window_id, ())
        for number, entry in enumerate(history, start=window.window_number - len(history) + 1):
            if number not in levels:
                levels[number] = entry
            elif number > shared:
                levels[number] = f"[{','.join(tiers_of((levels[number], entry)))}]"
        seen |= above
    return levels


def _above(dag: DagView, window: WindowRecord) -> set[str]:
    return {above.window_id for above in dag.lineage((window.window_id,))}


def tiers_of(history: Iterable[str]) -> tuple[str, ...]:
    """Return the tiers without brackets."""
    return tuple(tier for entry in history for tier in entry.strip("[]").split(",") if tier)


def latest(history: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the latest entries that hold at most ``most`` tiers together; the store has all."""
    kept: list[str] = []
    for entry in reversed(history):
        most -= len(tiers_of((entry,)))
        if most < 0:
            break
        kept.append(entry)
    return tuple(reversed(kept))


def printed_history(history: Sequence[str]) -> str:
    """Return ``A,[A,A,B],[B],B`` (SPEC-004 §13.1, appendix A)."""
    return ",".join(history)


def _serial(dag: DagView, lineage: Sequence[WindowRecord], ends: Sequence[str]) -> set[str]:
    """Return the windows that every way through the lineage passes.

    In the order of numbers, a window is one when no edge, no further root and no other end leads past it.
    """
    inside = {window.window_id for window in lineage}
    open_ends = sum(not inside.intersection(window.parent_ids) for window in lineage)
    serial = set()
    for window in lineage:
        open_ends -= len(inside.intersection(window.parent_ids)) or 1
        if open_ends == 0:
            serial.add(window.window_id)
        open_ends += sum(child.window_id in inside for child in dag.children(window.window_id))
        open_ends += window.window_id in ends
    return serial
