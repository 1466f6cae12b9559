"""Where a fact stands among the others of its source: what is before it, after it and in its section (ADR 0113)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.common.documents.document import Place
from services.common.ports.outline import OutlineEntry


@dataclass(frozen=True, slots=True)
class Outlined:
    """A fact as its version has it.

    Attributes:
        section: names its section; equal names, even of sections that lie apart, are one.
        kind: what it is; empty when nobody said.
    """

    fact_id: str
    section: str
    kind: str
    place: Place


@dataclass(frozen=True, slots=True)
class Standing:
    """One fact among its neighbours.

    Attributes:
        entry: the fact itself.
        previous: ids of what stands before it, the nearest first.
        next: ids of what stands behind it, the nearest first.
    """

    entry: OutlineEntry
    previous: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


def outline(facts: Iterable[Outlined], former: Sequence[OutlineEntry] = ()) -> tuple[OutlineEntry, ...]:
    """Return the entries of facts in reading order, each id once, behind those that the source has already."""
    entries = {one.fact_id: one for one in former}
    first = max((one.section for one in former), default=-1) + 1
    sections: dict[str, int] = {}
    for fact in facts:
        if fact.fact_id not in entries:
            section = sections.setdefault(fact.section, first + len(sections))
            entries[fact.fact_id] = OutlineEntry(fact.fact_id, fact.kind, section, fact.place)
    return tuple(entries.values())


class OrderedFacts:
    """A version's facts in reading order, found by id.

    Args:
        entries: of its outline.
    """

    def __init__(self, entries: Sequence[OutlineEntry]) -> None:
        self.entries = entries
        self._positions = {entry.fact_id: position for position, entry in enumerate(entries)}

    def standing(self, fact_id: str, each_side: int, *, within_section: bool = True) -> Standing | None:
        """Return a fact with its neighbours; ``None`` when the version lacks it.

        Args:
            fact_id: the fact.
            each_side: most neighbours before it, and most behind it.
            within_section: the first of another section ends the row.
        """
        position = self._positions.get(fact_id)
        if position is None:
            return None
        entry = self.entries[position]
        before = self.entries[max(0, position - each_side) : position][::-1]
        behind = self.entries[position + 1 : position + 1 + each_side]
        section = entry.section if within_section else None
        return Standing(entry, _ids(before, section), _ids(behind, section))


def _ids(entries: Sequence[OutlineEntry], section: int | None) -> tuple[str, ...]:
    """Return the ids up to the first entry of another section."""
    ids = []
    for entry in entries:
        if section is not None and entry.section != section:
            break
        ids.append(entry.fact_id)
    return tuple(ids)
