"""Neighbours in reading order: those of a fact's section, the nearest first (ADR 0110)."""

from datetime import UTC, datetime

import numpy as np

from services.common.ports.facts import FactRecord, FactStatus
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.adjacency import added, nearest_first
from services.envelope.domain.outlines import OrderedFacts, Standing
from services.envelope.neighbour_facts import NeighbourFacts

ORDERED = OrderedFacts([OutlineEntry(name, section=int(at)) for name, at in zip("abcdefg", "1112221", strict=True)])
NOW = datetime(2026, 5, 24, tzinfo=UTC)


def test_what_stands_before_comes_ahead_at_the_same_distance():
    entry = OutlineEntry("b")
    assert nearest_first(Standing(entry, ("a",), ("c", "d"))) == ("a", "c", "d")
    assert nearest_first(Standing(entry, ("x", "y"), ())) == ("x", "y")


def test_neighbours_are_of_the_same_stretch_of_a_section():
    around = {name: nearest_first(ORDERED.standing(name, 1)) for name in "bcdg"}
    assert around == {"b": ("a", "c"), "c": ("b",), "d": ("e",), "g": ()}
    assert nearest_first(ORDERED.standing("a", 3)) == ("b", "c")


def test_what_is_known_is_not_added_and_the_best_facts_neighbours_come_first():
    assert added([("b", "c"), ("d", "b", "a")], {"c"}, 10) == ("b", "d", "a")
    assert added([("b", "c"), ("d",)], (), 2) == ("b", "c")


class Outlines:
    async def neighbours(self, facts, each_side):
        return {fact.fact_id: ORDERED.standing(fact.fact_id, each_side) for fact in facts if fact.source_id == "s"}


def fact(fact_id, source_id):
    return FactRecord("t", fact_id, "x", "", source_id, "", 0.5, NOW, NOW, FactStatus.ACTIVE, np.zeros(2, np.float32))


async def test_a_source_without_an_order_adds_nothing():
    found = await NeighbourFacts(Outlines(), 1).around([fact("e", "s"), fact("b", "s"), fact("q", "other")], {"e", "b"})
    assert found == ("d", "f", "a", "c")
