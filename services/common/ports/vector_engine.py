"""An engine that keeps vectors by number and proposes the nearest (the ``VectorBackend`` of the Director-AI page).

It is no store: the facts, their vectors and the order of the answers are the store's, which asks an engine only for
candidates (ADR 0031, ADR 0129). Its three methods of the page are ``add``, ``nearest`` (query) and ``count``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.ports.facts import Vectors

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Proposals:
    """Candidates of one query: fact numbers and their approximate scores, best first."""

    numbers: Numbers
    scores: Vectors


class VectorEngineError(RuntimeError):
    """The engine did not do what it was asked; the store goes on without it, only slower."""


class VectorEngine(Protocol):
    """Vectors in collections: one of each tenant, so that no search can reach another's.

    Methods block and may be called by several threads at once. Each raises ``VectorEngineError`` when the engine cannot
    be reached or refuses; then part of a write may have been done, and the same write may be made again.
    """

    @property
    def name(self) -> str:
        """Name of the engine, for logs and metrics."""
        ...

    def add(self, collection: str, numbers: Numbers, vectors: Vectors) -> None:
        """Insert or replace vectors; the next ``nearest`` sees them. The collection is made when it is new.

        Args:
            collection: 1-60 letters, digits and hyphens.
            numbers: positive, of shape ``(n,)``.
            vectors: unit vectors, of shape ``(n, dimension)``, float32.
        """
        ...

    def remove(self, collection: str, numbers: Numbers) -> None:
        """Destroy vectors; unknown numbers are passed over."""
        ...

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals]:
        """Return for each query up to ``limit`` proposals by cosine, best first; none from an unknown collection."""
        ...

    def numbers(self, collection: str) -> Numbers:
        """Return all numbers of a collection, ascending."""
        ...

    def stored(self, collection: str, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Return the vectors that are kept under some numbers, to compare them: an engine may have scaled them.

        Args:
            collection: as for ``add``.
            numbers: what is asked for; unknown ones are passed over.

        Returns:
            The known ones in any order, of shape ``(n,)``, and their vectors of shape ``(n, dimension)``.
        """
        ...

    def count(self, collection: str) -> int:
        """Return how many vectors a collection holds."""
        ...

    def check(self) -> None:
        """Return when the engine answers."""
        ...

    def close(self) -> None:
        """Let go of connections; idempotent."""
        ...
