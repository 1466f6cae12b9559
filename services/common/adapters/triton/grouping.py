"""Which texts of one call go to Triton in one request, and how wide they are padded.

Triton joins only requests of equal shape. So a request holds texts of like length, and its width is rounded up to one
of few steps: texts of several callers meet in one batch there, and little is computed for padding. Pure.
"""

from collections.abc import Iterable
from typing import Final

from services.common.adapters.encoders.backend import TokenIds

MIN_LENGTH_RATIO: Final = 0.5
"""A text shorter than this share of its request's longest goes into another request: padding would cost more."""
SHORT_TOKENS: Final = 32
"""Up to this length texts share a request whatever their ratio: a further request would cost more."""
WIDTH_STEP: Final = 8
"""Least step of widths, in tokens; also what tensor cores like."""
STEPS_PER_OCTAVE: Final = 8
"""Widths between a power of two and the next, beyond 64 tokens: at most an eighth of a width is padding by rounding."""


def padded_width(tokens: int, max_tokens: int) -> int:
    """Return the width that a request is padded to whose longest text has so many tokens.

    >>> [padded_width(tokens, 512) for tokens in (3, 8, 9, 100, 130, 257, 510)]
    [8, 8, 16, 104, 144, 288, 512]
    """
    octave = 1 << max(0, (tokens - 1).bit_length() - 1)
    step = max(WIDTH_STEP, octave // STEPS_PER_OCTAVE)
    return min(-(-tokens // step) * step, max(max_tokens, tokens))


def grouped(items: Iterable[TokenIds], max_size: int) -> list[list[TokenIds]]:
    """Cut texts into requests of at most ``max_size`` texts of like length, the longest first."""
    groups: list[list[TokenIds]] = []
    for item in sorted(items, key=len, reverse=True):
        if not groups or len(groups[-1]) >= max_size or not _alike(len(item), len(groups[-1][0])):
            groups.append([])
        groups[-1].append(item)
    return groups


def _alike(tokens: int, longest: int) -> bool:
    return longest <= SHORT_TOKENS or tokens >= longest * MIN_LENGTH_RATIO
