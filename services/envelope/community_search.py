"""Finding communities: here for small tenants, in a process of its own for large ones (ADR 0069).

Comparing 100,000 facts takes minutes of a core. In a process of low priority it takes them from nobody: no build waits
for the interpreter, and the memory is given back. What is kept between two searches is the neighbours, so that the next
one compares only what is new.
"""

import asyncio
import io
import struct
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from services.envelope.domain.neighbours import NOBODY, Neighbours, Places, Vectors
from services.envelope.ports import CommunityDetector

_MOST_KEPT: Final = 1_000_000
"""Facts of all tenants whose neighbours are kept, 160 bytes each; the tenant clustered longest ago goes first."""
_LENGTH: Final = struct.Struct("<Q")
_MODULE: Final = "services.envelope.community_process"


@dataclass(frozen=True, slots=True)
class FoundCommunities:
    """The outcome of a search, by the facts' places.

    Attributes:
        memberships: number of each fact's community; ``NOBODY`` for a fact without neighbours.
        strengths: sum of each fact's edges.
    """

    memberships: Places
    strengths: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The neighbours of a tenant's facts as of the latest search; ``keys`` are the facts in their order then."""

    keys: tuple[str, ...]
    neighbours: Neighbours

    def former(self, keys: Sequence[str]) -> Places:
        """Return for each key its place then, or ``NOBODY``."""
        places = {key: place for place, key in enumerate(self.keys)}
        return np.array([places.get(key, NOBODY) for key in keys], dtype=np.int32)


class CommunitySearch:
    """Searches a tenant's communities and keeps its neighbours.

    Args:
        detector: finds communities in a graph, here; the process of its own has Leiden.
        apart_above: facts above which a process of its own is used.
    """

    def __init__(self, detector: CommunityDetector, apart_above: int) -> None:
        self._detector = detector
        self._apart_above = apart_above
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def find(
        self, tenant_id: str, keys: Sequence[str], blocks: AsyncIterator[tuple[Places, Vectors]]
    ) -> FoundCommunities:
        """Return the communities of a tenant's facts.

        Args:
            tenant_id: the tenant.
            keys: the facts' ids in an order that depends on their content alone.
            blocks: places in that order and the vectors there; a fact whose vector does not come has no neighbours.
        """
        kept = self._kept.pop(tenant_id, _Kept((), Neighbours.none(0)))
        former = kept.former(keys)
        if len(keys) <= self._apart_above:
            vectors = await _gathered(len(keys), blocks)
            neighbours, found = await asyncio.to_thread(search, kept.neighbours, former, vectors, self._detector)
        else:
            neighbours, found = await _search_apart(kept.neighbours, former, blocks)
        self._keep(tenant_id, _Kept(tuple(keys), neighbours))
        return found

    def forget(self, tenant_id: str) -> None:
        """Forget the tenant's neighbours; the next search compares all facts."""
        self._kept.pop(tenant_id, None)

    def _keep(self, tenant_id: str, kept: _Kept) -> None:
        self._kept[tenant_id] = kept
        excess = sum(len(one.keys) for one in self._kept.values()) - _MOST_KEPT
        while excess > 0 and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            excess -= len(dropped.keys)


def search(
    kept: Neighbours, former: Places, vectors: Vectors, detector: CommunityDetector
) -> tuple[Neighbours, FoundCommunities]:
    """Bring the neighbours up to date and find the communities; CPU-bound."""
    neighbours = kept.moved_to(former, vectors)
    return neighbours, communities_among(neighbours, detector)


def communities_among(neighbours: Neighbours, detector: CommunityDetector) -> FoundCommunities:
    """Find the communities in a graph of neighbours; CPU-bound."""
    first, second, weight = neighbours.edges()
    found = detector.communities(first, second, np.round(weight.astype(np.float64), 6).tolist())
    memberships = np.full(len(neighbours.places), NOBODY, dtype=np.int32)
    memberships[list(found.keys())] = list(found.values())
    return FoundCommunities(memberships, neighbours.strengths())


async def _gathered(count: int, blocks: AsyncIterator[tuple[Places, Vectors]]) -> Vectors:
    vectors: Vectors | None = None
    async for places, block in blocks:
        if vectors is None:
            vectors = np.zeros((count, block.shape[1]), dtype=np.float32)
        vectors[places] = block
    return np.zeros((count, 1), dtype=np.float32) if vectors is None else vectors


async def _search_apart(
    kept: Neighbours, former: Places, blocks: AsyncIterator[tuple[Places, Vectors]]
) -> tuple[Neighbours, FoundCommunities]:
    """Hand everything to a process of its own, block by block, and read what it found."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        _MODULE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    try:
        for array in (former, kept.places, kept.cosines):
            await _send(process.stdin, array)
        async for places, block in blocks:
            await _send(process.stdin, places)
            await _send(process.stdin, block)
        await _send(process.stdin, np.empty(0, dtype=np.int32))
        answer, _ = await process.communicate()
    except ConnectionError as error:
        raise RuntimeError("the process that finds communities has ended too early") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise RuntimeError(f"the process that finds communities ended with status {process.returncode}")
    stream = io.BytesIO(answer)
    neighbours, cosines, memberships, strengths = (read_array(stream) for _ in range(4))
    return Neighbours(neighbours, cosines), FoundCommunities(memberships, strengths)


async def _send(pipe: asyncio.StreamWriter, array: NDArray[Any]) -> None:
    pipe.write(array_bytes(array))
    await pipe.drain()


def array_bytes(array: NDArray[np.generic]) -> bytes:
    """Return an array as bytes that ``read_array`` reads: their number, then NumPy's own format."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return _LENGTH.pack(stream.tell()) + stream.getvalue()


def read_array(stream: BinaryIO) -> NDArray[Any]:
    """Read the next array of a stream."""
    (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(stream.read(length)), allow_pickle=False)
    return array
