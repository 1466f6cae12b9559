"""A text that is searched in windows: the same matches as in the whole, wherever windows end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.linear_kinds import KINDS
from services.common.reading import values
from services.common.reading.scanning import WINDOW, find_all

_PATTERNS = [pattern for pattern, _ in values._SCANNERS if pattern not in values._ADDRESSES]
_PIECE = st.one_of(
    st.sampled_from(
        ("5 days ", "12 %", " €1,000 ", "one hundred and five ", "12:30", " from 2 to 3 kg", "abc-12/x", "\n1. ")
    ),
    st.text("ab 1.,-%€ \n", max_size=40),
    st.sampled_from(("word and words ", " " * 300, "7" * 40, "two three ", "section 4.1 ")),
)


@given(st.lists(_PIECE, min_size=1, max_size=60), st.integers(1, 80))
def test_windows_find_what_the_whole_finds(pieces: list[str], times: int) -> None:
    text = ("".join(pieces) * times)[: 6 * WINDOW]
    for pattern in _PATTERNS:
        assert [m.span() for m in find_all(pattern, text)] == [m.span() for m in pattern.finditer(text)]


@pytest.mark.parametrize("kind", KINDS[::7], ids=lambda kind: re.sub(r"\W+", "-", kind.name)[:40])
def test_windows_find_what_the_whole_finds_in_repetition(kind: object) -> None:
    text = kind.make(5 * WINDOW)  # type: ignore[attr-defined]
    for pattern in _PATTERNS:
        assert [m.span() for m in find_all(pattern, text)] == [m.span() for m in pattern.finditer(text)]
