"""Neighbours in reading order: the pure part, and one request of the outlines for each source (ADR 0110)."""

from datetime import UTC, datetime

import numpy as np

from services.common.ports.facts import FactRecord, FactStatus
from services.envelope.domain.adjacency import OrderedFact, added, adjacent
from services.envelope.neighbour_facts import NeighbourFacts

OUTLINE = [OrderedFact(name, section) for name, section in zip("abcdefg", "1112221", strict=True)]
NOW = datetime(2026, 5, 24, tzinfo=UTC)


def test_neighbours_are_of_the_same_stretch_of_a_section():
    assert adjacent(OUTLINE, {"b", "c", "d", "g", "z"}, 1) == {
        "b": ("a", "c"),
        "c": ("b",),
        "d": ("e",),
        "g": (),
    }
    assert adjacent(OUTLINE, {"b", "a"}, 3) == {"b": ("a", "c"), "a": ("b", "c")}


def test_what_is_known_is_not_added_and_the_best_facts_neighbours_come_first():
    assert added([("b", "c"), ("d", "b", "a")], {"c"}, 10) == ("b", "d", "a")
    assert added([("b", "c"), ("d",)], (), 2) == ("b", "c")


class Outlines:
    def __init__(self):
        self.asked = []

    async def in_order(self, tenant_id, source_id):
        self.asked.append((tenant_id, source_id))
        return OUTLINE if source_id == "s" else []


def fact(fact_id, source_id):
    return FactRecord("t", fact_id, "x", "", source_id, "", 0.5, NOW, NOW, FactStatus.ACTIVE, np.zeros(2, np.float32))


async def test_each_source_is_asked_once():
    outlines = Outlines()
    found = await NeighbourFacts(outlines, 1).around([fact("e", "s"), fact("b", "s"), fact("q", "other")], {"e", "b"})
    assert found == ("d", "f", "a", "c")
    assert sorted(outlines.asked) == [("t", "other"), ("t", "s")]
