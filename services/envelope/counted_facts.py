"""Token counts of facts that were counted before: a fact's text never changes, and builds meet the same facts again.

What is kept of a fact is the hash of its content, which a tombstone keeps as well, and a number; nothing of the text.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from services.common.computing import compute
from services.common.ports.facts import FactRecord
from services.common.ports.tokens import TokenCounter

CAPACITY: Final = 100_000
"""Counts of all tenants and models together, some 300 bytes each; the oldest goes first."""
_IN_PLACE_CHARS: Final = 100_000
"""Texts up to this length together are counted on the event loop: a thread would cost more than the counting."""


async def count_beside(tokens: TokenCounter, texts: Sequence[str], model: str) -> list[int]:
    """Return the tokens of each text; of long ones without keeping other calls waiting."""
    await tokens.opened(model)
    if sum(map(len, texts)) <= _IN_PLACE_CHARS:
        return tokens.count(texts, model)
    return await compute(tokens.count, texts, model)


class CountedFacts:
    """Counts each fact once for a model while there is room. Belongs to the event loop.

    Args:
        tokens: counts what is new.
        capacity: most counts that are kept.
    """

    def __init__(self, tokens: TokenCounter, capacity: int = CAPACITY) -> None:
        self._tokens = tokens
        self._capacity = capacity
        self._counts: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._counts)

    async def count(self, facts: Sequence[FactRecord], model: str) -> list[int]:
        """Return the tokens of each fact's content in this model's tokenizer, as ``TokenCounter.count`` does."""
        keys = [(fact.tenant_id, fact.content_hash, model) for fact in facts]
        known = {key: count for key in keys if (count := self._counts.get(key)) is not None}
        new = {key: fact.content for key, fact in zip(keys, facts, strict=True) if key not in known}
        if new:
            counts = await count_beside(self._tokens, list(new.values()), model)
            found = dict(zip(new, counts, strict=True))
            known |= found
            self._counts |= found
            while len(self._counts) > self._capacity:
                self._counts.popitem(last=False)
        return [known[key] for key in keys]
