"""What the envelope service needs beside the shared ports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from services.common.ports.facts import FactFilter, FactHit, Vectors
from services.envelope.domain.chunking import FactDraft
from services.envelope.domain.neighbours import Places


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document that was read and cut into facts.

    Attributes:
        media_type: what it was read as.
        title: the document's own; empty when it has none.
        warnings: what was left out or repaired, for people; never content.
        drafts: its facts in reading order, each once per section.
    """

    media_type: str
    title: str
    warnings: tuple[str, ...]
    drafts: tuple[FactDraft, ...] = field(repr=False)


class DocumentReader(Protocol):
    """Reads documents, within limits of time and memory."""

    async def read(self, content: bytes, media_type: str, name: str) -> CutDocument:
        """Return what the document holds. A caller that is cancelled ends the reading.

        Args:
            content: the bytes.
            media_type: as declared; empty = detect.
            name: uri or file name.

        Raises:
            InvalidRequestError: UNSUPPORTED_MEDIA or DOCUMENT_WITHOUT_TEXT.
            LimitExceededError: MESSAGE_TOO_LARGE or DOCUMENT_TOO_COMPLEX.
            UnavailableError: SERVICE_UNAVAILABLE: nothing can be read now.
        """
        ...


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
