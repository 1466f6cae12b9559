"""Lines that only lead to other pages: every way is named with its title, and there is one way to cut them."""

import pytest

from services.common.documents.html.furniture import _PAGING


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        pytest.param("next: Installing", True, id="one way"),
        pytest.param("next: Installing | previous: Overview", True, id="two ways"),
        pytest.param("Next: Installing Up: The manual Previous: Overview", True, id="ways without a mark between"),
        pytest.param("next: up: " + "x" * 60, True, id="a way without a title"),
        pytest.param("next: , up: Home [Contents] [Index]", True, id="links behind them"),
        pytest.param("next: " + "x" * 61, False, id="too long for a title"),
        pytest.param("next: Installing, then all else", False, id="a sentence"),
        pytest.param("weiter :  (A|  " * 200 + "]", False, id="as many as one likes, and then something else"),
    ],
)
def test_a_line_of_ways_is_told_from_a_sentence(line, leads):
    assert bool(_PAGING.fullmatch(line)) is leads
