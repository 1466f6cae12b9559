"""Counts as people read them."""

from services.common.counting import counted


def test_one_and_many():
    assert [counted(n, "window") for n in (0, 1, 2)] == ["0 windows", "1 window", "2 windows"]
    assert [counted(n, "leaf", "leaves") for n in (0, 1, 2)] == ["0 leaves", "1 leaf", "2 leaves"]
