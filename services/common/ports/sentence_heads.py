"""What a sentence is, and what it is to another one, as small heads on an encoder see it (ADR 0118)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one head says of one sentence or pair.

    Attributes:
        probability: in [0, 1].
        verdict: yes, no, or ``None`` between the head's bounds.
    """

    probability: float
    verdict: bool | None


@dataclass(frozen=True, slots=True)
class HeadsReading:
    """What the heads say of some sentences and pairs of them.

    Attributes:
        kinds: per sentence, by kind: order, justification, condition, definition, assumption, result. A kind that no
            head is good enough for is absent.
        relations: per pair, by what the second sentence is to the first: justifies, contradicts, depends_on (the first
            needs what the second says), restates; absent as kinds.
    """

    kinds: tuple[Mapping[str, Sighting], ...]
    relations: tuple[Mapping[str, Sighting], ...]


class SentenceHeads(Protocol):
    """Heads over the embedder and the entailment model. Task-safe; concurrent calls are batched together."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the heads, which name the weights that they were fitted on."""
        ...

    async def read(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> HeadsReading:
        """Read sentences and pairs of them, each in one batch of its encoder; the same bits alone and among others.

        Args:
            sentences: any number.
            pairs: numbers of sentences, the first and the second one.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...
