"""What the sentences of a draft are: rules, then heads over all of its sentences in one batch (ADR 0118)."""

from typing import Final

from services.common.computing import compute
from services.common.ports.sentence_heads import SentenceHeads
from services.ercp.domain import units
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.units import Units

OFF: Final = "off"


class UnitReading:
    """Reads drafts; holds no state between them.

    Args:
        heads: ``None`` = switched off, or the model repository holds none: rules alone speak.
        most_pairs: of one draft that the heads read.
    """

    def __init__(self, heads: SentenceHeads | None, most_pairs: int) -> None:
        self._heads = heads
        self._most_pairs = most_pairs

    @property
    def fingerprints(self) -> list[str]:
        """Name, version and digest of the heads that take part; empty without them."""
        return [] if self._heads is None else [self._heads.fingerprint]

    @property
    def told(self) -> str:
        """What the trace says of them."""
        return OFF if self._heads is None else self._heads.fingerprint

    async def read(self, facts: TextFacts, *, neighbours: bool) -> Units:
        """Return what a draft's sentences are.

        Args:
            facts: the draft as it was read.
            neighbours: say as well what neighbours are to each other: each takes as long as a sentence, both ways.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
            LimitExceededError: QUEUE_FULL.
        """
        ruled = await compute(units.by_rules, facts)
        if self._heads is None or not ruled.units:
            return ruled
        texts = [facts.text[each.start : each.end] for each in ruled.units]
        pairs = units.adjacent(len(texts), self._most_pairs) if neighbours else []
        seen = await self._heads.read(texts, pairs)
        return await compute(units.with_heads, ruled, seen.kinds, pairs, seen.relations)
