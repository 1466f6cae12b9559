"""Kept neighbours after any changes against neighbours computed from nothing (CRP-SPEC-009, ADR 0069)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.envelope.domain import neighbours as module
from services.envelope.domain.neighbours import NEIGHBOURS, NOBODY, NearestSoFar, Neighbours, votes

DIMENSION = 6


def unit(values):
    vector = np.array(values, dtype=np.float32)
    length = np.linalg.norm(vector)
    return vector / length if length else np.eye(1, DIMENSION, dtype=np.float32)[0]


vectors = st.lists(st.integers(-2, 2), min_size=DIMENSION, max_size=DIMENSION).map(unit)
changes = st.tuples(st.sets(st.integers(0, 80)), st.lists(st.tuples(st.integers(0, 80), vectors), max_size=25))


def naive(rows):
    """Each fact's 20 nearest with a cosine of at least 0.60, ties by place."""
    cosines = np.round(rows @ rows.T, 6).astype(np.float32)
    result = []
    for number, row in enumerate(cosines):
        near = [(-float(cosine), place) for place, cosine in enumerate(row) if place != number and cosine >= 0.60]
        result.append([place for _, place in sorted(near)[:NEIGHBOURS]])
    return result


def lists(found):
    return [[int(place) for place in row if place != NOBODY] for row in found.places]


@given(st.lists(vectors, max_size=70))
def test_neighbours_are_the_nearest_of_all(facts):
    rows = np.array(facts, dtype=np.float32).reshape(-1, DIMENSION)
    assert lists(Neighbours.of(rows)) == naive(rows)


@given(st.lists(vectors, max_size=60), st.lists(changes, min_size=1, max_size=4))
def test_keeping_gives_what_computing_from_nothing_gives(facts, steps):
    present = dict(enumerate(facts))
    kept = Neighbours.of(np.array(facts, dtype=np.float32).reshape(-1, DIMENSION))
    order = sorted(present)
    for gone, come in steps:
        places = {key: place for place, key in enumerate(order)}
        removed = {order[number] for number in gone if number < len(order)}
        present = {key: vector for key, vector in present.items() if key not in removed}
        for key, vector in come:
            present.setdefault(key * 1_000 + len(present), vector)  # new ones stand between the old ones
        order = sorted(present)
        rows = np.array([present[key] for key in order], dtype=np.float32).reshape(-1, DIMENSION)
        former = np.array([places.get(key, NOBODY) if key not in removed else NOBODY for key in order], dtype=np.int32)
        kept = kept.moved_to(former, rows)
        assert lists(kept) == naive(rows)
        np.testing.assert_allclose(kept.cosines, Neighbours.of(rows).cosines, atol=2e-6)


def test_tiles_do_not_show(monkeypatch):
    rows = np.array([unit(row) for row in np.random.default_rng(3).integers(-2, 3, (150, DIMENSION))])
    whole = Neighbours.of(rows)
    for name in ("_TILE_ROWS", "_TILE_COLUMNS"):
        monkeypatch.setattr(module, name, 16)
    assert lists(Neighbours.of(rows)) == lists(whole) == naive(rows)


def test_where_everything_is_near_a_tile_is_thinned_and_the_nearest_stay():
    rng = np.random.default_rng(5)
    rows = np.array([unit(row) for row in 1.0 + 0.1 * rng.standard_normal((400, DIMENSION))])
    found = Neighbours.of(rows)
    cosines = rows @ rows.T - 2 * np.eye(len(rows), dtype=np.float32)
    best = -np.sort(-cosines, axis=1)[:, :NEIGHBOURS]
    np.testing.assert_allclose(found.cosines, best, atol=2e-6)  # which of two equal to six digits, is not said
    np.testing.assert_allclose(np.take_along_axis(cosines, found.places.astype(int), axis=1), best, atol=2e-6)


def test_ten_new_facts_are_compared_with_all_and_nothing_else_is(monkeypatch):
    rng = np.random.default_rng(7)
    rows = np.array([unit(row) for row in rng.standard_normal((3_010, 32))]).astype(np.float32)
    kept = Neighbours.of(rows[:3_000])
    compared = []
    take = module._take
    monkeypatch.setattr(module, "_take", lambda *args: compared.append(args[3].size) or take(*args))
    former = np.concatenate([np.arange(3_000), np.full(10, NOBODY)]).astype(np.int32)
    after = kept.moved_to(former, rows)
    assert sum(compared) == 10 * 3_010 + 3_000 * 10  # of nine million
    assert lists(after) == naive(rows)


def test_edges_are_sorted_and_each_stands_once():
    rows = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    first, second, weight = Neighbours.of(rows).edges()
    assert list(zip(first.tolist(), second.tolist(), weight.tolist(), strict=True)) == [
        (0, 1, pytest.approx(0.8)),
        (1, 2, pytest.approx(0.6)),
    ]
    assert Neighbours.of(rows).strengths().tolist() == [pytest.approx(0.8), pytest.approx(1.4), pytest.approx(0.6)]
    assert [array.size for array in Neighbours.none(0).edges()] == [0, 0, 0]


@given(st.lists(vectors, min_size=1, max_size=5), st.lists(vectors, min_size=1, max_size=60), st.integers(1, 30))
def test_the_nearest_so_far_are_the_nearest_of_all_blocks(facts, others, size):
    nearest, rows = NearestSoFar(np.array(facts)), np.array(others)
    for start in range(0, len(rows), size):
        nearest.look(rows[start : start + size])
    for fact, row in zip(facts, nearest.rows(), strict=True):
        best = sorted((rows @ fact).tolist(), reverse=True)[: NEIGHBOURS + 1]
        assert sorted((cosine for _, cosine in row), reverse=True) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "cosines", "expected"),
    [
        (["a", "b", "b"], [0.9, 0.61, 0.62], "b"),
        (["a", "b"], [0.7, 0.7], "a"),
        (["a", "b"], [0.7, 0.59], "a"),
        (["", ""], [0.9, 0.9], ""),
        ([], [], ""),
    ],
)
def test_a_fact_joins_the_community_that_its_neighbours_lean_to(labels, cosines, expected):
    assert votes(labels, cosines) == expected
