"""What the envelope service needs beside the shared ports."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.common.ports.facts import FactFilter, FactHit, FactRecord, Vectors
from services.envelope.domain.neighbours import Places
from services.envelope.domain.outlines import Standing


class FactSearch(Protocol):
    """Searches what a tenant may read; the semantics are those of ``FactStore``."""

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Return for each query the nearest facts."""
        ...

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Return the best facts by BM25."""
        ...


class SourceOutlines(Protocol):
    """The reading order of sources."""

    async def neighbours(self, facts: Sequence[FactRecord], each_side: int) -> Mapping[str, Standing]:
        """Return how facts stand in their sections of the present versions of their sources, by id."""
        ...


class CommunityDetector(Protocol):
    """Finds communities in a weighted undirected graph. Deterministic; CPU-bound: call it off the event loop."""

    def communities(self, first: Places, second: Places, weights: Sequence[float]) -> Mapping[int, int]:
        """Return for each node that has an edge the number of its community.

        Args:
            first: one end of each edge; edges are sorted, each stands once.
            second: the other end.
            weights: positive.
        """
        ...
