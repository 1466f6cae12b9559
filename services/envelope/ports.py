"""What the envelope service needs beside the shared ports."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.envelope.domain.clustering import Edge


class CommunityDetector(Protocol):
    """Finds communities in a weighted undirected graph. Deterministic; CPU-bound: call it off the event loop."""

    def communities(self, edges: Sequence[Edge]) -> Mapping[int, int]:
        """Return for each node that has an edge the number of its community.

        Args:
            edges: sorted, each once, weights positive.
        """
        ...
