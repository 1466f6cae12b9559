"""Whole texts of many styles, and the third fit of the classifier on them, each style left out (ADR 0201)."""

from collections import Counter

import numpy as np
import pytest

from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.features import BLOCK_BITS, WINDOW_BITS
from services.common.injection_classifier.model import InjectionHead
from training.injection.fit import auroc
from training.injection.rows import Row
from training.injection.styled import SHARE, styled_rows
from training.injection.third import BEFORE, Material, Ridge, figures, head_of, shares_of, side_by_side
from training.injection.windowed import grams_of, part_of, windowed

WIDTH = 6


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
    one = next(row for row in marked if len(row.text) > 3 * len(row.payload) or len(windowed([row]).windows) > 2)
    assert {1, -1} == set(windowed([one]).learnt.tolist())


def base():
    hidden = np.random.default_rng(1).normal(0, 1, (WIDTH, 2)).astype(np.float32)
    hidden[2] = 0.0  # it knows nothing of that direction
    return InjectionHead(
        embedder="e",
        version="2",
        grams=np.full((1 << WINDOW_BITS) + (1 << BLOCK_BITS), 0.05, dtype=np.float32),
        gram_bias=0.25,
        hidden=hidden,
        hidden_bias=np.zeros(2, dtype=np.float32),
        out=np.ones(2, dtype=np.float32),
        bias=0.1,
        joint=np.array([0.6, 0.7, -0.1]),
        calibration=PiecewiseLinearCalibration((0.0, 1.0), (0.0, 1.0)),
    )


@pytest.fixture(scope="module")
def material():
    """Short rows of five styles, of which one direction of the vectors tells attacks, and version 2 nothing."""
    rng = np.random.default_rng(3)
    text = "Number {} of the list stands here, and it is not short."
    made = [
        Row(text.format(n), attack=bool(n % 2), kind="k", family=f"s{n // 2 % 5}", fold=n // 2 % 5, share=SHARE)
        for n in range(120)
    ]
    made += [Row(text.format(-n), attack=False, kind="k", family="c", fold=0, share="clean") for n in range(1, 9)]
    data, head = windowed(made), base()
    grams = grams_of(data.windows, data.blocks)
    vectors = rng.normal(0, 0.2, (len(data.windows), WIDTH)).astype(np.float32)
    vectors[:, 2] += np.array([row.attack for row in data.rows])
    first = grams.weighed(head.grams.astype(np.float64)) + head.gram_bias
    second = np.tanh(vectors @ head.hidden + head.hidden_bias) @ head.out + head.bias
    before = np.column_stack([0.6 * first, 0.7 * second, np.full(len(first), -0.1)])
    return Material(data, before, side_by_side(grams), vectors, shares_of(data))


def test_what_was_learnt_before_weighs_less_than_the_styles(material):
    old = np.array([row.share != SHARE for row in material.data.rows])[material.data.homes]
    assert material.shares.sum() == pytest.approx(1.0)
    assert material.shares[old].sum() == pytest.approx(BEFORE / (2 + BEFORE))


def test_what_vectors_tell_carries_over_to_a_style_that_was_left_out(material):
    truth = np.array([row.attack for row in material.data.rows])
    rest = np.delete(material.vectors, 2, axis=1)
    blind = Material(material.data, material.before, material.grams, np.asarray(rest), material.shares)
    assert auroc(material.data.worst(Ridge(material, (0.0, 2.0)).left_out()), truth) > 0.9
    assert auroc(blind.data.worst(Ridge(blind, (0.0, 2.0)).left_out()), truth) < 0.7


def test_one_head_says_what_version_2_and_its_corrections_say(material):
    ridge, head = Ridge(material, (1.5, 2.0)), base()
    found = ridge.fit(np.ones(len(material.shares), dtype=np.bool_))
    made = head_of(head, found, ridge.corrections(found), ([0.0, 1.0], [0.0, 1.0]))
    grams = material.grams @ made.grams.astype(np.float64) + made.gram_bias
    said = [
        made.logit(float(gram), vector[: WIDTH // 2], vector[WIDTH // 2 :])
        for gram, vector in zip(grams, material.vectors, strict=True)
    ]
    assert said == pytest.approx(ridge.logits(found), abs=2e-2)
    assert made.version == "5"
    assert made.width == head.width


def test_figures_count_the_styles_alone(material):
    rows = material.data.rows
    found = figures(rows, np.array([float(row.attack) if row.share == SHARE else 9.0 for row in rows]))
    assert (found["attacks"], found["benign"], found["auroc"]) == (60, 60, 1.0)
    assert found["recall_at_0.01"] == 1.0
    assert set(found["recall_at_0.05_by_style"]) == {"s0", "s1", "s2", "s3", "s4"}
