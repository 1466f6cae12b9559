"""The order of facts, by hand: neighbours, sections, what is added behind."""

import pytest

from services.common.adapters.outline_bytes import pack, unpack
from services.common.documents.document import NOWHERE, Place
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.outlines import OrderedFacts, Outlined, outline


def entries(sections: str) -> tuple[OutlineEntry, ...]:
    return tuple(OutlineEntry(f"f{number}", "RULE", int(section)) for number, section in enumerate(sections))


@pytest.mark.parametrize(
    ("fact_id", "each_side", "within", "before", "behind"),
    [
        ("f0", 2, True, "", "f1 f2"),
        ("f1", 1, True, "f0", "f2"),
        ("f2", 2, True, "f1 f0", ""),
        ("f3", 2, True, "", "f4"),
        ("f2", 2, False, "f1 f0", "f3 f4"),
        ("f4", 9, False, "f3 f2 f1 f0", ""),
        ("f1", 0, False, "", ""),
    ],
)
def test_neighbours_are_the_nearest_first_and_end_with_the_section(fact_id, each_side, within, before, behind):
    found = OrderedFacts(entries("00011")).standing(fact_id, each_side, within_section=within)
    assert found is not None
    assert (" ".join(found.previous), " ".join(found.next)) == (before, behind)


def test_what_the_version_lacks_has_no_standing():
    assert OrderedFacts(entries("00")).standing("f9", 1) is None


def test_each_id_stands_once_and_equal_names_are_one_section():
    facts = [Outlined(name, section, "", NOWHERE) for name, section in (("a", "x"), ("b", "y"), ("a", "y"), ("c", "x"))]
    found = outline(facts)
    assert [(one.fact_id, one.section) for one in found] == [("a", 0), ("b", 1), ("c", 0)]
    more = outline([Outlined("d", "x", "", NOWHERE), Outlined("b", "x", "", NOWHERE)], found)
    assert [(one.fact_id, one.section) for one in more] == [("a", 0), ("b", 1), ("c", 0), ("d", 2)]


def placed(count: int) -> list[OutlineEntry]:
    box = (0.1, 0.2, 0.3, 0.4)
    places = [Place(n, box, f"row {n}", 1, (n, n), (1, 3)) for n in range(count)]
    return [OutlineEntry(f"{n:032x}", "RULE", n // 9, place) for n, place in enumerate(places)]


def test_what_is_packed_comes_back_and_takes_little():
    assert unpack(pack(placed(300))) == tuple(placed(300))
    assert unpack(pack([])) == ()
    assert len(pack(placed(1000))) < 40_000


def test_what_is_too_large_is_kept_without_boxes_and_paths():
    found = unpack(pack(placed(300), max_bytes=100))
    assert [(one.fact_id, one.section) for one in found] == [(one.fact_id, one.section) for one in placed(300)]
    assert found[7].place == Place(7, None, "", 1, (7, 7), (1, 3))


@pytest.mark.parametrize("value", [b"", b"x", pack(placed(3))[:-1], b"\x78\x9c\x03\x00\x00\x00\x00\x01"])
def test_what_is_no_outline_is_no_value(value):
    with pytest.raises((ValueError, KeyError, TypeError)):
        unpack(value)
