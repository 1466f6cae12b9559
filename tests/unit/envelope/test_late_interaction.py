"""Late interaction against a loop that does what the definition says."""

import numpy as np
import pytest

from services.envelope.domain.late_interaction import late_interaction_scores


def units(count, seed, dimension=16):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def naive(query, passage):
    return sum(max(float(np.dot(one, other)) for other in passage) for one in query) / len(query)


@pytest.mark.parametrize("lengths", [(1,), (5, 1, 9), tuple(range(1, 40))], ids=str)
@pytest.mark.parametrize("asked", [1, 4, 17])
def test_as_a_naive_loop(lengths, asked):
    query = units(asked, 1)
    passages = [units(length, seed) for seed, length in enumerate(lengths, start=2)]
    found = late_interaction_scores(query, passages)
    assert found == pytest.approx([naive(query, passage) for passage in passages], abs=1e-5)


def test_a_passage_that_holds_every_token_of_the_query_scores_one():
    query = units(3, 1)
    found = late_interaction_scores(query, [np.concatenate([units(5, 2), query]), units(5, 2)])
    assert found[0] == pytest.approx(1.0, abs=1e-6)
    assert found[1] < 0.99


def test_nothing_is_like_nothing():
    query, empty = units(2, 1), np.empty((0, 16), dtype=np.float32)
    assert late_interaction_scores(query, [empty, query, empty]).tolist() == pytest.approx([-1.0, 1.0, -1.0])
    assert late_interaction_scores(empty, [query]).tolist() == [-1.0]
    assert late_interaction_scores(query, []).shape == (0,)


def test_half_precision_is_read_as_it_is():
    query, passage = units(3, 1), units(20, 2)
    rounded = late_interaction_scores(query, [passage.astype(np.float16)])
    assert rounded == pytest.approx(late_interaction_scores(query, [passage]), abs=2e-3)
    assert rounded.dtype == np.float32
