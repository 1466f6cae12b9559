"""Pairs of attacks and benign twins in the same documents (ADR 0175)."""

from collections import Counter

import pytest

from training.injection.blocks import blocks_of
from training.injection.grammar import families
from training.injection.paired import learnt_before, paired_rows
from training.injection.rows import Row, part_of


@pytest.fixture(scope="module")
def rows():
    return paired_rows(7)


def test_the_same_seed_gives_the_same_rows(rows):
    assert paired_rows(7) == rows
    assert paired_rows(8) != rows


@pytest.mark.parametrize(("name", "kinds", "texts"), [("hostile_looking.txt", 16, 115), ("documents.txt", 6, 48)])
def test_a_text_that_opens_like_a_heading_is_a_text(name, kinds, texts):
    found = families(name)
    assert (len(found), sum(map(len, found.values()))) == (kinds, texts)
    assert any(text.startswith("## ") for lines in found.values() for text in lines)
    assert all(kind.replace(".", "").replace("_", "").isalnum() for kind in found)


def test_every_attack_has_a_twin_in_the_same_documents(rows):
    counted = Counter((row.family, row.attack) for row in rows if part_of(row) == "paired")
    themes = families("pairs.txt")
    assert len(themes) == 22
    assert all(counted[theme, True] == counted[theme, False] >= 24 for theme in themes)
    assert all(line.count(" ||| ") == 1 for lines in themes.values() for line in lines)
    assert len(rows) > 1_300


def test_a_theme_and_its_documents_lie_in_one_fold(rows):
    folds = {}
    for row in rows:
        if part_of(row) != "clean":
            folds.setdefault(row.family, set()).add(row.fold)
    assert {len(found) for found in folds.values()} == {1}
    clean = {row.text[:40]: row.fold for row in rows if part_of(row) == "clean"}
    carried = [(clean[row.text[:40]], row.fold) for row in rows if row.payload and row.text[:40] in clean]
    assert len(carried) > 900
    assert all(own == fold for own, fold in carried)


def test_no_place_is_left_open(rows):
    assert not [row for row in rows if "{x}" in row.text]


def test_of_a_pair_both_texts_are_learnt(rows):
    twin, attack = (next(row for row in rows if row.payload and row.attack is side) for side in (False, True))
    assert set(blocks_of([twin]).learnt.tolist()) == {0}
    found = blocks_of([attack])
    learnt = [text for text, label in zip(found.texts, found.learnt, strict=True) if label == 1]
    assert any(attack.payload[:40] in text for text in learnt)
    assert 0 not in found.learnt


def test_of_what_was_learnt_before_a_fixed_part_is_kept():
    before = [Row(f"t{n}", attack=bool(n % 2), kind="k", family="f", fold=0) for n in range(280)]
    kept = learnt_before(before)
    assert kept == learnt_before(before)
    assert sum(row.attack for row in kept) == 10
    assert sum(not row.attack for row in kept) == 24
