"""Whole texts of many styles that the classifier of injections learns from (ADR 0201)."""

from collections import Counter

import pytest

from training.injection.blocks import blocks_of
from training.injection.rows import part_of
from training.injection.styled import SHARE, styled_rows


@pytest.fixture(scope="module")
def rows():
    return styled_rows()


def test_every_style_has_as_many_benign_texts_as_attacks(rows):
    counted = Counter((row.family, row.attack) for row in rows)
    styles = {row.family for row in rows}
    assert len(styles) >= 13
    assert len(rows) >= 500
    assert all(counted[style, True] == counted[style, False] >= 12 for style in styles)
    assert {part_of(row) for row in rows} == {SHARE}


def test_a_style_lies_in_one_fold_and_no_text_stands_twice(rows):
    assert len({(row.family, row.fold) for row in rows}) == len({row.fold for row in rows})
    assert len({row.text for row in rows}) == len(rows)


def test_the_attack_in_a_text_is_marked_and_the_marks_are_gone(rows):
    assert not [row for row in rows if "⟦" in row.text or "⟧" in row.text]
    marked = [row for row in rows if row.payload]
    assert len(marked) > 150
    assert all(row.attack and row.payload in row.text for row in marked)
    assert all(1 in blocks_of([row]).learnt for row in marked)
