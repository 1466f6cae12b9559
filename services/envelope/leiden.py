"""Leiden community detection by graspologic-native (CRP-SPEC-009: resolution 1.0, 10 iterations)."""

from collections.abc import Mapping, Sequence
from typing import Final

from graspologic_native import leiden

from services.envelope.domain.neighbours import Places

RESOLUTION: Final = 1.0
ITERATIONS: Final = 10
_RANDOMNESS: Final = 0.001
_SEED: Final = 9
_DIGITS: Final = 9
"""Node names are numbers of fixed width, so that the library's order of names is the order of nodes."""


class LeidenCommunityDetector:
    """``CommunityDetector`` by modularity, with a fixed seed."""

    def communities(self, first: Places, second: Places, weights: Sequence[float]) -> Mapping[int, int]:
        """Return the community of each node that has an edge."""
        if not len(first):
            return {}
        names = [f"{node:0{_DIGITS}d}" for node in range(int(max(first.max(), second.max())) + 1)]
        edges = [(names[one], names[other], weight) for one, other, weight in zip(first, second, weights, strict=True)]
        _, found = leiden(
            edges=edges,
            starting_communities=None,
            resolution=RESOLUTION,
            randomness=_RANDOMNESS,
            iterations=ITERATIONS,
            use_modularity=True,
            seed=_SEED,
            trials=1,
        )
        return {int(name): number for name, number in found.items()}
