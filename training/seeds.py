"""Chance that can be repeated: one generator per purpose, so that a draw more in one place moves nothing elsewhere."""

import random


def generator(seed: int, purpose: str) -> random.Random:
    """Return the generator of one purpose; the same seed and purpose give the same draws on every machine."""
    return random.Random(f"{seed} {purpose}")  # noqa: S311 - training data, no secrets
