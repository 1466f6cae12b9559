"""Leiden community detection by graspologic-native (CRP-SPEC-009: resolution 1.0, 10 iterations)."""

from collections.abc import Mapping, Sequence
from typing import Final

from graspologic_native import leiden

from services.envelope.domain.clustering import Edge

RESOLUTION: Final = 1.0
ITERATIONS: Final = 10
_RANDOMNESS: Final = 0.001
_SEED: Final = 9
_DIGITS: Final = 9
"""Node names are numbers of fixed width, so that the library's order of names is the order of nodes."""


class LeidenCommunityDetector:
    """``CommunityDetector`` by modularity, with a fixed seed."""

    def communities(self, edges: Sequence[Edge]) -> Mapping[int, int]:
        """Return the community of each node that has an edge."""
        if not edges:
            return {}
        named = [(f"{first:0{_DIGITS}d}", f"{second:0{_DIGITS}d}", weight) for first, second, weight in edges]
        _, found = leiden(
            edges=named,
            starting_communities=None,
            resolution=RESOLUTION,
            randomness=_RANDOMNESS,
            iterations=ITERATIONS,
            use_modularity=True,
            seed=_SEED,
            trials=1,
        )
        return {int(name): number for name, number in found.items()}
