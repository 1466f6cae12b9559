"""Raised and lowered text keeps its meaning in one line, in every format alike."""

import pytest

from services.common.documents.shifts import lowered, raised


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("10", "6", "^6"),
        ("10", "6 ", "^6 "),
        ("x", "e", "^e"),
        ("2", "nd", "nd"),
        ("n", "o", "o"),
        ("M", "me", "me"),
        ("20", "\u00b0", "\u00b0"),
        ("Acme", "TM", "\u2122"),
        ("12 EUR", "*", "*"),
        ("2", "n + 1", "^(n + 1)"),
        ("", "1", "^1"),
        ("a", " ", " "),
    ],
)
def test_raised(before, text, expected):
    assert raised(before, text) == expected


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("CO", "2", "2"),
        ("x", "1", "1"),
        ("10", "2", "_2"),
        ("a", "n", "_n"),
        ("the a", "n", "_n"),
        ("V", "max", "max"),
        ("Na", "x", "x"),
        ("", "i", "i"),
    ],
)
def test_lowered(before, text, expected):
    assert lowered(before, text) == expected
