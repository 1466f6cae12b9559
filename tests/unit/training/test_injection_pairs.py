"""Pairs of attacks and benign twins, and the second fit of the classifier on them (ADR 0175)."""

from collections import Counter

import numpy as np
import pytest

from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.cues import NAMES
from services.common.injection_classifier.features import BLOCK_BITS, WINDOW_BITS
from services.common.injection_classifier.model import InjectionHead
from training.injection.fit import auroc
from training.injection.grammar import families
from training.injection.paired import learnt_before, paired_rows
from training.injection.rows import FOLDS, Row
from training.injection.second import Material, cross_validated, figures, fit, head_of, shares_of
from training.injection.windowed import grams_of, part_of, windowed


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


def test_of_a_pair_both_sentences_are_learnt_and_nothing_around_them(rows):
    twin, attack = (next(row for row in rows if row.payload and row.attack is side) for side in (False, True))
    for row, label in ((twin, 0), (attack, 1)):
        found = windowed([row])
        learnt = [window for window, own in zip(found.windows, found.learnt, strict=True) if own == label]
        assert any(row.payload[:40] in window for window in learnt)
        assert set(found.learnt.tolist()) <= {label, -1}


def test_of_what_was_learnt_before_a_fixed_part_is_kept():
    before = [Row(f"t{n}", attack=bool(n % 2), kind="k", family="f", fold=0) for n in range(280)]
    kept = learnt_before(before)
    assert kept == learnt_before(before)
    assert sum(row.attack for row in kept) == 10
    assert sum(not row.attack for row in kept) == 24


def head():
    size = (1 << WINDOW_BITS) + (1 << BLOCK_BITS)
    return InjectionHead(
        embedder="e",
        version="1",
        grams=np.full(size, 0.5, dtype=np.float32),
        gram_bias=0.25,
        hidden=np.zeros((2, 1), dtype=np.float32),
        hidden_bias=np.zeros(1, dtype=np.float32),
        out=np.zeros(1, dtype=np.float32),
        bias=0.0,
        joint=np.array([0.6, 0.7, -0.1]),
        calibration=PiecewiseLinearCalibration((0.0, 1.0), (0.0, 1.0)),
    )


@pytest.fixture(scope="module")
def material():
    """Short rows of which one cue alone tells attacks."""
    rng = np.random.default_rng(3)
    text = "Number {} of the list stands here, and it is not short."
    made = [
        Row(text.format(n), attack=bool(n % 2), kind="k", family=f"f{n % 12}", fold=n // 2 % FOLDS, share="paired")
        for n in range(120)
    ]
    data = windowed(made)
    cues = rng.normal(0, 0.2, (len(data.windows), len(NAMES))).astype(np.float32)
    cues[:, 5] += np.array([row.attack for row in data.rows])
    base = rng.normal(0, 1, (len(data.windows), 2))
    return Material(data, base, cues, grams_of(data.windows, data.blocks), shares_of(data))


@pytest.mark.whole
def test_a_cue_is_learnt_where_the_base_knows_nothing(material):
    found = cross_validated(material, 0.0)
    truth = [row.attack for row in material.data.rows]
    assert auroc(material.data.worst(found["base"]), truth) < 0.7
    assert auroc(material.data.worst(found["cues"]), truth) > 0.9


def test_figures_are_of_attacks_against_each_kind_of_benign_text(material):
    looking = [
        Row(f"b{n}", attack=False, kind="benign.x", family="b", fold=0, share="hostile_looking") for n in range(20)
    ]
    rows = [*material.data.rows, *looking]
    scores = np.array([float(row.attack) for row in rows])
    found = figures(rows, scores)
    assert found["attacks"] == 60
    assert (found["all"]["texts"], found["twins"]["texts"], found["hostile_looking"]["texts"]) == (80, 60, 20)
    assert found["all"]["recall_at_0.01"] == found["all"]["auroc"] == 1.0


def test_one_head_says_what_both_fits_say(material):
    base = head()
    second = fit(material, np.ones(len(material.shares), dtype=np.bool_), (2.0, 1.5), -0.1)
    made = head_of(base, second, ([0.0, 1.0], [0.0, 1.0]))
    grams = material.grams.weighed(base.grams.astype(np.float64)) + base.gram_bias
    raw = Material(
        material.data,
        np.column_stack([grams * 0.6, np.zeros(len(grams))]),
        material.cues,
        material.grams,
        material.shares,
    )
    whole = material.grams.weighed(made.grams.astype(np.float64)) + made.gram_bias + material.cues @ made.cues
    assert made.joint[0] * whole + made.joint[2] == pytest.approx(second.logits(raw), abs=5e-3)
    assert made.version == "2"
