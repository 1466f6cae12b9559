"""How a call's texts are cut into requests, and how requests of several callers take turns."""

import pytest

from services.common.adapters.triton.grouping import grouped, padded_width


@pytest.mark.parametrize(
    ("tokens", "width"),
    [
        pytest.param(1, 8, id="least-step"),
        pytest.param(8, 8, id="exact"),
        pytest.param(9, 16, id="next-step"),
        pytest.param(64, 64, id="octave-exact"),
        pytest.param(65, 72, id="above-64-step-8"),
        pytest.param(129, 144, id="above-128-step-16"),
        pytest.param(257, 288, id="above-256-step-32"),
        pytest.param(510, 512, id="up-to-the-limit"),
    ],
)
def test_width_is_rounded_up(tokens, width):
    assert padded_width(tokens, 512) == width


def test_width_never_exceeds_the_models_longest_input():
    assert padded_width(126, 126) == 126
    assert padded_width(121, 125) == 125


def test_widths_are_few_and_pad_little():
    widths = {tokens: padded_width(tokens, 512) for tokens in range(1, 513)}
    assert len(set(widths.values())) == 32
    assert max(width - tokens for tokens, width in widths.items() if tokens <= 64) == 7
    assert all(width <= tokens * 1.125 for tokens, width in widths.items() if tokens > 64)


def of_lengths(*lengths):
    return [tuple(range(100 * n, 100 * n + length)) for n, length in enumerate(lengths)]


@pytest.mark.parametrize(
    ("lengths", "size", "expected"),
    [
        pytest.param([5, 9, 7], 8, [[9, 7, 5]], id="longest-first"),
        pytest.param([5, 6, 7, 8, 9], 2, [[9, 8], [7, 6], [5]], id="at-most-size"),
        pytest.param([100, 50, 49], 8, [[100, 50], [49]], id="half-as-long-stays-shorter-goes"),
        pytest.param([32, 3], 8, [[32, 3]], id="short-ones-together"),
        pytest.param([33, 3], 8, [[33], [3]], id="not-beside-a-long-one"),
        pytest.param([], 8, [], id="nothing"),
    ],
)
def test_grouped(lengths, size, expected):
    assert [[len(item) for item in group] for group in grouped(of_lengths(*lengths), size)] == expected
