"""How long to wait after a failed attempt: exponential, bounded, random, and never shorter than was asked for."""

from typing import Final

_MAX_DOUBLINGS: Final = 32
"""Beyond any bound that the settings allow; keeps the power small."""


def pause_s(attempt: int, first_s: float, longest_s: float, share: float, asked_s: float | None) -> float:
    """Return the seconds until the next attempt.

    The pause is a random share of ``first_s`` doubled with each attempt ("full jitter"), so that many senders that
    failed together do not come back together. What the endpoint asked for is kept to, with the random part on top.

    Args:
        attempt: failed attempts so far, from 1.
        first_s: longest pause after the first one; above 0.
        longest_s: bound of the doubling.
        share: random, 0-1.
        asked_s: the endpoint's Retry-After; ``None`` without one.
    """
    grown = min(first_s * 2.0 ** min(attempt - 1, _MAX_DOUBLINGS), longest_s)
    return (asked_s or 0.0) + grown * share
