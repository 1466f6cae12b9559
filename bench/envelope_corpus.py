"""A corpus of any size: sentences about five hundred topics, and the stand-in embedder that puts each beside its like.

Real embeddings of 100,000 facts take half an hour here, and say nothing about the service's own work. The stand-in
gives a sentence a vector near the centres of the sections that it names; cosines within a section are about 0.67, those
of neighbours in a real corpus. What embedding costs is measured apart, with the real model.
"""

import random
import re
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.memory.embedding import IdentityCalibration
from services.envelope.domain.importance import SourceType
from services.envelope.requests import FactEntries, FactEntry

DIMENSION: Final = 384
TOPICS: Final = 500
FACTS_PER_SOURCE: Final = 1_000
"""Facts of one IngestFacts call, the most that the RPC takes."""

_NOISE: Final = 0.7
_SECTION: Final = re.compile(r"section (\d+)")
_SUBJECTS: Final = "motor home travel health liability marine cargo legal pet cyber".split()  # noqa: SIM905 - a word list
_OBJECTS: Final = "deductible limit deadline premium discount refund report advance repair valuation".split()  # noqa: SIM905
_PARTIES: Final = "member broker handler hospital garage court physician neighbour carrier bank".split()  # noqa: SIM905


def sentence(number: int) -> str:
    """Return the fact of this number; each is different."""
    rng = random.Random(number)  # noqa: S311 - a corpus, not a secret
    topic = number % TOPICS
    subject, party = _SUBJECTS[topic % 10], rng.choice(_PARTIES)
    return (
        f"Under section {topic} of the {subject} policy the {rng.choice(_OBJECTS)} that the {party} asks for in case "
        f"{number} is EUR {rng.randint(50, 9_999)} and is settled within {rng.randint(2, 365)} days of the request."
    )


def question(number: int) -> str:
    """Return a question about two topics, other ones for each number."""
    first, second = (number * 37) % TOPICS, (number * 91 + 13) % TOPICS
    return (
        f"Compare the {_OBJECTS[number % 10]} under section {first} of the {_SUBJECTS[first % 10]} policy with that "
        f"under section {second} of the {_SUBJECTS[second % 10]} policy"
    )


def source(number: int) -> FactEntries:
    """Return the source of this number: a thousand facts."""
    first = number * FACTS_PER_SOURCE
    facts = tuple(FactEntry(sentence(fact), f"case {fact}") for fact in range(first, first + FACTS_PER_SOURCE))
    return FactEntries(f"cases/{number}", f"Cases {number}", SourceType.INTERNAL, facts)


class StandInEmbedding:
    """``EmbeddingModel`` of this corpus: the centres of the sections that a text names, and a noise of its own."""

    def __init__(self) -> None:
        self._centres = np.random.default_rng(0).standard_normal((TOPICS, DIMENSION))
        self._calibration = IdentityCalibration()

    @property
    def name(self) -> str:
        """Name in the model repository; it is in none."""
        return "stand-in"

    @property
    def fingerprint(self) -> str:
        """A constant: there are no weights."""
        return f"stand-in@1+sha256:{'0' * 16}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION

    @property
    def calibration(self) -> IdentityCalibration:
        """Cosines as they are."""
        return self._calibration

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors."""
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors; the same text always has the same."""
        vectors = np.empty((len(texts), DIMENSION))
        for row, text in enumerate(texts):
            noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION)
            named = [int(number) % TOPICS for number in _SECTION.findall(text)]
            vectors[row] = _NOISE * noise + (self._centres[named].mean(axis=0) if named else 0.0)
        units: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return units
