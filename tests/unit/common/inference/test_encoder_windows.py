"""Windows over long texts (ADR 0032): nothing left out, and what the parts say together."""

import itertools

import numpy as np
import pytest

from services.common.adapters.encoders.windows import (
    Reading,
    balanced,
    most_decided,
    overlapping,
    pieces,
    readings,
    together,
)

END = 9


@pytest.mark.parametrize(
    ("length", "limit", "expected"),
    [
        (0, 5, [(0, 0)]),
        (5, 5, [(0, 5)]),
        (6, 5, [(0, 3), (3, 6)]),
        (11, 5, [(0, 3), (3, 7), (7, 11)]),
    ],
    ids=["nothing is one empty run", "what fits is whole", "one more is two halves", "lengths differ by at most 1"],
)
def test_balanced(length, limit, expected):
    assert balanced(length, limit) == expected


@pytest.mark.parametrize(
    ("length", "width", "expected"),
    [
        (0, 8, [(0, 0)]),
        (8, 8, [(0, 8)]),
        (9, 8, [(0, 8), (1, 9)]),
        (14, 8, [(0, 8), (6, 14)]),
        (15, 8, [(0, 8), (3, 11), (7, 15)]),
        (20, 8, [(0, 8), (6, 14), (12, 20)]),
    ],
    ids=["nothing", "what fits is whole", "one more", "least overlap", "spread evenly", "three with least overlap"],
)
def test_overlapping(length, width, expected):
    assert overlapping(length, width) == expected


@pytest.mark.parametrize("width", [8, 17, 254, 508])
def test_windows_leave_nothing_out_and_share_a_quarter(width):
    for length in range(1, 6 * width, 7):
        windows = overlapping(length, width)
        assert windows[0][0] == 0
        assert windows[-1][1] == length
        assert all(end - start == min(width, length) for start, end in windows)
        assert all(one[1] - two[0] >= width // 4 for one, two in itertools.pairwise(windows))


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1] * 4, [(0, 4)]),
        ([1, 1, END, 1, 1, END, 1], [(0, 3), (3, 7)]),
        ([1, END, END, 1, 1, 1, 1], [(0, 3), (3, 7)]),
        ([1] * 10, [(0, 3), (3, 6), (6, 10)]),
        ([1, 1, END] + [1] * 5, [(0, 3), (3, 5), (5, 8)]),
    ],
    ids=[
        "what fits is whole",
        "after the last sentence end that fits",
        "marks in a row stay together",
        "evenly without a sentence end",
        "a sentence that is too long is cut evenly",
    ],
)
def test_pieces_of_at_most_four_tokens(ids, expected):
    assert pieces(ids, 4, {END}) == expected


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        (6, [1] * 4, [[Reading((0, 6), (0, 4))]]),
        (2, [1] * 8, [[Reading((0, 2), (0, 8))]]),
        (10, [1] * 2, [[Reading((0, 8), (0, 2)), Reading((2, 10), (0, 2))]]),
        (4, [1] * 7, [[Reading((0, 4), (0, 3))], [Reading((0, 4), (3, 7))]]),
        (
            7,
            [1, 1, END, 1, 1, 1, 1],
            [[Reading((0, 7), (0, 3))], [Reading((0, 6), (3, 7)), Reading((1, 7), (3, 7))]],
        ),
        (0, [1] * 12, [[Reading((0, 0), (0, 4))], [Reading((0, 0), (4, 8))], [Reading((0, 0), (8, 12))]]),
    ],
    ids=[
        "what fits is read at once",
        "a hypothesis beyond half the budget is whole when the pair fits",
        "windows over the premise",
        "pieces of the hypothesis",
        "windows for each piece",
        "no premise",
    ],
)
def test_readings_with_a_budget_of_ten(premise, hypothesis, expected):
    assert readings(premise, hypothesis, 10, {END}) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0.2, 0.7, 0.1]], [0.2, 0.7, 0.1]),
        ([[0.1, 0.8, 0.1], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0]], [0.9, 0.1, 0.0]),
        ([[0.9, 0.1, 0.0], [0.0, 0.05, 0.95]], [0.9, 0.1, 0.0]),
        ([[0.55, 0.4, 0.05], [0.7, 0.2, 0.1], [0.0, 0.05, 0.95]], [0.7, 0.2, 0.1]),
        ([[0.3, 0.4, 0.3], [0.2, 0.35, 0.45], [0.0, 1.0, 0.0]], [0.2, 0.35, 0.45]),
        ([[0.5, 0.0, 0.5], [0.9, 0.1, 0.0]], [0.9, 0.1, 0.0]),
        ([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]], [0.6, 0.3, 0.1]),
    ],
    ids=[
        "one window is its row",
        "neutral windows do not count against the one that entails",
        "a window that entails wins over one that contradicts",
        "the surest of those that entail",
        "where none entails the surest wins",
        "torn is not decided",
        "of equals the first",
    ],
)
def test_most_decided(rows, expected):
    assert most_decided(np.array(rows)).tolist() == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0.2, 0.7, 0.1]], [0.2, 0.7, 0.1]),
        ([[0.9, 0.1, 0.0], [0.25, 0.75, 0.0]], [0.25, 0.75, 0.0]),
        ([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]], [0.0, 0.25, 0.75]),
        ([[0.5, 0.5, 0.0], [0.0, 0.75, 0.25], [0.0, 0.0, 1.0]], [0.0, 0.0, 1.0]),
    ],
    ids=["one piece is its row", "entailed as far as every piece is", "one contradiction is enough", "all three"],
)
def test_together(rows, expected):
    assert together(np.array(rows)).tolist() == expected


def test_pieces_together_are_probabilities():
    rows = np.random.default_rng(3).dirichlet((0.3, 0.3, 0.3), size=(200, 4))
    for pieces_of_one in rows:
        combined = together(pieces_of_one)
        assert combined.min() >= 0.0
        assert combined.sum() == pytest.approx(1.0, abs=1e-12)
