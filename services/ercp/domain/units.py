"""What sentences of a text are, and are to each other: exact rules first, then heads (ERCP 1.0 §7; ADR 0118).

A rule that is exact decides; where none does, a head decides above its upper and below its lower bound, and between
them the matter is open. Without heads what no rule says is open.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final, Protocol

from services.ercp.domain.kinds_by_rule import kinds_of
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.unit_vocabulary import Relation, UnitKind


@unique
class Said(StrEnum):
    """Who says what a sentence is."""

    RULE = "rule"
    HEAD = "head"


class Sighting(Protocol):
    """What a head says; ``verdict`` ``None`` between its bounds."""

    @property
    def probability(self) -> float:
        """In [0, 1]."""
        ...

    @property
    def verdict(self) -> bool | None:
        """Yes, no, or neither."""
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence.

    Attributes:
        start: first code point in the text.
        end: one past the last.
        kinds: what it is, with who says so, in the order of ``UnitKind``.
        excluded: what a head says that it is not.
    """

    start: int
    end: int
    kinds: Mapping[UnitKind, Said]
    excluded: frozenset[UnitKind] = frozenset()


@dataclass(frozen=True, slots=True)
class Related:
    """What the second of two sentences is to the first, as a head says with ``confidence``."""

    first: int
    second: int
    relation: Relation
    confidence: float


@dataclass(frozen=True, slots=True)
class Units:
    """A text's sentences.

    Attributes:
        units: in text order.
        relations: what was found, in the order of the pairs that were read.
        excluded: pairs of which a head says what they are not.
        by_heads: heads took part.
    """

    units: tuple[Unit, ...]
    relations: tuple[Related, ...] = ()
    excluded: frozenset[tuple[int, int, Relation]] = frozenset()
    by_heads: bool = False

    def related(self, relation: Relation) -> frozenset[tuple[int, int]]:
        """Return the pairs that stand in a relation."""
        return frozenset((each.first, each.second) for each in self.relations if each.relation is relation)


NEXT_TO: Final = ((0, 1), (1, 0))


def adjacent(count: int, most: int) -> list[tuple[int, int]]:
    """Return neighbours among so many sentences, each pair both ways, at most ``most``."""
    return [(at + one, at + other) for at in range(count - 1) for one, other in NEXT_TO][:most]


def by_rules(facts: TextFacts) -> Units:
    """Return what rules alone say of a text's sentences; CPU work, linear in the text."""
    found = kinds_of(facts)
    return Units(
        tuple(
            Unit(span.start, span.end, dict.fromkeys(_ordered(kinds), Said.RULE))
            for span, kinds in zip(facts.sentences, found, strict=True)
        )
    )


def with_heads(
    ruled: Units,
    kinds: Sequence[Mapping[str, Sighting]],
    pairs: Sequence[tuple[int, int]],
    relations: Sequence[Mapping[str, Sighting]],
) -> Units:
    """Return what rules and heads say; a head never takes back what a rule says."""
    units = tuple(_with(unit, each) for unit, each in zip(ruled.units, kinds, strict=True))
    found, excluded = list[Related](), set[tuple[int, int, Relation]]()
    for (first, second), each in zip(pairs, relations, strict=True):
        sure = [(Relation(name), one) for name, one in each.items() if one.verdict]
        if sure:  # two sentences are one thing to each other: what is most probable
            relation, best = max(sure, key=lambda item: item[1].probability)
            found.append(Related(first, second, relation, round(best.probability, 6)))
        excluded |= {(first, second, Relation(name)) for name, one in each.items() if one.verdict is False}
    return Units(units, tuple(found), frozenset(excluded), by_heads=True)


def _with(unit: Unit, seen: Mapping[str, Sighting]) -> Unit:
    says = {UnitKind(name): one.verdict for name, one in seen.items()}
    kinds = {**{kind: Said.HEAD for kind, verdict in says.items() if verdict}, **unit.kinds}
    excluded = frozenset(kind for kind, verdict in says.items() if verdict is False and kind not in kinds)
    return Unit(unit.start, unit.end, {kind: kinds[kind] for kind in _ordered(kinds)}, excluded)


def _ordered(kinds: Iterable[UnitKind]) -> list[UnitKind]:
    known = set(kinds)
    return [kind for kind in UnitKind if kind in known]
